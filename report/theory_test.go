package report

import (
	"slices"
	"testing"

	"dmebench/dme/claim"
	"dmebench/runs"
)

func TestLegendOfAClaim(t *testing.T) {
	for _, c := range []struct {
		claim claim.Claim
		want  string
	}{
		{claim.Claim{Formula: "2(N−1)", Source: "TR-869, section 4; textbook, section 9.4"}, "2(N−1) (TR-869 §4)"},
		{claim.Claim{Formula: "5√N", Kind: claim.UpperBound, Source: "Maekawa 1985, abstract: c is between 3 and 5"},
			"≤ 5√N (Maekawa 1985, abstract)"},
		{claim.Claim{Formula: "2T (complete graph)", Kind: claim.Mean, Source: "textbook, sections 9.2 and 9.4"},
			"mean 2T (textbook §§9.2 and 9.4)"},
		{
			claim.Claim{Formula: "2T + E (links of equal delay)", Kind: claim.Mean, Source: "textbook, section 9.2.3", EqualDelays: true},
			"mean 2T + E, links of equal delay (textbook §9.2.3)",
		},
		{claim.Claim{Formula: "2(N−1) (links that keep order)", Kind: claim.UpperBound, Source: "s", FIFO: true},
			"≤ 2(N−1), links that keep order (s)"},
		{claim.Claim{Formula: "2 · (N−1)", Kind: claim.LowerBound, Source: `slides "A title: with a colon", light traffic`},
			"≥ 2 · (N−1) (slides, light traffic)"},
		{claim.Claim{Formula: "3(N−1)/N: 3, but 0 for one", KnownFalse: "x", Source: "s"}, "3(N−1)/N, known to be false (s)"},
	} {
		if got := formula(c.claim); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// What is claimed of links of equal delay is no theory of others.
func TestClaimsAboutEqualDelaysAreNotDrawnOverOthers(t *testing.T) {
	theory := newTheory(Input{Claims: func(string) claim.List {
		return claim.List{{Quantity: claim.ResponseTime, Formula: "2T + E", Load: claim.Light, Kind: claim.Mean, EqualDelays: true}}
	}})
	for delay, want := range map[string]int{"": 1, "constant": 1, "uniform": 0, "exponential": 0, "pareto:1.5": 0} {
		spec := runs.Spec{Transport: "sim", Workload: "serial", Set: map[string]string{"delay": delay}}
		if got := theory.predicting(claim.ResponseTime, spec); len(got) != want {
			t.Errorf("delay=%s: %d claims, want %d", delay, len(got), want)
		}
	}
}

func TestCurvesAreEvaluatedAtAndBetweenMeasuredSizes(t *testing.T) {
	measured := []int{3, 57, 993}
	sizes := curveSizes(measured)
	for i, n := range sizes {
		if i > 0 && n <= sizes[i-1] || n < 3 || n > curveLimit && n != 993 {
			t.Errorf("%v", sizes)
		}
	}
	for _, n := range measured {
		if !slices.Contains(sizes, n) {
			t.Errorf("%v lacks %d", sizes, n)
		}
	}
	if len(sizes) <= len(measured) || len(sizes) > len(measured)+curveSteps {
		t.Errorf("%d sizes", len(sizes))
	}
	if got := curveSizes([]int{5}); !slices.Equal(got, []int{5}) {
		t.Errorf("one size: %v", got)
	}
}

// A bound is judged by the worst run, an exact claim by every run.
func TestAgreement(t *testing.T) {
	for _, c := range []struct {
		kind   claim.Kind
		values []float64
		want   string
	}{
		{claim.Exact, []float64{12, 12 + 1e-12}, "equal"},
		{claim.Exact, []float64{12, 12, 12.001}, "differs"},
		{claim.UpperBound, []float64{3, 12}, "within"},
		{claim.UpperBound, []float64{3, 12.1}, "exceeded"},
		{claim.LowerBound, []float64{12, 40}, "within"},
		{claim.LowerBound, []float64{11, 40}, "below"},
		{claim.Mean, []float64{12}, ""},
		{claim.Exact, nil, ""},
	} {
		if got := agrees(claim.Claim{Kind: c.kind}, 12, c.values); got != c.want {
			t.Errorf("%s of 12 against %v: %q, want %q", c.kind, c.values, got, c.want)
		}
	}
}
