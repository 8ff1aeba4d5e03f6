package check

import (
	"slices"

	"dmebench/dme"
	"dmebench/internal/noderun"
)

// move is a step as it is taken in a vector.
type move struct {
	kind  StepKind
	node  dme.NodeID
	at    int // of the link
	index int // of the message in the link's queue
	timer dme.TimerID
}

// expander takes moves. Each worker has one of its own.
type expander struct {
	*explorer
	lab      *laboratory
	outcomes []outcome
	tried    table // node and stimulus: index of the outcome
	spliced  table // queue and change: queue
	moves    []move
	key      []byte
	parcels  []uint32

	// The state after the last move.
	next  []uint32
	hash  hash
	other rest // scratch
}

func newExpander(e *explorer) *expander {
	return &expander{explorer: e, lab: newLaboratory(e.model, e.components, e.at), next: make([]uint32, e.width)}
}

// possible returns the moves that are possible in state v, always in the same
// order, and whether it is a standstill: somebody waits, and nothing can happen
// but that others ask.
func (x *expander) possible(v []uint32) (moves []move, stuck bool) {
	c := x.components
	moves = x.moves[:0]
	waiting, moving, unserved := false, false, false
	for i := range x.Nodes {
		l, id := c.locals.at(v[i]), dme.NodeID(i+1)
		unserved = unserved || l.activity != noderun.Idle || l.budget > 0
		switch {
		case l.activity == noderun.Inside:
			moving = true
			moves = append(moves, move{kind: Leave, node: id})
		case l.activity == noderun.Requesting:
			waiting = true
		case l.budget > 0:
			moves = append(moves, move{kind: Ask, node: id})
			if x.shares {
				moves = append(moves, move{kind: AskShared, node: id})
			}
		}
	}
	if x.stops && !unserved {
		for i := range x.Nodes {
			if !c.locals.at(v[i]).stopped {
				moves = append(moves, move{kind: Stop, node: dme.NodeID(i + 1)})
			}
		}
	}
	r := c.rests.at(v[x.width-1])
	for at := x.Nodes; at < x.width-1; at++ {
		if v[at] != 0 {
			moving = true
			moves = x.arrivals(moves, v, at, r)
		}
	}
	for i, a := range r.alarms {
		moving = true
		if x.mayFire(v, r, i) {
			moves = append(moves, move{kind: Fire, node: a.node, timer: a.id})
		}
	}
	x.moves = moves
	return moves, waiting && !moving
}

// arrivals appends what can happen to the messages of one link.
func (x *expander) arrivals(moves []move, v []uint32, at int, r *rest) []move {
	_, to := x.ends(at)
	parcels := x.components.queues.at(v[at]).parcels
	if x.sequenced {
		if p := x.components.parcels.at(parcels[0]); p.broadcast && !x.audible(v, p) {
			return moves
		}
	}
	if !x.Unordered {
		parcels = parcels[:1]
	}
	for i, p := range parcels {
		if i > 0 && p == parcels[i-1] {
			continue // equal messages: whichever arrives
		}
		moves = append(moves, move{kind: Deliver, node: to, at: at, index: i})
		if !x.Duplicate && r.lose == 0 || x.components.parcels.at(p).copy {
			continue
		}
		if x.Duplicate {
			moves = append(moves, move{kind: Copy, node: to, at: at, index: i})
		}
		if r.lose > 0 {
			moves = append(moves, move{kind: Lose, node: to, at: at, index: i})
		}
	}
	return moves
}

func (x *expander) mayFire(v []uint32, r *rest, i int) bool {
	a := r.alarms[i]
	if !x.first(r.alarms, i) {
		return false
	}
	if a.reach == 0 {
		return true
	}
	for at := x.Nodes; at < x.width-1; at++ {
		for _, p := range x.components.queues.at(v[at]).parcels {
			if waitsFor(x.components.parcels.at(p).marks, a.node, a.id) {
				return false
			}
		}
	}
	return true
}

// take takes a move in state v with hash h. The state after it is in next and
// hash; the violation it shows, if any, is returned.
func (x *expander) take(v []uint32, h hash, m move) *Violation {
	copy(x.next, v)
	x.hash = h
	var what stimulus
	var via []mark
	switch m.kind {
	case Ask:
		what = stimAsk
	case AskShared:
		what = stimAskShared
	case Leave:
		what = stimLeave
	case Stop:
		what = stimStop
	case Fire:
		what = stimFire + stimulus(m.timer)
		x.disarm(m.node, m.timer)
	case Deliver, Copy, Lose:
		p := x.components.parcels.at(x.components.queues.at(v[m.at]).parcels[m.index])
		via = p.marks
		if m.kind == Copy {
			x.splice(m.at, withCopy, m.index)
		} else {
			x.splice(m.at, without, m.index)
		}
		if m.kind == Lose {
			r := x.editRest()
			r.lose--
			x.setRest()
			return nil
		}
		if p.broadcast {
			x.heard(p)
		}
		what = stimMessage + stimulus(p.plain)
	}
	at := int(m.node - 1)
	o := x.outcome(x.next[at], what)
	if o.broken != nil && o.broken.Property == Sanity {
		return o.broken
	}
	x.setLocal(at, o.next)
	via = x.setTimers(o, via)
	for _, p := range o.posted {
		parcel := p.parcel
		if len(via) > 0 {
			parcel = x.inheriting(parcel, via)
		}
		x.splice(int(p.at), with, int(parcel))
	}
	x.markAll(o)
	if o.entered {
		if bad := x.enter(m.node); bad != nil {
			return bad
		}
	}
	return o.broken
}

// outcome returns what a stimulus does to a node.
func (x *expander) outcome(node uint32, what stimulus) *outcome {
	key := uint64(node)<<32 | uint64(what)
	i, ok := x.tried.get(key)
	if !ok {
		i = uint32(len(x.outcomes))
		x.outcomes = append(x.outcomes, x.lab.try(x.components.locals.at(node), what))
		x.tried.put(key, i)
	}
	return &x.outcomes[i]
}

// enter judges the entry of a node, with next as it is after the step.
func (x *expander) enter(id dme.NodeID) (bad *Violation) {
	c := x.components
	shared := c.locals.at(x.next[id-1]).shared
	for i := range x.Nodes {
		l := c.locals.at(x.next[i])
		if l.id != id && l.activity == noderun.Inside && !(shared && l.shared) {
			bad = twoInside(l.id, id, l.shared, shared)
		}
	}
	if x.Bypass == 0 {
		return bad
	}
	r := x.editRest()
	for i := range x.Nodes {
		l := c.locals.at(x.next[i])
		switch {
		case l.id == id:
			r.overtaken[id] = 0
		case l.activity == noderun.Requesting:
			r.overtaken[l.id]++
			if bad == nil && r.overtaken[l.id] > x.Bypass {
				bad = overtaken(l.id, x.Bypass)
			}
		}
	}
	x.setRest()
	return bad
}

func (x *expander) setLocal(at int, to uint32) {
	c := x.components
	x.hash = x.hash.minus(c.locals.at(x.next[at]).hash).plus(c.locals.at(to).hash)
	x.next[at] = to
}

func (x *expander) setQueue(at int, to uint32) {
	c := x.components
	x.hash = x.hash.minus(c.queues.at(x.next[at]).hash).plus(c.queues.at(to).hash)
	x.next[at] = to
}

// editRest returns a copy of the rest of next, which setRest puts back.
func (x *expander) editRest() *rest {
	r := x.components.rests.at(x.next[x.width-1])
	x.other.lose = r.lose
	x.other.overtaken = append(x.other.overtaken[:0], r.overtaken...)
	x.other.alarms = append(x.other.alarms[:0], r.alarms...)
	return &x.other
}

func (x *expander) setRest() {
	c, at := x.components, x.width-1
	var to uint32
	to, x.key = c.restOf(x.key, &x.other)
	x.hash = x.hash.minus(c.rests.at(x.next[at]).hash).plus(c.rests.at(to).hash)
	x.next[at] = to
}

// change is what can happen to a link's queue.
type change uint64

const (
	with     change = iota // a message is added
	without                // the index-th is taken away
	withCopy               // the index-th stays behind as a copy
)

// splice changes the queue at a place of next.
func (x *expander) splice(at int, c change, what int) {
	old := x.next[at]
	key := uint64(old)<<32 | uint64(what)<<2 | uint64(c)
	to, ok := x.spliced.get(key)
	if !ok {
		to = x.newQueue(x.components.queues.at(old).parcels, c, what)
		x.spliced.put(key, to)
	}
	x.setQueue(at, to)
}

func (x *expander) newQueue(old []uint32, c change, what int) (to uint32) {
	b := append(x.parcels[:0], old...)
	var added uint32
	switch c {
	case with:
		added = uint32(what)
	case without:
		b = slices.Delete(b, what, what+1)
	case withCopy:
		p := x.components.parcels.at(b[what])
		added, x.key = x.components.parcelOf(x.key, p.from, p.to, []byte(p.body), transit{copy: true}, p.marks)
		b = slices.Delete(b, what, what+1)
	}
	switch {
	case c == without:
	case x.Unordered:
		at, _ := slices.BinarySearchFunc(b, added, x.compare)
		b = slices.Insert(b, at, added)
	case c == withCopy:
		b = slices.Insert(b, what, added)
	default:
		b = append(b, added)
	}
	x.parcels = b
	to, x.key = x.components.queueOf(x.key, b)
	return to
}
