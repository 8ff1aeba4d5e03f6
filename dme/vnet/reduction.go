package vnet

import (
	"sync"
	"sync/atomic"

	"dmebench/dme"
)

// Reduction lets a search leave out orders of steps that make no difference (partial-order
// reduction). It names, in a state, an arrival that may be taken alone there: a forced one.
//
// Steps at different nodes commute: each takes the first message of a link to its own node, and
// adds to the ends of links from it. So an arrival need be tried in one place of a schedule only,
// if it commutes with whatever else may happen at the same node before it. That is computed with
// the node's own handlers. Starting from the node's state, all states are visited that other
// stimuli lead to without the message: its local process asks, leaves and stops, and any message
// that was ever sent to the node arrives, in any order and any number of times. If links keep
// order, none comes from the message's sender, since it would have to overtake the message. In each
// of these states, and with each of these stimuli, both orders must lead to the same state of the
// node, with the same messages in the same order on each link, and with as many refusals. Nothing
// may panic, enter uninvited or touch a timer. Then the arrival is a persistent set by itself (P.
// Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, LNCS 1032, 1996,
// chapter 4); that dependence is found in local states is due to P. Bokor, J. Kinder, M. Serafini
// and N. Suri, Supporting Domain-Specific State Space Reductions through Local Partial-Order
// Reduction, ASE 2011.
//
// What is preserved. Let a schedule lead from a state to a violation, and let an arrival be forced
// in that state. If the schedule contains the arrival, it can be moved to the front; else it can be
// added there. Every node goes through the same states as before, but for the receiver, which is
// inside no later than before and leaves when it did before: an arrival lets no node out. So two
// nodes that were inside together still are; a node that entered without a request or panicked
// still does; as many messages are refused. At a standstill nothing is on its way, so that the
// schedule does contain the arrival, and leads to the same standstill. That a reader is inside with
// readers does not change either. Other properties of states, such as invariants and counts of
// overtaking, are not preserved, and neither are cycles.
//
// No step is put off for ever (the ignoring problem, A. Valmari, Stubborn Sets for Reduced State
// Space Generation, LNCS 483, 1990), provided that the search tries all steps of a state once in a
// while on every way. [Walker.Settle] takes forced arrivals up to the next state whose steps are
// all to be tried.
//
// Which messages may arrive at a node is not known beforehand. They are assumed to be those that
// were sent so far; [Reduction.Extend] reports whether the conclusions still hold. A search that
// ends without a new message has seen all: the first message that it missed would be sent at the
// end of a schedule that delivers none which it has not seen, and such schedules are not left out.
type Reduction struct {
	space *Space

	mu      sync.Mutex
	arrive  [][]uint32 // by node, from 1: the messages that may
	sent    map[uint32]bool
	pending []uint32 // were sent, and are not in arrive yet
	commute commuting

	// Answers that walkers have kept are out of date if this has changed.
	generation atomic.Uint32
}

// NewReduction returns a reduction, or says why the model has none.
func (s *Space) NewReduction(effort Effort) (r *Reduction, whyNot string) {
	switch m := s.Model; {
	case m.faulty:
		return nil, "nodes may crash, and a crash commutes with nothing"
	case m.Duplicate:
		return nil, "messages may arrive twice"
	case m.Lose > 0:
		return nil, "messages may get lost"
	case m.Sequenced:
		return nil, "on a sequenced medium an arrival decides about others"
	case m.Bounded:
		return nil, "timers wait for messages"
	case m.Bypass > 0:
		return nil, "overtaking depends on the order of all entries and requests"
	case len(m.Invariants) > 0:
		return nil, "the algorithm's invariants may speak of states that a reduced search passes by"
	}
	r = &Reduction{space: s, arrive: make([][]uint32, s.Nodes+1), sent: map[uint32]bool{}}
	r.commute = commuting{Walker: s.NewWalker(), cut: map[dme.NodeID]int{}, effort: effort}
	return r, ""
}

// Begin notes what is on its way in the first state.
func (r *Reduction) Begin(v []uint32) {
	for i, q := range v[r.space.Nodes : len(v)-1] {
		for _, p := range r.space.queues.at(q).messages {
			r.note([]posted{{int32(r.space.Nodes + i), p}})
		}
	}
	r.extend()
}

func (r *Reduction) note(messages []posted) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range messages {
		if !r.sent[p.message] {
			r.sent[p.message] = true
			r.pending = append(r.pending, p.message)
		}
	}
}

func (r *Reduction) extend() {
	for _, p := range r.pending {
		to := r.space.messages.at(p).To
		r.arrive[to] = append(r.arrive[to], p)
	}
	r.pending = r.pending[:0]
}

// Extend takes account of the messages that have been sent since, and reports whether all arrivals
// that were forced so far still are. If not, the search has left something out, and must begin
// again. No walker may walk meanwhile. The answer depends on which messages were sent, not on their
// order.
func (r *Reduction) Extend() bool {
	if len(r.pending) == 0 {
		return true
	}
	before := make([]int, len(r.arrive))
	for id, messages := range r.arrive {
		before[id] = len(messages)
	}
	r.extend()
	if r.commute.holds(r.arrive, before) {
		return true
	}
	r.commute.forget()
	r.generation.Add(1)
	return false
}

// Spent reports whether the reduction has done all that it may: a search with it saves
// little from here on.
func (r *Reduction) Spent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commute.spent()
}

// Footprint is the approximate size of the reduction in bytes.
func (r *Reduction) Footprint() int {
	const entryBytes, stampBytes = 16, 4
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.commute
	return c.Walker.Footprint() + entryBytes*len(c.table.slots) + stampBytes*len(c.stamps)
}

// Reduce makes the walker note what is sent, for [Walker.Settle].
func (w *Walker) Reduce(r *Reduction) { w.reduction = r }

// mostSettled bounds what [Walker.Settle] does at once in a network that goes on for ever.
const mostSettled = 1 << 12

// Settle takes forced arrivals from the state in Next on, until there is none, or a state comes
// back. It returns how many it has taken, and the safety property that the last one breaks, nil if
// it breaks none. Each is shown to see, if that is set, before it is taken.
func (w *Walker) Settle(see func(v []uint32, h Hash, x Step)) (taken int, bad *Violation) {
	// R. P. Brent, An Improved Monte Carlo Factorization Algorithm, BIT 20, 1980:
	// a cycle is found by comparison with the state after 1, 2, 4, 8, … steps.
	mark, next := w.Hash, 1
	for taken < mostSettled && bad == nil {
		x, ok := w.forced()
		if !ok {
			break
		}
		if see != nil {
			see(w.Next, w.Hash, x)
		}
		bad = w.do(w, x)
		taken++
		if w.Hash == mark {
			break
		}
		if taken == next {
			mark, next = w.Hash, 2*next
		}
	}
	return taken, bad
}

func (w *Walker) forced() (x Step, ok bool) {
	timers := w.shared().timers
	for i, q := range w.Next[w.Nodes : w.width-1] {
		if q == 0 {
			continue
		}
		x = w.firsts[i]
		if len(timers) > 0 && firstOf(timers, x.Node) != nil {
			continue // may fire, a stimulus that commuting does not know
		}
		held := w.queues.at(q).messages
		for k, p := range held {
			if w.commutes(w.Next[x.Node-1], p) {
				x.Index = k
				return x, true
			}
			if !w.Unordered {
				break
			}
		}
	}
	return x, false
}

// commutes asks the reduction whether a message may be taken alone, and keeps the answer.
func (w *Walker) commutes(at, message uint32) bool {
	r := w.reduction
	if now := r.generation.Load(); now != w.generation {
		w.answers, w.generation = table{}, now
	}
	key := uint64(at)<<32 | uint64(message)
	answer, ok := w.answers.get(key)
	if !ok {
		r.mu.Lock()
		answer = r.commute.answer(at, message, r.arrive)
		r.mu.Unlock()
		w.answers.put(key, answer)
	}
	return answer == yes
}

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
