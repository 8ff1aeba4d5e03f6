package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/runs"
	"dmebench/units"
)

// Question is a claim that is put to the test.
type Question struct {
	Algorithm *dme.Algorithm
	Claim     claim.Claim
	Set       map[string]string // options under which it is asked

	// Unanswerable says why nothing can decide the claim; "" if runs or the construction can.
	Unanswerable string

	// NotRun says why there are no more runs.
	NotRun string

	// Planned reports whether runs that are to answer it are missing.
	Planned bool

	// Network is the real network over which a growth is to be measured too.
	Network string
}

// Static reports whether the construction answers, and no run.
func (q *Question) Static() bool { return q.Claim.Measure != nil || q.Claim.Load == claim.Static }

// Growth reports whether the claim is one about growth.
func (q *Question) Growth() bool { return q.Claim.Kind == claim.Asymptotic }

// verdict is one without points.
func (q *Question) verdict(s Status, detail string) Verdict {
	c := &q.Claim
	v := Verdict{
		ID: c.ID(q.Algorithm), Algorithm: q.Algorithm.Name, Quantity: c.Quantity.Name, Formula: c.Formula,
		Load: c.Load, Kind: c.Kind, Source: c.Source, Set: q.Set, KnownFalse: c.KnownFalse, Points: []Point{}, Shown: -1,
	}
	v.conclude(s, detail)
	return v
}

func (v *Verdict) conclude(s Status, detail string) {
	v.Verdict, v.Detail, v.Text = s, detail, string(s)+detail
}

// Judge says what follows from the evidence.
func (q *Question) Judge(evidence []Evidence) Verdict {
	if q.Unanswerable != "" {
		v := q.verdict(NotMeasurable, ": "+q.Unanswerable)
		if v.KnownFalse != "" {
			q.demonstrate(&v)
		}
		return v
	}
	v := q.verdict(NotMeasurable, ": no run showed it")
	v.add(evidence)
	switch {
	case q.Growth():
		v.Fits = q.fit(evidence)
		status, detail := q.grows(v.Fits, evidence)
		real := slices.ContainsFunc(v.Fits, func(f Fit) bool { return f.Transport == q.Network })
		if q.Network != "" && !real && !q.Static() && len(v.Fits) > 0 {
			detail += fmt.Sprintf("; over %s %s (%s)", q.Network, NotRun, q.NotRun)
		}
		v.conclude(status, detail)
	case len(v.Points) > 0:
		v.conclude(weigh(q.Claim, v.Points))
	case q.Planned:
		v.conclude(NotRun, " ("+q.NotRun+")")
	}
	v.Shown = shown(q.Claim.Kind, v.Verdict, v.Points)
	v.rest()
	if v.KnownFalse != "" {
		q.demonstrate(&v)
	}
	return v
}

// rest says on which tolerances the verdict rests, and how close a bound comes.
func (v *Verdict) rest() {
	if v.Verdict != Holds && v.Verdict != Partly && v.Verdict != Undecided {
		return
	}
	v.Tolerances = tolerancesOf(v.Points, v.Fits)
	v.conclude(v.Verdict, v.Detail+toleranceWords(v.Tolerances))
	for _, p := range v.Points {
		if p.Closest != nil && (v.Closest == nil || *p.Closest > *v.Closest) {
			v.Closest = p.Closest
		}
	}
}

func (v *Verdict) add(evidence []Evidence) {
	for _, e := range evidence {
		v.Points = append(v.Points, e.Point)
		v.Runs += e.Runs
	}
}

// standing returns the points at which a claim stands so.
func standing(s Standing, points []Point) []Point {
	return slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return p.Standing != s })
}

// weigh is the verdict on a claim that is judged point by point.
func weigh(c claim.Claim, points []Point) (Status, string) {
	yes, no, open := standing(Agrees, points), standing(Differs, points), standing(Open, points)
	if len(granted(yes)) == len(yes) { // an interval without the prediction supports no claim
		yes, open = nil, append(yes, open...)
	}
	switch {
	case len(no) == 0 && len(yes) == 0 && len(granted(open)) < len(open):
		return Undecided, ": the intervals are too wide; more repetitions would tell"
	case len(no) == 0 && len(granted(open)) > len(yes):
		return Undecided, ": " + sense(c.Kind, append(yes, granted(open)...))
	case len(no) == 0 && len(open) > 0:
		return Holds, fmt.Sprintf(" (%s); undecided for %s", sense(c.Kind, yes), Where(open))
	case len(no) == 0:
		return Holds, fmt.Sprintf(" (%s)", sense(c.Kind, yes))
	case len(yes) == 0:
		return Fails, ": " + against(c, no)
	}
	return Partly, fmt.Sprintf(" %s; fails for %s: %s", part(yes, no), Where(no), against(c, no))
}

// sense says in what sense a claim holds.
func sense(kind claim.Kind, points []Point) string {
	runs, tolerated := 0, len(granted(points))
	for _, p := range points {
		runs += p.Runs
	}
	in := "in " + units.Counted(runs, "run")
	if runs == 0 {
		in = "at " + units.Counted(len(points), "size")
	}
	switch {
	case kind == claim.Exact && tolerated == 0:
		return "equal " + in
	case kind == claim.UpperBound || kind == claim.LowerBound:
		if runs > 0 {
			in += " searched"
		}
		return in + closest(points)
	case runs == 0:
		return in
	case tolerated == 0:
		return in + ", always in the interval"
	case tolerated == len(points):
		return in + ", never in the interval"
	}
	return fmt.Sprintf("%s, in the interval for %d of %d points", in, len(points)-tolerated, len(points))
}

// granted returns the points that would differ without a tolerance.
func granted(points []Point) []Point {
	return slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return p.Tolerance == 0 })
}

// Approached is how close to a bound something must come, as a part of it, for the bound to
// say more than that it is not wrong.
const Approached = 0.9

// closest says how close a bound comes, and where: "; reached for N = 2 3 under serial".
func closest(points []Point) string {
	var most float64
	for _, p := range points {
		if p.Closest != nil {
			most = max(most, *p.Closest)
		}
	}
	at := slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return p.Closest == nil || *p.Closest < most })
	switch {
	case len(at) == 0:
		return ""
	case most == 1:
		return "; reached for " + Where(at)
	}
	return fmt.Sprintf("; %s, for %s", Closeness(most), Where(at[:1]))
}

// Closeness says how close a bound comes that is kept: "reached".
func Closeness(closest float64) string {
	switch {
	case closest == 1:
		return "reached"
	case closest < Approached:
		return fmt.Sprintf("not approached: %s%% at most", units.Number(100*closest))
	}
	return fmt.Sprintf("closest %s%%", units.Number(100*closest))
}

// against is the point furthest from its prediction of those that speak against
// a claim.
func against(c claim.Claim, points []Point) string {
	p := slices.MaxFunc(points, func(a, b Point) int { return cmp.Or(cmp.Compare(a.Off, b.Off), b.Nodes-a.Nodes) })
	found := p.How
	if _, extremes := c.Kind.Agrees(0, 0, 0); p.Runs > 0 && (!extremes || c.Quantity.Timed()) {
		found = p.Interval()
	}
	text := fmt.Sprintf("%s, not %s, for N = %s", found, units.Number(p.Predicted), units.Count(uint64(p.Nodes)))
	if p.Condition != "" {
		text += " under " + Place(p.Transport, p.Condition)
	}
	return text
}

// Interval writes the mean with its interval: "12.3 ± 0.4".
func (p *Point) Interval() string {
	switch {
	case p.Mean == nil:
		return units.Missing
	case p.Hi == nil || *p.Hi <= *p.Mean:
		return units.Number(*p.Mean)
	}
	return fmt.Sprintf("%s ± %s", units.Number(*p.Mean), units.Number(*p.Hi-*p.Mean))
}

// Place says where something was measured; of a simulation it is the condition
// alone, and "" of a construction.
func Place(transport, condition string) string {
	if transport == "" || transport == runs.Sim {
		return condition
	}
	return condition + " over " + transport
}

// part says what the points where a claim holds have that the others do not:
// whole conditions, or sizes up to or from one on.
func part(yes, no []Point) string {
	with, sizesWith := placesOf(yes)
	without, sizesWithout := placesOf(no)
	if !slices.ContainsFunc(with, func(c string) bool { return slices.Contains(without, c) }) {
		return strings.Join(with, ", ")
	}
	switch {
	case slices.Max(sizesWith) < slices.Min(sizesWithout):
		return "N ≤ " + units.Count(uint64(slices.Max(sizesWith)))
	case slices.Min(sizesWith) > slices.Max(sizesWithout):
		return "N ≥ " + units.Count(uint64(slices.Min(sizesWith)))
	}
	return Where(yes)
}

// placesOf returns where points were measured, in order of appearance, and at
// which sizes.
func placesOf(points []Point) (places []string, sizes []int) {
	for _, p := range points {
		if place := Place(p.Transport, p.Condition); !slices.Contains(places, place) {
			places = append(places, place)
		}
		sizes = append(sizes, p.Nodes)
	}
	return places, sizes
}

// at returns the points that were measured at a place.
func at(place string, points []Point) []Point {
	return slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return Place(p.Transport, p.Condition) != place })
}

// Where lists points: conditions with their sizes, "serial (N = 4 8), burst (N =
// 8)".
func Where(points []Point) string {
	places, _ := placesOf(points)
	var parts []string
	for _, place := range places {
		_, sizes := placesOf(at(place, points))
		slices.Sort(sizes)
		text := "N ="
		for _, n := range slices.Compact(sizes) {
			text += " " + units.Count(uint64(n))
		}
		if place != "" {
			text = fmt.Sprintf("%s (%s)", place, text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// demonstrate gives a claim that is known to be false its own verdict, even if nothing could be
// measured: that does not make it any less false.
func (q *Question) demonstrate(v *Verdict) {
	no := standing(Differs, v.Points)
	switch {
	case v.Verdict == NotRun || v.Verdict == NotMeasurable:
		v.conclude(NotShown, fmt.Sprintf(": %s (%s)", v.KnownFalse, v.Text))
	case q.Growth() && (v.Verdict == Fails || v.Verdict == Partly):
		v.conclude(KnownFalse, fmt.Sprintf(": %s (shown: %s)", v.KnownFalse, v.Text))
	case !q.Growth() && len(no) > 0:
		v.conclude(KnownFalse, fmt.Sprintf(": %s (shown: %s)", v.KnownFalse, against(q.Claim, no)))
	default:
		v.conclude(NotShown, ": "+v.KnownFalse)
	}
}

// shown chooses the point to show of all: the one furthest off if the claim does not hold
// everywhere, for a bound the one closest to it, and otherwise the largest system under the first
// condition.
func shown(kind claim.Kind, s Status, points []Point) int {
	if len(points) == 0 {
		return -1
	}
	best, first := 0, points[0]
	for i, p := range points {
		switch {
		case s != Holds && s != Undecided || kind == claim.UpperBound || kind == claim.LowerBound:
			if p.Off > points[best].Off {
				best = i
			}
		case p.Condition == first.Condition && p.Transport == first.Transport && p.Nodes > points[best].Nodes:
			best = i
		}
	}
	return best
}

// Retry adds to a verdict on a claim about heavy load, which the closed loop
// contradicts, under which other heavy loads the formula comes true.
func (v *Verdict) Retry(evidence []Evidence) {
	v.conclude(v.Verdict, strings.TrimSuffix(v.Detail, toleranceWords(v.Tolerances))) // rest says it anew
	defer v.rest()
	v.add(evidence)
	tried := v.Points[len(v.Points)-len(evidence):]
	var yes, no []string
	places, _ := placesOf(tried)
	for _, place := range places {
		points := at(place, tried)
		if last := points[len(points)-1]; len(standing(Agrees, points)) < len(points) {
			no = append(no, fmt.Sprintf("%s (%s for %s)", place, units.Number(*last.Mean), units.Number(last.Predicted)))
		} else {
			yes = append(yes, place)
		}
	}
	switch {
	case len(tried) == 0:
	case len(yes) == 0:
		v.conclude(v.Verdict, v.Detail+"; at no other heavy load tried: "+strings.Join(no, ", "))
	case v.Verdict == Fails:
		v.conclude(Partly, fmt.Sprintf(" %s; %s", strings.Join(yes, ", "), v.Text))
	default:
		v.conclude(v.Verdict, v.Detail+"; it comes true under "+strings.Join(yes, ", "))
	}
}
