package validate

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"dmebench/algorithms"
	"dmebench/algorithms/quorum"
	"dmebench/claims"
	"dmebench/dme/claim"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// smallEffort plans as --full does, for systems that are quickly prepared.
func smallEffort() effort {
	return effort{
		ladder: []int{4, 8, 16}, wide: rungs(10, 8, 350), real: []int{8, 13, 31, 64, 125, 216}, others: 16,
		repetitions: 6, onWide: 3, onReal: 2, perNode: 60, messages: 4e5,
	}
}

// Every claim is answered by runs, by the construction, or by a reason why
// nothing does; and most by one of the former.
func TestEveryClaimHasRunsOrAReason(t *testing.T) {
	o := &Options{Catalog: algorithms.All(), Mode: Full, Transport: runs.Sim, Seed: 1}
	subjects, _, err := o.subjects()
	if err != nil {
		t.Fatal(err)
	}
	p := newPlan(t.Context(), o, smallEffort(), subjects)
	all, answered := 0, 0
	for _, a := range subjects {
		all += len(claimsOf(a))
	}
	if len(p.questions) != all {
		t.Fatalf("%d questions for %d claims", len(p.questions), all)
	}
	for _, q := range p.questions {
		runs := len(q.cells) > 0 || len(q.evidence) > 0 || claims.Everywhere(q.Claim)
		if runs == (q.Unanswerable != "") {
			t.Errorf("%s: %s %s (%s): %d cells, %d points, reason %q", q.Algorithm.Name, q.Claim.Quantity, q.Claim.Formula, q.Claim.Load,
				len(q.cells), len(q.evidence), q.Unanswerable)
		}
		if runs {
			answered++
		}
		for c := range q.predicted {
			ways := conditions(c.Spec.Transport)
			way := slices.IndexFunc(ways, func(w condition) bool { return w.name == c.Condition })
			medium := c.Spec.Transport == "sim" && c.Spec.Set["links"] == ""
			covered := claims.Of(c.Spec, c.Spec.Set["fifo"] != "false", medium).Covers(q.Claim)
			if c.Spec.Requests <= 0 || c.repetitions <= 0 || !q.under(&ways[way]) || !covered {
				t.Errorf("%s: %s: %s with %d requests, %d times", q.Algorithm.Name, q.Claim.Quantity, c.Condition, c.Spec.Requests, c.repetitions)
			}
		}
	}
	if answered < 80 || answered < all*4/5 {
		t.Errorf("%d of %d claims are answered", answered, all)
	}
	for _, name := range []string{"maekawa", "chaudhuri-karaata", "raymond", "naimi-trehel"} {
		if sizes := growthSizes(p, name, true); len(sizes) < 5 {
			t.Errorf("%s: growth over a real network at %v only", name, sizes)
		}
		if sizes := growthSizes(p, name, false); len(sizes) < 6 {
			t.Errorf("%s: growth in simulations at %v only", name, sizes)
		}
	}
}

// Growth rests on at least ten sizes over more than two decades in simulations,
// and on six over a real network, of planes and of cubes.
func TestLaddersHoldPlanesAndCubes(t *testing.T) {
	plane := func(n int) bool {
		q := int(math.Sqrt(float64(n)))
		return q*q+q+1 == n && quorum.PrimePower(q) > 0
	}
	cube := func(n int) bool {
		m := int(math.Round(math.Cbrt(float64(n))))
		return m*m*m == n
	}
	for _, m := range []Mode{Quick, Moderate, Full} {
		e, err := effortOf(m)
		if err != nil {
			t.Fatal(err)
		}
		for name, regular := range map[string]func(int) bool{"planes": plane, "cubes": cube} {
			count := func(ladder []int) int {
				found := make(map[int]bool)
				for _, rung := range ladder {
					if i := slices.IndexFunc(near(rung), regular); i >= 0 {
						found[near(rung)[i]] = true
					}
				}
				return len(found)
			}
			if n := count(e.wide); n < 10 || e.wide[len(e.wide)-1] < 100*e.wide[0] {
				t.Errorf("%s: %d %s between %d and %d", m, n, name, e.wide[0], e.wide[len(e.wide)-1])
			}
			if n := count(e.real); e.real != nil && n < 6 {
				t.Errorf("%s: %d %s over a real network", m, n, name)
			}
		}
	}
}

// growthSizes returns the sizes at which an algorithm's growth is measured.
func growthSizes(p *plan, name string, real bool) []int {
	var sizes []int
	for _, c := range p.cells {
		if c.Spec.Algorithm == name && c.Real() == real && c.wide {
			sizes = append(sizes, c.Spec.Nodes)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// A run serves all claims that need it.
func TestRunsAreShared(t *testing.T) {
	o := &Options{Catalog: algorithms.All(), Algorithms: []string{"ricart-agrawala"}, Transport: runs.Sim, Seed: 1}
	subjects, _, _ := o.subjects()
	p := newPlan(t.Context(), o, smallEffort(), subjects)
	served := make(map[*cell]int)
	for _, q := range p.questions {
		for _, c := range q.cells {
			served[c]++
		}
	}
	if len(served) != len(p.cells) {
		t.Errorf("%d cells for %d that are asked for", len(p.cells), len(served))
	}
	for c, n := range served {
		if c.Condition == "serial" && n < 5 {
			t.Errorf("serial on %d nodes serves %d claims only", c.Spec.Nodes, n)
		}
	}
	if p.pending(true) != nil {
		t.Error("an algorithm whose messages grow like N is not worth processes")
	}
}

// The time for runs over a real network seldom suffices: every cell gets one run, then as many as an interval
// needs, before any gets more.
func TestRealRunsInTheirOrder(t *testing.T) {
	o := &Options{Catalog: algorithms.All(), Algorithms: []string{"lamport", "token-ring"}, Transport: "tcp", Seed: 1}
	subjects, _, _ := o.subjects()
	p := newPlan(t.Context(), o, smallEffort(), subjects)
	for _, c := range p.cells {
		c.repetitions = leastForInterval + 2
	}
	most := 0
	for i, w := range p.pending(true) {
		k := w.repetition
		if i < len(p.cells) && k > 0 || i < leastForInterval*len(p.cells) && k >= leastForInterval {
			t.Errorf("run %d of %d cells is the repetition %d of one", i+1, len(p.cells), k+1)
		}
		most = max(most, k+1)
	}
	if most != leastForInterval+2 || len(p.pending(false)) > 0 {
		t.Errorf("%d repetitions, and %d simulations", most, len(p.pending(false)))
	}
	for _, q := range p.questions {
		if q.gauged() && q.Unanswerable == "" {
			t.Errorf("%s: no run over tcp looks into the nodes", q.Claim.ID(q.Algorithm))
		}
	}
}

// What a run of a cell does not tell, none of its others does: only a cell without any is unfinished.
func TestUnfinished(t *testing.T) {
	q := &question{Question: claims.Question{Claim: claim.Claim{Kind: claim.Mean, Quantity: claim.SyncDelay}}}
	silent := &runs.Result{Status: runs.OK}
	for _, x := range []struct {
		runs []*runs.Result
		want bool
	}{
		{nil, true}, {[]*runs.Result{nil, nil}, true}, {[]*runs.Result{silent, nil}, false}, {[]*runs.Result{silent, silent}, false},
	} {
		if evidence, unfinished := q.compare([]*cell{{runs: x.runs}}, 1); len(evidence) > 0 || unfinished != x.want {
			t.Errorf("%v: unfinished %v, want %v; %v", x.runs, unfinished, x.want, evidence)
		}
	}
}

// A claim about links that keep order is not asked on others.
func TestConditionsOfAClaim(t *testing.T) {
	unordered := func(q *question) bool {
		return slices.ContainsFunc(conditions(runs.Sim), func(c condition) bool { return !c.Ordered && q.under(&c) })
	}
	q := &question{Question: claims.Question{Claim: claim.Claim{Load: claim.AnyLoad}}}
	if !unordered(q) {
		t.Error("unordered links are never tried")
	}
	q.Claim.FIFO = true
	if unordered(q) {
		t.Error("a claim about links that keep order is asked on others")
	}
	q = &question{Question: claims.Question{Claim: claim.Claim{Load: claim.Saturated, Quantity: claim.Throughput}}}
	for _, c := range conditions(runs.Sim) {
		if q.under(&c) && (c.set["delay"] == "exponential" || c.workload == "serial") {
			t.Errorf("a time under heavy load is measured under %q", c.name)
		}
	}
	for _, load := range []claim.Load{
		claim.Light, claim.Saturated, claim.Burst, claim.Contention, claim.Worst, claim.AnyLoad, claim.HotSpot,
	} {
		if !slices.ContainsFunc(conditions(runs.Sim), func(c condition) bool { return c.makes(load) && c.plain }) {
			t.Errorf("nothing makes the load %q", load)
		}
	}
}

func TestSizes(t *testing.T) {
	if got := rungs(3, 10, 1000); !slices.Equal(got, []int{10, 100, 1000}) {
		t.Errorf("rungs: %v", got)
	}
	for rung, want := range map[int][]int{
		64: {64, 63, 57, 73},
		8:  {8, 7},
		4:  {4, 3},
	} {
		got := near(rung)
		if got[0] != rung {
			t.Errorf("near(%d) begins with %d", rung, got[0])
		}
		for _, n := range want {
			if !slices.Contains(got, n) {
				t.Errorf("near(%d) = %v lacks %d", rung, got, n)
			}
		}
		for _, n := range got { // half a step of a ladder that doubles
			if ratio := float64(n) / float64(rung); ratio > math.Sqrt2 || ratio < math.Sqrt2/2 {
				t.Errorf("near(%d) = %v goes too far", rung, got)
			}
		}
	}
}

// A claim that names a test names one that there is.
func TestNamedTestsExist(t *testing.T) {
	defined := make(map[string]bool)
	files, err := filepath.Glob("../../../algorithms/*/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range function.FindAllSubmatch(text, -1) {
			defined[string(m[1])] = true
		}
	}
	for _, a := range algorithms.All() {
		for _, c := range claim.Of(a) {
			if c.Test != "" && !defined[c.Test] {
				t.Errorf("%s: %s %s: there is no %s", a.Name, c.Quantity, c.Formula, c.Test)
			}
		}
	}
}

// The bounds on overtaking are reached by some schedule of two nodes, and of three: a
// looser bound would not be, and a tighter one would be broken.
func TestBoundsOnOvertakingAreReached(t *testing.T) {
	if !testkit.Long() {
		t.Skip("every schedule of many systems is searched")
	}
	bounds := 0
	for _, a := range algorithms.All() {
		p := &plan{
			ctx: t.Context(), bench: newBench(&Options{Catalog: run.Catalog{a}, Seed: 1}),
			ways: map[string][]condition{runs.Sim: conditions(runs.Sim)},
		}
		for _, c := range claim.Of(a) {
			if c.Quantity == claim.Bypass || c.Quantity == claim.BypassByOne {
				p.questions = append(p.questions, &question{Question: claims.Question{Algorithm: a, Claim: c, Set: c.Set}})
			}
		}
		if err := p.worstCases(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, q := range p.questions {
			id := q.Claim.ID(a)
			if len(q.evidence) == 0 && q.Claim.Kind == claim.UpperBound {
				t.Errorf("%s: no search told it", id)
			}
			for _, e := range q.evidence {
				bounds++
				known := q.Claim.KnownFalse != ""
				// The largest search is one of seven requests: more of others cannot come first.
				reachable := e.Predicted < 7
				if e.Agrees == known || !known && reachable && *e.Max != e.Predicted {
					t.Errorf("%s, N=%d: %v, and at most %v is claimed; known to be false: %v", id, e.Nodes, *e.Max, e.Predicted, known)
				}
			}
		}
	}
	if bounds < 12 {
		t.Errorf("%d bounds were tried", bounds)
	}
}
