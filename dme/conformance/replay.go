package conformance

import (
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
)

// Make is [New] for a test, which ends where there is no such system.
func Make(t testing.TB, a *dme.Algorithm, nodes int, set map[string]string) *Net {
	t.Helper()
	net, err := New(a, nodes, set)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// TestZeroOrN fails the test unless a node of a that asks alone enters without a
// message where it has entered last – at the beginning, where it is node 1 – and
// otherwise for N messages.
func TestZeroOrN(t *testing.T, a *dme.Algorithm, sizes ...int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1983, 2))
	for _, n := range sizes {
		net := Make(t, a, n, nil)
		holder := dme.NodeID(1)
		for range 100 {
			id := dme.NodeID(1 + rng.IntN(n))
			want := uint64(n)
			if id == holder {
				want = 0
			}
			got, err := net.Serve(id)
			if err != nil || got != want {
				t.Fatalf("N=%d: node %d, token at %d: %d messages, %v; want %d", n, id, holder, got, err, want)
			}
			holder = id
		}
	}
}

// TestHandOverAllocatesNothing lets two nodes hand a token to and fro: node 1,
// which has it at first, and node 2.
func TestHandOverAllocatesNothing(t *testing.T, one, two dme.Node) {
	t.Helper()
	var out dme.Outbox
	// first returns the first effect of the last event.
	first := func(kind ...dme.EventKind) dme.Effect {
		e := out.Effects()[0]
		out.Reset()
		if !slices.Contains(kind, e.Kind) {
			t.Fatalf("an effect of kind %d, %q", e.Kind, e.Reason)
		}
		return e
	}
	enter := func(id dme.NodeID, n dme.Node, holder dme.NodeID, h dme.Node) {
		n.Request(&out)
		h.Receive(id, first(dme.Send, dme.Broadcast).Msg, &out)
		n.Receive(holder, first(dme.Send).Msg, &out)
		first(dme.Enter)
		n.Release(&out)
		out.Reset()
	}
	toAndFro := func() {
		enter(2, two, 1, one)
		enter(1, one, 2, two)
	}
	toAndFro()
	if got := testing.AllocsPerRun(100, toAndFro); got != 0 {
		t.Errorf("%v allocations for two entries", got)
	}
}

// WantInside ends the test unless exactly these nodes are in the critical
// section, in the order in which they have entered.
func (n *Net) WantInside(t testing.TB, want ...dme.NodeID) {
	t.Helper()
	if !slices.Equal(n.Inside(), want) {
		t.Fatalf("%v are in the critical section, want %v; %v\n%s", n.Inside(), want, n.Err(), n.States())
	}
}

// TestRefusals delivers each series of messages from one node to another, of a
// network that start makes again. The last one must be refused, and no other, and
// leave all nodes as they were.
func TestRefusals(t *testing.T, from, to dme.NodeID, start func() *Net, series map[string][]dme.Message) {
	t.Helper()
	for name, msgs := range series {
		net := start()
		for i, m := range msgs {
			before, sent, last := net.States(), net.Sent(), i == len(msgs)-1
			net.Host(to).Receive(from, &m)
			switch {
			case (net.Refused() == 1) != last:
				t.Errorf("%s: %d refused after message %d", name, net.Refused(), i+1)
			case last && (net.States() != before || net.Sent() != sent):
				t.Errorf("%s is refused, and changes\n%sto\n%s", name, before, net.States())
			}
		}
	}
}
