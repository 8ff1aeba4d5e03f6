package raring

import "dmebench/dme"

// echoNode is a node of form=echo.
type echoNode struct{ node }

// Request is step 1.
func (n *echoNode) Request(out *dme.Outbox) {
	if !n.request(out) {
		n.enter(out)
	}
}

// Receive is steps 2 and 3.
func (n *echoNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind != kindRequest {
		out.Refuse("REPLY where a REQUEST is its own")
		return
	}
	if !n.plausible(from, &m, out) {
		return
	}
	if m.Req.Node == n.me {
		n.enter(out)
		return
	}
	n.highestSequenceNumber = max(n.highestSequenceNumber, m.Req.Clock)
	if n.defers(m.Req) {
		n.keep(m.Req, out)
		return
	}
	n.pass(m.Req, out)
}

// Release ends the stops of step 2.
func (n *echoNode) Release(out *dme.Outbox) {
	n.leave()
	for _, r := range n.deferred {
		n.pass(r, out)
	}
	n.deferred = n.deferred[:0]
}

func (n *echoNode) pass(r dme.Stamp, out *dme.Outbox) {
	out.Send(n.successor(n.me), dme.Message{Kind: kindRequest, Req: r})
}
