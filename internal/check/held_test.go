package check

import (
	"testing"
	"unsafe"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/dme/vnet"
)

// The account holds the states that a worker looks up together.
func TestWorkersAreOnTheAccount(t *testing.T) {
	for _, nodes := range []int{2, 30} {
		x := newExhaustive(searchOf(t, ricartagrawala.Algorithm(), Options{Nodes: nodes, Requests: 3}), 1)
		before := x.memory.held.Load()
		w := newWorker(x)
		want := cap(w.vectors)*int(unsafe.Sizeof(w.vectors[:1][0])) + cap(w.hashes)*int(unsafe.Sizeof(w.hashes[:1][0])) +
			cap(w.origins)*int(unsafe.Sizeof(w.origins[:1][0]))
		if got := x.memory.held.Load() - before; got != int64(want) {
			t.Errorf("%d nodes: a worker that takes %d bytes is on the account with %d", nodes, want, got)
		}
	}
}

// The account holds what a worker's classes and the common tables keep.
func TestClassesAreOnTheAccount(t *testing.T) {
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: 3, Requests: 100, Workers: 1, Reduce: true, WithoutInvariants: true})
	x := newExhaustive(s, 1)
	x.byClass = true
	w := newWorker(x)
	first, h := x.space.Of(vnet.New(s.model))
	w.offer(w.classes.Of(first), h, 0)
	w.lookUp()
	before := x.memory.held.Load()
	w.expandBatch(w.filled()[0])
	own, grown := w.Footprint()+w.classes.Footprint(), x.memory.held.Load()-before
	if w.classes.Footprint() == 0 || w.held != own || grown < int64(own+x.space.Footprint()) {
		t.Errorf("a worker of %d bytes and states of %d are on the account with %d and %d", own, x.space.Footprint(), w.held, grown)
	}
}

// One worker finds by class what several find.
func TestOneWorkerByClass(t *testing.T) {
	var states []uint64
	for _, workers := range []int{1, 3} {
		r, err := Exhaustive(t.Context(), lamport.Algorithm(), Options{
			Nodes: 2, Requests: 4, Workers: workers, Reduce: true, WithoutInvariants: true,
		})
		if err != nil || !r.Complete || !r.ByClass {
			t.Fatalf("%d workers: %+v, %v", workers, r, err)
		}
		states = append(states, r.States)
	}
	if states[0] != states[1] {
		t.Errorf("%d classes with one worker, %d with three", states[0], states[1])
	}
}

// After so many steps without an entry as 4·N²+16 a schedule that goes on is compared with
// itself, and one turn of its cycle later it is at its end: a message that goes round two
// nodes comes back after 2 steps, round three after 3.
func TestWhenCyclesAreSeen(t *testing.T) {
	for nodes := 2; nodes <= 4; nodes++ {
		s := searchOf(t, chatter(), Options{Nodes: nodes, Requests: 1, Requesters: []dme.NodeID{1}})
		trace, taken := s.replay(s.model, asksOf(1), true)
		if want := 1 + 4*nodes*nodes + 16 + nodes; trace.Repeats != nodes || len(taken) != want {
			t.Errorf("%d nodes: after %d steps the last %d repeat, want %d after %d", nodes, len(taken), trace.Repeats, nodes, want)
		}
	}
}
