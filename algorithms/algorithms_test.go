package algorithms_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/testkit"
)

func TestNamesAreUnique(t *testing.T) {
	names, titles := map[string]bool{}, map[string]bool{}
	for _, a := range algorithms.All() {
		if names[a.Name] || titles[a.Title] {
			t.Errorf("%s (%s): listed twice", a.Name, a.Title)
		}
		names[a.Name], titles[a.Title] = true, true
	}
}

// A paragraph says of each how it works, what it costs and when it is good; of a
// literal text, what is wrong with it.
func TestDescriptions(t *testing.T) {
	for _, a := range algorithms.All() {
		d := a.Description
		if words := len(strings.Fields(d)); words < 20 || words > 120 || !strings.HasSuffix(d, ".") || strings.Contains(d, "  ") {
			t.Errorf("%s: %d words: %q", a.Name, words, d)
		}
		costs := strings.Contains(d, "message")
		if sound, named := strings.CutSuffix(a.Name, "-as-published"); named && !strings.Contains(d, "to the letter") {
			t.Errorf("%s is %s to the letter, and does not say so: %q", a.Name, sound, d)
		} else if !named && !costs {
			t.Errorf("%s: what does an entry cost? %q", a.Name, d)
		}
	}
}

// Each call makes new descriptions: nobody can change another's.
func TestAllReturnsFreshDescriptions(t *testing.T) {
	algorithms.All()[0].Name = "changed"
	if name := algorithms.All()[0].Name; name == "changed" {
		t.Error("a change to one list shows in the next")
	}
}

// A paper says something of its algorithm that can be judged.
func TestEveryPaperMakesClaims(t *testing.T) {
	for _, a := range algorithms.All() {
		if len(claim.Of(a)) == 0 && !a.AsPublished {
			t.Errorf("%s: no claims", a.Name)
		}
	}
}

func TestPrepare(t *testing.T) {
	for _, a := range algorithms.All() {
		for _, n := range []int{1, 2, 3, 5, 8, 13} {
			sys, err := a.New(n, 1, nil)
			if err != nil {
				t.Errorf("%s: N=%d: %v", a.Name, n, err)
				continue
			}
			checkSystem(t, a, n, sys)
		}
	}
}

// checkSystem checks what a system says of its links and request sets.
func checkSystem(t *testing.T, a *dme.Algorithm, n int, sys dme.System) {
	t.Helper()
	for id := dme.NodeID(1); int(id) <= n; id++ {
		if sys.Node(id) == nil {
			t.Errorf("%s: N=%d: no node %d", a.Name, n, id)
		}
		if a.Peers != nil {
			checkAscending(t, a, n, a.Peers(sys, id))
			for _, peer := range a.Peers(sys, id) {
				if peer == id {
					t.Errorf("%s: N=%d: node %d is a peer of its own", a.Name, n, id)
				}
			}
		}
		if a.RequestSet != nil {
			checkAscending(t, a, n, a.RequestSet(sys, id))
		}
	}
}

func checkAscending(t *testing.T, a *dme.Algorithm, n int, ids []dme.NodeID) {
	t.Helper()
	for i, id := range ids {
		if id < 1 || int(id) > n || i > 0 && ids[i-1] >= id {
			t.Errorf("%s: N=%d: %v is not a set of nodes in ascending order", a.Name, n, ids)
			return
		}
	}
}

// What is drawn at random depends on the run's seed, and on nothing else that differs
// from one run to the next.
func TestSeedsDecide(t *testing.T) {
	for _, x := range []struct {
		algorithm, option, value string
		nodes                    int
	}{
		{"ricart-agrawala-priority", "most", "1000", 5}, {"agrawal-el-abbadi", "path", "random", 31},
		{"helary-plouzeau-raynal", "graph", "random", 20}, {"maekawa", "labelling", "shuffled", 13},
	} {
		all := algorithms.All()
		a := all[slices.IndexFunc(all, func(a *dme.Algorithm) bool { return a.Name == x.algorithm })]
		first := begin(t, a, x.nodes, 1, map[string]string{x.option: x.value})
		if again := begin(t, a, x.nodes, 1, map[string]string{x.option: x.value}); again != first {
			t.Errorf("%s, %s=%s: one seed, and two systems:\n%s\n%s", a.Name, x.option, x.value, first, again)
		}
		if other := begin(t, a, x.nodes, 2, map[string]string{x.option: x.value}); other == first {
			t.Errorf("%s, %s=%s: two seeds, and one system", a.Name, x.option, x.value)
		}
	}
}

// begin tells what the nodes of a system send when they ask, each as if it were alone.
func begin(t *testing.T, a *dme.Algorithm, nodes int, seed uint64, set map[string]string) (seen string) {
	t.Helper()
	sys, err := a.New(nodes, seed, set)
	if err != nil {
		t.Fatal(err)
	}
	for id := dme.NodeID(1); int(id) <= nodes; id++ {
		var out dme.Outbox
		sys.Node(id).Request(&out)
		for _, e := range out.Effects() {
			seen += fmt.Sprint(id, " ", e.Kind, " ", e.To, " ", e.Msg.Kind, " ", e.Msg.Clock, "\n")
		}
	}
	return seen
}

// numbered are algorithms whose requests carry numbers that are no clocks: those of each
// node's own requests, or of a range that is used again.
var numbered = []string{"ricart-agrawala-token", "suzuki-kasami", "ricart-agrawala-bounded"}

// Lamport's rules for clocks, IR1 and IR2: the time stamp of a request is larger than that
// of every message which its node has received, of whatever kind. Mutual exclusion and
// the end of every wait survive a node that overlooks the clocks of REPLYs, so no search
// for their violation tells.
func TestStampsFollowWhatWasReceived(t *testing.T) {
	const nodes = 4
	stamped := 0
	for _, a := range algorithms.All() {
		opt, err := a.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.CheckNodes(nodes, opt) != nil || a.AsPublished || slices.Contains(numbered, a.Name) {
			continue
		}
		seen := 0
		for seed := range uint64(20) {
			var latest [nodes + 1]uint64 // what each node has received
			w := conformance.Walk{Algorithm: a, Nodes: nodes, Requests: conformance.Each(4), Load: vnet.Churn, Seed: seed}
			w.Look = func(_ *conformance.Net, e *vnet.Event) error {
				for _, x := range e.Effects {
					if e.Kind == dme.Request && x.Kind != dme.Enter && x.Msg.Clock > 0 && a.KindName(x.Msg.Kind) == "REQUEST" {
						if seen++; x.Msg.Clock <= latest[e.Node] {
							return fmt.Errorf("node %d asks with clock %d, and has received %d", e.Node, x.Msg.Clock, latest[e.Node])
						}
					}
				}
				latest[e.Node] = max(latest[e.Node], e.Msg.Clock)
				for _, x := range e.Effects {
					if x.Kind == dme.Send || x.Kind == dme.Broadcast {
						latest[e.Node] = max(latest[e.Node], x.Msg.Clock)
					}
				}
				return nil
			}
			if _, err := w.Run(); err != nil {
				t.Errorf("%s, seed %d: %v", a.Name, seed, err)
				break
			}
		}
		if seen > 0 {
			stamped++
		}
	}
	if stamped < 8 {
		t.Errorf("%d algorithms have stamps", stamped)
	}
}

// calculating are algorithms that share the variables of one with clocks, and do more with
// them than compare: they count modulo a number, or from a priority.
var calculating = []string{"ricart-agrawala-bounded", "ricart-agrawala-bounded-as-published", "ricart-agrawala-priority"}

// An algorithm whose nodes show clocks says where messages carry them: else no search of
// what it does for ever comes to an end.
func TestWhoHasClocks(t *testing.T) {
	have := 0
	for _, a := range algorithms.All() {
		opt, err := a.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		nodes := 4
		if a.CheckNodes(nodes, opt) != nil {
			nodes = 3
		}
		shown := false
		w := conformance.Walk{Algorithm: a, Nodes: nodes, Requests: conformance.Each(2), Load: vnet.Saturation, Most: 60}
		w.Look = func(n *conformance.Net, _ *vnet.Event) error {
			for id := dme.NodeID(1); int(id) <= nodes; id++ {
				dme.VisitClocks(n.Host(id).Node(), func(dme.ClockVariable) { shown = true })
			}
			return nil
		}
		if _, err := w.Run(); err != nil && !a.AsPublished {
			t.Fatal(err)
		}
		if shown && (a.Clocks == nil) != slices.Contains(calculating, a.Name) {
			t.Errorf("%s shows clocks; it says where messages carry them: %v", a.Name, a.Clocks != nil)
		}
		if shown {
			have++
		}
	}
	if have < 8 {
		t.Errorf("only %d algorithms show clocks", have)
	}
}

// lingering picks anything but that a node leaves, as long as it can: then those
// who wait have asked everybody, and wait for who is inside.
type lingering struct{ *rand.Rand }

func (c lingering) Pick(_ *vnet.Network, steps []vnet.Step) int {
	var others []int
	for i, x := range steps {
		if x.Kind != dme.Exit {
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
	seeds := uint64(2)
	if testkit.Long() {
		seeds = 8
	}
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
			for seed := range seeds {
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
	for _, a := range algorithms.All() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			seen, chains := 0, 0
			everywhere(t, a, func(n *vnet.Network) error {
				seen++
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
			if seen == 0 {
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

// Where a system says who all depend on, that node exists and has the token, if
// there is one.
func TestRoots(t *testing.T) {
	seen := 0
	for _, a := range algorithms.All() {
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
		seen++
		if root < 1 || root > 7 {
			t.Errorf("%s: root %d", a.Name, root)
		}
		if n := vnet.New(m); a.Class == dme.Token && holder(n) != root {
			t.Errorf("%s: the root is node %d, and the token is at node %d", a.Name, root, holder(n))
		}
	}
	if seen < 4 {
		t.Errorf("only %d algorithms tell their roots", seen)
	}
}
