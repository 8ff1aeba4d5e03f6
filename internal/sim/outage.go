package sim

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/runtime/noderun"
	"dmebench/transport/link"
	"dmebench/workload/fault"
)

// Messages to and from nodes that come and go are treated as in package vnet, with
// times: news that a node is down or up travel like messages, at most the bound on
// delays long, behind what the node had sent and before what its next incarnation
// sends.

// kindNews marks a message as news: no algorithm has a kind 0.
const kindNews dme.Kind = 0

// isUp, in the flags of news, says that a node is up; else it is down.
const isUp uint8 = 1

// kill ends a node and its process. A dead holder is out of its critical section.
func (f *faults) kill(id dme.NodeID) {
	p := f.process(id)
	f.abandon(id, true)
	if p.Activity() == noderun.Inside {
		f.witness.leave(p.Shared())
	}
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

// vanish takes a node out of the network, with all that is on its way to it; others will hear of it.
func (f *faults) vanish(id dme.NodeID) {
	f.due[id-1] = -1
	f.losses.Died(id)
	f.agenda.drop(func(e event) bool { return f.lost(e, id) })
	if events := f.paused[id]; events != nil {
		for _, e := range *events {
			f.lost(e, id)
		}
		delete(f.paused, id)
	}
	f.process(id).Crash()
	vnet.News(len(f.procs), id, false, nil, f.Down, f.announce)
}

// lost reports whether an event ends with a node, and drops what it was about.
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

// appear brings a node into the network: it and the others will hear which are up and down.
func (f *faults) appear(id dme.NodeID) {
	f.losses.Returned(id)
	vnet.News(len(f.procs), id, true, f.job.Faults.Absent(), f.Down, f.announce)
}

func (f *faults) announce(from, to dme.NodeID, up bool) {
	what := uint8(0)
	if up {
		what = isUp
	}
	l := link.Link{From: from, To: to}
	at := f.after(f.now+1+f.rng.Int64N(f.bound), from, to)
	f.notBefore(l, at)
	f.news[l]++
	f.schedule(delivery, at, f.flight.put(from, to, &dme.Message{Kind: kindNews, Flags: what}))
}

func (f *faults) hear(x *transit) {
	f.news[link.Link{From: x.from, To: x.to}]--
	if x.msg.Flags == isUp {
		f.process(x.to).PeerUp(x.from)
	} else {
		f.process(x.to).PeerDown(x.from)
	}
}

// loses notes a message that is lost as it is sent; it reports whether it is.
func (f *faults) loses(from, to dme.NodeID, m *dme.Message) bool {
	if !f.severed(from, to) {
		return false
	}
	f.messages++
	f.losses.Lost(from, to, m.Kind, f.gave(from))
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
		sides := f.job.Faults[cut].Sides
		side := func(id dme.NodeID) int {
			return slices.IndexFunc(sides, func(nodes []dme.NodeID) bool { return slices.Contains(nodes, id) })
		}
		if side(from) != side(to) {
			return true
		}
	}
	return false
}

// after returns when a message arrives, which is not before the news of its sender.
func (f *faults) after(at int64, from, to dme.NodeID) int64 {
	return max(at, f.until[link.Link{From: from, To: to}])
}

func (f *faults) notBefore(l link.Link, at int64) { f.until[l] = max(f.until[l], at) }

func (f *faults) restart(id dme.NodeID) {
	f.appear(id)
	f.process(id).Restart()
	f.process(id).Resume(f.due[id-1])
}

func (f *faults) join(id dme.NodeID) {
	f.appear(id)
	f.process(id).Join()
	f.process(id).Resume(-1)
}

// leave has a node leave the system as soon as its process is idle.
func (f *faults) leave(id dme.NodeID) {
	f.abandon(id, false)
	f.agenda.drop(func(e event) bool { return e.class() == arrival && dme.NodeID(e.what) == id })
	f.process(id).Depart()
}

// moved follows a node after an event, and reports whether the run has to wait for it.
func (f *faults) moved(id dme.NodeID) (pending bool) {
	p := f.process(id)
	if n := f.counters[id-1].Requests.Load(); n != f.asked[id-1] {
		f.asked[id-1] = n
		f.requests++
		f.director.Happened(fault.Request, f.requests, id)
	}
	leaving := f.director.Leaving(id)
	if p.Activity() != noderun.Down {
		return leaving
	}
	if leaving { // gone
		f.director.Left(id)
		f.vanish(id)
	}
	return f.director.ComesBack(id)
}

// asks reports whether a node takes part in a step of the workload.
func (f *faults) asks(id dme.NodeID) bool {
	return f == nil || f.process(id).Activity() != noderun.Down && !f.director.Leaving(id)
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
	events := f.paused[id]
	if events != nil {
		*events = append(*events, e)
	}
	return events != nil
}

// holding reports whether anything waits for a node that stands still.
func (f *faults) holding() bool {
	for _, events := range f.paused {
		if len(*events) > 0 {
			return true
		}
	}
	return false
}

// resume has a node go on that stood still. Waiting events come at once, in their order.
func (f *faults) resume(id dme.NodeID) {
	events := *f.paused[id]
	delete(f.paused, id)
	for _, e := range events {
		if e.class() == arrival {
			f.punctual(id, e.at)
		}
		f.agenda.add(e.class(), f.now, e.what)
	}
	f.current = id
	f.simulation.moved(id)
}

// punctual returns when an arrival comes: now, if its time passed while the node stood still.
func (f *faults) punctual(id dme.NodeID, at int64) int64 {
	if at < f.now {
		f.late[id] = at
	}
	return max(at, f.now)
}

// intended returns when an arrival was to come. A node expects one at a time.
func (f *faults) intended(id dme.NodeID, at int64) int64 {
	if was, late := f.late[id]; late {
		delete(f.late, id)
		return was
	}
	return at
}
