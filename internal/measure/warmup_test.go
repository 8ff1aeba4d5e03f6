package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

// mserTwin evaluates the definition for every cut.
func mserTwin(values []int64) (cut int, settled bool) {
	m := len(values) / 5
	if m < 12 {
		return 0, true
	}
	z := make([]float64, m)
	for j := range z {
		for _, v := range values[5*j : 5*j+5] {
			z[j] += float64(v) / 5
		}
	}
	best, half := 0, 0
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
	return 5 * half, best <= m/2
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
		values := make([]int64, 60+rng.IntN(400))
		transient, height := rng.Float64()*400, rng.Float64()*5e6
		for i := range values {
			values[i] = 1e6 + int64(rng.NormFloat64()*1e5+height*math.Exp(-float64(i)/(transient+1)))
		}
		cut, settled := MSER5(values)
		if wantCut, wantSettled := mserTwin(values); cut != wantCut || settled != wantSettled {
			t.Fatalf("cut %d, settled %v; want %d, %v", cut, settled, wantCut, wantSettled)
		}
		if cut > len(values)/2 {
			t.Fatalf("cut %d of %d", cut, len(values))
		}
		if cut > 0 {
			cuts++
		}
	}
	if cuts < 100 {
		t.Errorf("only %d of 300 series were cut", cuts)
	}
}
