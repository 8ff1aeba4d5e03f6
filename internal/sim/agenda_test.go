package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/dme/collections"
	"dmebench/internal/runtime/noderun"
	"dmebench/runs"
)

// TestAgendaIsASortedList compares the agenda, heap and queue together, with a
// list that is sorted again for every event.
func TestAgendaIsASortedList(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var a agenda
	var list []event
	var now, lastQueued int64
	for range 5000 {
		switch rng.IntN(5) {
		case 0, 1:
			c := timeout + class(rng.IntN(3))
			at := now + rng.Int64N(20)
			a.add(c, at, uint32(at))
			list = append(list, event{at, uint64(c)<<(64-classBits) | a.seq, uint32(at)})
		case 2:
			lastQueued = max(lastQueued, now+10)
			a.append(lastQueued, uint32(lastQueued))
			list = append(list, event{lastQueued, a.seq, uint32(lastQueued)})
		default:
			if len(list) == 0 {
				if !a.empty() {
					t.Fatal("not empty")
				}
				continue
			}
			slices.SortFunc(list, func(x, y event) int {
				if x.before(y) {
					return -1
				}
				return 1
			})
			got := a.pop()
			if got != list[0] {
				t.Fatalf("got %+v, want %+v", got, list[0])
			}
			if got.at < now {
				t.Fatalf("time went back from %d to %d", now, got.at)
			}
			now, list = got.at, list[1:]
		}
	}
}

func TestFlightKeepsWhatIsInFlight(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var m flight
	slots := make(map[uint32]uint64)
	for k := uint64(1); k < 20000; k++ {
		if len(slots) == 0 || rng.IntN(100) < 52 {
			slot := m.put(1, 2, &dme.Message{Kind: 1, Num: k, Vec: []uint64{k}})
			if _, used := slots[slot]; used {
				t.Fatalf("slot %d given out twice", slot)
			}
			slots[slot] = k
			continue
		}
		for slot, k := range slots {
			if got := m.at(slot).msg.Num; got != k {
				t.Fatalf("slot %d holds message %d, want %d", slot, got, k)
			}
			m.release(slot)
			if m.at(slot).msg.Vec != nil {
				t.Fatal("an empty slot keeps a vector alive that the receiver has dropped")
			}
			delete(slots, slot)
			break
		}
		if m.n != len(slots) {
			t.Fatalf("%d in flight, want %d", m.n, len(slots))
		}
	}
}

func TestSparseLinksAreAsDenseOnes(t *testing.T) {
	const n = 20
	dense, sparse := newLastDelivery(n), newLastDelivery(denseNodes+1)
	if dense.dense == nil || sparse.sparse == nil {
		t.Fatal("not one of each kind")
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 5000 {
		from, to := dme.NodeID(rng.IntN(n)+1), dme.NodeID(rng.IntN(n)+1)
		if a, b := dense.get(from, to), sparse.get(from, to); a != b {
			t.Fatalf("from %d to %d: %d and %d", from, to, a, b)
		}
		at := rng.Int64()
		dense.set(from, to, at)
		sparse.set(from, to, at)
	}
}

// A sequenced broadcast arrives after everything that its sender has sent to anybody, and
// what the sender sends next after it.
func TestSequencedBroadcastsKeepTheOrderOfLinks(t *testing.T) {
	d := &delays{
		mean: time.Millisecond, kind: "exponential", fifo: true, rng: rand.New(rand.NewPCG(51, 52)), last: newLastDelivery(4),
	}
	for now := int64(0); now < 1000; now++ {
		last := int64(0)
		for _, to := range []dme.NodeID{2, 3, 4} {
			last = max(last, d.arrival(now, 1, to))
		}
		other := d.arrival(now, 2, 3)
		at := d.sequenced(now, 1, 4)
		if at < last {
			t.Fatalf("a broadcast arrives at %d, a message that was sent before it at %d", at, last)
		}
		for _, to := range []dme.NodeID{2, 3, 4} {
			if next := d.arrival(now, 1, to); next < at {
				t.Fatalf("a message to %d arrives at %d, a broadcast that was sent before it at %d", to, next, at)
			}
		}
		if again := d.arrival(now, 2, 3); again < other {
			t.Fatalf("node 2's messages overtake one another: %d before %d", again, other)
		}
	}
}

// One request that waits for longer than patience has it is enough for a run to be stuck,
// and an entry of anybody is not.
func TestOneRequestThatWaitsIsStuck(t *testing.T) {
	w := newWatch(3, 10)
	w.moved(2, 100, noderun.Requesting, false)
	if w.stuck(110, false) || !w.stuck(111, false) {
		t.Errorf("after 10: %v, after 11: %v", w.stuck(110, false), w.stuck(111, false))
	}
	w.moved(2, 112, noderun.Inside, false)
	if w.stuck(500, false) {
		t.Error("stuck while a node is inside")
	}
}

// Each receipt of a message has an integer list of its own: a node may keep what it
// received, and write to it.
func TestRepeatedMessagesShareNothing(t *testing.T) {
	var got []uint64
	a := scripted(script{
		request: func(s *script, out *dme.Outbox) {
			if s.id == 1 {
				out.Send(2, dme.Message{Kind: 1, Vec: []uint64{7}})
			}
			out.Enter(dme.Stamp{})
		},
		receive: func(_ *script, _ dme.NodeID, m dme.Message, _ *dme.Outbox) {
			got = append(got, m.Vec[0])
			m.Vec[0]++
		},
	})
	a.Needs = dme.Always(dme.Needs{})
	simulate(t, runs.Spec{Nodes: 2, Workload: "serial", Requests: 400, Set: map[string]string{"dup": "0.5"}}, a)
	if len(got) < 250 {
		t.Errorf("%d receipts of 200 messages, half of which arrive twice", len(got))
	}
	if slices.ContainsFunc(got, func(x uint64) bool { return x != 7 }) {
		t.Errorf("some receipts have seen what others wrote: %v", got)
	}
}

// A restart counts from the kill that it belongs to, and from no other.
func TestEachRestartFollowsItsKill(t *testing.T) {
	a := ricartagrawala.Robust()
	r := struck(t, a, 4, "0,1\n1,2\n2,4\n3,1\n", "kill 2 @100ms", "restart 2 @+50ms", "kill 3 @80ms", "restart 3 @+60ms")
	var at []int64
	for _, f := range r.Faults {
		at = append(at, f.AtNS/ms)
	}
	if want := []int64{80, 100, 140, 150}; !slices.Equal(at, want) {
		t.Errorf("the faults came at %v ms, want %v", at, want)
	}
}

// What a place in the store of messages carried is forgotten with the message: the next
// one there is another.
func TestALostTokenIsLostOnce(t *testing.T) {
	l := &losses{carries: map[uint32]bool{5: true, 6: true}, gone: collections.MakeNodeSet(4)}
	l.drowned(5, 2)
	l.drowned(5, 3)
	l.arrives(6)
	if !l.carried {
		t.Error("what has arrived carried the token")
	}
	l.drowned(6, 4)
	if !l.gone.Has(2) || l.gone.Has(3) || l.gone.Has(4) {
		t.Errorf("the token went with 2 alone, not with 3 (%v) or 4 (%v)", l.gone.Has(3), l.gone.Has(4))
	}
}
