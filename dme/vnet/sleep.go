package vnet

import "dmebench/dme"

// Sleep is a sleep set of a state (P. Godefroid, Partial-Order Methods for the Verification of
// Concurrent Systems, LNCS 1032, 1996, chapter 5): steps that a search in the order of distance
// need not take there, since other states of the same distance lead to all that they lead to. It
// leaves out steps, and no state.
//
// Steps at different nodes commute: each takes a message of a link to its own node, and adds to
// links from it. Let u and t be two such steps from a state p, t before u in the order of
// [Walker.Enabled]. Then t sleeps in the state s that u leads to. Why it may: t leads from s to a
// state s', as u does from the state that t leads to from p. That one is no farther from the
// beginning than s; if it is nearer, so is s'. Of all states and steps that lead to s', with a
// state of the least distance, the one whose step is last in the order never sleeps: another one,
// with a later step, would lead there too. A step that breaks a property is found as surely, at
// the same distance: two steps that let two nodes in do it in either order, and all else that a
// step is judged by belongs to its own node.
//
// One goroutine that looks up states in the order in which it meets them finds each from the same
// state, by the same step, as without sleep sets: the first way to a state never sleeps.
//
// Bit i stands for the steps of component i of a vector: what the local process of a node does, or
// the arrivals on a link. Those beyond the last bit never sleep.
type Sleep uint64

// sleeps reports whether steps at different nodes commute: nothing but nodes and links matters.
func (m *Model) sleeps() bool {
	_, timed := m.System.Node(1).(dme.Timed)
	return !timed && !m.faulty && !m.Sequenced && m.Bypass == 0
}

// SleepOf returns what stands for a step in a sleep set: 0 if it never sleeps.
func (s *Space) SleepOf(x Step) Sleep {
	switch {
	case !s.sleeping:
		return 0
	case x.Kind == dme.Receive:
		return 1 << uint32(s.places[s.link(x.From, x.Node)])
	case x.Kind == dme.Request, x.Kind == dme.RequestShared, x.Kind == dme.Exit:
		return 1 << uint32(x.Node-1)
	}
	return 0
}

// Asleep returns which of the steps that stand before the one that was taken last, by a node, sleep
// in Next. That one must be among those that may sleep.
func (w *Walker) Asleep(before Sleep, node dme.NodeID) Sleep {
	before &^= w.atNode[node]
	if w.Unordered && before != 0 { // what was sent may be before what was on its way
		o := &w.outcomes[w.last]
		for _, p := range w.posted[o.posted:][:o.posts] {
			before &^= 1 << uint32(p.place)
		}
	}
	return before
}
