package sim

import (
	"dmebench/dme"
	"dmebench/internal/platform/hugepages"
)

// class orders the events of one instant.
type class uint64

const (
	delivery class = iota
	timeout
	exit
	arrival
)

// classBits is how many bits of an event's rank its sequence number leaves to its class.
const classBits = 2

// event is something that will happen to a message, a timer or a node, as its class says.
type event struct {
	at   int64  // virtual time, ns
	rank uint64 // class, then sequence number
	what uint32 // slot of the message or the timer, or the node
}

func (e event) class() class { return class(e.rank >> (64 - classBits)) }

func (e event) before(f event) bool {
	return e.at < f.at || e.at == f.at && e.rank < f.rank
}

// agenda holds what will happen, in order. If all delays are equal, messages arrive in the order in
// which they were sent: a queue holds them, at a fraction of the cost of the heap that holds
// everything else.
type agenda struct {
	seq   uint64
	heap  []event // 4-ary: half as deep as a binary one, and one cache line per level
	queue ring
}

func (a *agenda) empty() bool { return len(a.heap) == 0 && a.queue.n == 0 }

func (a *agenda) next(c class, at int64, what uint32) event {
	a.seq++
	return event{at: at, rank: uint64(c)<<(64-classBits) | a.seq, what: what}
}

func (a *agenda) add(c class, at int64, what uint32) { a.insert(a.next(c, at, what)) }

func (a *agenda) drop(gone func(event) bool) {
	left := a.heap
	a.heap = a.heap[:0]
	for _, e := range left {
		if !gone(e) {
			a.insert(e)
		}
	}
}

func (a *agenda) insert(e event) {
	a.heap = append(a.heap, e)
	h, i := a.heap, len(a.heap)-1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// append puts a delivery into the queue: at must not be before that of any
// delivery appended earlier, and no delivery may ever be added to the heap.
func (a *agenda) append(at int64, what uint32) { a.queue.push(a.next(delivery, at, what)) }

// pop takes out the first event. The agenda must not be empty.
func (a *agenda) pop() event {
	if a.queue.n > 0 && (len(a.heap) == 0 || a.queue.first().before(a.heap[0])) {
		return a.queue.pop()
	}
	h := a.heap
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	a.heap = h
	i := 0
	for {
		child := 4*i + 1
		if child >= len(h) {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, len(h)); c++ {
			if h[c].before(h[least]) {
				least = c
			}
		}
		if !h[least].before(last) {
			break
		}
		h[i] = h[least]
		i = least
	}
	if len(h) > 0 {
		h[i] = last
	}
	return first
}

type ring struct {
	buf     []event
	head, n int
}

func (r *ring) first() event { return r.buf[r.head] }

func (r *ring) push(e event) {
	if r.n == len(r.buf) {
		grown := hugepages.Make[event](max(64, 2*len(r.buf)))
		k := copy(grown, r.buf[r.head:])
		copy(grown[k:], r.buf[:r.head])
		r.buf, r.head = grown, 0
	}
	r.buf[(r.head+r.n)&(len(r.buf)-1)] = e
	r.n++
}

func (r *ring) pop() event {
	e := r.buf[r.head]
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.n--
	return e
}

const pageSlots = 512

// slots holds values in slots that are used again. Pages never move: nothing is copied as they grow.
type slots[T any] struct {
	pages []*[pageSlots]T
	free  []uint32
	n     int // in use
}

func (s *slots[T]) at(slot uint32) *T { return &s.pages[slot/pageSlots][slot%pageSlots] }

func (s *slots[T]) take() (slot uint32, x *T) {
	if len(s.free) == 0 {
		base := uint32(len(s.pages) * pageSlots)
		s.pages = append(s.pages, new([pageSlots]T))
		for i := uint32(pageSlots); i > 0; i-- {
			s.free = append(s.free, base+i-1)
		}
	}
	slot = s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.n++
	return slot, s.at(slot)
}

func (s *slots[T]) release(slot uint32) {
	s.free = append(s.free, slot)
	s.n--
}

type transit struct {
	msg      dme.Message
	from, to dme.NodeID
}

type flight struct{ slots[transit] }

func (f *flight) put(from, to dme.NodeID, m *dme.Message) (slot uint32) {
	slot, x := f.take()
	x.msg, x.from, x.to = *m, from, to
	return slot
}

// release gives the slot back. The vector belongs to the receiver by now.
func (f *flight) release(slot uint32) {
	f.at(slot).msg.Vec = nil
	f.slots.release(slot)
}
