package stats_test

import (
	"math"
	"testing"

	"dmebench/report/stats"
)

// R: p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.9), "holm"), with a missing value between.
func TestHolm(t *testing.T) {
	got := stats.Holm([]float64{0.01, 0.04, math.NaN(), 0.03, 0.005, 0.9})
	for i, want := range []float64{0.04, 0.09, math.NaN(), 0.09, 0.025, 0.9} {
		if !near(got[i], want, 12) && !same(got[i], want) {
			t.Errorf("comparison %d: %v, want %v", i, got[i], want)
		}
	}
	if got := stats.Holm([]float64{0.4, 0.5}); got[0] != 0.8 || got[1] != 0.8 {
		t.Errorf("corrected values must not fall: %v", got)
	}
	if got := stats.Holm([]float64{0.7, 0.6}); got[0] != 1 || got[1] != 1 {
		t.Errorf("corrected values are probabilities: %v", got)
	}
}

// What no samples can fall below is what samples that do not overlap have.
func TestLeastP(t *testing.T) {
	for n := 1; n <= 8; n++ {
		for m := 1; m <= 8; m++ {
			var a, b []float64
			for i := range n {
				a = append(a, float64(i))
			}
			for i := range m {
				b = append(b, float64(100+i))
			}
			if got, want := stats.LeastP(n, m), stats.MannWhitney(a, b); !near(got, want, 9) {
				t.Errorf("%d and %d values: %v, and the test has %v", n, m, got, want)
			}
		}
	}
	if p := stats.LeastP(0, 7); p != 1 {
		t.Errorf("nothing against 7 values: %v", p)
	}
	for comparisons, want := range map[int]int{1: 4, 3: 5, 10: 6, 15: 6, 28: 7, 276: 8} {
		if got := stats.EnoughFor(comparisons, 0.05); got != want {
			t.Errorf("%d comparisons need %d repetitions, want %d", comparisons, got, want)
		}
	}
}
