package agrawalelabbadi

import (
	"slices"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/collections"
)

// publishedNode follows the eight steps of section 9.9.5 to the letter: one request queue, at whose
// head a request has the site's permission (steps 2 and 3); an Inquire for every newcomer that
// takes the head from another one (step 6); a Yield whenever not all replies are there (step 7);
// and then permission for the request that caused the last Inquire (step 8). If the text says
// nothing the kind reading is taken: a request that becomes the head after a Relinquish is sent its
// Reply, a node that does not ask ignores an Inquire, one that yields no longer counts the Reply,
// and clocks are kept as in the repaired algorithm.
type publishedNode struct {
	requester

	queue   collections.RequestQueue // the request queue
	pending dme.Stamp                // "the pending request", on whose behalf the last Inquire was sent
}

func newPublished(r requester) dme.Node {
	n := &publishedNode{requester: r}
	n.text = n
	return n
}

func (n *publishedNode) handle(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	case kindReply:
		if n.requester.pending() {
			n.receiveReply(from, out)
		}
	case kindInquire:
		n.receiveInquire(from, out)
	case kindYield:
		n.receiveYield(out)
	case kindRelinquish:
		n.receiveRelinquish(from, out)
	}
}

// receiveRequest is steps 2, 3 and 6.
func (n *publishedNode) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	n.queue.Insert(r)
	if n.queue[0] != r {
		return
	}
	n.send(r.Node, kindReply, out)
	if len(n.queue) > 1 {
		n.pending = r
		n.send(n.queue[1].Node, kindInquire, out)
	}
}

// receiveRelinquish is step 5, at a site of the quorum.
func (n *publishedNode) receiveRelinquish(s dme.NodeID, out *dme.Outbox) {
	held := len(n.queue) > 0 && n.queue[0].Node == s
	n.queue.Remove(s)
	if held && len(n.queue) > 0 {
		n.send(n.queue[0].Node, kindReply, out)
	}
}

// receiveInquire is step 7.
func (n *publishedNode) receiveInquire(j dme.NodeID, out *dme.Outbox) {
	if n.requester.pending() {
		n.yield(j, out)
	}
}

// receiveYield is step 8.
func (n *publishedNode) receiveYield(out *dme.Outbox) {
	at := slices.Index(n.queue, n.pending)
	if at < 0 {
		return
	}
	n.queue = slices.Insert(slices.Delete(n.queue, at, at+1), 0, n.pending)
	n.send(n.pending.Node, kindReply, out)
}

// impossible says why no node can have sent this message; "" if one can. A text that loses track of
// its permissions can send nearly everything.
func (n *publishedNode) impossible(from dme.NodeID, m dme.Message) string {
	if !quorum.Believable(m.Clock) {
		return "no such clock"
	}
	if m.Kind == kindRequest && n.queue.Has(from) {
		return "Request of a node whose last one has not been relinquished"
	}
	return ""
}

func (n *publishedNode) QueueLength() int { return len(n.queue) }

func (n *publishedNode) State(v *dme.Visitor) {
	n.state(v)
	n.queue.Show(v, "queue")
	v.Stamp("pending", &n.pending)
}
