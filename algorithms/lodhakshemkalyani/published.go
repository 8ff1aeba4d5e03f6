package lodhakshemkalyani

import (
	"slices"

	"dmebench/dme"
)

// AsPublished describes Algorithm 9.4 as the textbook prints it, a negative
// control: it stops, and it lets two processes in. The channels keep order,
// which section 9.6.1 does not say but which makes no difference to that.
func AsPublished() *dme.Algorithm {
	return &dme.Algorithm{
		Name:        "lodha-kshemkalyani-as-published",
		Title:       "Lodha–Kshemkalyani (as published)",
		Citation:    "Textbook, section 9.6, Algorithm 9.4, to the letter",
		Class:       dme.Permission,
		AsPublished: true,
		Needs:       dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds:       []string{"REQUEST", "REPLY", "FLUSH"},
		Prepare:     dme.Unshared(newPublished),
	}
}

// published is P_i as printed. REPLY and FLUSH carry R_j as Done.
type published struct {
	i dme.NodeID
	n int

	mySequenceNumber          uint64
	rv                        dme.NodeSet
	lrq                       dme.RequestQueue
	highestSequenceNumberSeen uint64

	requesting bool
	executing  bool
	deferred   dme.RequestQueue
	satisfied  dme.Stamp // the last request made by P_i that was satisfied
}

func newPublished(n int, id dme.NodeID) dme.Node {
	return &published{i: id, n: n, rv: dme.MakeNodeSet(n)}
}

// Request is step (2).
func (p *published) Request(out *dme.Outbox) {
	p.requesting = true
	p.mySequenceNumber = p.highestSequenceNumberSeen + 1                     // (2a)
	p.lrq = p.lrq[:0]                                                        // (2b)
	p.lrq = append(p.lrq, p.myRequest())                                     // (2d)
	out.Broadcast(dme.Message{Kind: kindRequest, Clock: p.mySequenceNumber}) // (2c), (2e)
	p.rv.Clear()                                                             // (2f)
	p.rv.Add(p.i)
	p.checkExecuteCS(out)
}

func (p *published) Receive(j dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case kindRequest: // step (3)
		r := dme.Stamp{Clock: m.Clock, Node: j}
		p.highestSequenceNumberSeen = max(p.highestSequenceNumberSeen, r.Clock) // (3a)
		switch {
		case p.requesting && !p.rv.Has(j): // (3bi)
			p.lrq.Insert(r)
			p.rv.Add(j)
			p.checkExecuteCS(out)
		case p.requesting: // (3bii)
			p.deferred.Insert(r)
		default: // (3c)
			out.Send(j, dme.Message{Kind: kindReply, Done: p.satisfied})
		}
	case kindReply, kindFlush: // steps (4) and (6)
		p.rv.Add(j)              // (4a), (6a)
		p.lrq.RemoveUpTo(m.Done) // (4b), (6b)
		p.checkExecuteCS(out)    // (4c), (6c)
	}
}

// Release is step (5).
func (p *published) Release(out *dme.Outbox) {
	p.requesting, p.executing = false, false
	p.satisfied = p.myRequest()
	next := slices.IndexFunc(p.lrq, p.satisfied.Precedes)
	if next >= 0 { // (5a)
		out.Send(p.lrq[next].Node, dme.Message{Kind: kindFlush, Done: p.satisfied})
	}
	for _, r := range p.deferred { // (5b)
		out.Send(r.Node, dme.Message{Kind: kindReply, Done: p.satisfied})
	}
	p.deferred = p.deferred[:0]
}

// checkExecuteCS is step (7), for a process that waits.
func (p *published) checkExecuteCS(out *dme.Outbox) {
	if p.requesting && !p.executing && p.rv.Len() == p.n && len(p.lrq) > 0 && p.lrq[0] == p.myRequest() {
		p.executing = true
		out.Enter(p.myRequest())
	}
}

func (p *published) myRequest() dme.Stamp {
	return dme.Stamp{Clock: p.mySequenceNumber, Node: p.i}
}

func (p *published) State(v *dme.Visitor) {
	v.Uint("My_Sequence_Number", &p.mySequenceNumber)
	v.Set("RV", &p.rv)
	v.Requests("LRQ", &p.lrq)
	v.Uint("Highest_Sequence_Number_Seen", &p.highestSequenceNumberSeen)
	v.Bool("requesting", &p.requesting)
	v.Bool("executing", &p.executing)
	v.Requests("deferred", &p.deferred)
	v.Stamp("satisfied", &p.satisfied)
}
