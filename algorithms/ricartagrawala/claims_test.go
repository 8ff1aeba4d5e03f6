package ricartagrawala

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
			if got, ok := c.Prediction(s); ok != want || ok && got != 4 {
				t.Errorf("%s, E=%v: %v, %v; want 4, %v", c.Load, e, got, ok, want)
			}
		}
		if claimed < 2 {
			t.Errorf("only %d claims of messages per CS", claimed)
		}
	}
}

// forms are the modifications of sections 6.1 to 6.3, with what an isolated
// request costs on n > 1 nodes.
var forms = []struct {
	algorithm               func() *dme.Algorithm
	option, value           string
	messages, transmissions func(n int) int
}{
	// Without contention nobody says anything.
	{Implicit, "broadcast", "false", func(n int) int { return n - 1 }, func(n int) int { return n - 1 }},
	{Implicit, "broadcast", "true", func(n int) int { return n - 1 }, func(int) int { return 1 }},
	// One of the transmissions is the REQUEST.
	{Broadcast, "form", "listed", func(n int) int { return 2 * (n - 1) }, func(n int) int { return n }},
	{Broadcast, "form", "sequenced", func(n int) int { return 2 * (n - 1) }, func(int) int { return 2 }},
	// Once round the ring.
	{Ring, "form", "echo", func(n int) int { return n }, func(n int) int { return n }},
	{Ring, "form", "notes", func(n int) int { return n }, func(n int) int { return n }},
}

func TestIsolatedRequests(t *testing.T) {
	for _, f := range forms {
		for _, nodes := range []int{1, 2, 3, 8, 13} {
			want := [2]int{f.messages(nodes), f.transmissions(nodes)}
			if nodes == 1 {
				want = [2]int{}
			}
			net := conformance.Make(t, f.algorithm(), nodes, map[string]string{f.option: f.value})
			for i := range nodes {
				before := net.Transmissions()
				messages, err := net.Serve(dme.NodeID(i + 1))
				if got := [2]int{int(messages), int(net.Transmissions() - before)}; got != want || err != nil {
					t.Errorf("%s %s, N=%d: messages and transmissions %d, want %d; %v", net.Algorithm.Name, f.value, nodes, got, want, err)
				}
			}
		}
	}
}

// All ask at once, and are served in the order of their numbers. Each pair of
// nodes has one deferral: it costs another message of section 6.1 and of notes.
func TestBurst(t *testing.T) {
	const nodes, pairs = 8, 8 * 7 / 2
	for _, c := range []struct {
		algorithm *dme.Algorithm
		set       map[string]string
		want      uint64
	}{
		{Implicit(), nil, nodes*(nodes-1) + 2*pairs},
		{Ring(), map[string]string{"form": "echo"}, nodes * nodes},
		{Ring(), map[string]string{"form": "notes"}, nodes*nodes + pairs},
	} {
		net := conformance.Make(t, c.algorithm, nodes, c.set)
		for i := range nodes {
			net.Request(dme.NodeID(i + 1))
		}
		for i := dme.NodeID(1); i <= nodes; i++ {
			net.Elapse()
			net.WantInside(t, i)
			net.Release(i)
		}
		net.Elapse()
		if net.Sent() != c.want || net.Err() != nil {
			t.Errorf("%s %v: %d messages, want %d; %v", c.algorithm.Name, c.set, net.Sent(), c.want, net.Err())
		}
	}
}

// saturate lets all nodes ask again as soon as they leave, and returns what the
// counter says of an entry once that is steady.
func saturate(t *testing.T, net *conformance.Net, counter func() uint64) float64 {
	t.Helper()
	const warmUp, rounds = 2, 10
	nodes := net.Setting.Nodes
	for i := range nodes {
		net.Request(dme.NodeID(i + 1))
	}
	var before uint64
	for k := range (warmUp + rounds) * nodes {
		net.Elapse()
		in := net.Inside()
		if len(in) != 1 {
			t.Fatalf("%v are in the critical section\n%s", in, net.States())
		}
		if k == warmUp*nodes {
			before = counter()
		}
		i := in[0]
		net.Release(i)
		net.Request(i)
	}
	net.Elapse()
	if err := net.Err(); err != nil {
		t.Fatal(err)
	}
	return float64(counter()-before) / float64(rounds*nodes)
}

// The claim of at most 2(N−1) is false where everybody always asks: each
// request is deferred by all others, at two messages for a deferral.
func TestSaturationCostsThreeMessagesPerNode(t *testing.T) {
	const nodes = 8
	net := conformance.Make(t, Implicit(), nodes, nil)
	if per := saturate(t, net, net.Sent); per != 3*(nodes-1) {
		t.Errorf("%v messages per entry, want %d", per, 3*(nodes-1))
	}
	claims := slices.DeleteFunc(Implicit().Claims, func(c dme.Claim) bool { return c.KnownFalse == "" })
	if len(claims) != 1 || claims[0].Formula != "2(N−1)" || claims[0].Load != dme.AnyLoad {
		t.Errorf("the claim that this test refutes is not marked as false: %+v", claims)
	}
}

// The audience of a REPLY grows with contention: under saturation one answers
// all others, and an entry takes 2 transmissions.
func TestSaturationTakesTwoTransmissions(t *testing.T) {
	for _, form := range []string{"listed", "sequenced"} {
		net := conformance.Make(t, Broadcast(), 8, map[string]string{"form": form})
		if per := saturate(t, net, net.Transmissions); per != 2 {
			t.Errorf("%s: %v transmissions per entry, want 2", form, per)
		}
	}
}
