package collections

import (
	"iter"
	"slices"

	"dmebench/dme"
)

// Deferred is the set of the requests to which a node owes an answer, at most
// one of each node, in ascending order of the nodes. The zero value is empty.
// It holds what is there and not a bit for every node: a system of N nodes
// would take N² of those.
type Deferred []dme.Stamp

// Add puts r into the set. It reports false, and changes nothing, if there is a request of r's node
// already.
func (d *Deferred) Add(r dme.Stamp) bool {
	at, found := d.find(r.Node)
	if !found {
		*d = slices.Insert(*d, at, r)
	}
	return !found
}

// Has reports whether there is a request of node id.
func (d Deferred) Has(id dme.NodeID) bool {
	_, found := d.find(id)
	return found
}

// Clear empties the set and keeps its memory.
func (d *Deferred) Clear() { *d = (*d)[:0] }

// find returns where the request of node id is, or belongs. It is written out:
// with a function for the comparison it takes more than twice as long.
func (d Deferred) find(id dme.NodeID) (at int, found bool) {
	low, high := 0, len(d)
	for low < high {
		if middle := int(uint(low+high) >> 1); d[middle].Node < id {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < len(d) && d[low].Node == id
}

// Show shows the set to a visitor.
func (d *Deferred) Show(v *dme.Visitor, name string) { v.Stamps(name, (*[]dme.Stamp)(d)) }

// RequestQueue holds requests in the order of [Stamp.Precedes]. The zero value
// is empty.
type RequestQueue []dme.Stamp

// Insert puts r into its place, behind an equal one.
func (q *RequestQueue) Insert(r dme.Stamp) {
	queue := *q
	at := len(queue) // the latest request is usually the last
	for at > 0 && r.Precedes(queue[at-1]) {
		at--
	}
	*q = slices.Insert(queue, at, r)
}

// Pop removes and returns the first request, the zero stamp if there is none.
func (q *RequestQueue) Pop() (r dme.Stamp) {
	if len(*q) > 0 {
		r = (*q)[0]
		*q = slices.Delete(*q, 0, 1)
	}
	return r
}

// Has reports whether a request of node id is in the queue.
func (q RequestQueue) Has(id dme.NodeID) bool { return q.position(id) >= 0 }

// Ahead reports whether a request of node id in the queue has priority over r.
func (q RequestQueue) Ahead(id dme.NodeID, r dme.Stamp) bool {
	at := q.position(id)
	return at >= 0 && q[at].Precedes(r)
}

// Remove takes the request of node id out, and reports whether there was one.
func (q *RequestQueue) Remove(id dme.NodeID) bool {
	at := q.position(id)
	if at < 0 {
		return false
	}
	*q = slices.Delete(*q, at, at+1)
	return true
}

// RemoveUpTo takes out r and all requests that have priority over it.
func (q *RequestQueue) RemoveUpTo(r dme.Stamp) {
	rest := slices.IndexFunc(*q, r.Precedes)
	if rest < 0 {
		rest = len(*q)
	}
	*q = slices.Delete(*q, 0, rest)
}

func (q RequestQueue) position(id dme.NodeID) int {
	for at, r := range q {
		if r.Node == id {
			return at
		}
	}
	return -1
}

// Show shows the queue to a visitor, in its order.
func (q *RequestQueue) Show(v *dme.Visitor, name string) { v.Stamps(name, (*[]dme.Stamp)(q)) }

// NodeQueue is a first-in, first-out queue of nodes. The zero value is empty.
// Once it has grown to the longest length that it reaches, it allocates no
// more.
type NodeQueue struct {
	items []dme.NodeID // the queue is items[head:]
	head  int
}

// Push appends id.
func (q *NodeQueue) Push(id dme.NodeID) {
	// Room in front is reclaimed only if it is at least half of the whole, so that a push costs
	// constant time on average.
	if len(q.items) == cap(q.items) && 2*q.head >= len(q.items) {
		q.items = q.items[:copy(q.items, q.items[q.head:])]
		q.head = 0
	}
	q.items = append(q.items, id)
}

// Front returns the node at the head, None if the queue is empty.
func (q *NodeQueue) Front() dme.NodeID {
	if q.Empty() {
		return dme.None
	}
	return q.items[q.head]
}

// Pop removes and returns the node at the head. It returns None if the queue is empty.
func (q *NodeQueue) Pop() dme.NodeID {
	if q.Empty() {
		return dme.None
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
func (q *NodeQueue) Has(id dme.NodeID) bool { return slices.Contains(q.items[q.head:], id) }

// All yields the nodes from the head to the tail.
func (q *NodeQueue) All() iter.Seq[dme.NodeID] { return slices.Values(q.items[q.head:]) }

// Show shows the queue to a visitor, from its head to its tail.
func (q *NodeQueue) Show(v *dme.Visitor, name string) {
	if v.Loading() {
		q.items, q.head = q.items[:0], 0
		v.Nodes(name, &q.items)
		return
	}
	waiting := q.items[q.head:]
	v.Nodes(name, &waiting)
}
