package catalog_test

import (
	"fmt"
	"slices"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
)

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
		all := catalog.All()
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
func begin(t *testing.T, a *dme.Algorithm, nodes int, seed uint64, set map[string]string) (told string) {
	t.Helper()
	sys, err := a.New(nodes, seed, set)
	if err != nil {
		t.Fatal(err)
	}
	for id := dme.NodeID(1); int(id) <= nodes; id++ {
		var out dme.Outbox
		sys.Node(id).Request(&out)
		for _, e := range out.Effects() {
			told += fmt.Sprint(id, " ", e.Kind, " ", e.To, " ", e.Msg.Kind, " ", e.Msg.Clock, "\n")
		}
	}
	return told
}
