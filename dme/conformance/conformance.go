// Package conformance is the test that every algorithm passes, the built-in
// ones and those of other modules:
//
//	func TestConformance(t *testing.T) { conformance.Test(t, my.Algorithm()) }
//
// [Test] checks the description, then runs thousands of random schedules on
// small systems: bursts, random arrivals and saturation, on links that give what
// the algorithm says that it needs, and no more: they reorder unless it needs
// order, every node receives the broadcasts of all in an order of its own unless
// it needs them sequenced, and timers fire at any time unless it needs bounded
// delay; then they fire after what was on the way has arrived. In each it checks mutual
// exclusion, that every request is served and everything comes to rest, that no
// message is refused, that the saved state of a node is all of its state, that
// messages survive the wire, and the claims that are made for every run. Where all
// nodes ask again and again and no step is favoured, none may starve; how even it was
// is logged ([Turns]). A second series throws garbage at the nodes. Where the algorithm says that it
// survives crashes, or its nodes can restart, join or leave, a third one lets them
// do so at any moment.
//
// A schedule is a function of its seed, which a failure prints. Random search
// finds most faults and proves nothing; exhaustive search is another package's
// work. Delays have no length here: claims about time are not judged.
//
// [Net] is the network behind it, for tests that replay a given schedule.
package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// sizes are the numbers of nodes that schedules run on. Seven and thirteen are
// those of projective planes; others are those of none.
var sizes = []int{1, 2, 3, 5, 8, 13}

// Test fails t unless a conforms. An algorithm that is known to be wrong, as it
// was published, must be found out instead. Where claims are made for links that
// keep order, and the algorithm does not need them to, it is tested on such
// links as well.
func Test(t *testing.T, a *dme.Algorithm) {
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	settings := Settings(a)
	if a.AsPublished {
		testFindsFault(t, a, settings)
		return
	}
	for _, set := range settings {
		t.Run(name(set), func(t *testing.T) { testSetting(t, a, set, len(settings)) })
	}
	if slices.ContainsFunc(a.Claims, func(c dme.Claim) bool { return c.FIFO }) {
		t.Run("links that keep order", func(t *testing.T) { testSetting(t, onLinks(a, true), nil, len(settings)) })
	}
}

func testSetting(t *testing.T, a *dme.Algorithm, set map[string]string, settings int) {
	testManyTurns(t, a, set)
	for _, n := range sizes {
		opt, err := a.Resolve(set)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.CheckNodes(n, opt); err != nil {
			t.Logf("N=%d: %v", n, err)
			continue
		}
		if err := series(a, n, set, schedules(n, settings)); err != nil {
			t.Fatal(err)
		}
		if 1 < n && n <= mostTurns {
			logTurns(t, a, n, set)
		}
		if err := SearchFaults(a, n, set, schedules(n, settings)); err != nil {
			t.Fatal(err)
		}
	}
}

// testManyTurns lets more nodes take turns where they talk with some others only: who
// is served may depend on a node's place among these, and few nodes have few places.
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
	if _, linked := system.(dme.Linked); linked {
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
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, k+"="+set[k])
	}
	if parts == nil {
		return "default"
	}
	return strings.Join(parts, ",")
}
