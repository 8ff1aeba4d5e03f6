package agrawalelabbadi

import (
	"slices"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

// requester is what a node has for its own requests, in the repaired algorithm
// and in the printed one: a quorum, and the replies of its members.
type requester struct {
	*system
	id     dme.NodeID
	own    []dme.NodeID // its quorum, ascending, where that is always the same
	served []dme.NodeID // and then the nodes in whose quorums it is, ascending

	clock    uint64       // at least the clock of every message sent or received
	requests uint64       // made so far: the number of the last one
	request  dme.Stamp    // the current one; zero while there is none
	inside   bool         // in the critical section
	members  []dme.NodeID // the quorum of the current request, ascending
	replied  dme.NodeSet  // members whose permission it has

	// What the node says to itself waits here for the end of the handler, so
	// that handlers never nest. Empty between events, hence not part of the state.
	local []dme.Message
}

func newRequester(s *system, id dme.NodeID) requester {
	n := requester{system: s, id: id, replied: dme.MakeNodeSet(s.nodes)}
	if s.sets != nil {
		n.own, n.served = s.sets.RequestSet(id), s.sets.Served(id)
	}
	return n
}

// pending reports whether the node has asked and not yet entered.
func (n *requester) pending() bool { return !n.request.IsZero() && !n.inside }

// ask is step 1: send a Request to the sites of a quorum.
func (n *requester) ask(out *dme.Outbox) {
	n.clock++
	n.requests++
	n.request = dme.Stamp{Clock: n.clock, Node: n.id}
	if n.sets != nil {
		n.members = append(n.members[:0], n.own...)
	} else {
		n.members = quorum.AppendTreePath(n.members[:0], n.drawLeaf(n.id, n.requests))
	}
	for _, j := range n.members {
		n.send(j, kindRequest, out)
	}
}

// receiveReply is step 4: enter with the permission of the whole quorum.
func (n *requester) receiveReply(j dme.NodeID, out *dme.Outbox) {
	n.replied.Add(j)
	if n.replied.Len() == len(n.members) {
		n.inside = true
		out.Enter(n.request)
	}
}

// leave is step 5: send a Relinquish to the sites of the quorum.
func (n *requester) leave(out *dme.Outbox) {
	n.request, n.inside = dme.Stamp{}, false
	n.replied.Clear()
	for _, j := range n.members {
		n.send(j, kindRelinquish, out)
	}
	n.members = n.members[:0]
}

// yield gives back the permission of site j (step 7).
func (n *requester) yield(j dme.NodeID, out *dme.Outbox) {
	n.replied.Remove(j)
	n.send(j, kindYield, out)
}

// send sends a message of that kind, stamped with the clock, to a node that may
// be this one.
func (n *requester) send(to dme.NodeID, kind dme.Kind, out *dme.Outbox) {
	m := dme.Message{Kind: kind, Clock: n.clock}
	if to == n.id {
		n.local = append(n.local, m)
		return
	}
	out.Send(to, m)
}

// handleLocal handles what the node has said to itself, in order, until it has
// nothing more to say.
func (n *requester) handleLocal(handle func(dme.NodeID, dme.Message, *dme.Outbox), out *dme.Outbox) {
	for i := 0; i < len(n.local); i++ {
		handle(n.id, n.local[i], out)
	}
	n.local = n.local[:0]
}

// latest bounds the clocks that are believed, so that a garbled message cannot
// make a clock overflow.
const latest = 1 << 62

// believable reports whether a clock can be one.
func believable(clock uint64) bool { return clock > 0 && clock <= latest }

func (n *requester) state(v *dme.Visitor) {
	v.Uint("clock", &n.clock)
	if n.sets == nil {
		v.Uint("requests", &n.requests)
	}
	v.Stamp("request", &n.request)
	v.Bool("inside", &n.inside)
	v.Nodes("quorum", &n.members)
	v.Set("replied", &n.replied)
}

// enqueue puts r into a queue at its place, the most preceding first.
func enqueue(queue []dme.Stamp, r dme.Stamp) []dme.Stamp {
	at := 0
	for at < len(queue) && queue[at].Precedes(r) {
		at++
	}
	return slices.Insert(queue, at, r)
}

// indexOf returns the place of node id's request in a queue, or −1.
func indexOf(queue []dme.Stamp, id dme.NodeID) int {
	return slices.IndexFunc(queue, func(r dme.Stamp) bool { return r.Node == id })
}

func contains(ascending []dme.NodeID, id dme.NodeID) bool {
	_, ok := slices.BinarySearch(ascending, id)
	return ok
}
