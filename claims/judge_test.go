package claims

import (
	"math"
	"strings"
	"testing"

	"dmebench/dme"
)

func TestInterval(t *testing.T) {
	// Student's quantile for 99.9% is 6.8688 with 5 degrees of freedom, and the
	// standard error of these six is 1.8708/√6.
	mean, lo, hi, ok := interval([]float64{1, 2, 3, 4, 5, 6})
	if half := 6.8688 * 1.870829 / math.Sqrt(6); !ok || mean != 3.5 || math.Abs(lo-(3.5-half)) > 1e-3 || math.Abs(hi-(3.5+half)) > 1e-3 {
		t.Errorf("%v [%v, %v], want 3.5 ± %v", mean, lo, hi, half)
	}
	if mean, lo, hi, ok = interval([]float64{7, 7, 7}); !ok || mean != 7 || lo != 7 || hi != 7 {
		t.Errorf("of equal values: %v [%v, %v]", mean, lo, hi)
	}
	for off, wide := range map[float64]bool{1.2e-12: false, 4e-12: true} { // of two values the deviation is 1/√2 of that
		if _, lo, hi, _ := interval([]float64{7, 7 * (1 + off)}); lo < hi != wide {
			t.Errorf("of values that differ by %v of themselves: [%v, %v]", off, lo, hi)
		}
	}
	if mean, _, _, ok = interval([]float64{7}); ok || mean != 7 {
		t.Errorf("of one value: %v, with an interval: %v", mean, ok)
	}
	if _, _, _, ok = interval(nil); ok {
		t.Error("of nothing: an interval")
	}
}

func TestCompare(t *testing.T) {
	const (
		exact, mean  = dme.Exact, dme.Mean
		upper, lower = dme.UpperBound, dme.LowerBound
	)
	for _, x := range []struct {
		name        string
		kind        dme.ClaimKind
		predicted   float64
		means       []float64
		least, most float64
		want        Standing
		how         string
	}{
		{"equal", exact, 14, []float64{14, 14}, 14, 14, Agrees, "equal"},
		{"equal but for rounding", exact, 0.1 + 0.2, []float64{0.3}, 0.3, 0.3, Agrees, "equal"},
		{"one run differs", exact, 14, []float64{14, 14.001}, 14, 14.001, Differs, "14 to 14"},
		{"one entry differs", exact, 14, []float64{14, 14}, 13, 15, Differs, "13 to 15"},
		{"within a bound", upper, 3, []float64{2, 2.5}, 2, 3, Agrees, "at most 3"},
		{"beyond it once", upper, 3, []float64{2, 2.5}, 2, 4, Differs, "up to 4"},
		{"above a bound", lower, 2, []float64{2, 2.5}, 2, 3, Agrees, "at least 2"},
		{"below it once", lower, 2, []float64{2, 2.5}, 1, 3, Differs, "down to 1"},
		{"the mean is right", mean, 3.02, []float64{3, 3.01, 3.02, 3.03, 3.04, 3.02}, 3, 4, Agrees, "in the interval"},
		{"the mean is nearly right", mean, 3, []float64{3.02, 3.02, 3.02}, 3, 4, Agrees, "within a tolerance of 1%"},
		{"the mean is wrong", mean, 4, []float64{3, 3.01, 3.02, 3.03, 3.04, 3.02}, 3, 4, Differs, "off by 24.5%"},
		{"the interval is wide and says nothing", mean, 3, []float64{1, 2, 3, 4, 5, 6}, 1, 6, Open, "too wide"},
		{"wide, and yet not there", mean, 300, []float64{1, 2, 3, 4, 5, 6}, 1, 6, Differs, "off by"},
		{"one run that is not close", mean, 4, []float64{3}, 3, 3, Open, "one run"},
		{"one run that is right", mean, 3, []float64{3}, 3, 3, Open, "one run"},
		{"nothing is predicted and nothing was seen", mean, 0, []float64{0, 0, 0}, 0, 0, Agrees, "in the interval"},
		{"nothing is predicted and something was seen", mean, 0, []float64{0, 0, 0.1}, 0, 1, Differs, "and not 0"},
	} {
		s := sample{means: x.means, least: x.least, most: x.most, tolerance: Tolerance{Size: 0.01, Reason: "of this"}}
		p := s.point(x.kind, x.predicted)
		if p.Standing != x.want || p.Agrees != (x.want == Agrees) || !strings.Contains(p.How, x.how) {
			t.Errorf("%s: %v %q, want %v %q", x.name, p.Standing, p.How, x.want, x.how)
		}
		tolerated := strings.Contains(p.How, "within a tolerance")
		if (p.Tolerance == 0.01) != tolerated || (p.ToleranceFor == "of this") != tolerated {
			t.Errorf("%s: a tolerance of %v was made use of, for %q, though %q", x.name, p.Tolerance, p.ToleranceFor, p.How)
		}
	}
}

func TestCompareTimes(t *testing.T) {
	scattered := []float64{1.00, 1.02, 0.99, 1.01, 1.00, 1.01}
	for _, x := range []struct {
		kind      dme.ClaimKind
		predicted float64
		want      Standing
		how       string
	}{
		{dme.UpperBound, 1, Open, "on average at most 1.005, which may be chance"},
		{dme.UpperBound, 1.005, Agrees, "on average at most 1.005"}, {dme.UpperBound, 0.9, Differs, "on average at most 1.005"},
		{dme.UpperBound, 2, Agrees, "at most"}, {dme.LowerBound, 1, Agrees, "on average at least 1.005"},
		{dme.LowerBound, 1.2, Differs, "at least"}, {dme.LowerBound, 0.5, Agrees, "at least"},
		{dme.Mean, 1.005, Agrees, "in the interval"}, {dme.Mean, 1.2, Differs, "off by"}, {dme.Exact, 1.005, Agrees, "in the interval"},
	} {
		s := sample{means: scattered, most: 9, timed: true}
		p := s.point(x.kind, x.predicted)
		if p.Standing != x.want || !strings.Contains(p.How, x.how) {
			t.Errorf("%s %v: %v (%s), want %v (%s)", x.kind, x.predicted, p.Standing, p.How, x.want, x.how)
		}
	}
}

// point makes one that agrees or not.
func point(condition string, n int, s Standing) Evidence {
	mean := 5.0
	return Evidence{Point: Point{
		Condition: condition, Transport: "sim", Nodes: n, Runs: 6, Predicted: 4, Mean: &mean,
		Agrees: s == Agrees, Standing: s, How: "off by 25%", Off: 0.25,
	}}
}

func asked(c dme.Claim) *Question {
	return &Question{Algorithm: &dme.Algorithm{Name: "a"}, Claim: c, NotRun: "--quick"}
}

func TestWeighing(t *testing.T) {
	for _, x := range []struct {
		name   string
		points []Evidence
		want   Status
		says   string
	}{
		{"all agree", []Evidence{point("serial", 4, Agrees), point("serial", 8, Agrees)}, Holds, "in 12 runs"},
		{"none agrees", []Evidence{point("serial", 4, Differs), point("serial", 8, Differs)}, Fails, "5, not 4, for N = 4 under serial"},
		{"one load", []Evidence{point("serial", 4, Agrees), point("saturate", 4, Differs)}, Partly,
			"holds only for serial; fails for saturate (N = 4)"},
		{"small systems", []Evidence{point("serial", 4, Agrees), point("serial", 8, Agrees), point("serial", 16, Differs)}, Partly,
			"only for N ≤ 8;"},
		{"large systems", []Evidence{point("serial", 4, Differs), point("serial", 8, Agrees)}, Partly, "only for N ≥ 8;"},
		{"no pattern", []Evidence{point("serial", 4, Agrees), point("serial", 8, Differs), point("serial", 16, Agrees)}, Partly,
			"only for serial (N = 4 16);"},
		{"nothing certain", []Evidence{point("serial", 4, Open)}, Undecided, "too wide"},
		{"certain in part", []Evidence{point("serial", 4, Agrees), point("serial", 8, Open)}, Holds, "undecided for serial (N = 8)"},
	} {
		v := asked(dme.Claim{Kind: dme.Mean}).Judge(x.points)
		if v.Verdict != x.want || v.Text != string(v.Verdict)+v.Detail || !strings.Contains(v.Text, x.says) {
			t.Errorf("%s: %q, want %s … %q", x.name, v.Text, x.want, x.says)
		}
	}
}

func TestKnownFalse(t *testing.T) {
	for _, x := range []struct {
		points []Evidence
		want   Status
		says   string
	}{
		{[]Evidence{point("serial", 4, Agrees), point("serial", 8, Differs)}, KnownFalse,
			"because of this (shown: off by 25%, not 4, for N = 8 under serial)"},
		{[]Evidence{point("serial", 4, Agrees)}, NotShown, "because of this"},
	} {
		v := asked(dme.Claim{Kind: dme.Exact, KnownFalse: "because of this"}).Judge(x.points)
		d := Document{Claims: []Verdict{v}}
		if d.Count(); v.Verdict != x.want || !strings.Contains(v.Text, x.says) || d.Counts.ExactFailed > 0 {
			t.Errorf("%s: %q (a failed exact claim: %d), want %s … %q", v.Verdict, v.Text, d.Counts.ExactFailed, x.want, x.says)
		}
	}
}

// A claim that is known to be false is called so also where no run tells it.
func TestKnownFalseComesFirst(t *testing.T) {
	for _, x := range []struct {
		change func(q *Question)
		says   string
	}{
		{func(q *Question) { q.Unanswerable = "nothing tells it" }, ": because of this (not measurable here: nothing tells it)"},
		{func(q *Question) { q.Planned = true }, ": because of this (not run (--quick))"},
		{func(*Question) {}, ": because of this (not measurable here: no run told it)"},
	} {
		q := asked(dme.Claim{Kind: dme.Exact, KnownFalse: "because of this"})
		x.change(q)
		if v := q.Judge(nil); v.Verdict != NotShown || v.Detail != x.says || v.Text != string(NotShown)+x.says {
			t.Errorf("%s%s, want %s%s", v.Verdict, v.Detail, NotShown, x.says)
		}
	}
}

// Whatever there is to judge, a verdict says why it is not another.
func TestWithoutRuns(t *testing.T) {
	q := asked(dme.Claim{Kind: dme.Exact})
	if v := q.Judge(nil); v.Verdict != NotMeasurable || v.Shown != -1 {
		t.Errorf("%+v", v)
	}
	q.Planned = true
	if v := q.Judge(nil); v.Text != "not run (--quick)" {
		t.Errorf("%+v", v)
	}
	q.Unanswerable = "nothing tells it"
	if v := q.Judge(nil); v.Text != "not measurable here: nothing tells it" {
		t.Errorf("%+v", v)
	}
}

// A formula that the closed loop contradicts may come true under another load.
func TestRetries(t *testing.T) {
	closed := []Evidence{point("saturate", 4, Differs)}
	for _, x := range []struct {
		others []Evidence
		want   Status
		says   string
	}{
		{nil, Fails, "under saturate"},
		{[]Evidence{point("burst", 4, Differs)}, Fails, "at no other heavy load tried: burst (5 for 4)"},
		{[]Evidence{point("burst", 4, Differs), point("poisson", 4, Agrees)}, Partly, "holds only for poisson; fails: "},
		{[]Evidence{point("burst", 4, Agrees), point("burst", 8, Differs)}, Fails, "at no other heavy load tried: burst (5 for 4)"},
	} {
		v := asked(dme.Claim{Kind: dme.Mean}).Judge(closed)
		v.Retry(x.others)
		if v.Verdict != x.want || !strings.Contains(v.Text, x.says) || len(v.Points) != 1+len(x.others) {
			t.Errorf("%s: %q, want %s … %q", v.Verdict, v.Text, x.want, x.says)
		}
	}
}

func TestGrowth(t *testing.T) {
	points := func(f func(n float64) float64, claimed func(n float64) float64) (all []Evidence) {
		for _, n := range []int{7, 13, 31, 57, 133, 307, 993} {
			y := f(float64(n))
			all = append(all, Evidence{Point{Nodes: n, Predicted: claimed(float64(n)), Mean: &y, Max: &y}, []float64{y}})
		}
		return all
	}
	root, log := math.Sqrt, math.Log2
	like := func(exponent float64, order bool) dme.Growth {
		return dme.Growth{Exponent: exponent, Log: exponent == 0, Order: order}
	}
	for _, x := range []struct {
		growth     dme.Growth
		f, claimed func(n float64) float64
		want       Status
	}{
		{like(0.5, false), func(n float64) float64 { return 3*root(n) - 1.5 + 0.01*math.Sin(n) },
			func(n float64) float64 { return 3 * root(n) }, Holds},
		{like(0.5, false), func(n float64) float64 { return 4*root(n) - 4 + 0.01*math.Sin(n) },
			func(n float64) float64 { return 3 * root(n) }, Fails},
		{like(0, true), func(n float64) float64 { return 2*log(n) + 0.01*math.Sin(n) }, log, Holds},
		{like(0, true), func(n float64) float64 { return root(n) + 0.01*math.Sin(n) }, log, Fails},
		{like(0.5, true), func(n float64) float64 { return log(n) + 0.01*math.Sin(n) }, root, Holds},
	} {
		q := asked(dme.Claim{Formula: "f(N)", Kind: dme.Asymptotic, Load: dme.Static, Growth: x.growth})
		if v := q.Judge(points(x.f, x.claimed)); v.Verdict != x.want {
			t.Errorf("%+v: %s, want %s", x.growth, v.Text, x.want)
		}
	}
	q := asked(dme.Claim{Formula: "3√N", Kind: dme.Asymptotic, Load: dme.Static, Growth: like(0.5, false)})
	if v := q.Judge(points(root, root)[:4]); v.Verdict != NotRun {
		t.Errorf("four sizes: %s", v.Text)
	}
	// The worst case is the largest value of each size, whatever the condition.
	worst := asked(dme.Claim{Formula: "3√N", Kind: dme.Asymptotic, Load: dme.Worst, Growth: like(0.5, false)})
	below := points(func(n float64) float64 { return root(n) }, func(n float64) float64 { return 3 * root(n) })
	reached := points(func(n float64) float64 { return 3 * root(n) }, func(n float64) float64 { return 3 * root(n) })
	for i := range below {
		below[i].Condition, reached[i].Condition = "burst", "serial"
	}
	if v := worst.Judge(append(below, reached...)); v.Verdict != Holds || len(v.Fits) != 1 || v.Fits[0].Condition != searched {
		t.Errorf("the worst case: %s", v.Text)
	}
}
