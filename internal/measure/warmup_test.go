package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

// mserTwin evaluates the definition for every cut.
func mserTwin(z []float64) (best, half int) {
	m := len(z)
	low, lowHalf := math.Inf(1), math.Inf(1)
	for d := 0; m-d >= 6 && m-d >= m/4; d++ {
		mean, sum := 0.0, 0.0
		for _, x := range z[d:] {
			mean += x / float64(m-d)
		}
		for _, x := range z[d:] {
			sum += (x - mean) * (x - mean)
		}
		s := sum / float64((m-d)*(m-d))
		if s < low {
			best, low = d, s
		}
		if d <= m/2 && s < lowHalf {
			half, lowHalf = d, s
		}
	}
	return best, half
}

func TestMSER5(t *testing.T) {
	series := func(n int, f func(i int) int64) []int64 {
		x := make([]int64, n)
		for i := range x {
			x[i] = f(i)
		}
		return x
	}
	for _, x := range []struct {
		name    string
		values  []int64
		cut     int
		settled bool
	}{
		{"nothing", nil, 0, true},
		{"too short to tell", series(59, func(i int) int64 { return int64(i) }), 0, true},
		{"constant", series(600, func(int) int64 { return 1e15 + 7 }), 0, true},
		{"a transient of 23", series(600, func(i int) int64 {
			if i < 23 {
				return 0
			}
			return 1000
		}), 25, true},
		{"it never settles", series(600, func(i int) int64 { return int64(i) }), 300, false},
		{"it settles in the second half", series(600, func(i int) int64 { return max(0, 400-int64(i)) }), 300, false},
		{"it settles within the first half", series(600, func(i int) int64 { return max(0, 200-int64(i)) }), 200, true},
	} {
		if cut, settled := MSER5(x.values); cut != x.cut || settled != x.settled {
			t.Errorf("%s: cut %d, settled %v; want %d, %v", x.name, cut, settled, x.cut, x.settled)
		}
	}
}

func TestMSER5IsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	cuts := 0
	for range 300 {
		means := make([]float64, 12+rng.IntN(80))
		transient, height := rng.Float64()*80, rng.Float64()*5e6
		for i := range means {
			means[i] = 1e6 + rng.NormFloat64()*5e4 + height*math.Exp(-float64(i)/(transient+1))
		}
		best, half := leastError(means)
		if wantBest, wantHalf := mserTwin(means); best != wantBest || half != wantHalf {
			t.Fatalf("%d, and %d of one half; want %d and %d", best, half, wantBest, wantHalf)
		}
		if half > len(means)/2 {
			t.Fatalf("%d of %d are left out", half, len(means))
		}
		if half > 0 {
			cuts++
		}
	}
	if cuts < 100 {
		t.Errorf("only %d of 300 series were cut", cuts)
	}
}

// Delays on a shared machine: most alike, some many times as long, wherever they fall.
// Only a trend is a reason to warn.
func TestOutliersAreNoTrend(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	const series = 500
	for _, x := range []struct {
		name        string
		drift       float64 // over the whole series, in units of the noise
		least, most int     // that have not settled
	}{
		{"no trend", 0, 0, series / 50},
		{"a trend", 40, series * 7 / 10, series},
	} {
		unsettled := 0
		for range series {
			values := make([]int64, 100+rng.IntN(500))
			for i := range values {
				v := 1e5 + 1e4*(rng.NormFloat64()-x.drift*float64(i)/float64(len(values)))
				if rng.IntN(100) == 0 {
					v += 1e6 * rng.ExpFloat64()
				}
				values[i] = int64(v)
			}
			if _, settled := MSER5(values); !settled {
				unsettled++
			}
		}
		if unsettled < x.least || unsettled > x.most {
			t.Errorf("%s: %d of %d series are said not to have settled", x.name, unsettled, series)
		}
	}
}
