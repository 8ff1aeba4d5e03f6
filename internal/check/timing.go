package check

import (
	"slices"
	"time"

	"dmebench/dme"
)

// alarm is a timer that is set.
type alarm struct {
	node  dme.NodeID
	id    dme.TimerID
	delay time.Duration
	reach int // how many messages of a chain arrive before it fires; 0: it waits for none
}

func (a alarm) is(node dme.NodeID, id dme.TimerID) bool {
	return a.node == node && a.id == id
}

// mark on a message says that a timer that was set while the message, or the
// first one of the chain that led to it, was on the way must wait for it.
type mark struct {
	node dme.NodeID
	id   dme.TimerID
	hops int // place of the message in its chain, from 1; at most the timer's reach
}

// reach returns how many hops of bounded delay fit into a timer's setting.
func (m *model) reach(delay time.Duration) int {
	switch {
	case !m.needs.BoundedDelay:
		return 0
	case m.bound <= 0:
		return 1
	}
	return int(delay / m.bound)
}

func find(alarms []alarm, node dme.NodeID, id dme.TimerID) int {
	return slices.IndexFunc(alarms, func(a alarm) bool { return a.is(node, id) })
}

// first reports whether no alarm that was set before the i-th has to fire
// before it. Alarms are in the order in which they were set.
func (m *model) first(alarms []alarm, i int) bool {
	if !m.needs.BoundedDelay {
		return true
	}
	return !slices.ContainsFunc(alarms[:i], func(a alarm) bool { return a.delay <= alarms[i].delay })
}

// inherit returns the marks of a message that is sent in answer to one with
// marks: those whose timers reach one hop further.
func inherit(marks []mark, alarms []alarm) []mark {
	var out []mark
	for _, m := range marks {
		if i := find(alarms, m.node, m.id); i >= 0 && m.hops < alarms[i].reach {
			m.hops++
			out = append(out, m)
		}
	}
	return out
}

// marked returns marks with one for an alarm that has just been set, in order;
// marks itself is left alone.
func marked(marks []mark, a alarm) []mark {
	out := append(unmarked(marks, a.node, a.id), mark{a.node, a.id, 1})
	slices.SortFunc(out, func(x, y mark) int {
		if x.node != y.node {
			return int(x.node) - int(y.node)
		}
		return int(x.id) - int(y.id)
	})
	return out
}

// unmarked returns marks without the one of a timer; marks itself is left alone.
func unmarked(marks []mark, node dme.NodeID, id dme.TimerID) []mark {
	return slices.DeleteFunc(slices.Clone(marks), func(m mark) bool { return m.node == node && m.id == id })
}

// waitsFor reports whether the marks hold back the timer.
func waitsFor(marks []mark, node dme.NodeID, id dme.TimerID) bool {
	return slices.ContainsFunc(marks, func(m mark) bool { return m.node == node && m.id == id })
}
