package validate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dmebench/report/stats"
	"dmebench/report/units"
)

// What a fit of a growth needs, and when it agrees with a claim.
const (
	leastSizes = 5    // different sizes
	leastRange = 10   // largest over smallest
	asClaimed  = 0.05 // how far the coefficient of a formula may be off
	better     = 2    // difference of AICc from which on another growth is better
)

// series is what was measured under one condition at several sizes: one value
// for each repetition.
type series struct {
	condition, transport string
	n, y                 []float64
	claimed              map[float64]float64 // f(N)
}

// seriesOf collects the values of a claim's points by condition. Of the worst
// case, the largest value of each size counts.
func (q *question) seriesOf(points []judged) []*series {
	var all []*series
	find := func(condition, transport string) *series {
		for _, s := range all {
			if s.condition == condition && s.transport == transport {
				return s
			}
		}
		s := &series{condition: condition, transport: transport, claimed: make(map[float64]float64)}
		all = append(all, s)
		return s
	}
	type place struct {
		transport string
		nodes     float64
	}
	largest := make(map[place]float64)
	for _, p := range points {
		n := float64(p.Nodes)
		if q.claim.Load == "worst case" {
			at := place{p.Transport, n}
			largest[at] = max(largest[at], *p.Max)
			find("the dearest entry or run found", p.Transport).claimed[n] = p.Predicted
			continue
		}
		s := find(p.Condition, p.Transport)
		s.claimed[n] = p.Predicted
		if p.cell == nil {
			s.n, s.y = append(s.n, n), append(s.y, *p.Mean)
			continue
		}
		for _, x := range p.cell.sound() {
			if r := q.meter.read(x); !math.IsNaN(r.mean) {
				s.n, s.y = append(s.n, n), append(s.y, r.mean)
			}
		}
	}
	for at, x := range largest {
		s := find("the dearest entry or run found", at.transport)
		s.n, s.y = append(s.n, at.nodes), append(s.y, x)
	}
	for _, s := range all {
		s.sort()
	}
	return all
}

// sort brings the observations into the order of sizes, so that a fit does not
// depend on the order in which they came.
func (s *series) sort() {
	type point struct{ n, y float64 }
	points := make([]point, len(s.n))
	for i := range s.n {
		points[i] = point{s.n[i], s.y[i]}
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.y, b.y)) })
	for i, p := range points {
		s.n[i], s.y[i] = p.n, p.y
	}
}

// sizes returns the different sizes.
func (s *series) sizes() []int {
	var sizes []int
	for _, n := range s.n {
		sizes = append(sizes, int(n))
	}
	return slices.Compact(sizes)
}

// enough reports whether the sizes are many and far enough apart for a fit to
// mean something.
func (s *series) enough() bool {
	sizes := s.sizes()
	return len(sizes) >= leastSizes && sizes[len(sizes)-1] >= leastRange*sizes[0]
}

// fit compares a claim about growth with the growths measured.
func (q *question) fit(points []judged) []Fit {
	fits := []Fit{}
	for _, s := range q.seriesOf(points) {
		if !s.enough() {
			continue
		}
		claimed := stats.Growth{Name: q.claim.Formula, Of: func(n float64) float64 { return s.claimed[n] }}
		own, err := stats.FitGrowth(s.n, s.y, claimed)
		if err != nil {
			continue
		}
		ranking, err := stats.Rank(s.n, s.y, append([]stats.Growth{claimed}, s.rivals(claimed)...)...)
		if err != nil {
			continue
		}
		f := Fit{
			Condition: s.condition, Transport: s.transport, Sizes: s.sizes(), Claimed: q.claim.Formula,
			A: boundsOf(own.A), C: boundsOf(own.C), Ranking: rankingOf(ranking), Exponent: exponentOf(s.n, s.y),
			Residuals: residualsOf(s.n, own.Residuals),
		}
		f.Agrees, f.How = q.agreement(s, own, ranking)
		fits = append(fits, f)
	}
	return fits
}

// rivals returns the growths that compete with the claimed one: all but that
// which it is itself, up to a factor and an offset.
func (s *series) rivals(claimed stats.Growth) []stats.Growth {
	sizes := s.sizes()
	var n, f []float64
	for _, size := range sizes {
		n, f = append(n, float64(size)), append(f, claimed.Of(float64(size)))
	}
	return slices.DeleteFunc(stats.Growths(), func(g stats.Growth) bool {
		line, err := stats.FitGrowth(n, f, g)
		return err == nil && line.C.Value != 0 && 1-line.R2 < 1e-4
	})
}

// agreement says whether measured values grow as claimed. An O(…) bounds the
// growth and leaves the coefficient open; another formula is claimed with its
// coefficient.
func (q *question) agreement(s *series, own stats.Fit, ranking []stats.Fit) (bool, string) {
	lo, hi := s.n[0], s.n[len(s.n)-1]
	faster := func(g stats.Growth) bool {
		return growth(g, lo, hi) > 1.05*growth(own.Growth, lo, hi)
	}
	best := ranking[0]
	coefficient := fmt.Sprintf("a + c·f with c = %s, a = %s; y/f = %s for N = %s",
		around(own.C), around(own.A), units.Number(s.mean(hi)/own.Growth.Of(hi)), units.Count(uint64(hi)))
	exact := strings.Contains(q.claim.Formula, "O(")
	beaten := best.Growth.Name != own.Growth.Name && rankOf(ranking, own.Growth.Name).Delta > better
	switch {
	case exact && beaten && faster(best.Growth):
		return false, fmt.Sprintf("%s fits better (by %s in AICc)", best.Growth.Name, units.Number(rankOf(ranking, own.Growth.Name).Delta))
	case exact && beaten:
		return true, fmt.Sprintf("no faster: %s fits better", best.Growth.Name)
	case exact:
		return true, coefficient
	}
	off := math.Abs(own.C.Value - 1)
	inside := own.C.Contains(1) || off <= asClaimed
	switch {
	case !inside:
		return false, coefficient
	case beaten && math.Abs(own.At(hi)-s.mean(hi)) > asClaimed*math.Abs(s.mean(hi)):
		return false, fmt.Sprintf("%s fits better", best.Growth.Name)
	}
	return true, coefficient
}

// mean returns the mean of the values at one size.
func (s *series) mean(n float64) float64 {
	sum, count := 0.0, 0.0
	for i := range s.n {
		if s.n[i] == n {
			sum, count = sum+s.y[i], count+1
		}
	}
	return sum / count
}

func growth(g stats.Growth, lo, hi float64) float64 {
	if x := g.Of(lo); x != 0 {
		return g.Of(hi) / x
	}
	return math.Inf(1)
}

func rankOf(ranking []stats.Fit, name string) stats.Fit {
	i := slices.IndexFunc(ranking, func(f stats.Fit) bool { return f.Growth.Name == name })
	return ranking[i]
}

func around(i stats.Interval) string {
	if i.Lo == i.Hi {
		return units.Number(i.Value)
	}
	return fmt.Sprintf("%s ± %s", units.Number(i.Value), units.Number(i.Hi-i.Value))
}

func boundsOf(i stats.Interval) Bounds {
	return Bounds{Value: i.Value, Lo: known(i.Lo), Hi: known(i.Hi)}
}

func rankingOf(fits []stats.Fit) []Ranked {
	all := []Ranked{}
	for _, f := range fits {
		all = append(all, Ranked{Growth: f.Growth.Name, A: boundsOf(f.A), C: boundsOf(f.C), AICc: known(f.AICc), Delta: known(f.Delta)})
	}
	return all
}

func exponentOf(n, y []float64) *Bounds {
	e, err := stats.FreeExponent(n, y)
	if err != nil {
		return nil
	}
	b := boundsOf(e.P)
	return &b
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

// growthWord is the verdict on a claim about growth.
func (q *question) growthWord(fits []Fit, points []judged) (Word, string) {
	if len(fits) == 0 {
		sizes := 0
		for _, s := range q.seriesOf(points) {
			sizes = max(sizes, len(s.sizes()))
		}
		return NotRun, fmt.Sprintf("%s: a growth needs %d sizes, the largest %d times the smallest; there are %d", NotRun, leastSizes, leastRange, sizes)
	}
	var yes, no []string
	for _, f := range fits {
		place := f.Condition
		if f.Transport != "" {
			place = strings.TrimSpace(f.Transport + " " + f.Condition)
		}
		text := fmt.Sprintf("%s, %d sizes %s…%s", f.How, len(f.Sizes), units.Count(uint64(f.Sizes[0])), units.Count(uint64(f.Sizes[len(f.Sizes)-1])))
		if place != "" {
			text = place + ": " + text
		}
		if f.Agrees {
			yes = append(yes, text)
		} else {
			no = append(no, text)
		}
	}
	switch {
	case len(no) == 0:
		return Holds, fmt.Sprintf("%s (%s)", Holds, strings.Join(yes, "; "))
	case len(yes) == 0:
		return Fails, fmt.Sprintf("%s: %s", Fails, strings.Join(no, "; "))
	}
	return Partly, fmt.Sprintf("%s %s; not for %s", Partly, strings.Join(yes, "; "), strings.Join(no, "; "))
}
