// Package singhal is the dynamic information-structure algorithm of
//
//	M. Singhal, A Dynamic Information-Structure Mutual Exclusion Algorithm for
//	Distributed Systems, IEEE Transactions on Parallel and Distributed Systems
//	3(1), 1992,
//
// as the textbook (Kshemkalyani and Singhal, Distributed Computing, chapter 9) gives it in section
// 9.5, Algorithm 9.3.
//
// A site S_i asks the sites of its request set R_i only, and owes an answer to those of its inform
// set I_i. Both change with every message: a site that was permitted to enter must be asked next
// time, one that gave its permission need not be. Between requests, when nothing is on its way, the
// sets are a staircase: the sites stand in a line in which each asks exactly those to its right.
// The site that was in its critical section last stands at the right end and asks no other. At the
// start that is S_1, and R_i = {S_1, …, S_{i−1}}.
//
// # Departures from the printed text
//
// Read literally, Algorithm 9.3 can let two sites in, and can stop. Repairs, each marked in the
// code by its name:
//
//   - S1. The initialization puts S_i into its own R_i and I_i. It would wait for itself for ever;
//     the example of section 9.5.2 leaves it out.
//   - S2. Step 1 ends by "Requesting := false", and step 2 begins by "Executing := true". A REQUEST
//     handled between the two finds neither true and is granted. Here they are one atomic step.
//   - S3. Step 1 waits until R_i is empty and goes on some time later. A REQUEST handled in between
//     may have refilled R_i. Here the step that empties R_i is the step that enters.
//   - S4. No variable keeps the timestamp of the pending request, while C_i moves on with every
//     message. My_priority and the REQUEST that is sent to a site that joins R_i late (section
//     9.5.1, (ii)) need the timestamp with which the others know the request, so it is stored.
//     Without it two sites enter on links that do not keep order.
//   - A REPLY names the request that it answers, for which I_i holds requests instead of sites. A
//     REPLY that is not awaited is refused.
//
// [AsPublished] is the literal text, kept as a negative control.
//
// # Guarantees
//
// No two sites are in their critical sections together, and every request is served, on reliable
// links. Links need not keep order: the text says that they do, but with S4 a REQUEST that
// overtakes a REPLY is judged alike. An entry causes at most 2(n−1) messages, and none if the site
// was also the last to enter and no other has asked since. Entries are not in timestamp order:
// clocks meet only where messages flow. Nothing is done about sites that fail.
package singhal

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

// The kinds of messages, in the order of [dme.Algorithm.Kinds].
const (
	kindRequest dme.Kind = iota + 1 // Clock: that of the request's timestamp
	kindReply                       // Clock: the sender's; Req: the request that it answers
)

// latest bounds the clocks that are believed, so that a garbled message cannot
// make a clock overflow.
const latest = 1 << 62

// Algorithm describes the repaired algorithm.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "singhal",
		Title: "Singhal",
		Description: "A node asks only some of the others, and which ones changes with every message: a node that it let in must be asked next " +
			"time, one that let it in need not be. Nodes that enter often are asked by many and ask few. An entry costs N-1 messages on " +
			"average under light load and up to 2(N-1) under heavy load; a handover takes one delay. Entries are not in timestamp " +
			"order. Good if few nodes do most of the asking.",
		Citation: "M. Singhal: A Dynamic Information-Structure Mutual Exclusion Algorithm for Distributed Systems, " +
			"IEEE TPDS 3(1), 1992; textbook, section 9.5",
		Class:      dme.Permission,
		Dynamic:    true,
		Needs:      dme.Always(dme.Needs{Reliable: true}),
		Kinds:      []string{"REQUEST", "REPLY"},
		Claims:     claim.Lazy(claims),
		Invariants: invariants(),
		Clocks:     dme.ClockInMessages,
		Gauges:     []dme.Gauge{{Quantity: NoStaircase.ID, Begin: newStairs}},
		Waits:      dme.OfNode((*site).Waits),
		RequestSet: dme.OfSystem(system.RequestSet),
		Prepare: func(c dme.Config) (dme.System, error) {
			return system{nodes: c.Nodes}, nil
		},
	}
}

type system struct{ nodes int }

// RequestSet returns R_id as the text initializes it, with id itself, which no
// site ever asks. The sets of a run change.
func (s system) RequestSet(id dme.NodeID) []dme.NodeID {
	all := make([]dme.NodeID, id)
	for k := range all {
		all[k] = dme.NodeID(k + 1)
	}
	return all
}

// Node returns site id in the initial staircase.
func (s system) Node(id dme.NodeID) dme.Node {
	n := &site{i: id, r: collections.MakeNodeSet(s.nodes)}
	for j := dme.NodeID(1); j < id; j++ { // S1: without the site itself
		n.r.Add(j)
	}
	return n
}

// site is S_i. While it is Requesting, R_i holds the sites that have still to
// reply; at other times, those that it must ask.
type site struct {
	i dme.NodeID

	c          uint64               // C_i, a Lamport clock
	r          collections.NodeSet  // R_i
	inform     collections.Deferred // I_i: the requests that wait for our release
	requesting bool
	executing  bool
	request    dme.Stamp // S4: the timestamp of the request, while Requesting or Executing
}

// Request is step 1 up to its wait.
func (s *site) Request(out *dme.Outbox) {
	s.requesting = true
	s.c++
	s.request = dme.Stamp{Clock: s.c, Node: s.i}
	for k := range s.r.All() {
		s.ask(k, out)
	}
	s.executeIfPermitted(out)
}

// executeIfPermitted ends step 1 and begins step 2. It is called in the step
// that has taken a site out of R_i (S3).
func (s *site) executeIfPermitted(out *dme.Outbox) {
	if s.requesting && s.r.Empty() {
		s.requesting, s.executing = false, true // S2: together
		out.Enter(s.request)
	}
}

// Release is the end of step 2, and step 3.
func (s *site) Release(out *dme.Outbox) {
	s.executing = false
	s.request = dme.Stamp{}
	for _, k := range s.inform {
		s.reply(k, out)
		s.r.Add(k.Node)
	}
	s.inform.Clear()
}

func (s *site) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Clock == 0 || m.Clock > latest {
		out.Refuse("no such clock")
		return
	}
	if m.Kind == kindRequest {
		s.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	} else {
		s.receiveReply(from, m, out)
	}
}

// receiveRequest is the REQUEST message handler.
func (s *site) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if s.inform.Has(r.Node) {
		out.Refuse("REQUEST of a site whose REQUEST waits already")
		return
	}
	s.c = max(s.c, r.Clock)
	switch {
	case s.executing || s.requesting && s.myPriority(r):
		s.inform.Add(r)
	case s.requesting:
		s.reply(r, out)
		if !s.r.Has(r.Node) { // not asked yet, and about to enter
			s.r.Add(r.Node)
			s.ask(r.Node, out)
		}
	default:
		s.r.Add(r.Node)
		s.reply(r, out)
	}
}

// myPriority reports whether the pending request has priority over r (S4).
func (s *site) myPriority(r dme.Stamp) bool { return s.request.Precedes(r) }

// receiveReply is the REPLY message handler.
func (s *site) receiveReply(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if !s.requesting || m.Req != s.request || !s.r.Has(from) {
		out.Refuse("REPLY that is not awaited")
		return
	}
	s.c = max(s.c, m.Clock)
	s.r.Remove(from)
	s.executeIfPermitted(out)
}

func (s *site) ask(j dme.NodeID, out *dme.Outbox) {
	out.Send(j, dme.Message{Kind: kindRequest, Clock: s.request.Clock}) // S4: not C_i
}

func (s *site) reply(r dme.Stamp, out *dme.Outbox) {
	out.Send(r.Node, dme.Message{Kind: kindReply, Clock: s.c, Req: r})
}

func (s *site) State(v *dme.Visitor) {
	v.Clock("C", &s.c)
	s.r.Show(v, "R")
	s.inform.Show(v, "I")
	v.Bool("Requesting", &s.requesting)
	v.Bool("Executing", &s.executing)
	v.Stamp("request", &s.request)
}

// Waits names those in R_i, which have still to reply.
func (s *site) Waits() []dme.Wait {
	return dme.WaitIf(s.requesting, "REPLY", slices.Collect(s.r.All())...)
}
