package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
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
