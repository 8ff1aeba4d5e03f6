package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/platform"
	"dmebench/runs"
	"dmebench/stats"
)

// theory evaluates claims for the cells of an experiment.
type theory struct {
	in    Input
	known map[string]prepared // preparing a system may be expensive
}

type prepared struct {
	setting      dme.Setting
	circumstance claims.Circumstance
	ok           bool
}

func newTheory(in Input) *theory { return &theory{in, make(map[string]prepared)} }

// prepare returns the system of a run.
func (t *theory) prepare(s runs.Spec) prepared {
	if t.in.Setting == nil {
		return prepared{circumstance: claims.Of(s, true, true)}
	}
	key := fmt.Sprintf("%+v", s)
	p, known := t.known[key]
	if !known {
		p.setting, p.circumstance, p.ok = t.in.Setting(s)
		t.known[key] = p
	}
	return p
}

// about returns the claims about a quantity that speak of runs like s, the
// sharpest kind first and what is known to be false last.
func (t *theory) about(q claim.Quantity, s runs.Spec) claim.List {
	if t.in.Claims == nil {
		return nil
	}
	return t.prepare(s).circumstance.About(q, t.in.Claims(s.Algorithm))
}

// predicting returns those that give a number.
func (t *theory) predicting(q claim.Quantity, s runs.Spec) claim.List {
	return slices.DeleteFunc(t.about(q, s), func(c claim.Claim) bool { return c.Kind == claim.Asymptotic })
}

// predict evaluates a claim that speaks of no time for a run.
func (t *theory) predict(c claim.Claim, s runs.Spec) (float64, bool) {
	p := t.prepare(s)
	if !p.ok {
		return 0, false
	}
	return c.Prediction(p.setting)
}

// predictCell evaluates a claim for a cell, if it speaks of that. T and E, on
// which times depend, are those that were measured there; times are in nanoseconds.
func (t *theory) predictCell(k claim.Claim, c *cell) (float64, bool) {
	if !t.prepare(c.First.Result.Spec).circumstance.Covers(k) {
		return 0, false
	}
	if !timed(k.Quantity) {
		return t.predict(k, c.First.Result.Spec)
	}
	p := t.prepare(c.First.Result.Spec)
	delay, hold := c.estimates[runs.HandoverDelay], c.estimates[runs.MeanHold]
	if delay.N == 0 {
		delay = c.estimates[runs.MeanDelay]
	}
	if !p.ok || delay.N == 0 || delay.Median <= 0 {
		return 0, false
	}
	p.setting.T = time.Duration(delay.Median)
	if hold.N > 0 {
		p.setting.E = time.Duration(hold.Median)
	}
	x, ok := k.Prediction(p.setting)
	if k.Quantity == claim.ResponseTime {
		x *= 1e9 // claims count seconds
	}
	return x, ok
}

// timed reports whether predictions of a quantity depend on T and E, which are known only if they
// were measured.
func timed(q claim.Quantity) bool { return q == claim.ResponseTime || q == claim.Throughput }

// Between measured sizes a curve is evaluated at up to curveSteps more, but
// none beyond curveLimit, where preparing a system takes long.
const (
	curveSteps = 24
	curveLimit = 400
)

// curveSizes returns the sizes to evaluate a curve at: the measured ones, and some between them,
// closer together if they are small.
func curveSizes(measured []int) []int {
	if len(measured) == 0 {
		return nil
	}
	sizes := slices.Clone(measured)
	lo, hi := float64(measured[0]), float64(measured[len(measured)-1])
	for i := 1; i < curveSteps && lo > 0; i++ {
		n := int(math.Round(lo * math.Pow(hi/lo, float64(i)/curveSteps)))
		if n <= curveLimit {
			sizes = append(sizes, n)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// formula writes a claim as in a legend: "2(N−1) (TR-869 §4.1)", with the links
// that it is made of. The rest of a claim, beyond formula and first source, stands
// on the page.
func formula(c claim.Claim) string {
	text := sign(c.Kind) + brief(c.Formula)
	if c.EqualDelays {
		text += ", links of equal delay"
	}
	if c.FIFO {
		text += ", links that keep order"
	}
	if c.KnownFalse != "" {
		text += ", known to be false"
	}
	return fmt.Sprintf("%s (%s)", text, citation(c.Source))
}

// brief cuts a formula before its explanation, "3(N−1)/N: 3, but 0 for …", or
// "2(N−1) (a line)"; a factor in brackets, as in "2 · (N−1)", is no explanation.
func brief(formula string) string {
	if i := strings.IndexAny(formula, ":;"); i > 0 {
		formula = formula[:i]
	}
	i := strings.LastIndex(formula, " (")
	if i > 0 && strings.HasSuffix(formula, ")") && !strings.ContainsRune("·*/+-−×=≈", last(formula[:i])) {
		formula = formula[:i]
	}
	return formula
}

func last(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// citation cuts a source to its first work and writes § for section: "TR-869 §4".
func citation(source string) string {
	source = quoted().ReplaceAllString(source, "")
	if i := strings.IndexAny(source, ":;"); i > 0 {
		source = source[:i]
	}
	return strings.NewReplacer(", sections ", " §§", ", section ", " §", "section ", "§").Replace(strings.TrimSpace(source))
}

// quoted is the title of a work, which a legend has no room for.
var quoted = platform.Pattern(` ?["“][^"”]*["”]`)

func sign(k claim.Kind) string {
	switch k {
	case claim.UpperBound:
		return "≤ "
	case claim.LowerBound:
		return "≥ "
	case claim.Mean:
		return "mean "
	}
	return ""
}

// agrees says how the values of a cell's runs compare with a prediction: "equal" or "differs" for
// an exact claim, "within" or "exceeded" for a bound, "" if a comparison needs more than a look.
func agrees(c claim.Claim, predicted float64, values []float64) string {
	if len(values) == 0 {
		return ""
	}
	holds, judged := c.Kind.Agrees(predicted, slices.Min(values), slices.Max(values))
	words := map[claim.Kind][2]string{
		claim.Exact:      {"equal", "differs"},
		claim.UpperBound: {"within", "exceeded"},
		claim.LowerBound: {"within", "below"},
	}[c.Kind]
	switch {
	case !judged:
		return ""
	case holds:
		return words[0]
	}
	return words[1]
}

// bound is by how much a metric of the cell may be wrong because clocks of several hosts were
// compared for it; 0 if no such time is in it.
func (c *cell) bound(metric string) float64 {
	switch metric {
	case runs.SyncDelayP50, runs.SyncDelayMean, runs.SyncDelayP99:
		return c.clockBound()
	case runs.SyncDelayOverT:
		if t := c.estimates[runs.MeanDelay]; t.N > 0 && t.Median > 0 {
			return c.clockBound() / t.Median
		}
	}
	return 0
}

// widened returns a metric with an interval that reaches further by what clocks may be wrong, and
// that bound; 0 if no time of several clocks is in it.
func (c *cell) widened(metric string) (e stats.Estimate, bound float64) {
	e, bound = c.estimates[metric], c.bound(metric)
	if e.N == 0 || bound == 0 {
		return e, 0
	}
	if !e.Bounded() {
		e.Lo, e.Hi = e.Median, e.Median
	}
	e.Lo, e.Hi = e.Lo-bound, e.Hi+bound
	return e, bound
}
