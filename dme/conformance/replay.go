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

// WantStates fails the test where the state of one of these nodes is described in
// another way, by [dme.DescribeState].
func (n *Net) WantStates(t testing.TB, want map[dme.NodeID]string) {
	t.Helper()
	for id, w := range want {
		if got := dme.DescribeState(n.Host(id).Node()); got != w {
			t.Errorf("node %d\ngot  %s\nwant %s", id, got, w)
		}
	}
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
	first := func(kind ...dme.EffectKind) dme.Effect {
		e := out.Effects()[0]
		out.Reset()
		if !slices.Contains(kind, e.Kind) {
			t.Fatalf("an effect of kind %d, %q", e.Kind, e.Reason)
		}
		return e
	}
	enter := func(id dme.NodeID, n dme.Node, holder dme.NodeID, h dme.Node) {
		n.Request(&out)
		h.Receive(id, first(dme.EffectSend, dme.EffectBroadcast).Msg, &out)
		n.Receive(holder, first(dme.EffectSend).Msg, &out)
		first(dme.EffectEnter)
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
// network that start makes again. The last one must be refused, and no other.
func TestRefusals(t *testing.T, from, to dme.NodeID, start func() *Net, series map[string][]dme.Message) {
	t.Helper()
	for name, msgs := range series {
		net := start()
		for i, m := range msgs {
			net.Host(to).Receive(from, &m)
			want := uint64(0)
			if i == len(msgs)-1 {
				want = 1
			}
			if net.Refused() != want {
				t.Errorf("%s: %d refused after message %d", name, net.Refused(), i+1)
			}
		}
	}
}

// Refusing returns what hands a message, which no node can get as things are, to
// one of a network that start makes again: it must be refused, and leave all nodes
// as they were.
func Refusing(t *testing.T, start func() *Net) func(what string, from, to dme.NodeID, m dme.Message) {
	return func(what string, from, to dme.NodeID, m dme.Message) {
		t.Helper()
		net := start()
		before, sent := net.States(), net.Sent()
		net.Host(to).Receive(from, &m)
		switch {
		case net.Refused() != 1:
			t.Errorf("%s: %d refusals", what, net.Refused())
		case net.States() != before || net.Sent() != sent:
			t.Errorf("%s is refused, and changes\n%sto\n%s", what, before, net.States())
		}
	}
}

// TestOutdatedRequest fails the test where a REQUEST that arrives after it has been
// served attracts the token, which is at node 1 at first.
func TestOutdatedRequest(t *testing.T, a *dme.Algorithm) {
	t.Helper()
	net := Make(t, a, 3, nil)
	net.Request(2)
	net.Deliver(2, 1, 0) // the token goes to node 2; the REQUEST to node 3 waits
	net.Deliver(1, 2, 0)
	net.Release(2)
	net.Request(3)
	net.Deliver(3, 2, 0)
	net.Deliver(2, 3, 1) // the token overtakes the REQUEST
	net.Release(3)
	net.Deliver(2, 3, 0) // the REQUEST
	if m := net.InFlight(3, 2); len(m) != 0 {
		t.Fatalf("node 3 sends %+v to a node that does not wait", m)
	}
	if !net.Algorithm.HasToken(net.Host(3).Node()) || net.Refused() != 0 {
		t.Error("the token does not rest at node 3")
	}
}
