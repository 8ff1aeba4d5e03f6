package noderun

import (
	"math/bits"
	"sync/atomic"
)

// The buckets of [Waits]: eight to each factor of two, so that a time is known to
// within a sixteenth of it, from 256 ns up to 18 minutes; what is longer is in the
// last one.
const (
	waitBuckets = 240
	waitUnit    = 8 // a power of two, in ns
)

// Waits is a histogram of how long a node waited, from the intended arrival of a
// request to its entry, for whoever watches a run that goes on. As of [Counters], its
// node alone writes it, anybody may read it at any time, and it can lie in memory
// that processes share: it holds no pointer and is a whole number of cache lines long.
type Waits struct {
	buckets [waitBuckets]atomic.Uint32
}

// Add counts one time, in nanoseconds. Only the node itself calls it.
func (w *Waits) Add(ns int64) {
	b := &w.buckets[waitBucket(ns)]
	b.Store(b.Load() + 1)
}

func waitBucket(ns int64) int {
	v := uint64(max(ns, 0)) >> waitUnit
	shift := max(bits.Len64(v), 4) - 4
	return min(shift*8+int(v>>shift), waitBuckets-1)
}

// bucketMiddle is the middle of a bucket, in ns.
func bucketMiddle(b int) int64 {
	first, width := uint64(b), uint64(1)
	if shift := b/8 - 1; shift > 0 {
		first, width = uint64(b-shift*8)<<shift, 1<<shift
	}
	return int64(first<<waitUnit + width<<waitUnit/2)
}

// WaitCounts adds up the histograms of several nodes.
type WaitCounts [waitBuckets]uint64

// Take adds what a histogram holds.
func (c *WaitCounts) Take(w *Waits) {
	for b := range w.buckets {
		c[b] += uint64(w.buckets[b].Load())
	}
}

// Add adds the counts of others.
func (c *WaitCounts) Add(others *WaitCounts) {
	for b, n := range others {
		c[b] += n
	}
}

// Quantile returns the time in nanoseconds that the part q of all did not exceed,
// to within a sixteenth of it; ok is false where nothing was counted.
func (c *WaitCounts) Quantile(q float64) (ns int64, ok bool) {
	sum := uint64(0)
	for _, n := range c {
		sum += n
	}
	rank := uint64(q * float64(sum))
	for b, n := range c {
		if rank < n {
			return bucketMiddle(b), true
		}
		rank -= n
	}
	return 0, false
}
