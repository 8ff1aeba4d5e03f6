package chaudhurikaraata

import (
	"slices"
	"strings"
	"testing"

	judge "dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/runtime/run"
	"dmebench/internal/search/check"
	"dmebench/internal/sim"
	"dmebench/internal/testkit"
	"dmebench/runs"
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

// Random schedules of larger meshes: the invariants hold in every state, and every request
// is served. Those of the printed text stall on the meshes that it has by default.
func TestRandomSchedules(t *testing.T) {
	walk := func(a *dme.Algorithm, nodes int, set map[string]string, seed uint64) error {
		_, err := conformance.Walk{Algorithm: a, Nodes: nodes, Set: set, Requests: conformance.Each(2), Load: vnet.Churn, Seed: seed}.Run()
		return err
	}
	for _, r := range repairs {
		for _, x := range []struct {
			nodes     int
			mesh      string
			schedules uint64
		}{{64, "auto", 2}, {27, "auto", 10}, {25, "3x3x3", 10}, {8, "auto", 60}, {7, "2x2x2", 60}, {6, "1x1x6", 100}, {6, "1x2x3", 100}} {
			schedules := x.schedules
			if testkit.Full() {
				schedules *= 50
			}
			for seed := range schedules {
				if err := walk(Algorithm(), x.nodes, map[string]string{optMesh: x.mesh, optRepair: string(r)}, seed); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, nodes := range []int{3, 5, 8} {
		caught := 0
		for seed := range uint64(40) {
			if err := walk(AsPublished(), nodes, nil, seed); err != nil {
				if !strings.Contains(err.Error(), conformance.Stalled) {
					t.Fatalf("N=%d: %v", nodes, err)
				}
				caught++
			}
		}
		if caught == 0 {
			t.Errorf("N=%d: no schedule stalls", nodes)
		}
	}
}

// newestFirst serves PL last in, first out.
type newestFirst struct{ *repairedCorner }

func (c newestFirst) planeRequest(m *dme.Message, out *dme.Outbox) {
	before := len(c.pl)
	c.repairedCorner.planeRequest(m, out)
	if last := len(c.pl) - 1; last >= before && last > 0 {
		c.pl = slices.Insert(c.pl[:last], 0, c.pl[last])
	}
}

// planesFirst is without CR3: a token that arrives goes on at once where PL is not empty.
type planesFirst struct{ *repairedCorner }

func (c planesFirst) permit(m *dme.Message, out *dme.Outbox) {
	own := c.own
	c.own = nil
	c.repairedCorner.permit(m, out)
	c.own = own
	switch {
	case len(own) == 0 || m.Node != c.home.self:
	case c.colour == red:
		c.ask(out) // CR4
	case c.colour == green:
		c.next(out)
	}
}

// corners is a system with other corners.
type corners struct {
	dme.System
	of func(*repairedCorner) corner
}

func (s corners) Node(id dme.NodeID) dme.Node {
	n := s.System.Node(id).(*node)
	if c, ok := n.corner.(*repairedCorner); ok {
		n.corner = s.of(c)
	}
	return n
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
// starve is found.
func TestPlanesCompete(t *testing.T) {
	if broken, mesh := competing(t, Algorithm()); broken != "" {
		t.Fatalf("mesh %s: %s", mesh, broken)
	}
	for name, of := range map[string]func(*repairedCorner) corner{
		"PL last in, first out": func(c *repairedCorner) corner { return newestFirst{c} },
		"without CR3":           func(c *repairedCorner) corner { return planesFirst{c} },
	} {
		a := Algorithm()
		a.Claims, a.Invariants = dme.SafeAndLive(paper+"theorem 1"), nil // the others look into corners
		prepare := a.Prepare
		a.Prepare = func(c dme.Config) (dme.System, error) {
			s, err := prepare(c)
			return corners{s, of}, err
		}
		if broken, mesh := competing(t, a); broken == "" {
			t.Errorf("%s: nothing found", name)
		} else {
			t.Logf("%s, mesh %s: %s", name, mesh, broken)
		}
	}
}

// Theorem 1: no request starves. All nodes ask all the time, and of three planes the one
// in the middle has two neighbours.
func TestNobodyStarves(t *testing.T) {
	const nodes = 27
	a := Algorithm()
	spec := runs.Spec{
		Algorithm: a.Name, Nodes: nodes, Transport: runs.Sim, Workload: "saturate", CS: "100us", Requests: 60 * nodes, Seed: 1,
	}
	job, err := run.Resolve(spec, run.Catalog{a}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(t.Context(), job)
	if err != nil || r.Status != runs.OK {
		t.Fatal(r, err)
	}
	bound := dme.OvertakingBound(a.Claims, dme.Setting{Nodes: nodes, Options: job.Options, System: job.System}, true)
	if line := judge.Starved(bound, r); line != "" {
		t.Error(line)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("warnings %q", r.Warnings)
	}
}
