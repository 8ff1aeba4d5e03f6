package stats

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is an estimate between the bounds of its 95% confidence interval.
type Interval struct{ Value, Lo, Hi float64 }

// Contains reports whether x is in the interval, bounds included.
func (i Interval) Contains(x float64) bool { return i.Lo <= x && x <= i.Hi }

// Fit is the least-squares fit of y = a + c·g(N).
//
// The intervals are Student's: they assume that the observations deviate from
// the curve independently, all with the same normal distribution. One value for
// each repetition comes closer to that than medians do, and leaves more degrees
// of freedom.
type Fit struct {
	Growth    Growth
	A, C      Interval  // C is 0 if the growth is constant
	Residuals []float64 // y − a − c·g(N), in the order of the observations
	Sizes     int       // different sizes among the observations
	DF        int       // degrees of freedom: observations − parameters
	SD        float64   // standard deviation of the residuals, with DF in the denominator
	R2        float64   // share of the variance of y that the curve explains; NaN if y does not vary

	// AICc is Akaike's information criterion with Hurvich's and Tsai's correction for small
	// samples, up to a constant: n·ln(RSS/n) + 2k + 2k(k+1)/(n−k−1), where k counts a, c and the
	// variance. It compares fits of the same observations; a smaller one is better. It is −Inf for
	// an exact fit, and NaN if n is below k+2.
	AICc float64

	// Delta is by how much AICc exceeds that of the best fit, as Rank finds: 0 for
	// the best and for every exact fit. Below 2 there is nothing to choose; above 10
	// nothing speaks for the fit.
	Delta float64

	// Exact is set if nothing but rounding remains: residuals and SD are 0, and
	// the intervals are points.
	Exact bool
}

// At returns the curve's value at n.
func (f Fit) At(n float64) float64 {
	if f.C.Value == 0 {
		return f.A.Value
	}
	return f.A.Value + f.C.Value*f.Growth.Of(n)
}

// leastSizes is how many different sizes a line needs so that it can be wrong.
const leastSizes = 3

// leastRanked is the number of observations from which on AICc is defined for
// a line: k + 2, with intercept, slope and variance.
const leastRanked = 5

// FitGrowth fits y = a + c·g(N) to the observations y[i] at n[i] nodes. Several
// observations may be of the same size. It needs 3 different sizes: through two
// of them every curve goes. A growth that is the same at every size, as Constant
// is, is fitted as y = a.
func FitGrowth(n, y []float64, g Growth) (Fit, error) {
	sizes, err := observations(n, y, leastSizes)
	if err != nil {
		return Fit{}, err
	}
	x := make([]float64, len(n))
	for i := range n {
		if x[i] = g.Of(n[i]); !Finite(x[i]) {
			return Fit{}, fmt.Errorf("stats: %s of %v nodes is not a number; choose sizes where it is", g.Name, n[i])
		}
	}
	l := fitLine(x, y)
	f := Fit{
		Growth: g, A: point(l.a), C: point(l.c), Residuals: l.residuals, Sizes: sizes,
		DF: len(y) - l.parameters, R2: 1 - l.rss/l.total, Exact: l.exact,
	}
	f.SD = math.Sqrt(l.rss / float64(f.DF))
	f.AICc = aicc(l.rss, len(y), l.parameters+1)
	if !l.exact {
		t := student(f.DF)
		f.A = around(l.a, t*f.SD*math.Sqrt(1/float64(len(y))+l.leverage()))
		if l.parameters == 2 {
			f.C = around(l.c, t*f.SD/math.Sqrt(l.sxx))
		}
	}
	return f, nil
}

// Rank fits every growth to the same observations and returns the fits with the
// best, by AICc, first. It needs 5 observations of 3 different sizes. Fits that
// are equally good, as several exact ones are, stay in the order given, but for
// one with fewer parameters, which precedes.
func Rank(n, y []float64, growths ...Growth) ([]Fit, error) {
	if len(n) < leastRanked {
		return nil, fmt.Errorf("stats: %d observations; ranking growths by AICc needs at least %d", len(n), leastRanked)
	}
	var fits []Fit
	for _, g := range growths {
		f, err := FitGrowth(n, y, g)
		if err != nil {
			return nil, err
		}
		fits = append(fits, f)
	}
	slices.SortStableFunc(fits, func(a, b Fit) int {
		return cmp.Or(cmp.Compare(a.AICc, b.AICc), cmp.Compare(b.DF, a.DF))
	})
	for i := range fits {
		if fits[i].AICc != fits[0].AICc { // −Inf − −Inf is no difference
			fits[i].Delta = fits[i].AICc - fits[0].AICc
		}
	}
	return fits, nil
}

func observations(n, y []float64, least int) (sizes int, err error) {
	if len(n) != len(y) {
		return 0, fmt.Errorf("stats: %d sizes for %d values; there must be one for each", len(n), len(y))
	}
	for i := range n {
		if !Finite(n[i]) || !Finite(y[i]) {
			return 0, fmt.Errorf("stats: observation %d (N = %v, y = %v) is not finite; leave it out", i+1, n[i], y[i])
		}
		if n[i] <= 0 {
			return 0, fmt.Errorf("stats: observation %d is of %v nodes; there must be more than 0", i+1, n[i])
		}
	}
	different := slices.Clone(n)
	slices.Sort(different)
	if sizes = len(slices.Compact(different)); sizes < least {
		return sizes, fmt.Errorf("stats: observations of %d different sizes; this fit needs at least %d", sizes, least)
	}
	return sizes, nil
}

// line is the least-squares line y = a + c·x.
type line struct {
	a, c       float64
	parameters int // 2; 1 where x does not vary and c is 0
	residuals  []float64
	rss, total float64 // sums of squares: of the residuals, and of y around its mean
	xm, sxx    float64 // mean of x, and sum of squares around it; for two parameters
	exact      bool
}

// rounding is how many units in the last place of the largest term residuals may have if they come
// from rounding alone.
const rounding = 32

func fitLine(x, y []float64) line {
	l := line{parameters: 2, residuals: make([]float64, len(y))}
	n := float64(len(x))
	ym, sxy := 0.0, 0.0
	for i := range x {
		l.xm += x[i] / n
		ym += y[i] / n
	}
	for i := range x {
		dx, dy := x[i]-l.xm, y[i]-ym
		l.sxx += dx * dx
		sxy += dx * dy
		l.total += dy * dy
	}
	if slices.Min(x) == slices.Max(x) {
		l.parameters = 1
	} else {
		l.c = sxy / l.sxx
	}
	if least := slices.Min(y); least == slices.Max(y) {
		ym, l.c, l.total = least, 0, 0
	}
	l.a = ym - l.c*l.xm
	var largest float64
	for i := range x {
		// Around the means: a large offset of x costs no digits.
		l.residuals[i] = y[i] - ym - l.c*(x[i]-l.xm)
		largest = math.Max(largest, math.Max(math.Abs(y[i]), math.Abs(l.c*x[i])))
	}
	l.exact = true
	for _, r := range l.residuals {
		l.rss += r * r
		l.exact = l.exact && math.Abs(r) <= rounding*0x1p-52*largest
	}
	if l.exact {
		clear(l.residuals)
		l.rss = 0
	}
	return l
}

// leverage is the part of the intercept's variance that comes from the slope's.
func (l line) leverage() float64 {
	if l.parameters == 1 {
		return 0
	}
	return l.xm * l.xm / l.sxx
}

// aicc is the criterion for k parameters, the variance among them.
func aicc(rss float64, n, k int) float64 {
	if n < k+2 {
		return math.NaN()
	}
	return float64(n)*math.Log(rss/float64(n)) + float64(2*k) + float64(2*k*(k+1))/float64(n-k-1)
}

// student is by how many standard errors a 95% interval reaches to either side.
func student(df int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile((1 + Confidence) / 2)
}

func point(x float64) Interval        { return Interval{x, x, x} }
func around(x, half float64) Interval { return Interval{x, x - half, x + half} }

// Finite reports whether x is neither infinite nor no number.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Exponent is the least-squares fit of y = a + c·N^p with p free.
type Exponent struct {
	// P lies between LowestExponent and HighestExponent. Its interval is that of the profile
	// likelihood: all p for which RSS(p) ≤ RSS·(1 + F/(n−3)), with F the 95% quantile of the F
	// distribution with 1 and n−3 degrees of freedom. A bound is infinite if the search ended
	// before it was found. If several parts of the axis qualify the interval spans them.
	//
	// Over few sizes it is wide: a, c and p can stand in for one another.
	P Interval

	// Fit is the fit with that exponent; with log N where p is 0. Its intervals of
	// a and c hold for a given p, hence are narrower than the ignorance of p
	// allows; DF, SD and AICc count p as a parameter.
	Fit Fit

	// LogLog is the slope of ln y over ln N. It is secondary: it takes y = c·N^p for granted, so
	// that an intercept distorts it. For 3(√N − 1) it is 0.69 over N = 4 … 64, and not 0.5. NaN if
	// y is not positive everywhere.
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

// FreeExponent fits y = a + c·N^p to the observations y[i] at n[i] nodes. It needs 4 different
// sizes. It fails if y does not vary: then any exponent fits, with c = 0.
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

// profile is the residual sum of squares by the exponent, with the best a and c.
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

// bound returns the exponent beside best from which on rss exceeds limit as far as end, the lowest
// exponent or the highest; infinite if it does not at the end.
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

// logLog is the slope of ln y over ln N with its t-interval, or NaN.
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
