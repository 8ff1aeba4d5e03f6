package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
)

// Make is [New] for a test, which ends if there is no such system.
func Make(t testing.TB, a *dme.Algorithm, nodes int, set map[string]string) *Net {
	t.Helper()
	net, err := New(a, nodes, set)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// TestZeroOrN fails the test unless a node of a that asks alone enters without a message if it has
// entered last – at the beginning, if it is node 1 – and otherwise for N messages.
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
	for name, messages := range series {
		if err := start().Refuses(from, to, messages); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Refuses has a node receive messages of another, and returns an error unless the last
// one is refused, and no other, and leaves all nodes as they were.
func (n *Net) Refuses(from, to dme.NodeID, messages []dme.Message) error {
	for i, m := range messages {
		before, sent, refused, last := n.States(), n.Sent(), n.Refused(), i == len(messages)-1
		n.Host(to).Receive(from, &m)
		switch isRefused := n.Refused() > refused; {
		case isRefused != last:
			return fmt.Errorf("message %d is refused: %v", i+1, isRefused)
		case last && (n.States() != before || n.Sent() != sent):
			return fmt.Errorf("the message is refused, and changes\n%sto\n%s", before, n.States())
		}
	}
	return nil
}
