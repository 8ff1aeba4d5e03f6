package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/runtime/noderun"
)

// lingering picks anything but that a node leaves, as long as it can: then those
// who wait have asked everybody, and wait for who is inside.
type lingering struct{ *rand.Rand }

func (c lingering) Pick(_ *vnet.Network, steps []vnet.Step) int {
	var others []int
	for i, x := range steps {
		if x.Kind != vnet.Exit {
			others = append(others, i)
		}
	}
	if others == nil {
		return c.IntN(len(steps))
	}
	return others[c.IntN(len(others))]
}

// everywhere looks at every state of schedules of a in each of its settings, over
// links that give what it needs.
func everywhere(t *testing.T, a *dme.Algorithm, look func(*vnet.Network) error) {
	for _, set := range conformance.Settings(a) {
		opt, err := a.Resolve(set)
		if err != nil {
			t.Fatal(err)
		}
		needs := a.Needs(opt)
		for _, nodes := range []int{1, 2, 3, 7, 8} {
			if a.CheckNodes(nodes, opt) != nil {
				continue
			}
			for seed := range uint64(8) {
				m, err := vnet.NewModel(vnet.Config{
					Algorithm: a, Nodes: nodes, Options: opt, Seed: seed, StopEarly: true, Recover: true,
					Unordered: !needs.FIFO, Bounded: needs.BoundedDelay, Sequenced: needs.SequencedBroadcast,
					Requests: func(dme.NodeID) int { return 2 },
				})
				if err != nil {
					t.Fatal(err)
				}
				n := vnet.New(m)
				rng := rand.New(rand.NewPCG(seed, 99))
				s := &vnet.Schedule{Network: n, Rand: rng, Load: vnet.Load(seed % uint64(vnet.Loads)), Readers: 0.5, Choose: vnet.Chance{Rand: rng}}
				if seed%2 == 0 {
					s.Choose = lingering{rng}
				}
				s.Begin()
				for x, ok := s.Next(); ok && n.Violation == nil && n.Steps < 2000; x, ok = s.Next() {
					n.Take(x)
					if n.Violation != nil {
						break
					}
					if err := look(n); err != nil {
						t.Fatalf("%v, N=%d, seed %d, after %v: %v\n%s", set, nodes, seed, x, err, strings.Join(n.States(), "\n"))
					}
				}
			}
		}
	}
}

// What nodes wait for is told in order, of other nodes, and where nothing moves
// but that somebody leaves, everybody waits for who is inside, in the end. At rest nobody
// waits, and who is inside does not wait for what all others wait for.
func TestWaits(t *testing.T) {
	for _, a := range catalog.All() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			told, chains := 0, 0
			everywhere(t, a, func(n *vnet.Network) error {
				told++
				for id := range n.IDs() {
					if err := wellFormed(n, id); err != nil {
						return err
					}
				}
				if a.AsPublished || n.Busy() || len(n.Inside()) == 0 {
					return nil
				}
				for _, id := range n.Waiting() {
					if len(n.Timers()) > 0 && len(waitsOf(n, id)) == 0 {
						continue // it waits for time to pass
					}
					if !leadsInside(n, id) {
						return fmt.Errorf("node %d waits for %v, and that does not lead to %v", id, waitsOf(n, id), n.Inside())
					}
					chains++
				}
				return nil
			})
			if told == 0 {
				t.Fatal("it does not tell what it waits for")
			}
			if chains == 0 && !a.AsPublished {
				t.Error("nobody ever waited for who is inside")
			}
		})
	}
}

func waitsOf(n *vnet.Network, id dme.NodeID) []dme.Wait {
	return n.Algorithm.Waits(n.Node(id))
}

func wellFormed(n *vnet.Network, id dme.NodeID) error {
	waits := waitsOf(n, id)
	for i, w := range waits {
		switch {
		case int(w.For) > n.Nodes || w.For == id && !n.Algorithm.AsPublished || w.What == "":
			return fmt.Errorf("node %d waits for %v", id, waits)
		case i > 0 && w.For < waits[i-1].For:
			return fmt.Errorf("node %d waits for %v, out of order", id, waits)
		case w.For == dme.None && n.Activity(id) == noderun.Inside:
			return fmt.Errorf("node %d is inside, and waits for %v", id, waits)
		}
	}
	moving := n.Busy() || len(n.Timers()) > 0
	if n.Activity(id) == noderun.Requesting && len(waits) == 0 && !moving {
		return fmt.Errorf("node %d waits, nothing is on its way, and it does not say for what", id)
	}
	if !moving && len(n.Waiting())+len(n.Inside()) == 0 && len(waits) > 0 && !n.Endless && !n.Algorithm.AsPublished {
		return fmt.Errorf("everything is at rest, and node %d waits for %v", id, waits)
	}
	return nil
}

// leadsInside reports whether somebody is inside whom a node waits for, directly
// or through others.
func leadsInside(n *vnet.Network, id dme.NodeID) bool {
	seen := map[dme.NodeID]bool{id: true}
	for queue := []dme.NodeID{id}; len(queue) > 0; queue = queue[1:] {
		if n.Activity(queue[0]) == noderun.Inside {
			return true
		}
		for _, w := range waitsOf(n, queue[0]) {
			next := w.For
			if next == dme.None {
				if n.Algorithm.Class != dme.Token {
					return true // whoever is inside may have it
				}
				next = holder(n)
			}
			if next != dme.None && !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return false
}

// holder returns the node that has the token, None where none has.
func holder(n *vnet.Network) dme.NodeID {
	for id := range n.IDs() {
		if n.Algorithm.HasToken(n.Node(id)) {
			return id
		}
	}
	return dme.None
}

// tokens are the names of the messages that carry a token.
var tokens = []string{"TOKEN", "PRIVILEGE", "PERMIT"}

// One node has the token, or a message.
func TestOneToken(t *testing.T) {
	for _, a := range catalog.All() {
		if a.Class != dme.Token {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			passed := false
			everywhere(t, a, func(n *vnet.Network) error {
				holders, carried := 0, false
				for id := range n.IDs() {
					if a.HasToken(n.Node(id)) {
						holders++
					}
				}
				for _, m := range n.InFlight() {
					carried = carried || slices.Contains(tokens, a.KindName(m.Kind))
				}
				passed = passed || holders == 0
				if holders > 1 || holders == 0 && !carried {
					return fmt.Errorf("%d nodes have the token; a message has it: %v", holders, carried)
				}
				return nil
			})
			if !passed {
				t.Error("the token was never on its way")
			}
		})
	}
}

// Where a system says who all depend on, that node exists and has the token, if
// there is one.
func TestRoots(t *testing.T) {
	told := 0
	for _, a := range catalog.All() {
		opt, err := a.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := vnet.NewModel(vnet.Config{Algorithm: a, Nodes: 7, Options: opt})
		if err != nil {
			t.Fatal(err)
		}
		root := a.Root
		if root == dme.None {
			continue
		}
		told++
		if root < 1 || root > 7 {
			t.Errorf("%s: root %d", a.Name, root)
		}
		if n := vnet.New(m); a.Class == dme.Token && holder(n) != root {
			t.Errorf("%s: the root is node %d, and the token is at node %d", a.Name, root, holder(n))
		}
	}
	if told < 4 {
		t.Errorf("only %d algorithms tell their roots", told)
	}
}
