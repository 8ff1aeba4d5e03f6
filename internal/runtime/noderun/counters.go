package noderun

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"dmebench/dme"
)

// Activity says where the local process of a node stands.
type Activity = dme.Activity

// See [dme.Activity].
const (
	Idle       = dme.Idle
	Requesting = dme.Requesting
	Inside     = dme.Inside
	Down       = dme.Down
)

// Counters is what is counted at one node. Its node alone writes it; any process may read it at any
// time. It holds no pointer and is a whole number of cache lines long, so that it can lie in memory
// that processes share, where it survives the death of its writer.
//
// A message is counted as handled after everything that its handler sent has been counted as sent:
// when the sums of Sent and Handled over all nodes agree in two successive looks that agree with
// each other, no message is in flight.
type Counters = counters[atomic.Uint64, atomic.Int64]

type Counts = counters[uint64, int64]

// counters lists what is counted, in words of 64 bits.
type counters[U, I any] struct {
	Sent     U // messages, one for each receiver
	Handled  U // messages, refused ones included
	Bytes    U // encoded messages, without the transport's framing
	Requests U // calls of Request
	Entries  U // calls of Release
	Refused  U // messages that the node refused
	Unasked  U // entries without a request: violations

	LongestMessage U // bytes
	LongestQueue   U // requests, if the node knows
	Activity       U // an Activity
	Timers         U // timers armed
	Pending        U // requests that the local process has still to make; 1 stands for some
	LastMove       I // time of the last handled event, ns on the runtime's clock
	Far            U // of Sent, those to nodes of other sites
	_              [2]U
}

const words = unsafe.Sizeof(Counts{}) / 8

// Traffic is what is counted of messages by kind: of one node, or of all nodes whose
// handlers one goroutine calls. Like [Counters] it can lie in memory that processes share.
type Traffic = traffic[atomic.Uint64]

type TrafficCounts = traffic[uint64]

type traffic[U any] struct {
	Sent          [dme.MaxKinds + 1]U // one for each receiver
	Handled       [dme.MaxKinds + 1]U // refused ones included
	Transmissions U                   // like the sum of Sent, but a native broadcast counts once
	_             [7]U
}

const trafficWords = unsafe.Sizeof(TrafficCounts{}) / 8

// ReadTraffic copies what has been counted; see [Read].
func ReadTraffic(t *Traffic) (n TrafficCounts) {
	from, to := (*[trafficWords]atomic.Uint64)(unsafe.Pointer(t)), (*[trafficWords]uint64)(unsafe.Pointer(&n))
	for i := range to {
		to[i] = from[i].Load()
	}
	return n
}

// AddTraffic adds what others have counted to t.
func AddTraffic(t, others *TrafficCounts) {
	to, more := (*[trafficWords]uint64)(unsafe.Pointer(t)), (*[trafficWords]uint64)(unsafe.Pointer(others))
	for i := range to {
		to[i] += more[i]
	}
}

// Read copies the counters of a node. If the node still runs, the copy is not one instant's: only
// what two successive copies agree on is certain.
func Read(c *Counters) Counts {
	var n Counts
	from := (*[words]atomic.Uint64)(unsafe.Pointer(c))
	to := (*[words]uint64)(unsafe.Pointer(&n))
	// Backwards: what was handled is read before what was sent. A message whose
	// handling is seen is then never missing among those sent.
	for i := words; i > 0; i-- {
		to[i-1] = from[i-1].Load()
	}
	return n
}

// Final is what the counters of nodes hold that have come to rest: the same memory, read without a
// copy. It must not be written any more.
func Final(c []Counters) []Counts {
	return unsafe.Slice((*Counts)(unsafe.Pointer(unsafe.SliceData(c))), len(c))
}

// Total adds up the counts of all nodes; it takes the longest of the longest, and the last of the
// last.
func Total(nodes []Counts) Counts {
	var sum, most Counts
	to := (*[words]uint64)(unsafe.Pointer(&sum))
	for i := range nodes {
		n := &nodes[i]
		for k, x := range (*[words]uint64)(unsafe.Pointer(n)) {
			to[k] += x
		}
		most.LongestMessage = max(most.LongestMessage, n.LongestMessage)
		most.LongestQueue = max(most.LongestQueue, n.LongestQueue)
		most.LastMove = max(most.LastMove, n.LastMove)
	}
	sum.LongestMessage, sum.LongestQueue, sum.LastMove = most.LongestMessage, most.LongestQueue, most.LastMove
	sum.Activity = 0
	return sum
}

// The buckets of [Waits]: eight to each factor of two, so that a time is known to
// within a sixteenth of it, from 256 ns up to 18 minutes; what is longer is in the
// last one.
const (
	waitBuckets = 240
	waitUnit    = 8 // a power of two, in ns
)

// Waits is a histogram of how long a node waited, from the intended arrival of a request to its
// entry. As with [Counters], its node alone writes it, any process may read it at any time, and it
// can lie in memory that processes share.
type Waits struct {
	buckets [waitBuckets]atomic.Uint32
}

// Add counts a time in nanoseconds.
func (w *Waits) Add(ns int64) {
	b := &w.buckets[waitBucket(ns)]
	b.Store(b.Load() + 1)
}

func waitBucket(ns int64) int {
	v := uint64(max(ns, 0)) >> waitUnit
	shift := max(bits.Len64(v), 4) - 4
	return min(shift*8+int(v>>shift), waitBuckets-1)
}

func bucketMiddle(b int) int64 {
	first, width := uint64(b), uint64(1)
	if shift := b/8 - 1; shift > 0 {
		first, width = uint64(b-shift*8)<<shift, 1<<shift
	}
	return int64(first<<waitUnit + width<<waitUnit/2)
}

// WaitCounts adds up the histograms of several nodes.
type WaitCounts [waitBuckets]uint64

func (c *WaitCounts) Take(w *Waits) {
	for b := range w.buckets {
		c[b] += uint64(w.buckets[b].Load())
	}
}

func (c *WaitCounts) Add(others *WaitCounts) {
	for b, n := range others {
		c[b] += n
	}
}

// Quantile returns the time in nanoseconds that the part q of all did not exceed,
// to within a sixteenth of it.
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
