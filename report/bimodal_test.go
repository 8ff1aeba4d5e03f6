package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/report/cells"
	"dmebench/runs"
)

func TestTwoModes(t *testing.T) {
	for _, x := range []struct {
		name   string
		values []float64
		want   modes // zero where there are none
	}{
		{"placement", []float64{9.8, 69, 10, 71, 9.9, 70}, modes{9.9, 70, 3, 3}},
		{"two of ten", []float64{100, 101, 102, 99, 98, 100, 101, 103, 300, 310}, modes{100.5, 305, 8, 2}},
		{"all alike but two", []float64{1, 1, 1, 1, 2, 2}, modes{1, 2, 4, 2}},
		// Six values: the gap must be 4.8 times as wide as the wider side, here
		// from 1 to 1.2; 1.2 to the power of 4.8 is 2.3993.
		{"the gap just wide enough", []float64{1, 1.2, 1.2, 1.2 * 2.3994, 3, 3}, modes{1.2, 3, 3, 3}},
		{"and just not", []float64{1, 1.2, 1.2, 1.2 * 2.3992, 3, 3}, modes{}},
		{"the factor just large enough", []float64{1, 1, 1, 1.5, 1.5, 1.5}, modes{1, 1.5, 3, 3}},
		{"and just not", []float64{1, 1, 1, 1.499, 1.499, 1.499}, modes{}},
		{"one outlier", []float64{10, 10, 10, 10, 10, 70}, modes{}},
		{"too few", []float64{10, 10, 70, 70, 70}, modes{}},
		{"scatter", []float64{10, 14, 21, 33, 47, 70}, modes{}},
		{"three groups", []float64{1, 1, 10, 10, 100, 100}, modes{}},
		{"equal", []float64{5, 5, 5, 5, 5, 5}, modes{}},
		{"zeros", []float64{0, 0, 0, 5, 5, 5}, modes{}},
		{"negative", []float64{-5, -5, -5, 5, 5, 5}, modes{}},
		{"not a number", []float64{math.NaN(), 5, 5, 5, 9, 9, 9}, modes{}},
		{"infinite", []float64{5, 5, 5, math.Inf(1), math.Inf(1), math.Inf(1)}, modes{}},
		{"nothing", nil, modes{}},
	} {
		got, ok := twoModes(x.values)
		if x.want == (modes{}) == ok || math.Abs(got.low-x.want.low) > 1e-9 || math.Abs(got.high-x.want.high) > 1e-9 ||
			got.lows != x.want.lows || got.highs != x.want.highs {
			t.Errorf("%s: %+v, %v, want %+v", x.name, got, ok, x.want)
		}
	}
}

// TestFalseAlarms draws samples that have one mode and counts those that are
// said to have two. The scatter is so wide that the modes' factor spares none.
func TestFalseAlarms(t *testing.T) {
	const samples, rate = 20_000, 0.01
	rng := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() float64{
		"normal": rng.NormFloat64, "uniform": rng.Float64, "exponential": rng.ExpFloat64,
	} {
		for _, n := range []int{6, 7, 8, 10, 15, 20, 30} {
			alarms := 0
			values := make([]float64, n)
			for range samples {
				for i := range values {
					values[i] = math.Exp(20 * draw())
				}
				if _, ok := twoModes(values); ok {
					alarms++
				}
			}
			// Three standard deviations of what the stated rate would give.
			if limit := samples*rate + 3*math.Sqrt(samples*rate); float64(alarms) > limit {
				t.Errorf("%s, %d values: %d false alarms in %d samples, more than %v of them", name, n, alarms, samples, rate)
			}
		}
	}
}

// TestModesAreFound draws repetitions of two placements, each with a scatter of
// a tenth, whose medians differ by what was measured between two: 7 times.
func TestModesAreFound(t *testing.T) {
	const samples = 2000
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{6, 10, 20} {
		found := 0
		for range samples {
			values := make([]float64, n)
			for i := range values {
				values[i] = 10 * math.Exp(0.1*rng.NormFloat64())
				if i < n/2 {
					values[i] *= 7
				}
			}
			if m, ok := twoModes(values); ok && m.lows == n-n/2 {
				found++
			}
		}
		if found < samples*9/10 {
			t.Errorf("%d values: found in %d of %d samples", n, found, samples)
		}
	}
}

func TestCellWarnsOfTwoModes(t *testing.T) {
	var good []*runs.Result
	for _, us := range []int64{70, 10, 10, 70, 70, 11} {
		good = append(good, &runs.Result{ResponseTime: &runs.Quantiles{Count: 1, P50: us * 1000}})
	}
	c := newCell(&cells.Cell{Good: good})
	is := func(s string) bool {
		return strings.Contains(s, "response time p50 is near 10 µs in 3 and near 70 µs in 3")
	}
	if got := c.warnings(); !slices.ContainsFunc(got, is) {
		t.Errorf("warnings %q", got)
	}
	c = newCell(&cells.Cell{Good: good[1:]})
	if got := c.bimodal(); got != nil {
		t.Errorf("five repetitions: %q", got)
	}
}
