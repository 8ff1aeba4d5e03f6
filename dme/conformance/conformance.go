// Package conformance is the test that every algorithm passes, the built-in ones and those of other
// modules:
//
//	func TestConformance(t *testing.T) { conformance.Test(t, my.Algorithm()) }
//
// [Test] checks the description, then runs thousands of random schedules on small systems: bursts,
// random arrivals and saturation, on links that give what the algorithm says that it needs, and no
// more: they reorder unless it needs order, every node receives the broadcasts of all in an order
// of its own unless it needs them sequenced, and timers fire at any time unless it needs bounded
// delay; then they fire after what was on the way has arrived. In each it checks mutual exclusion,
// that every request is served and everything comes to rest, that no message is refused, that the
// saved state of a node is all of its state, that messages survive the wire, and the claims that
// are made for every run. If all nodes ask again and again and no step is favoured, none may
// starve; how even it was is logged ([Turns]). Nodes are looked at for doing more with their clocks
// than the algorithm says ([dme.Algorithm.Clocks]). A second series throws garbage at the nodes. If
// the algorithm says that it survives crashes, or its nodes can restart, join or leave, a third one
// lets them do so at any moment.
//
// A schedule is a function of its seed, which a failure prints. Random search finds most faults and
// proves nothing; exhaustive search is another package's work. Delays have no length here: claims
// about time are not judged.
//
// [Net] is the network behind it, for tests that replay a given schedule.
package conformance

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/vnet"
)

// sizes are the numbers of nodes that schedules run on. Seven and thirteen are
// those of projective planes; others are those of none.
var sizes = []int{1, 2, 3, 5, 8, 13}

// Test fails t unless a conforms. An algorithm that is known to be wrong, as it was published, must
// be found out instead. If claims are made for links that keep order, and the algorithm does not
// need them to, it is tested on such links as well.
func Test(t *testing.T, a *dme.Algorithm) { Sample(t, a, 1, math.MaxInt) }

// Sample is [Test] with one in that many schedules, on at most that many settings, for a first
// impression.
func Sample(t *testing.T, a *dme.Algorithm, of, most int) {
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	settings := Settings(a)
	if len(settings) > most {
		some := []map[string]string{settings[0]}
		for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(len(settings) - 1)[:most-1] {
			some = append(some, settings[i+1])
		}
		settings = some
	}
	if a.AsPublished {
		testFindsFault(t, a, settings)
		return
	}
	for i, set := range settings {
		t.Run(name(set), func(t *testing.T) {
			if i%of == 0 {
				testManyTurns(t, a, set)
			}
			testSetting(t, a, set, len(settings), of)
		})
	}
	if slices.ContainsFunc(claim.Of(a), func(c claim.Claim) bool { return c.FIFO }) {
		t.Run("links that keep order", func(t *testing.T) { testSetting(t, onLinks(a, true), nil, len(settings), of) })
	}
}

func testSetting(t *testing.T, a *dme.Algorithm, set map[string]string, settings, of int) {
	for _, n := range sizes {
		opt, err := a.Resolve(set)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.CheckNodes(n, opt); err != nil {
			t.Logf("N=%d: %v", n, err)
			continue
		}
		count := max(2, schedules(n, settings)/uint64(of))
		if err := series(a, n, set, count); err != nil {
			t.Fatal(err)
		}
		if err := checkClocks(a, n, set, 1); err != nil {
			t.Fatal(err)
		}
		if 1 < n && n <= mostTurns {
			logTurns(t, a, n, set)
		}
		if err := SearchFaults(a, n, set, count); err != nil {
			t.Fatal(err)
		}
	}
}

// testManyTurns lets more nodes take turns if each talks to some others only: which are served may
// depend on a node's place among these, and few nodes have few places.
func testManyTurns(t *testing.T, a *dme.Algorithm, set map[string]string) {
	opt, err := a.Resolve(set)
	if err != nil {
		t.Fatal(err)
	}
	if a.CheckNodes(manyTurns, opt) != nil {
		return
	}
	system, err := a.Prepare(dme.Config{Nodes: manyTurns, Options: opt, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if a.Peers != nil && a.Peers(system, 1) != nil {
		logTurns(t, a, manyTurns, set)
	}
}

// onLinks returns the algorithm as one that needs links to keep order, or as one
// that does not.
func onLinks(a *dme.Algorithm, ordered bool) *dme.Algorithm {
	other := *a
	other.Needs = func(opt dme.Options) dme.Needs {
		needs := a.Needs(opt)
		needs.FIFO = ordered
		return needs
	}
	return &other
}

// testFindsFault fails t unless the search finds a fault in one setting.
func testFindsFault(t *testing.T, a *dme.Algorithm, settings []map[string]string) {
	for _, set := range settings {
		opt, err := a.Resolve(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range sizes {
			if a.CheckNodes(n, opt) != nil {
				continue
			}
			if err := checkClocks(a, n, set, 1); err != nil {
				t.Error(err)
			}
			for seed := range uint64(10) {
				if err := runGarbage(a, n, set, seed); err != nil {
					t.Errorf("%s: garbage: %v", a.Name, err)
				}
			}
			if err := Search(a, n, set, schedules(n, len(settings))); err != nil {
				fault, _, _ := strings.Cut(err.Error(), "\n")
				t.Logf("found out: %s", fault)
				return
			}
		}
	}
	t.Errorf("%s is said to be wrong, and no schedule shows it", a.Name)
}

// schedules returns how many schedules of each load a cell gets: small systems
// have the fewest schedules to miss, and cost least.
func schedules(nodes, settings int) uint64 {
	return uint64(max(8, 2500/(nodes+2)/(settings+1)))
}

func series(a *dme.Algorithm, nodes int, set map[string]string, count uint64) error {
	for seed := range count {
		if err := runLoads(a, nodes, set, seed); err != nil {
			return err
		}
		if err := runGarbage(a, nodes, set, seed); err != nil {
			return fmt.Errorf("%s: garbage: %w", a.Name, err)
		}
	}
	return nil
}

// Search runs count schedules under each load, and returns the first fault that
// it finds: what [Test] would report of that many nodes and those options. It
// is for algorithms in which there ought to be one.
func Search(a *dme.Algorithm, nodes int, set map[string]string, count uint64) error {
	for seed := range count {
		if err := runLoads(a, nodes, set, seed); err != nil {
			return err
		}
	}
	return nil
}

func runLoads(a *dme.Algorithm, nodes int, set map[string]string, seed uint64) error {
	for _, load := range []vnet.Load{vnet.Bursts, vnet.Churn, vnet.Saturation} {
		if err := runSchedule(a, nodes, set, load, seed); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	return nil
}

// Settings returns every combination of the [dme.Option.Examples] of a's options.
func Settings(a *dme.Algorithm) []map[string]string {
	all := []map[string]string{{}}
	for _, o := range a.Options {
		values := o.Examples()
		if len(values) == 0 {
			continue // such as a list of numbers: its default will do
		}
		var product []map[string]string
		for _, set := range all {
			for _, v := range values {
				more := maps.Clone(set)
				more[o.Name] = v
				product = append(product, more)
			}
		}
		all = product
	}
	return all
}

func name(set map[string]string) string {
	return cmp.Or(strings.Join(dme.Assigned(set), ","), "default")
}

// checkClocks looks for a state in which a node behaves differently if clocks are lower in the same
// order, or if a variable whose value should not matter is 0: see [vnet.CompareClocks].
func checkClocks(a *dme.Algorithm, nodes int, set map[string]string, seed uint64) error {
	if a.Clocks == nil {
		return nil
	}
	opt, err := a.Resolve(set)
	if err != nil {
		return err
	}
	needs := a.Needs(opt)
	model, err := vnet.NewModel(vnet.Config{
		Algorithm: a, Nodes: nodes, Options: opt, Seed: seed, Recover: true,
		Unordered: !needs.FIFO && !needs.SequencedBroadcast, Bounded: needs.BoundedDelay, Sequenced: needs.SequencedBroadcast,
	})
	if err != nil {
		return err
	}
	return vnet.CompareClocks(model, 1, 0)
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
func (h Host) Made() dme.Node { return dme.Unwrap(h.Node()) }

// reloader decides when a node is replaced by one that was made again and
// loaded with the state of the old one.
type reloader struct {
	now   func() bool
	fault func(format string, args ...any)
}

// reloading is a System whose nodes live in their saved states.
type reloading struct {
	dme.System
	r *reloader
}

func (s reloading) Node(id dme.NodeID) dme.Node {
	return &reloaded{sys: s.System, id: id, node: s.System.Node(id), r: s.r}
}

type reloaded struct {
	sys  dme.System
	id   dme.NodeID
	node dme.Node
	r    *reloader
}

// current returns the node, perhaps a copy of it.
func (n *reloaded) current() dme.Node {
	if !n.r.now() {
		return n.node
	}
	saved := dme.SaveState(nil, n.node)
	twin := n.sys.Node(n.id)
	rest, err := dme.LoadState(saved, twin)
	switch {
	case err != nil:
		n.r.fault("node %d: saved state: %v", n.id, err)
	case len(rest) != 0:
		n.r.fault("node %d: %d bytes of the saved state are not loaded", n.id, len(rest))
	case !bytes.Equal(saved, dme.SaveState(nil, twin)):
		n.r.fault("node %d: loaded and saved again, %s is not %s", n.id,
			dme.DescribeState(twin), dme.DescribeState(n.node))
	case n.r.now() && dme.DescribeState(n.node) != dme.DescribeState(twin):
		n.r.fault("node %d: %s prints as %s after loading", n.id,
			dme.DescribeState(n.node), dme.DescribeState(twin))
	}
	n.node = twin
	return twin
}

// Unwrap returns the node that the algorithm made.
func (n *reloaded) Unwrap() dme.Node { return n.node }

func (n *reloaded) Request(out *dme.Outbox) { n.current().Request(out) }
func (n *reloaded) Release(out *dme.Outbox) { n.current().Release(out) }
func (n *reloaded) State(v *dme.Visitor)    { n.node.State(v) }

func (n *reloaded) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	n.current().Receive(from, m, out)
}

func (n *reloaded) RequestShared(out *dme.Outbox) {
	n.current().(dme.SharedRequester).RequestShared(out)
}

func (n *reloaded) Transmitted(m dme.Message, out *dme.Outbox) {
	if x, ok := n.current().(dme.Monitor); ok {
		x.Transmitted(m, out)
	}
}

func (n *reloaded) Timeout(id dme.TimerID, out *dme.Outbox) {
	n.current().(dme.Timed).Timeout(id, out)
}

func (n *reloaded) Start(out *dme.Outbox) {
	if s, ok := n.current().(dme.Starter); ok {
		s.Start(out)
	}
}

func (n *reloaded) Stop(out *dme.Outbox) {
	if s, ok := n.current().(dme.Stopper); ok {
		s.Stop(out)
	}
}

func (n *reloaded) Restart(out *dme.Outbox) { n.current().(dme.Restarter).Restart(out) }
func (n *reloaded) Join(out *dme.Outbox)    { n.current().(dme.Member).Join(out) }
func (n *reloaded) Depart(out *dme.Outbox)  { n.current().(dme.Member).Depart(out) }

func (n *reloaded) Down(peer dme.NodeID, out *dme.Outbox) {
	if w, ok := n.current().(dme.PeerWatcher); ok {
		w.Down(peer, out)
	}
}

func (n *reloaded) Up(peer dme.NodeID, out *dme.Outbox) {
	if w, ok := n.current().(dme.PeerWatcher); ok {
		w.Up(peer, out)
	}
}
