// Package claims judges what papers say of their algorithms by what runs
// measured. It says which claims speak of a run ([Circumstance]), how a quantity
// is read from its result ([Read]), how a claim stands at one number of nodes
// under one condition ([Cell.Compare]), and what follows from all of these
// ([Question.Judge]).
//
// It knows no formula and no algorithm: both come with the claims. A mean is
// compared by means of a confidence interval over repetitions, a bound with the
// most extreme run, an exact value with all runs, a growth by fits over the sizes.
// It runs nothing, and imports neither a transport nor the simulator.
package claims

import "dmebench/dme/claim"

// SchemaVersion is the version of the document's JSON form.
const SchemaVersion = 1

// Document is what a validation found out. Its JSON form is a contract: keys are added, never
// changed. If there is no value it is null.
type Document struct {
	SchemaVersion  int      `json:"schema_version"`
	Mode           string   `json:"mode"` // how much was run: "quick", "default" or "full"
	Transport      string   `json:"transport"`
	Seed           uint64   `json:"seed"`
	Algorithms     []string `json:"algorithms"`
	Controls       []string `json:"negative_controls"` // texts that are known to be wrong, and are not validated
	Started        string   `json:"started"`           // RFC 3339
	ElapsedSeconds float64  `json:"elapsed_seconds"`
	Complete       bool     `json:"complete"` // false if it was interrupted
	Runs           int      `json:"runs"`
	RunsLeftOut    int      `json:"runs_left_out"` // planned, but the budget of time ran out
	Entries        uint64   `json:"entries"`       // of all runs

	Confidence float64 `json:"confidence"` // of the interval of a mean

	// A mean is refuted by an interval so wide that, of all that were compared, one that is
	// right is refuted with this probability at most.
	FamilyError float64 `json:"family_error"`
	Compared    int     `json:"compared"`

	Counts Counts `json:"counts"`

	Claims  []Verdict `json:"claims"`
	Scaling []Scaling `json:"scaling"`

	Environment map[string]string `json:"environment"`
}

// Counts says how many claims got which verdict.
type Counts struct {
	Claims        int `json:"claims"`
	Holds         int `json:"holds"`
	Partly        int `json:"holds_only_for"`
	Fails         int `json:"fails"`
	KnownFalse    int `json:"known_false"`
	NotShown      int `json:"known_false_not_shown"`
	Undecided     int `json:"undecided"`
	NotMeasurable int `json:"not_measurable"`
	NotRun        int `json:"not_run"`
	ExactFailed   int `json:"exact_failed"` // exact claims, not known to be false, that do not hold

	// Of the bounds that hold: all, those reached, and those nothing came near (see [Approached]).
	Bounds              int `json:"bounds"`
	BoundsReached       int `json:"bounds_reached"`
	BoundsNotApproached int `json:"bounds_not_approached"`
}

// Status is the first word of a verdict.
type Status string

// The verdicts.
const (
	Holds         Status = "holds"
	Partly        Status = "holds only for"
	Fails         Status = "fails"
	KnownFalse    Status = "known false"
	NotShown      Status = "known false, not shown here"
	Undecided     Status = "undecided"
	NotMeasurable Status = "not measurable here"
	NotRun        Status = "not run"
)

// Verdict is a claim and what came of it.
type Verdict struct {
	ID         string            `json:"id"` // see [claim.Claim.ID]
	Algorithm  string            `json:"algorithm"`
	Quantity   string            `json:"quantity"`
	Formula    string            `json:"formula"`
	Load       claim.Load        `json:"load"`
	Kind       claim.Kind        `json:"kind"`
	Source     string            `json:"source"`
	Set        map[string]string `json:"set,omitempty"` // options under which it was measured, if not the defaults
	KnownFalse string            `json:"known_false,omitempty"`

	Verdict Status `json:"verdict"`
	Detail  string `json:"detail"` // in what sense it holds, or why not: the words that follow
	Text    string `json:"text"`   // both

	Runs   int     `json:"runs"`   // runs judged
	Points []Point `json:"points"` // one for each condition and number of nodes
	Fits   []Fit   `json:"fits,omitempty"`

	// Tolerances are those without which the claim would differ if it does not.
	Tolerances []Tolerance `json:"tolerances,omitempty"`

	// Closest is how close the bound comes of a claim that holds, over all points.
	Closest *float64 `json:"closest,omitempty"`

	// Shown is the index of the point that the line on standard output shows: the largest of the
	// sizes, or the one that speaks most against the claim; −1 if there is none.
	Shown int `json:"shown"`
}

// Standing says how a claim stands at one point.
type Standing string

// A claim agrees with what was measured, or differs from it; it is open if the runs are too few to
// tell.
const (
	Agrees  Standing = "agrees"
	Differs Standing = "differs"
	Open    Standing = "open"
)

// Point is a claim at one number of nodes under one condition.
type Point struct {
	Condition string   `json:"condition"` // "saturate, exponential delays"
	Transport string   `json:"transport"` // "" for what was determined from the construction
	Nodes     int      `json:"nodes"`
	Runs      int      `json:"runs"`
	Predicted float64  `json:"predicted"`
	Mean      *float64 `json:"mean"`
	Lo        *float64 `json:"lo"` // interval of the mean; null with fewer than two runs
	Hi        *float64 `json:"hi"`
	Min       *float64 `json:"min"` // over runs, and over single entries if these were measured
	Max       *float64 `json:"max"`
	Standing  Standing `json:"standing"`
	Agrees    bool     `json:"agrees"`

	// Source is "search" where a search of schedules found the worst; "" for runs, and for
	// the construction.
	Source string `json:"source,omitempty"`

	// Tolerance is relative to the prediction, if the mean would differ without it, and
	// ToleranceFor says what it is for.
	Tolerance    float64 `json:"tolerance,omitempty"`
	ToleranceFor string  `json:"tolerance_for,omitempty"`

	// Closest is how close a bound comes that is kept, as a part of it: 1 if it is reached; null if
	// there is no bound.
	Closest *float64 `json:"closest,omitempty"`

	Off float64 `json:"off"` // how far from the prediction, relative to it; for what speaks most against a claim
	How string  `json:"how"` // in what sense it agrees, or by how much it does not
}

// Fit is a claim about growth beside the growth that was measured, under one
// condition.
type Fit struct {
	Condition string     `json:"condition"`
	Transport string     `json:"transport"`
	Sizes     []int      `json:"sizes"`
	Claimed   string     `json:"claimed"` // the formula f of y = a + c·f(N)
	A         Bounds     `json:"a"`
	C         Bounds     `json:"c"`
	Ranking   []Ranked   `json:"ranking"` // the best first
	Exponent  *Bounds    `json:"exponent"`
	Standing  Standing   `json:"standing"`
	Agrees    bool       `json:"agrees"`
	Tolerance float64    `json:"tolerance,omitempty"` // of the coefficient, if the fit would differ without it
	How       string     `json:"how"`
	Residuals []Residual `json:"residuals"`

	ToleranceFor string `json:"tolerance_for,omitempty"`
}

// Bounds is an estimate within its 95% confidence interval.
type Bounds struct {
	Value float64  `json:"value"`
	Lo    *float64 `json:"lo"`
	Hi    *float64 `json:"hi"`
}

// Ranked is a growth that competes.
type Ranked struct {
	Growth string   `json:"growth"`
	A      Bounds   `json:"a"`
	C      Bounds   `json:"c"`
	AICc   *float64 `json:"aicc"`  // null for an exact fit
	Delta  *float64 `json:"delta"` // by how much AICc exceeds that of the best
}

// Residual is what a fit leaves over at one size, as a mean over repetitions.
type Residual struct {
	Nodes int     `json:"nodes"`
	Value float64 `json:"value"`
}

// Scaling is how the messages per CS of an algorithm grow under one condition.
type Scaling struct {
	Algorithm string            `json:"algorithm"`
	Set       map[string]string `json:"set,omitempty"`
	Condition string            `json:"condition"`
	Transport string            `json:"transport"`
	Points    []ScalingPoint    `json:"points"`
	Ranking   []Ranked          `json:"ranking"`
	Best      string            `json:"best"`
	A         Bounds            `json:"a"` // of the best
	C         Bounds            `json:"c"`
	Exponent  *Bounds           `json:"exponent"` // p of y = a + c·N^p
	LogLog    *Bounds           `json:"log_log"`  // slope of ln y over ln N, which an intercept distorts
}

// ScalingPoint is one size: the mean over runs, and it over the sizes that the
// papers speak of.
type ScalingPoint struct {
	Nodes       int      `json:"nodes"`
	Runs        int      `json:"runs"`
	PerCS       float64  `json:"messages_per_cs"`
	PerSqrtN    float64  `json:"per_sqrt_n"`
	PerCubeRoot float64  `json:"per_cube_root_n"`
	PerLogN     float64  `json:"per_log2_n"`
	PerMember   *float64 `json:"per_member"` // over K−1, the other members of a request set; null if there are none
}

// Count fills in the counts.
func (d *Document) Count() {
	c := &d.Counts
	*c = Counts{Claims: len(d.Claims)}
	of := map[Status]*int{
		Holds: &c.Holds, Partly: &c.Partly, Fails: &c.Fails, KnownFalse: &c.KnownFalse, NotShown: &c.NotShown,
		Undecided: &c.Undecided, NotMeasurable: &c.NotMeasurable, NotRun: &c.NotRun,
	}
	for _, v := range d.Claims {
		*of[v.Verdict]++
		if v.Kind == claim.Exact && v.KnownFalse == "" && (v.Verdict == Fails || v.Verdict == Partly) {
			c.ExactFailed++
		}
		if v.Verdict != Holds || v.Closest == nil {
			continue
		}
		c.Bounds++
		switch x := *v.Closest; {
		case x == 1:
			c.BoundsReached++
		case x < Approached:
			c.BoundsNotApproached++
		}
	}
}
