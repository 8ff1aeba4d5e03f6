package validate

import (
	"fmt"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/report/units"
)

// blank is the verdict on a question before there is any.
func (q *question) blank() Verdict {
	return Verdict{
		Algorithm: q.algorithm.Name, Quantity: q.claim.Quantity.Name, Formula: q.claim.Formula,
		Load: string(q.claim.Load), Kind: string(q.claim.Kind), Source: q.claim.Source,
		Set: q.set, KnownFalse: q.claim.KnownFalse, Points: []Point{}, Shown: -1,
	}
}

// verdict says what came of a question.
func (p *plan) verdict(q *question) Verdict {
	v := q.blank()
	if q.reason != "" {
		v.Verdict, v.Text = NotMeasurable, string(NotMeasurable)+": "+q.reason
		return v
	}
	points, planned := q.judge()
	for _, x := range points {
		v.Points = append(v.Points, x.Point)
		v.Runs += x.Runs
	}
	switch {
	case q.growth():
		v.Fits = q.fit(points)
		v.Verdict, v.Text = q.growthWord(v.Fits, points)
		v.Text += p.notOver(q, v.Fits)
	case len(points) == 0 && planned:
		v.Verdict, v.Text = NotRun, fmt.Sprintf("%s (%s)", NotRun, p.notRun())
	case len(points) == 0:
		v.Verdict, v.Text = NotMeasurable, string(NotMeasurable)+": no run told it"
	default:
		v.Verdict, v.Text = word(q.claim.Kind, points)
	}
	v.Shown = shown(q.claim.Kind, v.Verdict, points)
	q.qualify(&v, points)
	return v
}

// judge compares the claim with every cell that was run; planned says whether
// there are others.
func (q *question) judge() (points []judged, planned bool) {
	for _, x := range q.points {
		s := disagrees
		if x.Agrees {
			s = agrees
		}
		points = append(points, judged{Point: x, standing: s, found: x.How})
	}
	for _, c := range q.cells {
		x, ok := q.point(c)
		if ok {
			points = append(points, x)
		}
		planned = planned || !ok && slices.ContainsFunc(c.samples, func(s *sample) bool { return s == nil })
		planned = planned || len(c.samples) == 0
	}
	return points, planned
}

// notOver says that a growth was not measured over a real network, where it was
// measured at all.
func (p *plan) notOver(q *question, fits []Fit) string {
	real := slices.ContainsFunc(fits, func(f Fit) bool { return f.Transport == realNetwork })
	if real || q.static() || len(fits) == 0 || p.opt.Transport != "sim" {
		return ""
	}
	return fmt.Sprintf("; over %s %s (%s)", realNetwork, NotRun, p.notRun())
}

// notRun says why there are no runs.
func (p *plan) notRun() string {
	if p.opt.Mode == Quick {
		return "--quick"
	}
	return "the time ran out"
}

// word is the verdict on a claim that is judged point by point.
func word(kind dme.ClaimKind, points []judged) (Word, string) {
	var yes, no, open []judged
	for _, p := range points {
		switch p.standing {
		case agrees:
			yes = append(yes, p)
		case disagrees:
			no = append(no, p)
		default:
			open = append(open, p)
		}
	}
	switch {
	case len(no) == 0 && len(yes) == 0:
		return Undecided, string(Undecided) + ": the intervals are too wide; more repetitions would tell"
	case len(no) == 0 && len(open) > 0:
		return Holds, fmt.Sprintf("%s (%s); undecided for %s", Holds, sense(kind, yes), where(open))
	case len(no) == 0:
		return Holds, fmt.Sprintf("%s (%s)", Holds, sense(kind, yes))
	case len(yes) == 0:
		return Fails, fmt.Sprintf("%s: %s", Fails, against(worst(no)))
	}
	return Partly, fmt.Sprintf("%s %s; fails for %s: %s", Partly, part(yes, no), where(no), against(worst(no)))
}

// sense says in what sense a claim holds.
func sense(kind dme.ClaimKind, points []judged) string {
	runs, tolerated := 0, 0
	for _, p := range points {
		runs += p.Runs
		if strings.HasPrefix(p.How, "within ") {
			tolerated++
		}
	}
	in := fmt.Sprintf("in %s runs", units.Count(uint64(runs)))
	if runs == 0 {
		in = fmt.Sprintf("at %d sizes", len(points))
	}
	switch {
	case kind == dme.Exact:
		return "equal " + in
	case kind == dme.Mean && runs > 0:
		switch {
		case tolerated == 0:
			return in + ", always in the interval"
		case tolerated == len(points):
			return in + ", always " + maxTolerance(points)
		}
		return fmt.Sprintf("%s, in the interval or %s", in, maxTolerance(points))
	}
	if runs > 0 {
		return in + " searched"
	}
	return in
}

// maxTolerance is the widest tolerance that was made use of.
func maxTolerance(points []judged) string {
	text, most := "", -1.0
	for _, p := range points {
		if t, ok := strings.CutPrefix(strings.Split(p.How, ";")[0], "within "); ok && p.tolerance() > most {
			text, most = "within "+t, p.tolerance()
		}
	}
	return text
}

func (p judged) tolerance() float64 {
	if p.cell == nil {
		return 0
	}
	return p.cell.tolerance(meter{})
}

// against is a point that speaks against a claim.
func against(p judged) string {
	text := fmt.Sprintf("%s, not %s, for N = %s", p.found, units.Number(p.Predicted), units.Count(uint64(p.Nodes)))
	if p.Condition != "" {
		text += " under " + p.place()
	}
	return text
}

func (p judged) place() string {
	if p.Transport != "" && p.Transport != "sim" {
		return p.Condition + " over " + p.Transport
	}
	return p.Condition
}

// worst returns the point that is furthest from its prediction.
func worst(points []judged) judged {
	return slices.MaxFunc(points, func(a, b judged) int {
		switch {
		case a.off < b.off:
			return -1
		case a.off > b.off:
			return 1
		}
		return b.Nodes - a.Nodes
	})
}

// part says what the points where a claim holds have that the others do not:
// whole conditions, or sizes up to or from one on.
func part(yes, no []judged) string {
	conditionsOf := func(points []judged) (all []string) {
		for _, p := range points {
			if !slices.Contains(all, p.place()) {
				all = append(all, p.place())
			}
		}
		return all
	}
	with, without := conditionsOf(yes), conditionsOf(no)
	if !slices.ContainsFunc(with, func(c string) bool { return slices.Contains(without, c) }) {
		return strings.Join(with, ", ")
	}
	span := func(points []judged) (least, most int) {
		least, most = points[0].Nodes, points[0].Nodes
		for _, p := range points {
			least, most = min(least, p.Nodes), max(most, p.Nodes)
		}
		return least, most
	}
	leastYes, mostYes := span(yes)
	leastNo, mostNo := span(no)
	switch {
	case mostYes < leastNo:
		return fmt.Sprintf("N ≤ %s", units.Count(uint64(mostYes)))
	case leastYes > mostNo:
		return fmt.Sprintf("N ≥ %s", units.Count(uint64(leastYes)))
	}
	return where(yes)
}

// where lists points: conditions with their sizes.
func where(points []judged) string {
	var order []string
	sizes := make(map[string][]int)
	for _, p := range points {
		place := p.place()
		if sizes[place] == nil {
			order = append(order, place)
		}
		sizes[place] = append(sizes[place], p.Nodes)
	}
	var parts []string
	for _, place := range order {
		n := sizes[place]
		slices.Sort(n)
		text := "N = " + list(slices.Compact(n))
		if place != "" {
			text = fmt.Sprintf("%s (%s)", place, text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func list(numbers []int) string {
	var words []string
	for _, n := range numbers {
		words = append(words, units.Count(uint64(n)))
	}
	return strings.Join(words, " ")
}

// qualify gives a claim that is known to be false its own verdict.
func (q *question) qualify(v *Verdict, points []judged) {
	if q.claim.KnownFalse == "" || v.Verdict == NotRun || v.Verdict == NotMeasurable {
		return
	}
	var no []judged
	for _, p := range points {
		if p.standing == disagrees {
			no = append(no, p)
		}
	}
	switch {
	case q.growth() && (v.Verdict == Fails || v.Verdict == Partly):
		v.Verdict, v.Text = KnownFalse, fmt.Sprintf("%s: %s (shown: %s)", KnownFalse, q.claim.KnownFalse, v.Text)
	case !q.growth() && len(no) > 0:
		v.Verdict, v.Text = KnownFalse, fmt.Sprintf("%s: %s (shown: %s)", KnownFalse, q.claim.KnownFalse, against(worst(no)))
	default:
		v.Verdict, v.Text = NotShown, fmt.Sprintf("%s: %s", NotShown, q.claim.KnownFalse)
	}
}

// shown chooses the point to show of all: the one furthest off where the claim
// does not hold everywhere, for a bound the one closest to it, and otherwise the
// largest system under the first condition.
func shown(kind dme.ClaimKind, w Word, points []judged) int {
	if len(points) == 0 {
		return -1
	}
	best := 0
	for i, p := range points {
		b := points[best]
		bound := kind == dme.UpperBound || kind == dme.LowerBound
		switch {
		case w != Holds && w != Undecided || bound:
			if p.off > b.off {
				best = i
			}
		case p.Condition == points[0].Condition && p.Transport == points[0].Transport && p.Nodes > b.Nodes:
			best = i
		}
	}
	return best
}
