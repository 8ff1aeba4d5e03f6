// Package lamport is the algorithm of L. Lamport, Time, Clocks, and the
// Ordering of Events in a Distributed System, Communications of the ACM 21(7),
// 1978, as the textbook (Kshemkalyani and Singhal, Distributed Computing,
// chapter 9) gives it in section 9.3, Algorithm 9.1, and its optimization.
//
// Every site keeps a queue of all requests, ordered by their timestamps.
//
//   - Requesting 1: a site that wants to enter broadcasts REQUEST(ts_i, i) and
//     places the request on its own queue.
//   - Requesting 2: a site that receives it places it on its queue and returns
//     a timestamped REPLY.
//   - Executing: a site enters when (L1) it has received a message with a
//     larger timestamp than (ts_i, i) from every other site and (L2) its
//     request is at the top of its queue.
//   - Releasing 1: leaving, it removes its request and broadcasts a timestamped
//     RELEASE.
//   - Releasing 2: a site that receives RELEASE removes the sender's request.
//
// The optimization omits the REPLY to a request that precedes the receiver's
// own, which has been sent: on links that keep order, that REQUEST has a larger
// timestamp and tells the other site as much as the REPLY would. Of two
// requests that cross, then, one is replied to. A site that asks alone still
// costs 3(N−1) messages, one whose request is the first of a burst 2(N−1), and a
// burst in which all N requests cross 5(N−1)/2 for each entry.
//
// Departure from the printed text: a site "updates its clock using the
// timestamp" of a message. By the maximum alone, a REPLY could carry the
// timestamp of the request that it answers; L1 wants a larger one, and the
// system would stop. Here the clock becomes max(clock, timestamp) + 1, which
// Lamport's rule IR2 allows: no less than before, and more than the timestamp.
//
// Links must keep order and neither lose nor duplicate messages: L1 concludes
// from a later message that no earlier request is on its way, and a RELEASE
// must not overtake the REQUEST that it ends. Entries are in the order of
// timestamps (theorem 9.2).
package lamport

import (
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

const (
	kindRequest dme.Kind = iota + 1 // Clock: ts_i
	kindReply                       // Clock: when it was sent
	kindRelease                     // Clock: when it was sent
)

// Algorithm describes Lamport's algorithm.
func Algorithm() *dme.Algorithm {
	a := describe(false, exactly)
	a.Name, a.Title = "lamport", "Lamport"
	a.Description = "Every node keeps a queue of all requests, in the order of their logical timestamps. A request goes to all nodes, each " +
		"replies, and each is told by a RELEASE when it is over: 3(N-1) messages. A node enters when its request is first in " +
		"its own queue and it has heard something later from everybody. Entries come in the order of the timestamps, and a " +
		"handover takes one delay. It is the simplest algorithm to understand, and the one from which the others save messages. " +
		"Links must keep order."
	return a
}

// Optimized describes Lamport's algorithm with the optimization of section 9.3, which omits a REPLY
// if the receiver's own REQUEST serves as well.
func Optimized() *dme.Algorithm {
	a := describe(true, between)
	a.Name, a.Title = "lamport-optimized", "Lamport, optimized"
	a.Description = "Lamport's algorithm without needless replies: a node that has sent a request with a later timestamp does not reply, " +
		"since the request says as much. An entry costs 3(N-1) messages when nobody else asks, and as few as 2(N-1) when " +
		"everybody does. All else is as with Lamport: timestamp order, a handover of one delay, links that keep order."
	return a
}

func describe(sparing bool, own func() claim.List) *dme.Algorithm {
	return &dme.Algorithm{
		Citation:    "L. Lamport: Time, Clocks, and the Ordering of Events in a Distributed System, CACM 21(7), 1978; textbook, section 9.3",
		Class:       dme.Permission,
		Needs:       dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds:       []string{"REQUEST", "REPLY", "RELEASE"},
		Claims:      claim.Lazy(func() claim.List { return append(claims(), own()...) }),
		Invariants:  invariants(),
		Wanted:      dme.OfNode(func(s *site) bool { return len(s.requestQueue) > 1 }),
		QueueLength: dme.OfNode((*site).QueueLength),
		Waits:       dme.OfNode((*site).Waits),
		Prepare:     dme.Unshared(func(n int, id dme.NodeID) dme.Node { return newSite(n, id, sparing) }),
		Clocks:      clocks,
		Gauges:      gauges(),
	}
}

type site struct {
	i       dme.NodeID
	n       int
	sparing bool // the optimization: a REPLY that a REQUEST makes superfluous is spared

	clock        uint64
	request      dme.Stamp                // (ts_i, i), from the request to the release
	executing    bool                     // the CS
	awaiting     collections.NodeSet      // sites without a message larger than our request: L1 holds if it is empty
	requestQueue collections.RequestQueue // requests of all sites, at most one each, by timestamp
}

func newSite(n int, id dme.NodeID, sparing bool) *site {
	return &site{i: id, n: n, sparing: sparing, awaiting: collections.MakeNodeSet(n)}
}

// Request is step 1 of requesting.
func (s *site) Request(out *dme.Outbox) {
	s.clock++
	s.request = dme.Stamp{Clock: s.clock, Node: s.i}
	// No timestamp that has arrived so far is larger: the clock is above them.
	s.awaiting.AddOthers(s.n, s.i)
	out.Broadcast(dme.Message{Kind: kindRequest, Clock: s.clock})
	s.requestQueue.Insert(s.request)
	s.enterIfAllowed(out) // a lone site awaits no message
}

// Release is step 1 of releasing.
func (s *site) Release(out *dme.Outbox) {
	s.requestQueue.Remove(s.i)
	s.executing = false
	s.request = dme.Stamp{}
	s.clock++
	out.Broadcast(dme.Message{Kind: kindRelease, Clock: s.clock})
}

// Receive is the second step of requesting and of releasing, and the wait for
// L1 and L2. Any message may end that wait.
func (s *site) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	queued := s.requestQueue.Has(from)
	switch {
	case m.Clock == 0:
		out.Refuse("message without a timestamp")
		return
	case m.Kind == kindRequest && queued:
		out.Refuse("REQUEST from a site whose request is on the queue")
		return
	case m.Kind == kindRelease && !queued:
		out.Refuse("RELEASE of a request that is not on the queue")
		return
	}
	ts := dme.Stamp{Clock: m.Clock, Node: from}
	s.clock = max(s.clock, ts.Clock) + 1
	if s.requesting() && s.request.Precedes(ts) {
		s.awaiting.Remove(from)
	}
	switch m.Kind {
	case kindRequest:
		s.requestQueue.Insert(ts)
		if !s.spares(ts) {
			out.Send(from, dme.Message{Kind: kindReply, Clock: s.clock})
		}
	case kindRelease:
		s.requestQueue.Remove(from)
	}
	s.enterIfAllowed(out)
}

// spares is the condition of the optimization: our own request follows r, and
// its REQUEST is therefore the larger message that r's site waits for. It
// cannot be over: it could only be served after r.
func (s *site) spares(r dme.Stamp) bool {
	return s.sparing && s.requesting() && r.Precedes(s.request)
}

// enterIfAllowed enters when L1 and L2 hold.
func (s *site) enterIfAllowed(out *dme.Outbox) {
	if !s.requesting() || s.executing {
		return
	}
	if s.l1() && s.l2() {
		s.executing = true
		out.Enter(s.request)
	}
}

// l1 reports whether a site that requests has received a larger message from all.
func (s *site) l1() bool { return s.awaiting.Empty() }

// l2 reports whether its request is at the top of its queue.
func (s *site) l2() bool { return s.requestQueue[0] == s.request }

func (s *site) requesting() bool { return !s.request.IsZero() }

func (s *site) State(v *dme.Visitor) {
	v.Rising("clock", s.i, &s.clock)
	v.Stamp("request", &s.request)
	v.Bool("executing", &s.executing)
	s.awaiting.Show(v, "awaiting")
	s.requestQueue.Show(v, "request_queue")
}

// clocks shows what a message carries: the timestamp of a request, else the clock of
// its sender.
func clocks(_ int, from dme.NodeID, m *dme.Message, v *dme.Visitor) {
	if m.Kind == kindRequest {
		v.Timestamp("", from, &m.Clock)
	} else {
		v.Rising("", from, &m.Clock)
	}
}

func (s *site) QueueLength() int { return len(s.requestQueue) }

// Waits names the sites L1 wants a message from (REPLY stands for it), and those whose requests L2
// wants removed.
func (s *site) Waits() []dme.Wait {
	if !s.requesting() || s.executing {
		return nil
	}
	var waits []dme.Wait
	for j := range dme.Others(s.n, s.i) {
		switch {
		case s.awaiting.Has(j):
			waits = append(waits, dme.Wait{For: j, What: "REPLY"})
		case s.requestQueue.Ahead(j, s.request):
			waits = append(waits, dme.Wait{For: j, What: "RELEASE"})
		}
	}
	return waits
}
