package ricartagrawala

import "dmebench/dme"

// BoundedAsPublished describes section 6.4 as it is printed, a negative control:
// two nodes can enter.
//
// Highest_Sequence_Number does not cover the numbers that the node has sent
// itself, although the comment at its declaration says so. The number of a
// REQUEST can then exceed the receiver's Highest_Sequence_Number by N; the
// comparison takes it for one from the distant past, the receiver forgets it,
// and asks with a number that is too small: whatever M is, two nodes enter.
func BoundedAsPublished() *dme.Algorithm {
	a := describeBounded("ricart-agrawala-bounded-as-published", "Ricart–Agrawala, bounded numbers, as published",
		func(n boundedNode) dme.Node { return &publishedBoundedNode{n} })
	a.AsPublished = true
	return a
}

type publishedBoundedNode struct{ boundedNode }

// Request is the first process up to its WAITFOR.
func (n *publishedBoundedNode) Request(out *dme.Outbox) {
	received := n.highestSequenceNumber
	n.boundedNode.Request(out)
	n.highestSequenceNumber = received
}
