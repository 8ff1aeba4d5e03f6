package conformance

import (
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

// WantInside ends the test unless exactly these nodes are in the critical
// section, in the order in which they have entered.
func (n *Net) WantInside(t testing.TB, want ...dme.NodeID) {
	t.Helper()
	if !slices.Equal(n.Inside(), want) {
		t.Fatalf("%v are in the critical section, want %v; %v\n%s", n.Inside(), want, n.Err(), n.States())
	}
}

// TestRefusals delivers each series of messages from one node to another, of a
// network that start makes anew. The last one must be refused, and no other.
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
