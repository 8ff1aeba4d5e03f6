package sim

import (
	"slices"

	"dmebench/dme"
	"dmebench/internal/noderun"
	"dmebench/transport/link"
	"dmebench/workload/fault"
)

// What becomes of messages when nodes come and go is what package vnet says, with
// times: news that a node is down or up travel like messages, at most the bound on
// delays long, behind what the node had sent and before what its next incarnation
// sends.

// kindNews marks a message as news: no algorithm has a kind 0.
const kindNews dme.Kind = 0

// What news tell, in a message's flags.
const (
	isDown uint8 = iota
	isUp
)

// standstill is what waits for a node that is paused.
type standstill struct {
	by     []int // the pauses that hold it
	events []event
}

// kill ends a node and its process. A dead holder is out of its critical section.
func (f *faults) kill(id dme.NodeID) {
	p := f.process(id)
	f.abandon(id, true)
	if p.Activity() == noderun.Inside {
		f.witness.leave(p.Shared())
	}
	f.forget(id)
	f.vanish(id)
}

// abandon notes the requests that end with a node, or those that wait in line.
func (f *faults) abandon(id dme.NodeID, made bool) {
	for _, a := range f.process(id).Unfinished() {
		if a.Ended = f.now; made || !a.Made {
			f.abandoned = append(f.abandoned, a)
		}
	}
}

// forget has a node be no longer about to leave.
func (f *faults) forget(id dme.NodeID) {
	if f.leaving.Has(id) {
		f.leaving.Remove(id)
		f.watch.leaving--
	}
}

// vanish takes a node out of the network: what was on its way to it is lost, and
// the others will hear that it is down.
func (f *faults) vanish(id dme.NodeID) {
	f.due[id-1] = -1
	f.losses.died(id)
	f.agenda.drop(func(e event) bool { return f.lost(e, id) })
	if x := f.paused[id]; x != nil {
		for _, e := range x.events {
			f.lost(e, id)
		}
		for _, strike := range x.by {
			if s := &f.strikes[strike]; len(s.Nodes) == 1 {
				s.Ended = f.now
			}
		}
		delete(f.paused, id)
	}
	f.process(id).Crash()
	for other := range dme.Others(len(f.procs), id) {
		if f.process(other).Activity() != noderun.Down {
			f.tell(id, other, isDown)
		}
	}
}

// lost reports whether an event ends with a node, and lets go of what it was about.
func (f *faults) lost(e event, id dme.NodeID) bool {
	switch e.class() {
	case delivery:
		x := f.flight.at(e.what)
		if x.from == id {
			f.notBefore(link.Link{From: id, To: x.to}, e.at)
		}
		if x.to != id {
			return false
		}
		if x.msg.Kind == kindNews {
			f.news[link.Link{From: x.from, To: id}]--
		}
		f.losses.drowned(e.what, id)
		f.flight.release(e.what)
	case timeout:
		if f.timers.at(e.what).node != id {
			return false
		}
		f.timers.fire(e.what)
	case exit, arrival:
		if dme.NodeID(e.what) != id {
			return false
		}
		if e.class() == arrival {
			f.due[id-1] = f.intended(id, e.at)
		}
	}
	return true
}

// appear brings a node into the network: the others will hear that it is up, and
// it will hear who is down, and who has joined since the start.
func (f *faults) appear(id dme.NodeID) {
	f.losses.returned(id)
	for other := range dme.Others(len(f.procs), id) {
		if f.process(other).Activity() == noderun.Down {
			f.tell(other, id, isDown)
			continue
		}
		f.tell(id, other, isUp)
		if slices.Contains(f.joining, other) {
			f.tell(other, id, isUp)
		}
	}
}

// tell sends news of a node to another.
func (f *faults) tell(from, to dme.NodeID, what uint8) {
	l := link.Link{From: from, To: to}
	at := f.after(f.now+1+f.rng.Int64N(f.bound), from, to)
	f.notBefore(l, at)
	f.news[l]++
	f.schedule(delivery, at, f.flight.put(from, to, &dme.Message{Kind: kindNews, Flags: what}))
}

// hear has a node hear the news that have reached it.
func (f *faults) hear(x *transit) {
	f.news[link.Link{From: x.from, To: x.to}]--
	if x.msg.Flags == isDown {
		f.process(x.to).PeerDown(x.from)
	} else {
		f.process(x.to).PeerUp(x.from)
	}
}

// loses notes a message that is lost as it is sent; it reports whether it is.
func (f *faults) loses(from, to dme.NodeID, m *dme.Message) bool {
	if !f.severed(from, to) {
		return false
	}
	f.messages++
	f.losses.lost(from, to, m)
	return true
}

// severed reports whether what one node sends to another now is lost: the other is
// down, or the sender has not heard yet what has become of it, or they are on
// different sides.
func (f *faults) severed(from, to dme.NodeID) bool {
	if f.process(to).Activity() == noderun.Down || f.news[link.Link{From: to, To: from}] > 0 {
		return true
	}
	for _, cut := range f.cuts {
		sides := f.strikes[cut].Fault.Sides
		side := func(id dme.NodeID) int {
			return slices.IndexFunc(sides, func(nodes []dme.NodeID) bool { return slices.Contains(nodes, id) })
		}
		if side(from) != side(to) {
			return true
		}
	}
	return false
}

// after returns when a message arrives that would arrive at the time at: not before
// the news of its sender.
func (f *faults) after(at int64, from, to dme.NodeID) int64 {
	return max(at, f.until[link.Link{From: from, To: to}])
}

func (f *faults) notBefore(l link.Link, at int64) { f.until[l] = max(f.until[l], at) }

// restart brings a node back that crashed.
func (f *faults) restart(id dme.NodeID) {
	f.appear(id)
	f.process(id).Restart()
	f.process(id).Resume(f.due[id-1])
}

// join brings a node in.
func (f *faults) join(id dme.NodeID) {
	f.absent.Remove(id)
	f.appear(id)
	f.process(id).Join()
	f.process(id).Resume(-1)
}

// leave has a node leave the system as soon as its process is idle.
func (f *faults) leave(id dme.NodeID) {
	f.abandon(id, false)
	f.agenda.drop(func(e event) bool { return e.class() == arrival && dme.NodeID(e.what) == id })
	f.leaving.Add(id)
	f.watch.leaving++
	f.process(id).Depart()
}

// moved follows a node after an event; pending reports whether the run has to wait
// for it although it does nothing at the moment.
func (f *faults) moved(id dme.NodeID) (pending bool) {
	p := f.process(id)
	if n := f.counters[id-1].Requests.Load(); n != f.asked[id-1] {
		f.asked[id-1] = n
		f.requests++
		f.happened(fault.Request, f.requests, id)
	}
	if p.Activity() != noderun.Down {
		return f.leaving.Has(id)
	}
	if f.leaving.Has(id) { // it has left
		f.forget(id)
		f.absent.Add(id)
		f.vanish(id)
	}
	return f.comesBack(id)
}

// asks reports whether a node takes part in a step of the workload.
func (f *faults) asks(id dme.NodeID) bool {
	return f == nil || f.process(id).Activity() != noderun.Down && !f.leaving.Has(id)
}

// pause has a node stand still: what reaches it, and what it was to do, waits.
func (f *faults) pause(id dme.NodeID, strike int) {
	x := f.paused[id]
	if x == nil {
		x = new(standstill)
		f.paused[id] = x
	}
	x.by = append(x.by, strike)
}

// holds reports whether an event waits because its node stands still.
func (f *faults) holds(e event) bool {
	if len(f.paused) == 0 {
		return false
	}
	id := dme.NodeID(e.what)
	switch e.class() {
	case delivery:
		id = f.flight.at(e.what).to
	case timeout:
		id = f.timers.at(e.what).node
	}
	x := f.paused[id]
	if x != nil {
		x.events = append(x.events, e)
	}
	return x != nil
}

// holding reports whether anything waits for a node that stands still.
func (f *faults) holding() bool {
	for _, x := range f.paused {
		if len(x.events) > 0 {
			return true
		}
	}
	return false
}

// resume ends a pause. What waited comes at once, in the order in which it would
// have come.
func (f *faults) resume(id dme.NodeID, strike int) {
	x := f.paused[id]
	if x == nil || !slices.Contains(x.by, strike) {
		return // it was killed
	}
	x.by = slices.DeleteFunc(x.by, func(s int) bool { return s == strike })
	if len(x.by) > 0 {
		return
	}
	delete(f.paused, id)
	for _, e := range x.events {
		if e.class() == arrival {
			f.punctual(id, e.at)
		}
		f.agenda.add(e.class(), f.now, e.what)
	}
	f.current = id
	f.simulation.moved(id)
}

// punctual returns when an arrival comes that was intended for the time at: now,
// where that has passed while the node stood still.
func (f *faults) punctual(id dme.NodeID, at int64) int64 {
	if at < f.now {
		f.late[id] = at
	}
	return max(at, f.now)
}

// intended returns when an arrival was to come that comes at the time at. A node
// expects one at a time.
func (f *faults) intended(id dme.NodeID, at int64) int64 {
	if was, late := f.late[id]; late {
		delete(f.late, id)
		return was
	}
	return at
}
