package maekawapublished

import (
	"slices"

	"dmebench/dme"
)

// The kinds of messages. The two texts have other words for the second and the
// fifth, and the same meaning.
const (
	kindRequest    dme.Kind = iota + 1
	kindLocked              // REPLY in the textbook
	kindFailed              //
	kindInquire             //
	kindRelinquish          // YIELD in the textbook
	kindRelease
)

// site is what the two texts agree upon: locking all members of a request set,
// one request at a time at each.
type site struct {
	id      dme.NodeID
	members []dme.NodeID // S_i, ascending
	served  []dme.NodeID // the nodes in whose request sets this one is, ascending

	number uint64 // the highest sequence number of a REQUEST sent or received

	request dme.Stamp   // the current REQUEST; zero while there is none
	inside  bool        // in the critical section
	locked  dme.NodeSet // members that are locked, as far as this node knows

	locking dme.Stamp   // the REQUEST for which this node is locked; zero while unlocked
	waiting []dme.Stamp // the queue, the most preceding REQUEST first

	// What the node says to itself waits here for the end of the handler. Empty
	// between events, hence not part of the state.
	local []dme.Message
}

// pending reports whether the node has asked and not yet entered.
func (s *site) pending() bool { return !s.request.IsZero() && !s.inside }

// ask sends a REQUEST to every member.
func (s *site) ask(out *dme.Outbox) {
	s.number++
	s.request = dme.Stamp{Clock: s.number, Node: s.id}
	for _, j := range s.members {
		s.send(j, kindRequest, out)
	}
}

// lockedBy enters when all members are locked.
func (s *site) lockedBy(j dme.NodeID, out *dme.Outbox) {
	if !s.pending() {
		return
	}
	s.locked.Add(j)
	if s.locked.Len() == len(s.members) {
		s.inside = true
		out.Enter(s.request)
	}
}

// leave sends a RELEASE to every member.
func (s *site) leave(out *dme.Outbox) {
	s.request, s.inside = dme.Stamp{}, false
	s.locked.Clear()
	for _, j := range s.members {
		s.send(j, kindRelease, out)
	}
}

// giveBack cancels the lock of member j.
func (s *site) giveBack(j dme.NodeID, out *dme.Outbox) {
	s.locked.Remove(j)
	s.send(j, kindRelinquish, out)
}

// lockFor locks this node for r and tells r's node.
func (s *site) lockFor(r dme.Stamp, out *dme.Outbox) {
	s.locking = r
	s.send(r.Node, kindLocked, out)
}

// relock locks this node for the most preceding REQUEST that waits, or unlocks
// it.
func (s *site) relock(out *dme.Outbox) {
	s.locking = dme.Stamp{}
	if len(s.waiting) > 0 {
		r := s.waiting[0]
		s.waiting = slices.Delete(s.waiting, 0, 1)
		s.lockFor(r, out)
	}
}

// enqueue puts r into the queue at its place.
func (s *site) enqueue(r dme.Stamp) {
	at := 0
	for at < len(s.waiting) && s.waiting[at].Precedes(r) {
		at++
	}
	s.waiting = slices.Insert(s.waiting, at, r)
}

// send sends a message of that kind to a node that may be this one.
func (s *site) send(to dme.NodeID, kind dme.Kind, out *dme.Outbox) {
	m := dme.Message{Kind: kind}
	if kind == kindRequest {
		m.Clock = s.request.Clock
	}
	if to == s.id {
		s.local = append(s.local, m)
		return
	}
	out.Send(to, m)
}

// handler is what a text says about the arrival of a message.
type handler func(from dme.NodeID, m dme.Message, out *dme.Outbox)

// receive refuses what no node can have sent, and handles the rest.
func (s *site) receive(from dme.NodeID, m dme.Message, handle handler, out *dme.Outbox) {
	const latest = 1 << 62 // so that a garbled number cannot overflow
	peers := s.served
	switch m.Kind {
	case kindRequest:
		if m.Clock == 0 || m.Clock > latest {
			out.Refuse("no such sequence number")
			return
		}
		s.number = max(s.number, m.Clock)
	case kindLocked, kindFailed, kindInquire:
		peers = s.members
	}
	if _, ok := slices.BinarySearch(peers, from); !ok {
		out.Refuse("the sender has nothing to do with this node's locks")
		return
	}
	handle(from, m, out)
	s.handleLocal(handle, out)
}

// handleLocal handles what the node has said to itself, in order, until it has
// nothing more to say.
func (s *site) handleLocal(handle handler, out *dme.Outbox) {
	for i := 0; i < len(s.local); i++ {
		handle(s.id, s.local[i], out)
	}
	s.local = s.local[:0]
}

// QueueLength returns the number of REQUESTs that wait.
func (s *site) QueueLength() int { return len(s.waiting) }

func (s *site) state(v *dme.Visitor) {
	v.Uint("number", &s.number)
	v.Stamp("request", &s.request)
	v.Bool("inside", &s.inside)
	v.Set("locked", &s.locked)
	v.Stamp("locking", &s.locking)
	v.Stamps("waiting", &s.waiting)
}
