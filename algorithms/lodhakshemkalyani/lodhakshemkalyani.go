// Package lodhakshemkalyani is the fair algorithm of
//
//	S. Lodha and A. D. Kshemkalyani, A Fair Distributed Mutual Exclusion
//	Algorithm, IEEE Transactions on Parallel and Distributed Systems 11(6), 2000,
//
// as the textbook (Kshemkalyani and Singhal, Distributed Computing, chapter 9)
// gives it in section 9.6, Algorithm 9.4.
//
// It is the algorithm of Ricart and Agrawala with fewer messages. Two requests
// are concurrent if each arrived at the other's process after that had made its
// own; then each stands for the REPLY to the other. A process P_i queues in
// LRQ_i the requests that are concurrent with its own, and leaves its critical
// section by one FLUSH to the next of them: it says that all requests up to P_i's
// have been satisfied. Requests that are not concurrent get a REPLY, which
// says the same.
//
// # Departures from the printed text
//
// Read literally, Algorithm 9.4 stops with one request of each of three
// processes, and lets two of them in with two requests each, on reliable
// channels in order. Repairs, each marked in the code by its name:
//
//   - L1. Step (3bi) inserts a REQUEST that the process knows, or could know, to
//     have been satisfied; nothing removes it again. A process keeps in done
//     the lowest-priority request of which it has heard that it was satisfied,
//     and sets RV only for a request whose priority is not lower.
//   - L2. A REQUEST that serves as an implicit REPLY brings no news of satisfied
//     requests, as a REPLY would. It carries its sender's done.
//   - L3. A FLUSH sets RV (step (6a)) also when it arrives during the receiver's
//     next request, for which its sender has not replied. It does not set RV
//     here, and a REPLY names the request that it answers and sets RV for that
//     one only.
//   - L4. My_Sequence_Number does not enter Highest_Sequence_Number_Seen, so
//     that a process can use a number twice. Here it does.
//   - A REPLY and a FLUSH carry done, which is never less news than the request
//     R_i that the text sends. A process at rest has an empty LRQ and RV:
//     steps (2b) and (2f) clear them anyway.
//   - Section 9.6.1 asks for channels without errors only. They must keep order,
//     too: a REQUEST that overtakes the sender's REPLY passes for concurrent.
//
// Figure 9.15 shows a FLUSH from P_2 to P_3, whose requests are not concurrent;
// by steps (5a) and (5b), which are followed here, it is a REPLY.
//
// [AsPublished] is the literal text, kept as a negative control.
//
// # Guarantees
//
// No two processes are in their critical sections together, every request is
// served, and entries are in the order of the requests' timestamps, on reliable
// links that keep order. Nothing is done about processes that fail.
package lodhakshemkalyani

import (
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

// The kinds of messages, in the order of [dme.Algorithm.Kinds]. All
// carry their sender's done as Done.
const (
	kindRequest dme.Kind = iota + 1 // Clock: SN
	kindReply                       // Req: the request that it answers
	kindFlush
)

// latest bounds the numbers that are believed, so that a garbled message cannot
// make a number overflow.
const latest = 1 << 62

// Algorithm describes the repaired algorithm.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "lodha-kshemkalyani",
		Title: "Lodha–Kshemkalyani",
		Description: "Ricart-Agrawala with fewer messages and the same fairness. Two concurrent requests stand for each other's replies, and " +
			"a node that leaves sends one FLUSH, to the next in line, which says that all earlier requests are done. An entry costs 2(N-1) " +
			"messages when nobody else asks, and fewer the more requests are concurrent, down to N. A handover takes one delay, " +
			"and entries come in timestamp order. Links must keep order.",
		Citation: "S. Lodha, A. D. Kshemkalyani: A Fair Distributed Mutual Exclusion Algorithm, IEEE TPDS 11(6), 2000; " +
			"textbook, section 9.6",
		Class:      dme.Permission,
		Needs:      dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds:      []string{"REQUEST", "REPLY", "FLUSH"},
		Claims:     claim.Lazy(claims),
		Invariants: invariants(),
		Waits:      dme.OfNode((*process).Waits),
		Prepare:    dme.Unshared(newProcess),
		Clocks:     dme.ClockInMessages,
	}
}

// variables are those of P_i in the printed text.
type variables struct {
	i dme.NodeID
	n int

	mySequenceNumber          uint64
	rv                        collections.NodeSet      // RV_i: the processes that have replied, by any message
	lrq                       collections.RequestQueue // LRQ_i: our request and those concurrent with it, by priority
	highestSequenceNumberSeen uint64

	requesting bool                     // from (2) to (5)
	executing  bool                     // the critical section
	deferred   collections.RequestQueue // (3bii): the requests that wait for our (5b), by priority
}

func initial(n int, id dme.NodeID) variables {
	return variables{i: id, n: n, rv: collections.MakeNodeSet(n)}
}

func (p *variables) myRequest() dme.Stamp {
	return dme.Stamp{Clock: p.mySequenceNumber, Node: p.i}
}

func (p *variables) waiting() bool { return p.requesting && !p.executing }

func (p *variables) State(v *dme.Visitor) {
	v.ClockWhile(p.requesting, dme.None, "My_Sequence_Number", &p.mySequenceNumber)
	p.rv.Show(v, "RV")
	p.lrq.Show(v, "LRQ")
	v.Clock("Highest_Sequence_Number_Seen", &p.highestSequenceNumberSeen)
	v.Bool("requesting", &p.requesting)
	v.Bool("executing", &p.executing)
	p.deferred.Show(v, "deferred")
}

// process is P_i.
type process struct {
	variables
	done dme.Stamp // L1: no request up to this one contends any more
}

func newProcess(n int, id dme.NodeID) dme.Node { return &process{variables: initial(n, id)} }

// Request is step (2), InvMutEx.
func (p *process) Request(out *dme.Outbox) {
	p.requesting = true
	p.mySequenceNumber = p.highestSequenceNumberSeen + 1                                   // (2a)
	p.highestSequenceNumberSeen = p.mySequenceNumber                                       // L4
	p.lrq = append(p.lrq, p.myRequest())                                                   // (2d)
	p.rv.Add(p.i)                                                                          // (2f)
	out.Broadcast(dme.Message{Kind: kindRequest, Clock: p.mySequenceNumber, Done: p.done}) // (2c), (2e), L2
	p.checkExecuteCS(out)
}

func (p *process) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if reason := p.impossible(from, &m); reason != "" {
		out.Refuse(reason)
		return
	}
	switch m.Kind {
	case kindRequest:
		p.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, m.Done, out)
	case kindReply:
		p.receiveReply(from, m.Done, out)
	case kindFlush:
		p.receiveFlush(m.Done, out)
	}
}

// receiveRequest is step (3), RcvReq, of r whose sender knows of satisfied.
func (p *process) receiveRequest(r, satisfied dme.Stamp, out *dme.Outbox) {
	p.hear(satisfied)                                                       // L2
	p.highestSequenceNumberSeen = max(p.highestSequenceNumberSeen, r.Clock) // (3a)
	switch {
	case p.requesting && !p.rv.Has(r.Node): // (3bi)
		if p.done.Precedes(r) { // L1
			p.lrq.Insert(r)
		}
		p.rv.Add(r.Node)
		p.checkExecuteCS(out)
	case p.requesting: // (3bii)
		p.deferred.Insert(r)
	default: // (3c)
		p.reply(r, out)
	}
}

// receiveReply is step (4), RcvReply.
func (p *process) receiveReply(from dme.NodeID, satisfied dme.Stamp, out *dme.Outbox) {
	p.rv.Add(from)        // (4a)
	p.hear(satisfied)     // (4b)
	p.checkExecuteCS(out) // (4c)
}

// Release is step (5), FinCS.
func (p *process) Release(out *dme.Outbox) {
	p.done = p.myRequest()
	if len(p.lrq) > 1 { // (5a); the head is our own
		out.Send(p.lrq[1].Node, dme.Message{Kind: kindFlush, Done: p.done})
	}
	for _, r := range p.deferred { // (5b)
		p.reply(r, out)
	}
	p.requesting, p.executing = false, false
	p.deferred = p.deferred[:0]
	p.lrq = p.lrq[:0] // (2b)
	p.rv.Clear()      // (2f)
}

// receiveFlush is step (6), RcvFlush, without (6a): L3.
func (p *process) receiveFlush(satisfied dme.Stamp, out *dme.Outbox) {
	p.hear(satisfied)     // (6b)
	p.checkExecuteCS(out) // (6c)
}

// checkExecuteCS is step (7), and the entry.
func (p *variables) checkExecuteCS(out *dme.Outbox) {
	if p.waiting() && p.rv.Len() == p.n && len(p.lrq) > 0 && p.lrq[0] == p.myRequest() {
		p.executing = true
		out.Enter(p.myRequest())
	}
}

// hear takes notice of a request that has been satisfied, and with it all that
// had priority.
func (p *process) hear(satisfied dme.Stamp) {
	if !p.done.Precedes(satisfied) {
		return
	}
	p.done = satisfied
	p.lrq.RemoveUpTo(satisfied)
}

func (p *process) reply(r dme.Stamp, out *dme.Outbox) {
	out.Send(r.Node, dme.Message{Kind: kindReply, Req: r, Done: p.done})
}

// impossible says why no process that keeps to the algorithm can have sent this message, over links
// that keep their guarantees; "" if one can.
func (p *process) impossible(from dme.NodeID, m *dme.Message) string {
	if p.requesting && !m.Done.Precedes(p.myRequest()) {
		return "news that a pending request has been satisfied"
	}
	switch m.Kind {
	case kindRequest:
		if m.Clock == 0 || m.Clock > latest {
			return "REQUEST without a possible number"
		}
		if p.deferred.Has(from) {
			return "REQUEST of a process whose REQUEST is deferred"
		}
	case kindReply:
		if !p.waiting() || m.Req != p.myRequest() || p.rv.Has(from) { // L3
			return "REPLY that is not awaited"
		}
	case kindFlush:
		if m.Done.Node != from {
			return "FLUSH that does not name a request of its sender"
		}
	}
	return ""
}

func (p *process) State(v *dme.Visitor) {
	p.variables.State(v)
	v.Stamp("done", &p.done)
}

// Waits names the processes that have not replied, and those whose requests in LRQ have priority,
// the last of which sends FLUSH.
func (p *variables) Waits() []dme.Wait {
	if !p.waiting() {
		return nil
	}
	var waits []dme.Wait
	for j := range dme.Others(p.n, p.i) {
		switch {
		case !p.rv.Has(j):
			waits = append(waits, dme.Wait{For: j, What: "REPLY"})
		case p.lrq.Ahead(j, p.myRequest()):
			waits = append(waits, dme.Wait{For: j, What: "FLUSH"})
		}
	}
	return waits
}
