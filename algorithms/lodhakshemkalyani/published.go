package lodhakshemkalyani

import (
	"slices"

	"dmebench/dme"
)

// AsPublished describes Algorithm 9.4 as the textbook prints it, a negative control: it stops, and
// it lets two processes in. The channels keep order, although section 9.6.1 does not ask for it;
// without order it fails as well.
func AsPublished() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "lodha-kshemkalyani-as-published",
		Title: "Lodha–Kshemkalyani (as published)",
		Description: "The textbook's Algorithm 9.4 to the letter. With one request of each of three nodes it can stop, with two of each two " +
			"nodes enter, although links keep order. Kept as a negative control; use lodha-kshemkalyani.",
		Citation:    "Textbook, section 9.6, Algorithm 9.4, to the letter",
		Class:       dme.Permission,
		AsPublished: true,
		Needs:       dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds:       []string{"REQUEST", "REPLY", "FLUSH"},
		Clocks:      dme.ClockInMessages,
		Waits:       dme.OfNode((*published).Waits),
		Prepare:     dme.Unshared(newPublished),
	}
}

// published is P_i as printed. REPLY and FLUSH carry R_j as Done.
type published struct {
	variables
	satisfied dme.Stamp // the last request made by P_i that was satisfied
}

func newPublished(n int, id dme.NodeID) dme.Node { return &published{variables: initial(n, id)} }

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

func (p *published) State(v *dme.Visitor) {
	p.variables.State(v)
	v.Stamp("satisfied", &p.satisfied)
}
