package validate

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
		want        standing
		how         string
	}{
		{"equal", exact, 14, []float64{14, 14}, 14, 14, agrees, "equal"},
		{"equal but for rounding", exact, 0.1 + 0.2, []float64{0.3}, 0.3, 0.3, agrees, "equal"},
		{"one run differs", exact, 14, []float64{14, 14.001}, 14, 14.001, disagrees, "14 to 14"},
		{"one entry differs", exact, 14, []float64{14, 14}, 13, 15, disagrees, "13 to 15"},
		{"within a bound", upper, 3, []float64{2, 2.5}, 2, 3, agrees, "at most 3"},
		{"beyond it once", upper, 3, []float64{2, 2.5}, 2, 4, disagrees, "up to 4"},
		{"above a bound", lower, 2, []float64{2, 2.5}, 2, 3, agrees, "at least 2"},
		{"below it once", lower, 2, []float64{2, 2.5}, 1, 3, disagrees, "down to 1"},
		{"the mean is right", mean, 3.02, []float64{3, 3.01, 3.02, 3.03, 3.04, 3.02}, 3, 4, agrees, "in the interval"},
		{"the mean is nearly right", mean, 3, []float64{3.02, 3.02, 3.02}, 3, 4, agrees, "within 1%"},
		{"the mean is wrong", mean, 4, []float64{3, 3.01, 3.02, 3.03, 3.04, 3.02}, 3, 4, disagrees, "off by 24.5%"},
		{"the interval is wide and says nothing", mean, 3, []float64{1, 2, 3, 4, 5, 6}, 1, 6, unclear, "too wide"},
		{"wide, and yet not there", mean, 300, []float64{1, 2, 3, 4, 5, 6}, 1, 6, disagrees, "off by"},
		{"one run that is not close", mean, 4, []float64{3}, 3, 3, unclear, "one run"},
		{"nothing is predicted and nothing was seen", mean, 0, []float64{0, 0, 0}, 0, 0, agrees, "in the interval"},
	} {
		p := compare(x.kind, x.predicted, x.means, x.least, x.most, 0.01)
		if p.standing != x.want || p.Agrees != (x.want == agrees) || !strings.Contains(p.How, x.how) {
			t.Errorf("%s: %v %q, want %v %q", x.name, p.standing, p.How, x.want, x.how)
		}
	}
}

func TestCompareTimes(t *testing.T) {
	scattered := []float64{1.00, 1.02, 0.99, 1.01, 1.00, 1.01}
	for _, x := range []struct {
		kind      dme.ClaimKind
		predicted float64
		want      standing
	}{
		{dme.UpperBound, 1, agrees}, {dme.UpperBound, 0.9, disagrees}, {dme.UpperBound, 2, agrees},
		{dme.LowerBound, 1, agrees}, {dme.LowerBound, 1.2, disagrees}, {dme.LowerBound, 0.5, agrees},
		{dme.Mean, 1, agrees}, {dme.Mean, 1.2, disagrees},
	} {
		if p := compareTimes(x.kind, x.predicted, scattered, 0.01); p.standing != x.want {
			t.Errorf("%s %v: %v (%s), want %v", x.kind, x.predicted, p.standing, p.How, x.want)
		}
	}
}

// at makes a point that agrees or not.
func at(condition string, n int, s standing) judged {
	mean := 5.0
	return judged{
		Point:    Point{Condition: condition, Transport: "sim", Nodes: n, Runs: 6, Predicted: 4, Mean: &mean, Agrees: s == agrees, How: "off by 25%"},
		standing: s, found: "5", off: 0.25,
	}
}

func TestWord(t *testing.T) {
	for _, x := range []struct {
		name   string
		points []judged
		want   Word
		says   string
	}{
		{"all agree", []judged{at("serial", 4, agrees), at("serial", 8, agrees)}, Holds, "in 12 runs"},
		{"none agrees", []judged{at("serial", 4, disagrees), at("serial", 8, disagrees)}, Fails, "5, not 4, for N = 4 under serial"},
		{"one load", []judged{at("serial", 4, agrees), at("saturate", 4, disagrees)}, Partly, "holds only for serial; fails for saturate (N = 4)"},
		{"small systems", []judged{at("serial", 4, agrees), at("serial", 8, agrees), at("serial", 16, disagrees)}, Partly, "only for N ≤ 8;"},
		{"large systems", []judged{at("serial", 4, disagrees), at("serial", 8, agrees)}, Partly, "only for N ≥ 8;"},
		{"no pattern", []judged{at("serial", 4, agrees), at("serial", 8, disagrees), at("serial", 16, agrees)}, Partly, "only for serial (N = 4 16);"},
		{"nothing certain", []judged{at("serial", 4, unclear)}, Undecided, "too wide"},
		{"certain in part", []judged{at("serial", 4, agrees), at("serial", 8, unclear)}, Holds, "undecided for serial (N = 8)"},
	} {
		w, text := word(dme.Mean, x.points)
		if w != x.want || !strings.HasPrefix(text, string(w)) || !strings.Contains(text, x.says) {
			t.Errorf("%s: %q, want %s … %q", x.name, text, x.want, x.says)
		}
	}
}

func TestKnownFalse(t *testing.T) {
	for _, x := range []struct {
		points []judged
		want   Word
		says   string
	}{
		{[]judged{at("serial", 4, agrees), at("serial", 8, disagrees)}, KnownFalse, "because of this (shown: 5, not 4, for N = 8 under serial)"},
		{[]judged{at("serial", 4, agrees)}, NotShown, "because of this"},
	} {
		q := &question{claim: dme.Claim{Kind: dme.Exact, KnownFalse: "because of this"}}
		v := Verdict{Kind: "exact", KnownFalse: q.claim.KnownFalse}
		v.Verdict, v.Text = word(dme.Exact, x.points)
		q.qualify(&v, x.points)
		if v.Verdict != x.want || !strings.Contains(v.Text, x.says) || v.exactFailed() {
			t.Errorf("%s: %q (a failed exact claim: %v), want %s … %q", v.Verdict, v.Text, v.exactFailed(), x.want, x.says)
		}
	}
}

func TestGrowth(t *testing.T) {
	points := func(f func(n float64) float64, claimed func(n float64) float64) (all []judged) {
		for _, n := range []int{7, 13, 31, 57, 133, 307, 993} {
			y := f(float64(n))
			all = append(all, judged{Point: Point{Nodes: n, Predicted: claimed(float64(n)), Mean: &y, Max: &y}})
		}
		return all
	}
	root, log := math.Sqrt, math.Log2
	for _, x := range []struct {
		formula    string
		f, claimed func(n float64) float64
		want       Word
	}{
		{"3√N", func(n float64) float64 { return 3*root(n) - 1.5 + 0.01*math.Sin(n) }, func(n float64) float64 { return 3 * root(n) }, Holds},
		{"3√N", func(n float64) float64 { return 4*root(n) - 4 + 0.01*math.Sin(n) }, func(n float64) float64 { return 3 * root(n) }, Fails},
		{"O(log N)", func(n float64) float64 { return 2*log(n) + 0.01*math.Sin(n) }, log, Holds},
		{"O(log N)", func(n float64) float64 { return root(n) + 0.01*math.Sin(n) }, log, Fails},
		{"O(√N)", func(n float64) float64 { return log(n) + 0.01*math.Sin(n) }, root, Holds},
	} {
		q := &question{claim: dme.Claim{Formula: x.formula, Kind: dme.Asymptotic, Load: dme.Static}}
		p := points(x.f, x.claimed)
		if w, text := q.growthWord(q.fit(p), p); w != x.want {
			t.Errorf("%s: %s, want %s", x.formula, text, x.want)
		}
	}
	q := &question{claim: dme.Claim{Formula: "3√N", Kind: dme.Asymptotic, Load: dme.Static}}
	few := points(root, root)[:4]
	if w, text := q.growthWord(q.fit(few), few); w != NotRun {
		t.Errorf("four sizes: %s", text)
	}
}
