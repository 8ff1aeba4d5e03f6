package raring

import "dmebench/algorithms"

// echoNode is a node of form=echo.
type echoNode struct{ node }

// Request is step 1.
func (n *echoNode) Request(out *algorithms.Outbox) {
	if !n.request(out) {
		n.enter(out)
	}
}

// Receive is steps 2 and 3.
func (n *echoNode) Receive(from algorithms.NodeID, m algorithms.Message, out *algorithms.Outbox) {
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
func (n *echoNode) Release(out *algorithms.Outbox) {
	n.leave()
	for _, r := range n.deferred {
		n.pass(r, out)
	}
	n.deferred = n.deferred[:0]
}

func (n *echoNode) pass(r algorithms.Stamp, out *algorithms.Outbox) {
	out.Send(n.successor(n.me), algorithms.Message{Kind: kindRequest, Req: r})
}
