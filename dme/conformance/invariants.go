package conformance

import (
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
)

// watchEvery returns after how many steps of a system of so many nodes invariants
// are looked at: after each where there are few nodes. Many of them are about each
// pair of nodes, and on more nodes would take longer than all else.
func watchEvery(nodes int) int {
	if nodes <= 3 {
		return 1
	}
	return nodes
}

// Breach is a fault that one of an algorithm's invariants is to notice.
type Breach struct {
	Invariant string // its name
	Nodes     int
	Set       map[string]string // options that differ from their defaults

	// Fault brings a new system into a state in which the invariant does not hold:
	// by the methods of the Net, and then by changing a node, which [Host.Made]
	// returns.
	Fault func(n *Net)

	Says string // what the invariant says of it, in part
}

// TestInvariants fails the test unless each of these faults is noticed by its
// invariant, which held in the new system, and unless each invariant of the
// algorithm notices at least one: an invariant that cannot be broken says nothing.
func TestInvariants(t *testing.T, a *dme.Algorithm, breaches ...Breach) {
	t.Helper()
	noticed := make(map[string]bool)
	for _, b := range breaches {
		at := slices.IndexFunc(a.Invariants, func(i dme.Invariant) bool { return i.Name == b.Invariant })
		if at < 0 {
			t.Errorf("%s has no invariant %q", a.Name, b.Invariant)
			continue
		}
		alone := *a
		alone.Invariants = a.Invariants[at : at+1]
		net := Make(t, &alone, b.Nodes, b.Set)
		if v := net.Broken(); v != nil {
			t.Errorf("%s: broken from the beginning: %s", b.Invariant, v)
			continue
		}
		b.Fault(net)
		switch v := net.Broken(); {
		case v == nil:
			t.Errorf("%s does not notice: %q", b.Invariant, b.Says)
		case !strings.Contains(v.Verdict, b.Says):
			t.Errorf("%s\nwant %q", v.Verdict, b.Says)
		default:
			t.Log(v.Verdict)
			noticed[b.Invariant] = true
		}
	}
	for _, i := range a.Invariants {
		if !noticed[i.Name] {
			t.Errorf("%s: no fault breaks the invariant %q", a.Name, i.Name)
		}
	}
}

// Made returns the node as the algorithm made it, for a test that changes it by
// hand.
func (h Host) Made() dme.Node {
	if w, ok := h.Node().(*reloaded); ok {
		return w.Unwrap()
	}
	return h.Node()
}
