package ricartagrawala

import "dmebench/dme"

// This file is section 7.3, the removal of nodes:
//
//  1. A node that wishes to leave notifies all others. Until all have acknowledged
//     it does not ask, and goes on to reply to REQUESTs.
//  2. Who is notified removes it from the group, does not await its REPLY any more,
//     and acknowledges. The REPLY may still come: it is known by its request and its
//     sender, and counts for nothing else.

// Depart is step 1. A node that is inserting a newcomer ends that first.
func (n *robustNode) Depart(out *dme.Outbox) {
	n.leaving = true
	n.goOn(out)
}

func (n *robustNode) depart(out *dme.Outbox) {
	n.awaitGroup()
	if n.awaiting.Empty() {
		out.Left()
		return
	}
	n.tellGroup(dme.Message{Kind: kindLeave}, out)
	n.await(departing, out)
}

// receiveLeave is step 2.
func (n *robustNode) receiveLeave(from dme.NodeID, out *dme.Outbox) {
	out.Send(from, dme.Message{Kind: kindAcknowledge, Node: from})
	n.remove(from, out)
}
