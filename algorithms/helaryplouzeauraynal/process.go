package helaryplouzeauraynal

import (
	"slices"

	"dmebench/dme"
)

type process struct {
	i          dme.NodeID
	n          int
	neighbours []dme.NodeID // in ascending order, shared by the system

	h       uint64       // the logical clock
	date    []uint64     // of the last request known of each process j, at j-1
	via     []dme.NodeID // the neighbour by which that request came, at j-1
	waiting bool         // for the token
	inside  bool         // the critical section
	lud     []uint64     // last utilization dates; nil while the token is elsewhere

	unseen []dme.NodeID // scratch: the receivers of a flood
}

// Request is step 1.
func (p *process) Request(out *dme.Outbox) {
	if p.lud != nil {
		p.enter(out)
		return
	}
	p.waiting = true
	p.h++
	p.date[p.i-1] = p.h
	p.flood(dme.Stamp{Clock: p.h, Node: p.i}, newSeen(p.n), out)
}

// Release is step 5.
func (p *process) Release(out *dme.Outbox) {
	p.inside = false
	p.transmitToken(out)
}

func (p *process) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if _, adjacent := slices.BinarySearch(p.neighbours, from); !adjacent {
		out.Refuse("the sender is not a neighbour in the graph")
		return
	}
	if m.Kind == kindRequest {
		p.receiveRequest(from, m.Req, m.Vec, out)
	} else {
		p.receiveToken(m.Node, m.Vec, out)
	}
}

// receiveRequest is step 2.
func (p *process) receiveRequest(from dme.NodeID, r dme.Stamp, alreadySeen seen, out *dme.Outbox) {
	switch {
	case r.Clock == 0 || !p.other(r.Node):
		out.Refuse("REQUEST without a date or of no other process")
		return
	case len(alreadySeen) != words(p.n):
		out.Refuse("REQUEST whose already_seen is not a set of processes")
		return
	case r.Clock <= p.date[r.Node-1]:
		return // came another way before
	}
	p.date[r.Node-1] = r.Clock
	p.via[r.Node-1] = from
	p.h = max(p.h, r.Clock) + 1
	p.flood(r, alreadySeen, out)
	if p.lud != nil && !p.inside {
		p.transmitToken(out)
	}
}

// flood sends r to the neighbours that are not in alreadySeen, which is ours.
func (p *process) flood(r dme.Stamp, alreadySeen seen, out *dme.Outbox) {
	p.unseen = p.unseen[:0]
	alreadySeen.add(p.i)
	for _, j := range p.neighbours {
		if !alreadySeen.has(j) && j != r.Node {
			p.unseen = append(p.unseen, j)
		}
		alreadySeen.add(j)
	}
	for _, j := range p.unseen {
		out.Send(j, dme.Message{Kind: kindRequest, Req: r, Vec: slices.Clone(alreadySeen)})
	}
}

// receiveToken is steps 3 and 4.
func (p *process) receiveToken(elected dme.NodeID, lud []uint64, out *dme.Outbox) {
	switch {
	case p.lud != nil:
		out.Refuse("TOKEN to a process that has it")
	case len(lud) != p.n:
		out.Refuse("TOKEN without a date for each process")
	case elected != p.i && !p.other(elected):
		out.Refuse("TOKEN for no process")
	case p.date[elected-1] <= lud[elected-1] || elected == p.i && !p.waiting:
		out.Refuse("TOKEN for a process whose request is not pending")
	case elected == p.i:
		p.waiting = false
		p.lud = lud
		p.enter(out)
	default:
		p.forwardToken(elected, lud, out)
	}
}

// transmitToken is step 5 if the token is idle here.
func (p *process) transmitToken(out *dme.Outbox) {
	p.lud[p.i-1] = p.h
	elected := dme.None
	for k, date := range p.date {
		j := dme.NodeID(k + 1)
		if j != p.i && date > p.lud[k] && (elected == dme.None || date < p.date[elected-1]) {
			elected = j
		}
	}
	if elected != dme.None {
		p.forwardToken(elected, p.lud, out)
		p.lud = nil
	}
}

// forwardToken sends the token on its way to the process elected.
func (p *process) forwardToken(elected dme.NodeID, lud []uint64, out *dme.Outbox) {
	out.Send(p.via[elected-1], dme.Message{Kind: kindToken, Node: elected, Vec: lud})
}

func (p *process) enter(out *dme.Outbox) {
	p.inside = true
	out.Enter(dme.Stamp{})
}

// other reports whether j is another process of the system.
func (p *process) other(j dme.NodeID) bool { return j >= 1 && int(j) <= p.n && j != p.i }

func (p *process) State(v *dme.Visitor) {
	v.Clock("h", &p.h)
	v.ClocksOf(dme.None, "date", &p.date)
	v.Nodes("via", &p.via)
	v.Bool("waiting", &p.waiting)
	v.Bool("inside", &p.inside)
	v.ClocksOf(dme.None, "lud", &p.lud) // empty without the token
	if len(p.lud) == 0 {
		p.lud = nil // as a loaded state leaves it
	}
}

// seen is a set of the processes 1..n in the form in which messages carry it:
// j is in it where bit j−1 is set.
type seen []uint64

func newSeen(n int) seen { return make(seen, words(n)) }

func words(n int) int { return (n + 63) / 64 }

func (s seen) add(j dme.NodeID) { s[(j-1)/64] |= 1 << ((j - 1) % 64) }

func (s seen) has(j dme.NodeID) bool { return s[(j-1)/64]&(1<<((j-1)%64)) != 0 }

// HasToken reports whether the token is here, and not on its way through.
func (p *process) HasToken() bool { return p.lud != nil }

// Waits names the token: by which neighbour it will come is not known.
func (p *process) Waits() []dme.Wait { return dme.WaitIf(p.waiting, "TOKEN", dme.None) }
