package noderun

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

func TestWaitsAreWholeCacheLines(t *testing.T) {
	if size := unsafe.Sizeof(Waits{}); size%64 != 0 {
		t.Errorf("%d bytes", size)
	}
}

// Every bucket begins where the one before it ends, and holds its middle.
func TestWaitBuckets(t *testing.T) {
	for b := range waitBuckets {
		if got := waitBucket(bucketMiddle(b)); got != b {
			t.Errorf("the middle of bucket %d, %d ns, is in bucket %d", b, bucketMiddle(b), got)
		}
	}
	last := 0
	for ns := int64(1); ns > 0 && ns < math.MaxInt64/2; ns += ns/100 + 1 {
		b := waitBucket(ns)
		if b != last && b != last+1 {
			t.Fatalf("%d ns is in bucket %d after %d", ns, b, last)
		}
		last = b
	}
	if last != waitBuckets-1 || waitBucket(-5) != 0 || waitBucket(math.MaxInt64) != last {
		t.Errorf("the largest are in bucket %d, the negative in %d", last, waitBucket(-5))
	}
}

// TestWaitQuantiles compares with sorting.
func TestWaitQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 7))
	nodes := make([]Waits, 3)
	var all []int64
	for range 20000 {
		ns := int64(math.Exp(rng.Float64()*15) * 2000)
		all = append(all, ns)
		nodes[rng.IntN(len(nodes))].Add(ns)
	}
	slices.Sort(all)
	var sum, other WaitCounts
	if _, ok := sum.Quantile(0.5); ok {
		t.Error("there is a median of nothing")
	}
	other.Take(&nodes[0])
	sum.Take(&nodes[1])
	sum.Take(&nodes[2])
	sum.Add(&other)
	for _, q := range []float64{0, 0.5, 0.9, 0.99} {
		want := float64(all[int(q*float64(len(all)))])
		got, ok := sum.Quantile(q)
		if !ok || math.Abs(float64(got)-want) > want/16+256 {
			t.Errorf("quantile %v is %d, of %v", q, got, want)
		}
	}
}

// BenchmarkWaits is what an entry costs more while somebody watches.
func BenchmarkWaits(b *testing.B) {
	var w Waits
	for ns := int64(0); b.Loop(); ns += 977 {
		w.Add(ns & (1<<27 - 1))
	}
}
