package vnet

import (
	"math"
	"slices"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// Walker takes steps between vectors. One goroutine uses it.
type Walker struct {
	*Space
	exec     *executor
	outcomes []stored
	posted   []posted // the messages of all outcomes
	tried    table    // node and stimulus: index of the outcome
	spliced  table    // queue and change: queue

	taken uint32 // the message that was taken, on its first way
	last  uint32 // the outcome of the step being taken

	refused uint64 // messages, once for each state of a node and message
	refusal string // the reason of one of them

	reduction  *Reduction
	answers    table // node and message: whether it commutes
	generation uint32

	// The state after the last step. The rules look at it, and change it.
	Next []uint32
	Hash Hash

	judge     *judge // nil if nothing is judged
	decoded   decoded
	pairs     [][]neighbours // by the node that they are with, from 1; at 0 all pairs
	about     [][]neighbours // of each state; scratch
	questions []question     // scratch
	fetched   uint64         // see ask; never looked at

	// Scratch.
	first   []Step
	indexes []int
	key     []byte
	queue   []uint32
	other   shared

	_ [cacheLines]byte
}

// cacheLines is how many bytes lie between what is changed at every step and
// what another goroutine may change. Else each would wait for the other's
// processor: they pass lines of 64 bytes to each other, and fetch two at a time.
const cacheLines = 128

var _ state = (*Walker)(nil)

// NewWalker returns a walker through the space.
func (s *Space) NewWalker() *Walker {
	const apart = cacheLines / 4 // a number has four bytes
	next := make([]uint32, s.width+apart)[:s.width]
	w := &Walker{Space: s, exec: newExecutor(s), Next: next, first: make([]Step, len(s.firsts), len(s.firsts)+4)}
	if len(s.Invariants) > 0 {
		w.judge = newJudge(s.Model)
		w.decoded.room, w.decoded.nodes = enoughRoom, make([][]decodedNode, s.Nodes+1)
		for c := dme.None; int(c) <= s.Nodes; c++ {
			w.pairs = append(w.pairs, s.pairsWith(c))
		}
	}
	return w
}

// Enabled appends the steps that are possible in state v, always in the same order. stuck reports a
// standstill: a node waits, and nothing can happen but that others ask. A message's index is that
// in the vector's queue.
func (w *Walker) Enabled(v []uint32, to []Step) (steps []Step, stuck bool) {
	copy(w.Next, v)
	return w.enabled(w, to)
}

// Do takes a step from state v with hash h to Next and Hash, and returns the safety property that it breaks.
func (w *Walker) Do(v []uint32, h Hash, x Step) *Violation {
	copy(w.Next, v)
	w.Hash = h
	return w.do(w, x)
}

// Footprint is the approximate size of the walker in bytes, without its space.
func (w *Walker) Footprint() int {
	const entryBytes, storedBytes, postedBytes = 16, 64, 8
	tables := len(w.tried.slots) + len(w.spliced.slots) + len(w.answers.slots)
	return entryBytes*tables + storedBytes*cap(w.outcomes) + postedBytes*cap(w.posted) + w.decoded.bytes
}

// Waiting returns the nodes that wait in state v.
func (w *Walker) Waiting(v []uint32) []dme.NodeID {
	var waiting []dme.NodeID
	for id := range w.IDs() {
		if w.locals.at(v[id-1]).activity == noderun.Requesting {
			waiting = append(waiting, id)
		}
	}
	return waiting
}

// Refused returns how many messages nodes refused, once for each state and message, and one reason.
func (w *Walker) Refused() (count uint64, reason string) { return w.refused, w.refusal }

func (w *Walker) process(id dme.NodeID) *process { return &w.locals.at(w.Next[id-1]).process }
func (w *Walker) shared() *shared                { return &w.rests.at(w.Next[w.width-1]).shared }
func (w *Walker) held(link int) []uint32         { return w.queues.at(w.Next[w.places[link]]).messages }
func (w *Walker) length(link int) int            { return len(w.held(link)) }
func (w *Walker) passage(link, i int) *passage   { return &w.messages.at(w.held(link)[i]).passage }

func (w *Walker) arriving() []Step {
	held := 0
	for i, queue := range w.Next[w.Nodes : w.width-1] {
		w.first[held] = w.firsts[i] // without a branch, which would often be mispredicted
		if queue != 0 {
			held++
		}
	}
	return w.first[:held]
}

var firstAlone = [...]int{0}

func (w *Walker) heads(link int) []int {
	held := w.held(link)
	if !w.Unordered || len(held) == 1 {
		return firstAlone[:]
	}
	w.indexes = w.indexes[:0]
	for i, p := range held {
		if i == 0 || p != held[i-1] {
			w.indexes = append(w.indexes, i)
		}
	}
	return w.indexes
}

func (w *Walker) edit() *shared {
	c := w.shared()
	w.other.lose, w.other.crashes, w.other.departures = c.lose, c.crashes, c.departures
	w.other.overtaken = append(w.other.overtaken[:0], c.overtaken...)
	w.other.timers = append(w.other.timers[:0], c.timers...)
	return &w.other
}

func (w *Walker) keep() {
	at := w.width - 1
	was := w.Next[at]
	w.Next[at], w.key = w.restOf(w.key, &w.other)
	w.Hash = w.Hash.minus(w.rests.at(was).Hash).plus(w.rests.at(w.Next[at]).Hash)
}

func (w *Walker) setQueue(place int32, to uint32) {
	w.Hash = w.Hash.minus(w.queues.at(w.Next[place]).Hash).plus(w.queues.at(to).Hash)
	w.Next[place] = to
}

type change uint64

const (
	with     change = iota // a message is added
	without                // the index-th is taken away
	withCopy               // the index-th stays behind as a copy
)

func (w *Walker) take(link, i int, leave bool) *passage {
	p := w.messages.at(w.held(link)[i])
	w.taken = p.plain
	if leave {
		w.splice(w.places[link], withCopy, i)
	} else {
		w.splice(w.places[link], without, i)
	}
	return &p.passage
}

func (w *Walker) post(marks []mark) {
	o := &w.outcomes[w.last]
	for _, p := range w.posted[o.posted:][:o.posts] {
		if w.faulty {
			if x := w.messages.at(p.message); w.severed(w, x.From, x.To) {
				continue
			}
		}
		if len(marks) > 0 {
			x := w.messages.at(p.message)
			marked := x.passage
			marked.marks = marks
			p.message, w.key = w.variantOf(w.key, marked, x)
		}
		w.splice(p.place, with, int(p.message))
	}
}

func (w *Walker) splice(place int32, c change, what int) {
	old := w.Next[place]
	key := uint64(old)<<32 | uint64(what)<<2 | uint64(c)
	to, ok := w.spliced.get(key)
	if !ok {
		to = w.newQueue(w.queues.at(old).messages, c, what)
		w.spliced.put(key, to)
	}
	w.setQueue(place, to)
}

func (w *Walker) newQueue(old []uint32, c change, what int) (to uint32) {
	b := append(w.queue[:0], old...)
	switch c {
	case with:
		b = append(b, uint32(what))
	case without:
		b = slices.Delete(b, what, what+1)
	case withCopy:
		p := w.messages.at(b[what])
		copied := p.passage
		copied.copied = true
		b[what], w.key = w.variantOf(w.key, copied, p)
	}
	return w.sorted(b)
}

func (w *Walker) sorted(messages []uint32) (number uint32) {
	if w.Unordered {
		w.sortBetweenNews(messages)
	}
	w.queue = messages
	number, w.key = w.queueOf(w.key, messages)
	return number
}

func (w *Walker) rewrite(from, to dme.NodeID, change func(*passage) bool) {
	link := w.link(from, to)
	b := append(w.queue[:0], w.held(link)...)
	changed := false
	for i, id := range b {
		x := w.messages.at(id)
		p := x.passage
		if change(&p) {
			b[i], w.key = w.variantOf(w.key, p, x)
			changed = true
		}
	}
	if changed {
		w.setQueue(w.places[link], w.sorted(b))
	}
}

func (w *Walker) empty(link int) { w.setQueue(w.places[link], 0) }

var noMessage = dme.AppendMessage(nil, new(dme.Message))

func (w *Walker) announce(from, to dme.NodeID, what dme.EventKind) {
	var number uint32
	number, w.key = w.messageOf(w.key, passage{From: from, To: to, news: what}, noMessage)
	w.splice(w.places[w.link(from, to)], with, int(number))
}

func (w *Walker) run(x Step) *outcome {
	at := x.Node - 1
	was := w.Next[at]
	w.last = w.outcomeOf(was, x, w.taken)
	o := &w.outcomes[w.last]
	if !o.taken {
		w.notice(o, was, x)
	}
	if !o.fatal() {
		w.Next[at] = o.next
		w.Hash = w.Hash.plus(o.hash)
	}
	return &o.outcome
}

// notice notes what a step does that is taken by a node in a state for the first time.
func (w *Walker) notice(o *stored, was uint32, x Step) {
	o.taken = true
	if o.refused {
		w.refused++
		if reason := w.exec.refusal(w.locals.at(was), x, w.taken); w.refusal == "" || reason < w.refusal {
			w.refusal = reason
		}
	}
	if w.reduction != nil {
		w.reduction.note(w.posted[o.posted:][:o.posts])
	}
}

// outcomeOf returns which outcome a step has at a node; message is the one that arrives.
func (w *Walker) outcomeOf(at uint32, x Step, message uint32) (index uint32) {
	key := uint64(at)<<32 | uint64(stimulusOf(x, message))
	index, ok := w.tried.get(key)
	if !ok {
		index = w.try(key, at, x, message)
	}
	return index
}

// try runs the handler of a step for the first time in a state, and keeps the outcome.
func (w *Walker) try(key uint64, was uint32, x Step, message uint32) (index uint32) {
	index = uint32(len(w.outcomes))
	o := w.exec.try(w.locals.at(was), x, message)
	if len(w.posted)+len(w.exec.sent) > math.MaxUint32 {
		panic("vnet: more than 2³² messages in different outcomes; search fewer requests")
	}
	o.posted, o.posts = uint32(len(w.posted)), uint32(len(w.exec.sent))
	w.posted = append(w.posted, w.exec.sent...)
	w.outcomes = append(w.outcomes, o)
	w.tried.put(key, index)
	return index
}

// Questions of a search for cycles about a state.

// Sets reports whether the step that was taken last set or cancelled a timer.
func (w *Walker) Sets(node dme.NodeID, id dme.TimerID) bool {
	return slices.ContainsFunc(w.outcomes[w.last].timers, func(t timing) bool { return t.Node == node && t.ID == id })
}
