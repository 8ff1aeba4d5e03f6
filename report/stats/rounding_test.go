package stats_test

import (
	"testing"

	"dmebench/report/stats"
)

// Residuals of up to 32 units in the last place of the largest term are rounding, and those
// of 33 are not. All numbers here are multiples of powers of two, so that nothing is rounded,
// and +1, −1, −1, +1 is orthogonal to every line over 1, 2, 3, 4.
func TestWhatIsRounding(t *testing.T) {
	for _, c := range []struct {
		what             string
		a, slope, offset float64 // y = a + slope·(N + offset)
		largest          float64
	}{
		{"the value itself, 4", 4, 0, 0, 4},
		{"the value of 4 nodes, 4 + 4", 4, 1, 0, 8},
		{"the slope times 4 nodes, above what is left by −3", -3, 1, 0, 4},
		{"the value of 1 node, 1 − 9", 0, 1, -9, 8},
		{"small ones as well", 0x1p-20, 0, 0, 0x1p-20},
	} {
		g := stats.Growth{Name: "N, moved", Of: func(n float64) float64 { return n + c.offset }}
		fit := func(units float64) stats.Fit {
			n, y := []float64{1, 2, 3, 4}, make([]float64, 4)
			for i, sign := range []float64{-1, 1, 1, -1} {
				y[i] = c.a + c.slope*(n[i]+c.offset) + sign*units*0x1p-52*c.largest
			}
			f, err := stats.FitGrowth(n, y, g)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		if f := fit(31); !f.Exact || f.SD != 0 || f.Residuals[0] != 0 {
			t.Errorf("%s: 31 units are no rounding: %+v", c.what, f)
		}
		if f := fit(33); f.Exact || f.SD == 0 || f.Residuals[0] != -33*0x1p-52*c.largest {
			t.Errorf("%s: 33 units are rounding: %+v", c.what, f)
		}
	}
	// With the slope alone the largest term has no residual in it.
	n, y := []float64{1, 2, 3, 4}, []float64{-2 - 0x1p-45, -1 + 0x1p-45, 0x1p-45, 1 - 0x1p-45}
	if f, err := stats.FitGrowth(n, y, stats.Linear()); err != nil || !f.Exact {
		t.Errorf("32 units of 4 are no rounding: %+v, %v", f, err)
	}
}
