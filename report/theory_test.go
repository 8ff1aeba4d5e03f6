package report

import (
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/result"
)

func TestLegendOfAClaim(t *testing.T) {
	for _, c := range []struct {
		claim dme.Claim
		want  string
	}{
		{dme.Claim{Formula: "2(N−1)", Source: "TR-869, section 4; textbook, section 9.4"}, "2(N−1) (TR-869 §4)"},
		{dme.Claim{Formula: "5√N", Kind: dme.UpperBound, Source: "Maekawa 1985, abstract: c is between 3 and 5"}, "≤ 5√N (Maekawa 1985, abstract)"},
		{dme.Claim{Formula: "2T (links of equal delay)", Kind: dme.Mean, Source: "textbook, sections 9.2 and 9.4"}, "mean 2T (textbook §§9.2 and 9.4)"},
		{dme.Claim{Formula: "2 · (N−1)", Kind: dme.LowerBound, Source: `slides "A title: with a colon", light traffic`}, "≥ 2 · (N−1) (slides, light traffic)"},
		{dme.Claim{Formula: "3(N−1)/N: 3, but 0 for one", KnownFalse: "x", Source: "s"}, "3(N−1)/N, known to be false (s)"},
	} {
		if got := formula(c.claim); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestLoadsOfWorkloads(t *testing.T) {
	for _, c := range []struct {
		workload, think string
		want            []dme.Load
	}{
		{"serial", "", []dme.Load{dme.AnyLoad, dme.Light}},
		{"saturate", "", []dme.Load{dme.AnyLoad, dme.Saturated}},
		{"saturate", "0", []dme.Load{dme.AnyLoad, dme.Saturated}},
		{"saturate", "exp:1ms", []dme.Load{dme.AnyLoad}}, // lighter than the papers' heavy load
		{"burst", "", []dme.Load{dme.AnyLoad, dme.Burst}},
		{"poisson", "", []dme.Load{dme.AnyLoad}},
	} {
		got := loads(result.Spec{Workload: c.workload, Set: map[string]string{"think": c.think}})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s think=%s: %v, want %v", c.workload, c.think, got, c.want)
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
		kind   dme.ClaimKind
		values []float64
		want   string
	}{
		{dme.Exact, []float64{12, 12 + 1e-12}, "equal"},
		{dme.Exact, []float64{12, 12, 12.001}, "differs"},
		{dme.UpperBound, []float64{3, 12}, "within"},
		{dme.UpperBound, []float64{3, 12.1}, "exceeded"},
		{dme.LowerBound, []float64{12, 40}, "within"},
		{dme.LowerBound, []float64{11, 40}, "below"},
		{dme.Mean, []float64{12}, ""},
		{dme.Exact, nil, ""},
	} {
		if got := agrees(dme.Claim{Kind: c.kind}, 12, c.values); got != c.want {
			t.Errorf("%s of 12 against %v: %q, want %q", c.kind, c.values, got, c.want)
		}
	}
}
