package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms"
	"dmebench/algorithms/chaudhurikaraata"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/testkit"
)

// sound yields the algorithms that are not known to be wrong, with options for
// the links that each declares, on sizes that it can have.
func sound(t *testing.T, sizes []int, f func(t *testing.T, a *dme.Algorithm, o Options)) {
	for _, a := range algorithms.All() {
		settings := []map[string]string{nil}
		if testkit.Full() {
			settings = conformance.Settings(a)
		}
		for _, set := range settings {
			opt, err := a.Resolve(set)
			if err != nil {
				t.Fatal(err)
			}
			if a.AsPublished {
				continue
			}
			t.Run(fmt.Sprint(a.Name, set), func(t *testing.T) {
				for _, n := range sizes {
					if a.CheckNodes(n, opt) == nil {
						f(t, a, Options{Nodes: n, Set: set, Unordered: !a.Needs(opt).FIFO})
					}
				}
			})
		}
	}
}

func TestCatalogExhaustively(t *testing.T) {
	sound(t, []int{1, 2, 3}, func(t *testing.T, a *dme.Algorithm, o Options) {
		o.Requests = []int{0, 3, 4, 3}[o.Nodes]
		o.States = 50_000
		switch {
		case testkit.Full():
			o.Requests, o.States = 2*o.Requests, 5_000_000
		case testkit.Long():
			o.States = 600_000
		}
		r, err := Exhaustive(t.Context(), a, o)
		if err != nil || r.Violation != nil {
			t.Fatalf("N=%d: %v, %v", o.Nodes, r.Violation, err)
		}
		if r.Stopped != "" {
			t.Logf("N=%d: %d states, %s", o.Nodes, r.States, r.Stopped)
		}
	})
}

// A message that is lost breaks an invariant of every algorithm that has some, before
// anybody stands still for want of it: they are checked, and they can be broken. (Those
// of the mesh are about the privilege only, and those of a composition about who has its
// locks, and not about REQUESTs, which are lost first.
// Fencing tokens differ whatever is lost.)
func TestLossBreaksInvariants(t *testing.T) {
	for _, a := range algorithms.All() {
		if a.AsPublished || len(a.Invariants) == 0 || a.Name == "chaudhuri-karaata" || a.Name == "composed" ||
			a.Fencing != nil {
			continue
		}
		bold := *a
		bold.Needs = dme.Always(dme.Needs{})
		r, err := Exhaustive(t.Context(), &bold, Options{Nodes: 3, Requests: 3, Lose: 1, States: 100_000})
		if err != nil || r.Violation == nil {
			t.Errorf("%s: %v, %v, %d states", a.Name, r.Violation, err, r.States)
			continue
		}
		if !slices.ContainsFunc(a.Invariants, func(i dme.Invariant) bool { return string(r.Violation.Property) == i.Name }) {
			t.Errorf("%s: %+v", a.Name, r.Violation)
		}
	}
}

// smallest is the least number of nodes on which a literal text fails: exhaustive
// searches of fewer find nothing.
var smallest = map[string]int{
	"maekawa-as-published":           4,
	"chaudhuri-karaata-as-published": 3, "lodha-kshemkalyani-as-published": 3,
}

// The literal texts, which are all wrong, are found to be so without a word of advice,
// from the least number of nodes on.
func TestLiteralTextsAreFound(t *testing.T) {
	seeds, most := uint64(1), 4
	if testkit.Long() {
		most = 7
	}
	if testkit.Full() {
		seeds = 5
	}
	for _, a := range algorithms.All() {
		if !a.AsPublished {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			for n := max(2, smallest[a.Name]); n <= most; n++ {
				for k := range seeds {
					o := Defaults(a, n, nil)
					o.Seed = 1 + 1_000_000*k
					s, err := New(a, o)
					if err != nil {
						t.Fatal(err)
					}
					// Without a trace, which would have to be shortened.
					p := s.Part(t.Context(), 0, s.Schedules)
					if !p.Broken {
						t.Errorf("N=%d, seed %d: nothing in %d schedules", n, o.Seed, p.Done)
					}
					t.Logf("N=%d, seed %d: %d schedules", n, o.Seed, p.Done)
				}
			}
		})
	}
}

// What is sound is never accused, of starvation or of more overtaking than its paper
// promises.
func TestSoundOnesDoNotStarve(t *testing.T) {
	sizes, schedules, seeds := []int{3}, 80, 1
	switch {
	case testkit.Full():
		sizes, schedules, seeds = []int{2, 3, 4, 5, 6, 7, 8, 9}, 2000, 5
	case testkit.Long():
		sizes, schedules = []int{2, 3, 6}, 160
	}
	sound(t, sizes, func(t *testing.T, a *dme.Algorithm, o Options) {
		for k := range seeds {
			o := Defaults(a, o.Nodes, o.Set)
			o.Seed, o.Schedules = 1+1_000_000*uint64(k), schedules
			s, err := New(a, o)
			if err != nil {
				t.Fatal(err)
			}
			if p := s.Part(t.Context(), 0, schedules); p.Broken || p.Starved > 0 {
				_, v := s.schedule(t.Context(), int64(p.Done-1), nil)
				t.Errorf("N=%d, seed %d: %v %s", o.Nodes, o.Seed+uint64(p.Done-1), v, p.Starving)
			}
		}
	})
}

// What random search shows of the literal texts is hardly longer than the shortest
// schedule there is.
func TestCounterexamplesAreShort(t *testing.T) {
	for _, c := range []struct {
		name            string
		nodes, requests int // in which exhaustive search finds the same
	}{
		{"maekawa-as-published", 4, 4}, {"maekawa-textbook-as-published", 3, 3}, {"agrawal-el-abbadi-as-published", 5, 5},
		{"chaudhuri-karaata-as-published", 4, 4}, {"singhal-as-published", 5, 5}, {"lodha-kshemkalyani-as-published", 3, 3},
		{"ricart-agrawala-bounded-as-published", 3, 4}, {"ricart-agrawala-robust-as-published", 2, 4},
	} {
		of := algorithms.All()
		a := of[slices.IndexFunc(of, func(a *dme.Algorithm) bool { return a.Name == c.name })]
		o := Defaults(a, c.nodes, nil)
		random, err := Random(t.Context(), a, o)
		if err != nil || random.Trace == nil {
			t.Fatal(random, err)
		}
		o.Requests, o.Vary, o.Watch = c.requests, false, false
		all, err := Exhaustive(t.Context(), a, o)
		if err != nil || all.Trace == nil {
			t.Fatal(all, err)
		}
		got, least := len(random.Trace.Events), len(all.Trace.Events)
		t.Logf("%s on %d nodes: %d steps, the shortest has %d", c.name, c.nodes, got, least)
		if 4*got > 5*least {
			t.Errorf("%s on %d nodes: %d steps, the shortest has %d", c.name, c.nodes, got, least)
		}
	}
}

func livenessOf(t *testing.T, a *dme.Algorithm, o Options) LivenessResult {
	t.Helper()
	o.Unlimited = true
	s, err := New(a, o)
	if err != nil {
		t.Fatal(a.Name, err)
	}
	r, err := s.Liveness(t.Context())
	if err != nil {
		t.Fatal(a.Name, err)
	}
	if (r.Lasso != nil) != (r.Verdict != Holds && r.Verdict != Incomplete) {
		t.Errorf("%s: verdict %s, lasso %v", a.Name, r.Verdict, r.Lasso)
	}
	if r.Lasso != nil {
		follow(t, s, r)
	}
	return r
}

// unbounded are algorithms whose states do not come to an end, and why.
var unbounded = map[string]string{
	"ricart-agrawala-priority": "draws from a sequence that does not repeat",
}

// Two nodes that ask without end: every sound algorithm is proved, and the literal
// texts that fail with two nodes do.
func TestLivenessOfAll(t *testing.T) {
	fails := map[string]LivenessVerdict{
		"maekawa-textbook-as-published": Deadlock, "agrawal-el-abbadi-as-published": Unsafe, "singhal-as-published": Unsafe,
		"ricart-agrawala-bounded-as-published": Unsafe, "ricart-agrawala-robust-as-published": Unsafe,
	}
	for _, a := range algorithms.All() {
		if unbounded[a.Name] != "" {
			continue
		}
		want := fails[a.Name]
		if want == "" {
			want = Holds
		}
		if r := livenessOf(t, a, Options{Nodes: 2}); r.Verdict != want {
			t.Errorf("%s: %s %s, want %s", a.Name, r.Verdict, r.Stopped, want)
		}
	}
}

// smallMesh has two planes of two nodes: the least in which a plane can go on by
// itself. Its invariants would notice a missing rule before anybody starves.
func smallMesh(t *testing.T) LivenessResult {
	return livenessOf(t, chaudhurikaraata.Algorithm(), Options{Nodes: 4, Set: map[string]string{"mesh": "2x1x2"}, WithoutInvariants: true})
}

func TestMeshStarvesNobody(t *testing.T) {
	if r := smallMesh(t); r.Verdict != Holds {
		t.Errorf("%s of node %d: %v\n%s", r.Verdict, r.Node, r.Lasso, strings.Join(r.Trace.Lines(), "\n"))
	}
}

// Without rule CR3 a plane that always has somebody waiting never gives the token
// away.
func TestMeshWithoutCR3Starves(t *testing.T) {
	conformance.TestMutants(t, "TestMeshStarvesNobody", conformance.Mutant{
		Name: "CR3", File: "../../../algorithms/chaudhurikaraata/chaudhurikaraata.go",
		Old: "\tcase c.batch > 0: // CR3\n\t\tc.batch--\n", New: "\tcase len(c.own) > 0:\n", Caught: "starvation of node 1",
	})
}
