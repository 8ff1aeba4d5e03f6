package check

import (
	"dmebench/dme"
	"dmebench/dme/vnet"
)

// delays measures how long a schedule holds back what is possible: the steps between
// the sending of a message and its arrival, between an entry and the exit, between the
// setting of a timer and its firing. A schedule in which all of them are bounded is
// fair.
type delays struct {
	network *vnet.Network
	sentAt  []int              // by a message's number: the step after which it was on its way
	inside  map[dme.NodeID]int // of those inside: the step of their entry
	timers  map[timer]int
	longest int // of what has happened
}

type timer struct {
	node dme.NodeID
	id   dme.TimerID
}

// newDelays returns the delays of a network before its first step.
func newDelays(n *vnet.Network) *delays {
	d := &delays{network: n, inside: make(map[dme.NodeID]int), timers: make(map[timer]int), sentAt: []int{0}}
	d.after()
	return d
}

// of returns how long a possible step has been held back by now, and whether its
// kind is one that must not be held back for ever.
func (d *delays) of(x vnet.Step) (age int, ok bool) {
	now := d.network.Steps
	switch {
	case arrives(x) || x.Kind == vnet.Lose || x.Kind == vnet.Copy:
		return now - d.sentAt[d.network.Number(x)], true
	case x.Kind == vnet.Leave:
		return now - d.inside[x.Node], true
	case x.Kind == vnet.Fire:
		return now - d.timers[timer{x.Node, x.Timer}], true
	}
	return
}

// before notes what a step is about to end the delay of.
func (d *delays) before(x vnet.Step) {
	if age, ok := d.of(x); ok {
		d.longest = max(d.longest, age)
	}
	switch x.Kind {
	case vnet.Leave:
		delete(d.inside, x.Node)
	case vnet.Fire:
		delete(d.timers, timer{x.Node, x.Timer})
	}
}

// after notes what has begun to wait in the last step.
func (d *delays) after() {
	now := d.network.Steps
	for uint64(len(d.sentAt)) <= d.network.Sent() {
		d.sentAt = append(d.sentAt, now)
	}
	for _, id := range d.network.Inside() {
		if _, ok := d.inside[id]; !ok {
			d.inside[id] = now
		}
	}
	set := d.network.Timers()
	for _, t := range set {
		if _, ok := d.timers[timer{t.Node, t.ID}]; !ok {
			d.timers[timer{t.Node, t.ID}] = now
		}
	}
	if len(d.timers) > len(set) { // some were cancelled
		is := make(map[timer]int, len(set))
		for _, t := range set {
			is[timer{t.Node, t.ID}] = d.timers[timer{t.Node, t.ID}]
		}
		d.timers = is
	}
}

// most returns the longest delay so far, of what is still held back too.
func (d *delays) most() int {
	now, most := d.network.Steps, d.longest
	for _, since := range d.inside {
		most = max(most, now-since)
	}
	if first, ok := d.network.Oldest(); ok {
		age, _ := d.of(first)
		most = max(most, age)
	}
	return most
}
