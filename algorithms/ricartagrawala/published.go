package ricartagrawala

import "dmebench/dme"

// BoundedAsPublished describes section 6.4 as it is printed, a negative control: it lets two nodes
// in.
//
// Highest_Sequence_Number does not cover the numbers that the node has sent itself, although the
// comment at its declaration says so. The number of a REQUEST can then exceed the receiver's
// Highest_Sequence_Number by N; the comparison takes it for one from the distant past, the receiver
// forgets it, and asks with a number that is too small: whatever M is, two nodes enter.
func BoundedAsPublished() *dme.Algorithm {
	a := describeBounded("ricart-agrawala-bounded-as-published", "Ricart–Agrawala, bounded numbers, as published",
		func(n boundedNode) dme.Node { return &publishedBoundedNode{n} })
	a.Description = "Section 6.4 of the technical report to the letter. A node's own numbers do not count among those it has seen, so that " +
		"numbers drift apart and two nodes enter, for any modulus. Kept as a negative control; use ricart-agrawala-bounded."
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

// RobustAsPublished describes section 7 as it is printed, a negative control: two
// nodes can enter, even if no node fails.
//
//   - ARE_YOU_THERE names no request and REPLY none either. A node that is in its
//     critical section for long is asked ARE_YOU_THERE; it leaves and sends the
//     REPLY that it owes, then receives the question, owes nothing, and sends another
//     REPLY. That one is taken for permission to the next request. And a node that
//     has not seen the REQUEST replies although it has priority.
//   - A REPLY that was taken for granted, because its sender leaves, may still come,
//     and serves the next request likewise.
//   - Highest_Sequence_Number does not cover own numbers: the largest that a
//     newcomer hears may be below that of a node whose REQUEST it has missed.
//   - The sponsor does not wait until the group has added the newcomer, nor a
//     newcomer that broadcasts: others ask without it.
//
// That the text's own messages leave open how a sponsor is found is read kindly:
// that is as in the repaired algorithm.
func RobustAsPublished() *dme.Algorithm {
	a := describeRobust("ricart-agrawala-robust-as-published", "Ricart–Agrawala, robust, as published",
		func(n *robustNode) dme.Node { return &publishedRobustNode{robustNode: n} })
	a.Description = "Section 7 of the technical report to the letter. A reply can be counted twice, and a newcomer can choose a number that " +
		"somebody else has: one crash on three nodes lets two in. Kept as a negative control; use ricart-agrawala-robust."
	a.AsPublished = true
	return a
}

type publishedRobustNode struct {
	*robustNode
	heard uint64 // Highest_Sequence_Number as the code has it: of others only
}

// literally undoes after each event what the printed text does not say.
func (n *publishedRobustNode) literally(out *dme.Outbox) {
	n.highestSequenceNumber = n.heard
	switch n.stage {
	case inserting:
		n.awaiting.Clear()
		n.welcome(out)
		n.literally(out)
	case welcoming:
		n.newcomers.Remove(n.newcomer)
		n.newcomer = dme.None
		n.enter(out)
		n.literally(out)
	case announcing:
		n.admit(out)
		n.literally(out)
	}
}

func (n *publishedRobustNode) after(event func(*dme.Outbox), out *dme.Outbox) {
	event(out)
	n.literally(out)
}

func (n *publishedRobustNode) Request(out *dme.Outbox) { n.after(n.robustNode.Request, out) }
func (n *publishedRobustNode) Release(out *dme.Outbox) { n.after(n.robustNode.Release, out) }
func (n *publishedRobustNode) Restart(out *dme.Outbox) { n.after(n.robustNode.Restart, out) }
func (n *publishedRobustNode) Join(out *dme.Outbox)    { n.after(n.robustNode.Join, out) }
func (n *publishedRobustNode) Depart(out *dme.Outbox)  { n.after(n.robustNode.Depart, out) }

func (n *publishedRobustNode) Timeout(id dme.TimerID, out *dme.Outbox) {
	n.robustNode.Timeout(id, out)
	n.literally(out)
}

func (n *publishedRobustNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case kindRequest, kindHighest:
		n.heard = max(n.heard, m.Clock)
	case kindReply:
		m.Clock = n.ourSequenceNumber // names no request: taken for the pending one
	case kindAreYouThere:
		if m.Clock > 0 {
			n.receiveProbe(from, m.Clock, out)
			return
		}
	}
	n.robustNode.Receive(from, m, out)
	n.literally(out)
}

// receiveProbe is ARE_YOU_THERE as printed: if Reply_Deferred[j] is FALSE 'the
// correct response is REPLY(me)'.
func (n *publishedRobustNode) receiveProbe(from dme.NodeID, number uint64, out *dme.Outbox) {
	kind := kindReply
	if n.replyDeferred.Has(from) {
		kind = kindYesIAmHere
	}
	out.Send(from, dme.Message{Kind: kind, Clock: number})
}

func (n *publishedRobustNode) State(v *dme.Visitor) {
	n.robustNode.State(v)
	v.Clock("Heard", &n.heard)
}
