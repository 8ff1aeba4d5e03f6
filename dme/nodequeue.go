package dme

import (
	"iter"
	"slices"
)

// NodeQueue is a first-in, first-out queue of nodes. The zero value is empty.
// Once it has grown to the longest length that it reaches, it allocates no
// more.
type NodeQueue struct {
	items []NodeID // the queue is items[head:]
	head  int
}

// Push appends id.
func (q *NodeQueue) Push(id NodeID) {
	// Room in front is reclaimed only where it is at least half of the whole,
	// so that a push costs constant time on average.
	if len(q.items) == cap(q.items) && 2*q.head >= len(q.items) {
		q.items = q.items[:copy(q.items, q.items[q.head:])]
		q.head = 0
	}
	q.items = append(q.items, id)
}

// Front returns the node at the head, None where the queue is empty.
func (q *NodeQueue) Front() NodeID {
	if q.Empty() {
		return None
	}
	return q.items[q.head]
}

// Pop removes and returns the node at the head. It returns None where the
// queue is empty.
func (q *NodeQueue) Pop() NodeID {
	if q.Empty() {
		return None
	}
	id := q.items[q.head]
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return id
}

// Len returns the number of nodes in the queue.
func (q *NodeQueue) Len() int { return len(q.items) - q.head }

// Empty reports whether the queue has no node.
func (q *NodeQueue) Empty() bool { return q.head == len(q.items) }

// Has reports whether id is somewhere in the queue, in time proportional to
// its length.
func (q *NodeQueue) Has(id NodeID) bool { return slices.Contains(q.items[q.head:], id) }

// All yields the nodes from the head to the tail.
func (q *NodeQueue) All() iter.Seq[NodeID] { return slices.Values(q.items[q.head:]) }
