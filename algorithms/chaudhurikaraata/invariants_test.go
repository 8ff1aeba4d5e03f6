package chaudhurikaraata

import (
	"fmt"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// snapshot is a state of the whole system, as the invariants see it.
type snapshot struct {
	sys    *system
	nodes  []*node // by node, from 1
	inside []dme.NodeID
	onWay  []dme.Message // all messages that are in flight
}

// check returns the first invariant that does not hold.
func (s *snapshot) check() error {
	all := repairedInvariants()
	if s.sys.repair == asPrinted {
		all = invariants()
	}
	for _, i := range all {
		if err := i.Holds(s); err != nil {
			return fmt.Errorf("%s: %w", i.Name, err)
		}
	}
	if len(s.inside) > 1 {
		return fmt.Errorf("nodes %v are in their critical sections", s.inside)
	}
	return nil
}

// What follows is a state as invariants see it.

func (s *snapshot) Setting() dme.Setting                          { return dme.Setting{Nodes: s.sys.nodes, System: s.sys} }
func (s *snapshot) Node(id dme.NodeID) dme.Node                   { return s.nodes[id] }
func (s *snapshot) Reads(dme.NodeID) bool                         { return false }
func (s *snapshot) Between(dme.NodeID, dme.NodeID) []*dme.Message { panic("no invariant asks") }

func (s *snapshot) Activity(id dme.NodeID) dme.Activity {
	if slices.Contains(s.inside, id) {
		return dme.Inside
	}
	return dme.Idle
}

func (s *snapshot) InFlight() (all []dme.Flight) {
	for i := range s.onWay {
		all = append(all, dme.Flight{Message: &s.onWay[i]})
	}
	return all
}

// Fig. 3: the transitions of a token. Every change of colour goes through turn.
func TestFigure3(t *testing.T) {
	legal := map[[2]colour]bool{{red, green}: true, {green, yellow}: true, {yellow, green}: true, {green, red}: true}
	for from := red; from <= yellow; from++ {
		for to := red; to <= yellow; to++ {
			tk := newToken(newSystem([]int{1, 1, 1}, 1, numbered).Node(1).(*node))
			tk.colour = from
			refused := func() (fault any) {
				defer func() { fault = recover() }()
				tk.turn(to)
				return nil
			}()
			if (refused == nil) != legal[[2]colour{from, to}] {
				t.Errorf("%v to %v: %v", from, to, refused)
			}
		}
	}
}

// The invariants can be broken: each of these states breaks one.
func TestInvariantsAreNotVacuous(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
	corner := func(n *conformance.Net, id dme.NodeID) *repairedCorner { return at(n, id).corner.(*repairedCorner) }
	var breaches []conformance.Breach
	breach := func(invariant, says string, fault func(n *conformance.Net)) {
		breaches = append(breaches, conformance.Breach{
			Invariant: invariant, Nodes: 8, Set: map[string]string{optMesh: "2x2x2"}, Fault: fault, Says: says,
		})
	}
	breach("I1", "2 planes are privileged, those of nodes [1 5]", func(n *conformance.Net) { tokenOf(at(n, 5)).colour = green })
	breach("I2", "the tokens of nodes [1] are GREEN and those of nodes [5] YELLOW", func(n *conformance.Net) {
		tokenOf(at(n, 5)).colour = yellow
	})
	breach("one privilege", "0 planes are privileged, and 0 PERMITs", func(n *conformance.Net) { tokenOf(at(n, 1)).colour = red })
	breach("one privilege", "1 planes are privileged, and 1 PERMITs", func(n *conformance.Net) {
		n.Request(5)
		n.Deliver(5, 1, 0)
		tokenOf(at(n, 5)).colour = green
	})
	breach("A1", "node 1 is in its critical section; the token of its plane is GREEN, for node 0", func(n *conformance.Net) {
		n.Request(1)
		tokenOf(at(n, 1)).release()
	})
	breach("A1", "node 7 is idle, and its mutex true", func(n *conformance.Net) { at(n, 7).mutex = true })
	breach("queues of corners", "(CR4)", func(n *conformance.Net) { corner(n, 5).own = []dme.NodeID{7} })
	breach("queues of corners", "(CR2)", func(n *conformance.Net) { corner(n, 1).asked = true })
	breach("queues of corners", "rests", func(n *conformance.Net) { corner(n, 1).own = []dme.NodeID{2} })
	breach("queues of corners", "OWN is", func(n *conformance.Net) {
		c := corner(n, 5)
		c.asked, c.own = true, []dme.NodeID{2}
	})
	breach("queues of corners", "PL is", func(n *conformance.Net) { corner(n, 5).pl = []planeRequest{{corner: 2}} })
	conformance.TestInvariants(t, Algorithm(), breaches...)
}
