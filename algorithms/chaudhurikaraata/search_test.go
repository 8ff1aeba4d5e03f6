package chaudhurikaraata

import (
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit"
)

var repairs = []repair{numbered, suppressed, directed}

// on is the algorithm on a mesh of these sizes, which need not be one that users can ask
// for.
func on(sizes []int, nodes int, r repair) *dme.Algorithm {
	a := Algorithm()
	if r == asPrinted {
		a = AsPublished()
	}
	a.ValidNodes = nil
	a.Prepare = func(dme.Config) (dme.System, error) { return newSystem(sizes, nodes, r), nil }
	return a
}

// exhaust searches every schedule of a small system, in which each of these nodes asks as
// often as the others, or once more.
func exhaust(t *testing.T, sizes []int, nodes int, r repair, o check.Options) check.Report {
	t.Helper()
	o.Nodes = nodes
	report, err := check.Exhaustive(t.Context(), on(sizes, nodes, r), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Every schedule of these systems keeps the invariants I1 and I2 and assumption
// A1, serves every request and comes to rest.
func TestEverySchedule(t *testing.T) {
	type system struct {
		sizes      []int
		nodes      int
		requests   int
		requesters []dme.NodeID // nil: all
	}
	systems := []system{
		{[]int{1, 1, 1}, 1, 3, nil},
		{[]int{1, 1, 2}, 2, 8, nil},
		{[]int{1, 2, 1}, 2, 4, nil},
		{[]int{1, 2, 2}, 3, 3, nil}, // the last plane is incomplete
		{[]int{1, 2, 2}, 4, 4, nil},
		{[]int{1, 1, 3}, 3, 4, []dme.NodeID{1, 3}},
		{[]int{1, 1, 3}, 3, 5, nil},
		{[]int{1, 1, 4}, 4, 4, nil},
		{[]int{1, 2, 3}, 6, 4, []dme.NodeID{2, 4, 5, 6}},
		{[]int{2, 2, 2}, 6, 3, []dme.NodeID{2, 4, 6}},
		{[]int{2, 2}, 4, 4, nil},
		{[]int{1, 2, 1, 2}, 4, 4, nil},
	}
	if testkit.Full() {
		systems = append(systems,
			system{[]int{1, 1, 4}, 4, 6, nil},
			system{[]int{1, 1, 5}, 5, 5, nil},
			system{[]int{1, 2, 3}, 6, 6, nil},
			system{[]int{2, 2, 2}, 6, 6, nil},
		)
	}
	for _, r := range repairs {
		for _, x := range systems {
			report := exhaust(t, x.sizes, x.nodes, r, check.Options{Requests: x.requests, Requesters: x.requesters})
			if err := report.Err(); err != nil {
				t.Fatalf("%s, mesh %v, requests %v: %v", r, x.sizes, x.requests, err)
			}
		}
	}
}

// Section 2.1 assumes that messages arrive in the order sent (A2). The corners do
// not rely on it: a REQUEST may overtake the RELEASE of its node, or the PERMIT
// that takes the token away.
func TestEveryScheduleWithoutOrder(t *testing.T) {
	for _, r := range repairs {
		for _, x := range []struct {
			sizes           []int
			nodes, requests int
		}{{[]int{1, 2, 1}, 2, 4}, {[]int{1, 1, 2}, 2, 6}, {[]int{1, 1, 3}, 3, 4}, {[]int{1, 2, 2}, 4, 5}} {
			report := exhaust(t, x.sizes, x.nodes, r, check.Options{Requests: x.requests, Unordered: true})
			if err := report.Err(); err != nil {
				t.Errorf("%s, mesh %v, requests %v: %v", r, x.sizes, x.requests, err)
			}
		}
	}
}

// The search finds the fault in the printed text, and finds it safe: what it reports is a
// stall, never a broken invariant.
func TestSearchCatchesPublished(t *testing.T) {
	for _, x := range []struct {
		sizes           []int
		nodes, requests int
		requesters      []dme.NodeID
	}{
		{[]int{1, 1, 3}, 3, 2, []dme.NodeID{2, 3}},
		{[]int{1, 1, 3}, 3, 3, nil},
		{[]int{1, 2, 2}, 4, 6, []dme.NodeID{2, 3, 4}},
		{[]int{2, 2, 2}, 6, 3, []dme.NodeID{2, 4, 6}},
	} {
		o := check.Options{Requests: x.requests, Requesters: x.requesters}
		if err := exhaust(t, x.sizes, x.nodes, asPrinted, o).Err(); err == nil || !strings.Contains(err.Error(), "stalled: ") {
			t.Errorf("mesh %v, %d requests: %v", x.sizes, x.requests, err)
		}
		o.SafetyOnly = true
		if err := exhaust(t, x.sizes, x.nodes, asPrinted, o).Err(); err != nil {
			t.Errorf("mesh %v, %d requests: %v", x.sizes, x.requests, err)
		}
	}
	// Two planes of one node each are the only ones that it always serves.
	if err := exhaust(t, []int{1, 1, 2}, 2, asPrinted, check.Options{Requests: 6}).Err(); err != nil {
		t.Error(err)
	}
}

// competing searches three nodes as 'dmebench check' does by default, and returns what
// is broken, and under which mesh.
func competing(t *testing.T, a *dme.Algorithm) (broken, mesh string) {
	t.Helper()
	for _, set := range check.Settings(a, 3, nil) {
		o := check.Defaults(a, 3, set)
		if o.Schedules = 1500; testkit.Long() {
			o.Schedules = check.DefaultSchedules
		}
		r, err := check.Random(t.Context(), a, o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			return r.Violation.Verdict, set[optMesh]
		}
	}
	return "", ""
}

// Three nodes are planes that compete, where nobody chooses the mesh: what makes a plane
// starve is found, as mutants show.
func TestPlanesCompete(t *testing.T) {
	if broken, mesh := competing(t, Algorithm()); broken != "" {
		t.Fatalf("mesh %s: %s", mesh, broken)
	}
}
