package noderun

import (
	"sync/atomic"
	"unsafe"
)

const words = unsafe.Sizeof(Counts{}) / 8

// Read copies the counters of a node. Where the node still runs, the copy is not
// one instant's: only what two successive copies agree on is certain.
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

// Total adds up the counts of all nodes; of the longest it takes the longest, and
// of the last the last. What stands for no number is not in it.
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
