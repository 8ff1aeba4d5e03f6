package ricartagrawala

import (
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

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
