package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Exponent is the least-squares fit of y = a + c·N^p with p free.
type Exponent struct {
	// P lies between LowestExponent and HighestExponent. Its interval is that of
	// the profile likelihood: all p for which RSS(p) ≤ RSS·(1 + F/(n−3)), with F the
	// 95% quantile of the F distribution with 1 and n−3 degrees of freedom. A bound
	// is infinite where the search ended before it was found. Where several parts
	// of the axis qualify the interval spans them.
	//
	// Over few sizes it is wide: a, c and p can stand in for one another.
	P Interval

	// Fit is the fit with that exponent; with log N where p is 0. Its intervals of
	// a and c hold for a given p, hence are narrower than the ignorance of p
	// allows; DF, SD and AICc count p as a parameter.
	Fit Fit

	// LogLog is the slope of ln y over ln N. It is secondary: it takes y = c·N^p
	// for granted, so that an intercept distorts it. For 3(√N − 1) it is 0.69 over
	// N = 4 … 64, and not 0.5. NaN where y is not positive everywhere.
	LogLog Interval

	Warnings []string
}

// Where FreeExponent looks for an exponent. The negative ones are those of what
// approaches a constant, such as 3(N−1)/N.
const (
	LowestExponent  = -3
	HighestExponent = 4
)

const (
	freeSizes      = 4    // with three sizes some exponent always fits
	gridStep       = 1e-2 // far below what data can tell apart
	finestStep     = 1e-13
	freeParameters = 3    // of the curve: a, c and p
	indistinct     = 1e-6 // an exponent so close to 0 is that of log N: N^p would be 1 but for rounding
)

// FreeExponent fits y = a + c·N^p to the observations y[i] at n[i] nodes. It
// needs 4 different sizes. It fails where y does not vary: then any exponent
// fits, with c = 0.
func FreeExponent(n, y []float64) (Exponent, error) {
	sizes, err := observations(n, y, freeSizes)
	if err != nil {
		return Exponent{}, err
	}
	if slices.Min(y) == slices.Max(y) {
		return Exponent{}, errors.New("stats: all values are equal, so that there is no growth whose exponent could be estimated")
	}
	profile := newProfile(n, y)
	p := profile.minimum()
	growth := Power(p)
	if math.Abs(p) < indistinct {
		p, growth = 0, Log()
	}
	fit, err := FitGrowth(n, y, growth)
	if err != nil {
		return Exponent{}, err
	}
	e := Exponent{P: point(p), Fit: fit, LogLog: logLog(n, y)}
	e.Fit.Sizes, e.Fit.DF = sizes, len(y)-freeParameters
	if rss := profile.rss(p); !fit.Exact {
		e.Fit.SD = math.Sqrt(rss / float64(e.Fit.DF))
		e.Fit.AICc = aicc(rss, len(y), freeParameters+1)
		t := student(e.Fit.DF) // F with 1 and ν degrees of freedom is the square of t with ν
		limit := rss * (1 + t*t/float64(e.Fit.DF))
		e.P.Lo, e.P.Hi = profile.bound(p, limit, LowestExponent), profile.bound(p, limit, HighestExponent)
		if math.IsInf(e.P.Lo, 0) || math.IsInf(e.P.Hi, 0) {
			e.Warnings = append(e.Warnings, "the observations do not bound the exponent; more sizes, further apart, would")
		}
	}
	if math.IsNaN(e.LogLog.Value) {
		e.Warnings = append(e.Warnings, "values that are not positive have no log-log slope")
	}
	return e, nil
}

// profile is the residual sum of squares as a function of the exponent, with a
// and c at their best for it.
type profile struct {
	logs []float64 // ln N around their mean
	y    []float64
	x    []float64 // scratch
}

func newProfile(n, y []float64) *profile {
	p := &profile{y: y, x: make([]float64, len(n)), logs: make([]float64, len(n))}
	mean := 0.0
	for _, n := range n {
		mean += math.Log(n) / float64(len(p.logs))
	}
	for i := range n {
		p.logs[i] = math.Log(n[i]) - mean
	}
	return p
}

// rss fits a line over N^p − 1, with N scaled to geometric mean 1, and over ln N for
// p = 0, which (N^p − 1)/p tends to. That is the same curve as a + c·N^p, without the
// gap at p = 0 and without huge powers.
func (p *profile) rss(exponent float64) float64 {
	for i, l := range p.logs {
		if p.x[i] = l; exponent != 0 {
			p.x[i] = math.Expm1(exponent * l)
		}
	}
	return fitLine(p.x, p.y).rss
}

// minimum searches a grid, then ever finer ones around the best place.
func (p *profile) minimum() float64 {
	best, least := 0.0, math.Inf(1)
	lo, hi := float64(LowestExponent), float64(HighestExponent)
	for step := gridStep; step > finestStep; step /= 10 {
		for k := 0.0; lo+k*step <= hi; k++ {
			if rss := p.rss(lo + k*step); rss < least {
				best, least = lo+k*step, rss
			}
		}
		lo, hi = math.Max(best-step, LowestExponent), math.Min(best+step, HighestExponent)
	}
	return best
}

// bound returns the exponent beside best from which on rss exceeds limit as far as
// end, the lowest exponent or the highest; infinite where it does not at the end.
func (p *profile) bound(best, limit, end float64) float64 {
	if p.rss(end) <= limit {
		return math.Inf(int(end))
	}
	inside, outside, step := best, end, math.Copysign(gridStep, end)
	for e := end; (e > best) == (end > best); e -= step {
		if p.rss(e) <= limit {
			inside = e
			break
		}
	}
	for range 64 {
		middle := (inside + outside) / 2
		if p.rss(middle) <= limit {
			inside = middle
		} else {
			outside = middle
		}
	}
	return inside
}

// logLog is the slope of ln y over ln N with its t-interval; NaN where a y has no
// finite logarithm.
func logLog(n, y []float64) Interval {
	logs := make([]float64, len(y))
	for i, v := range y {
		logs[i] = math.Log(v)
	}
	f, err := FitGrowth(n, logs, Log())
	if err != nil {
		return point(math.NaN())
	}
	return f.C
}

// Growth is a function of the number of nodes that a quantity may grow with.
type Growth struct {
	Name string                  // as on a page: "N^(2/3)"
	Of   func(n float64) float64 // finite for every n ≥ 1
}

// The growths that papers of the field speak of, from the slowest on. Constant
// is the growth of what does not grow.
func Constant() Growth   { return Growth{"constant", func(float64) float64 { return 1 }} }
func Log() Growth        { return Growth{"log N", math.Log} }
func CubeRoot() Growth   { return Growth{"N^(1/3)", math.Cbrt} }
func SquareRoot() Growth { return Growth{"N^(1/2)", math.Sqrt} }
func TwoThirds() Growth {
	return Growth{"N^(2/3)", func(n float64) float64 { x := math.Cbrt(n); return x * x }}
}
func Linear() Growth { return Growth{"N", func(n float64) float64 { return n }} }

// Growths returns them all, from the slowest on.
func Growths() []Growth {
	return []Growth{Constant(), Log(), CubeRoot(), SquareRoot(), TwoThirds(), Linear()}
}

// Power is the growth with the p-th power of N, for any exponent p.
func Power(p float64) Growth {
	return Growth{fmt.Sprintf("N^%.4g", p), func(n float64) float64 { return math.Pow(n, p) }}
}
