package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
	"dmebench/dme/conformance"
)

// testThemselves are the algorithms whose own packages have them pass the suite.
var testThemselves = []string{
	"agrawal-el-abbadi", "carvalho-roucairol", "chaudhuri-karaata", "chaudhuri-karaata-as-published",
	"helary-plouzeau-raynal", "lamport", "lamport-optimized", "naimi-trehel",
	"raymond-robust", "readers-writers", "ricart-agrawala", "ricart-agrawala-bounded", "ricart-agrawala-bounded-as-published",
	"ricart-agrawala-broadcast", "ricart-agrawala-implicit", "ricart-agrawala-priority", "ricart-agrawala-ring",
	"ricart-agrawala-robust", "ricart-agrawala-robust-as-published", "ricart-agrawala-token", "singhal", "suzuki-kasami",
}

func TestConformance(t *testing.T) {
	for _, a := range catalog.All() {
		if slices.Contains(testThemselves, a.Name) {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			conformance.Test(t, a)
		})
	}
}

func TestNamesAreUnique(t *testing.T) {
	names, titles := map[string]bool{}, map[string]bool{}
	for _, a := range catalog.All() {
		if names[a.Name] || titles[a.Title] {
			t.Errorf("%s (%s): listed twice", a.Name, a.Title)
		}
		names[a.Name], titles[a.Title] = true, true
	}
}

// A paragraph says of each how it works, what it costs and when it is good; of a
// literal text, what is wrong with it.
func TestDescriptions(t *testing.T) {
	for _, a := range catalog.All() {
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
	catalog.All()[0].Name = "changed"
	if name := catalog.All()[0].Name; name == "changed" {
		t.Error("a change to one list shows in the next")
	}
}

// A paper says something of its algorithm that can be judged.
func TestEveryPaperMakesClaims(t *testing.T) {
	for _, a := range catalog.All() {
		if len(a.Claims) == 0 && !a.AsPublished {
			t.Errorf("%s: no claims", a.Name)
		}
	}
}

func TestPrepare(t *testing.T) {
	for _, a := range catalog.All() {
		opt, err := a.Resolve(nil)
		if err != nil {
			t.Errorf("%s: its defaults do not resolve: %v", a.Name, err)
			continue
		}
		for _, n := range []int{1, 2, 3, 5, 8, 13} {
			sys, err := a.New(n, 1, nil)
			if err != nil {
				t.Errorf("%s: N=%d: %v", a.Name, n, err)
				continue
			}
			checkSystem(t, a, n, sys)
			setting := dme.Setting{Algorithm: a, Nodes: n, Options: opt, System: sys}
			for _, c := range a.Claims {
				if value, ok := c.Prediction(setting); ok && value < 0 {
					t.Errorf("%s: N=%d: %s %q predicts %v", a.Name, n, c.Quantity, c.Formula, value)
				}
			}
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
