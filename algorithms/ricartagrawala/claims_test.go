package ricartagrawala

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// TR-869, section 2.4: a node that has processed a REQUEST enters once at most
// before the node that sent it. Links reorder here; once is reached.
func TestNobodyEntersTwiceAfterProcessing(t *testing.T) {
	most := 0
	for seed := range uint64(300) {
		nodes := 2 + int(seed%3)
		net := conformance.Make(t, Algorithm(), nodes, nil)
		rng := rand.New(rand.NewPCG(seed, 1))
		waiting := map[dme.NodeID]map[dme.NodeID]int{} // who asks -> who has processed it -> entries since
		entered := 0
		for range 400 {
			i, j := dme.NodeID(1+rng.IntN(nodes)), dme.NodeID(1+rng.IntN(nodes))
			switch in := net.Inside(); {
			case len(in) > 0 && in[0] == i:
				net.Release(i)
			case waiting[i] == nil && len(in) == 0 || waiting[i] == nil && in[0] != i:
				waiting[i] = map[dme.NodeID]int{}
				net.Request(i)
			case len(net.InFlight(i, j)) > 0:
				k := rng.IntN(len(net.InFlight(i, j)))
				if m := net.InFlight(i, j)[k]; m.Kind == kindRequest && waiting[i] != nil {
					waiting[i][j] = 0
				}
				net.Deliver(i, j, k)
			}
			for ; entered < len(net.Entries); entered++ {
				who := net.Entries[entered].Node
				for asker, since := range waiting {
					if n, processed := since[who]; processed && asker != who {
						since[who] = n + 1
						most = max(most, n+1)
					}
				}
				delete(waiting, who)
			}
		}
		if err := net.Err(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if most != 1 {
		t.Errorf("a node entered %d times after it had processed a REQUEST, want once at most, and once", most)
	}
}

// TR-869, section 5.3.2: of two nodes that ask concurrently, the node number
// chooses, and not the time: in one of the two orders the later one goes first.
func TestTieBreakKnowsNothingOfTime(t *testing.T) {
	later := 0
	for _, order := range [][2]dme.NodeID{{1, 2}, {2, 1}} {
		net := conformance.Make(t, Algorithm(), 2, nil)
		net.Request(order[0])
		net.Request(order[1])
		net.Settle()
		if in := net.Inside(); len(in) != 1 || in[0] != 1 {
			t.Fatalf("%v ask, %v are in the critical section", order, in)
		}
		if net.Inside()[0] == order[1] {
			later++
		}
	}
	if share := fmt.Sprint(float64(later) / 2); share != "0.5" {
		t.Errorf("the later request goes first in a share of %s", share)
	}
}

// Two messages for each other node are claimed as long as a critical section takes no
// longer than nodes expect.
func TestWhereCriticalSectionsAreAsExpected(t *testing.T) {
	net := conformance.Make(t, Robust(), 3, nil)
	s := net.Setting
	expected := s.System.(*robustSystem).csBound
	for e, want := range map[time.Duration]bool{0: true, expected: true, expected + 1: false} {
		s.E = e
		claimed := 0
		for _, c := range Robust().Claims {
			if c.Quantity != dme.MessagesPerCS {
				continue
			}
			claimed++
			if got, ok := c.Predict(s); ok != want || ok && got != 4 {
				t.Errorf("%s, E=%v: %v, %v; want 4, %v", c.Load, e, got, ok, want)
			}
		}
		if claimed < 2 {
			t.Errorf("only %d claims of messages per CS", claimed)
		}
	}
}
