package check

import (
	"slices"

	"dmebench/dme"
)

// setTimers sets and cancels the timers of an outcome in next. via are the
// marks of the message that it answers; without those of timers that have
// changed they are returned.
func (x *expander) setTimers(o *outcome, via []mark) []mark {
	for _, t := range o.timers {
		x.disarm(t.node, t.id)
		if len(via) > 0 {
			via = unmarked(via, t.node, t.id)
		}
		if t.set {
			r := x.editRest()
			r.alarms = append(r.alarms, t.alarm)
			x.setRest()
		}
	}
	return via
}

// markAll marks every message on the way for the timers that an outcome has set.
func (x *expander) markAll(o *outcome) {
	for _, t := range o.timers {
		if t.set && t.reach > 0 && slices.Contains(x.components.rests.at(x.next[x.width-1]).alarms, t.alarm) {
			x.remark(func(marks []mark) []mark { return marked(marks, t.alarm) })
		}
	}
}

// disarm forgets a timer, and who had to arrive before it.
func (x *expander) disarm(id dme.NodeID, timer dme.TimerID) {
	alarms := x.components.rests.at(x.next[x.width-1]).alarms
	at := find(alarms, id, timer)
	if at < 0 {
		return
	}
	reach := alarms[at].reach
	r := x.editRest()
	r.alarms = slices.Delete(r.alarms, at, at+1)
	x.setRest()
	if reach > 0 {
		x.remark(func(marks []mark) []mark { return unmarked(marks, id, timer) })
	}
}

// remark changes the marks of every message on the way.
func (x *expander) remark(change func([]mark) []mark) {
	c := x.components
	for at := x.Nodes; at < x.width-1; at++ {
		if x.next[at] == 0 {
			continue
		}
		b := append(x.parcels[:0], c.queues.at(x.next[at]).parcels...)
		for i, id := range b {
			p := c.parcels.at(id)
			b[i], x.key = c.parcelOf(x.key, p.from, p.to, []byte(p.body), p.transit, change(p.marks))
		}
		if x.Unordered {
			slices.SortFunc(b, x.compare)
		}
		x.parcels = b
		var to uint32
		to, x.key = c.queueOf(x.key, b)
		x.setQueue(at, to)
	}
}

// inheriting returns a new message as the answer to one with marks.
func (x *expander) inheriting(parcel uint32, via []mark) uint32 {
	marks := inherit(via, x.components.rests.at(x.next[x.width-1]).alarms)
	if len(marks) == 0 {
		return parcel
	}
	p := x.components.parcels.at(parcel)
	parcel, x.key = x.components.parcelOf(x.key, p.from, p.to, []byte(p.body), p.transit, marks)
	return parcel
}
