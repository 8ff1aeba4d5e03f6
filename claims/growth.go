package claims

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dmebench/dme/claim"
	"dmebench/stats"
	"dmebench/units"
)

// Requirements on a fit of a growth, and on its agreement with a claim.
const (
	leastSizes = 5  // different sizes
	leastRange = 10 // largest over smallest
	better     = 2  // difference of AICc from which on another growth is better
	refuting   = 10 // from which on it refutes an O(…): Burnham and Anderson 2002, section 2.6
)

// Series is what was measured under one condition at several sizes: one value
// for each repetition.
type Series struct {
	condition, transport string
	n, y                 []float64
	claimed              map[float64]float64 // f(N)
}

// searched is the condition of what is the largest value found under any.
const searched = "the most expensive entry or run found"

// seriesOf collects values by condition. Of the worst case, the largest value of
// each size counts.
func (q *Question) seriesOf(evidence []Evidence) []*Series {
	var all []*Series
	for _, e := range evidence {
		worst := q.Claim.Load == claim.Worst
		condition := e.Condition
		if worst {
			condition = searched
		}
		i := slices.IndexFunc(all, func(s *Series) bool { return s.condition == condition && s.transport == e.Transport })
		if i < 0 {
			i = len(all)
			all = append(all, &Series{condition: condition, transport: e.Transport, claimed: make(map[float64]float64)})
		}
		s, n := all[i], float64(e.Nodes)
		_, known := s.claimed[n]
		s.claimed[n] = e.Predicted
		switch {
		case !worst:
			s.Add(e.Nodes, e.values...)
		case !known:
			s.Add(e.Nodes, *e.Max)
		default:
			at := slices.Index(s.n, n)
			s.y[at] = max(s.y[at], *e.Max)
		}
	}
	for _, s := range all {
		s.sort()
	}
	return all
}

// Add adds what was measured at one size.
func (s *Series) Add(nodes int, values ...float64) {
	for _, y := range values {
		s.n, s.y = append(s.n, float64(nodes)), append(s.y, y)
	}
}

// sort brings the observations into the order of sizes, so that a fit does not
// depend on the order in which they came.
func (s *Series) sort() {
	order := make([]int, len(s.n))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(s.n[a], s.n[b]), cmp.Compare(s.y[a], s.y[b])) })
	n, y := slices.Clone(s.n), slices.Clone(s.y)
	for i, k := range order {
		s.n[i], s.y[i] = n[k], y[k]
	}
}

// sizes returns the different sizes.
func (s *Series) sizes() []int {
	var sizes []int
	for _, n := range s.n {
		sizes = append(sizes, int(n))
	}
	return slices.Compact(sizes)
}

// enough reports whether the sizes are many and far enough apart for a fit to
// mean something.
func (s *Series) enough() bool {
	sizes := s.sizes()
	return len(sizes) >= leastSizes && sizes[len(sizes)-1] >= leastRange*sizes[0]
}

// fit compares a claim about growth with the growths measured.
func (q *Question) fit(evidence []Evidence) []Fit {
	fits := []Fit{}
	for _, s := range q.seriesOf(evidence) {
		if !s.enough() {
			continue
		}
		claimed := stats.Growth{Name: q.Claim.Formula, Of: func(n float64) float64 { return s.claimed[n] }}
		ranking, err := stats.Rank(s.n, s.y, append([]stats.Growth{claimed}, rivals(q.Claim.Growth)...)...)
		if err != nil {
			continue
		}
		own, _ := stats.FitGrowth(s.n, s.y, claimed) // as in the ranking, where rivals may have its name
		f := Fit{
			Condition: s.condition, Transport: s.transport, Sizes: s.sizes(), Claimed: q.Claim.Formula,
			A: boundsOf(own.A), C: boundsOf(own.C), Ranking: rankingOf(ranking), Residuals: residualsOf(s.n, own.Residuals),
		}
		f.Exponent, _ = exponentOf(s.n, s.y)
		from := slices.Index(s.n, float64(f.Sizes[len(f.Sizes)/2]))
		larger, _ := stats.FitGrowth(s.n[from:], s.y[from:], claimed) // of nothing if there is none
		f.Standing = f.judge(q.Claim.Growth, s, own, ranking, larger.C.Value)
		f.Agrees = f.Standing == Agrees
		fits = append(fits, f)
	}
	return fits
}

// rivals returns the growths that compete with the claimed one.
func rivals(claimed claim.Growth) []stats.Growth {
	return slices.DeleteFunc(stats.Growths(), func(g stats.Growth) bool {
		if claimed.Log {
			return g.Name == stats.Log().Name
		}
		return math.Abs(g.Of(2)-math.Pow(2, claimed.Exponent)) < 1e-9
	})
}

// judge says whether measured values grow as claimed. An O(…) bounds the growth and leaves the
// coefficient open; what speaks against it only a little leaves it undecided. Another formula is
// claimed with its coefficient, which a fit over small systems too has only nearly: larger, its
// coefficient over the larger half of the sizes, is at most half as far off. A wrong coefficient is
// not.
func (f *Fit) judge(claimed claim.Growth, s *Series, own stats.Fit, ranking []stats.Fit, larger float64) Standing {
	lo, hi := s.n[0], s.n[len(s.n)-1]
	faster := func(g stats.Growth) bool {
		return growth(g, lo, hi) > 1.05*growth(own.Growth, lo, hi)
	}
	best := ranking[0]
	f.How = fmt.Sprintf("a + c·f with c = %s, a = %s; y/f = %s for N = %s",
		around(own.C), around(own.A), units.Number(s.mean(hi)/own.Growth.Of(hi)), units.Count(uint64(hi)))
	rank := slices.IndexFunc(ranking, func(f stats.Fit) bool { return f.Growth.Name == own.Growth.Name })
	behind := ranking[rank].Delta
	beaten := behind > better
	if claimed.Order {
		switch {
		case beaten && faster(best.Growth):
			f.How = fmt.Sprintf("%s fits better (by %s in AICc)", best.Growth.Name, units.Number(behind))
			if behind <= refuting {
				return Open
			}
			return Differs
		case beaten:
			f.How = fmt.Sprintf("no faster: %s fits better", best.Growth.Name)
		}
		return Agrees
	}
	off := math.Abs(own.C.Value - 1)
	left := math.Abs(own.At(hi)-s.mean(hi)) / math.Abs(s.mean(hi)) // by the fit, of the largest system
	exact := own.C.Contains(1) || off <= reached
	switch {
	case !exact && off > asClaimed:
		return Differs
	case beaten && left > asClaimed:
		f.How = fmt.Sprintf("%s fits better", best.Growth.Name)
		return Differs
	}
	if !exact || beaten && left > reached {
		f.Tolerance, f.ToleranceFor = asClaimed, becauseOfTerms
	}
	if exact {
		return Agrees
	}
	f.How += fmt.Sprintf("; c = %s over the larger half", units.Number(larger))
	if 2*math.Abs(larger-1) <= off {
		return Agrees
	}
	return Open
}

// mean returns the mean of the values at one size.
func (s *Series) mean(n float64) float64 {
	sum, count := 0.0, 0.0
	for i := range s.n {
		if s.n[i] == n {
			sum, count = sum+s.y[i], count+1
		}
	}
	return sum / count
}

// growth is by how much a growth grows, infinite from 0 on.
func growth(g stats.Growth, lo, hi float64) float64 { return g.Of(hi) / g.Of(lo) }

func around(i stats.Interval) string {
	if i.Lo == i.Hi {
		return units.Number(i.Value)
	}
	return fmt.Sprintf("%s ± %s", units.Number(i.Value), units.Number(i.Hi-i.Value))
}

func boundsOf(i stats.Interval) Bounds {
	return Bounds{Value: i.Value, Lo: stats.Known(i.Lo), Hi: stats.Known(i.Hi)}
}

func rankingOf(fits []stats.Fit) []Ranked {
	all := []Ranked{}
	for _, f := range fits {
		r := Ranked{Growth: f.Growth.Name, A: boundsOf(f.A), C: boundsOf(f.C), AICc: stats.Known(f.AICc), Delta: stats.Known(f.Delta)}
		all = append(all, r)
	}
	return all
}

// exponentOf fits p of y = a + c·N^p, and the slope of ln y over ln N.
func exponentOf(n, y []float64) (p, slope *Bounds) {
	e, err := stats.FreeExponent(n, y)
	if err != nil {
		return nil, nil
	}
	free := boundsOf(e.P)
	if !math.IsNaN(e.LogLog.Value) {
		b := boundsOf(e.LogLog)
		slope = &b
	}
	return &free, slope
}

func residualsOf(n, residuals []float64) []Residual {
	all := []Residual{}
	for i := 0; i < len(n); {
		sum, k := 0.0, i
		for ; k < len(n) && n[k] == n[i]; k++ {
			sum += residuals[k]
		}
		all = append(all, Residual{Nodes: int(n[i]), Value: sum / float64(k-i)})
		i = k
	}
	return all
}

// grows is the verdict on a claim about growth.
func (q *Question) grows(fits []Fit, evidence []Evidence) (Status, string) {
	if len(fits) == 0 {
		sizes := 0
		for _, s := range q.seriesOf(evidence) {
			sizes = max(sizes, len(s.sizes()))
		}
		const needs = ": a growth needs %d sizes, the largest %d times the smallest; there are only %d"
		return NotRun, fmt.Sprintf(needs, leastSizes, leastRange, sizes)
	}
	texts := make(map[Standing][]string)
	for _, f := range fits {
		least, most := f.Sizes[0], f.Sizes[len(f.Sizes)-1]
		text := fmt.Sprintf("%s, %d sizes %s…%s", f.How, len(f.Sizes), units.Count(uint64(least)), units.Count(uint64(most)))
		if f.Transport != "" {
			text = strings.TrimSpace(f.Transport+" "+f.Condition) + ": " + text
		}
		texts[f.Standing] = append(texts[f.Standing], text)
	}
	yes, no, open := strings.Join(texts[Agrees], "; "), strings.Join(texts[Differs], "; "), strings.Join(texts[Open], "; ")
	switch {
	case yes == "" && no == "":
		return Undecided, ": " + open
	case no == "" && open != "":
		return Holds, fmt.Sprintf(" (%s); undecided for %s", yes, open)
	case no == "":
		return Holds, fmt.Sprintf(" (%s)", yes)
	case yes == "":
		return Fails, ": " + no
	}
	return Partly, fmt.Sprintf(" %s; not for %s", yes, no)
}

// Scaling describes how messages per CS grow, as measured under one condition;
// ok is false with too few sizes.
func (s *Series) Scaling(x *Scaling) (ok bool) {
	s.sort()
	if !s.enough() {
		return false
	}
	ranking, err := stats.Rank(s.n, s.y, stats.Growths()...)
	if err != nil {
		return false
	}
	x.Ranking, x.Best = rankingOf(ranking), ranking[0].Growth.Name
	x.A, x.C = boundsOf(ranking[0].A), boundsOf(ranking[0].C)
	x.Exponent, x.LogLog = exponentOf(s.n, s.y)
	return true
}

// ScalingPointOf describes one size; members is K−1, NaN if there are no request sets.
func ScalingPointOf(nodes int, perCS []float64, members float64) ScalingPoint {
	mean := estimateOf(perCS, 1).mean
	n := float64(nodes)
	return ScalingPoint{
		Nodes: nodes, Runs: len(perCS), PerCS: mean,
		PerSqrtN: mean / math.Sqrt(n), PerCubeRoot: mean / math.Cbrt(n), PerLogN: mean / math.Log2(n),
		PerMember: stats.Known(mean / members),
	}
}
