package check

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/record/spacetime"
)

// shown fails the test where a counterexample does not show its property, or where the
// picture does not show the counterexample.
func (c *testCase) shown(v *vnet.Violation, t *Trace) {
	d := t.Diagram()
	if d.Last != len(t.Events) || !slices.Equal(d.Bad, []int{d.Last}) || d.Caption[0] != v.Verdict || d.Loop != t.Repeats {
		c.Errorf("%s: rows %d to %d, bad %v, %d repeat, %q", c.line, d.First, d.Last, d.Bad, d.Loop, d.Caption)
	}
	arrives := map[int]bool{}
	for _, m := range d.Messages {
		arrives[m.End] = arrives[m.End] || m.Fate == spacetime.Arrives
	}
	for i, e := range t.Events {
		if row := i + 1; e.From != e.Node && row >= d.First && arrives[row] != (e.Kind == dme.Receive || e.Kind == dme.Copy) {
			c.Errorf("%s: row %d is %v", c.line, row, e.Step)
		}
	}
	for i := range d.Sections {
		s := &d.Sections[i]
		if inside := s.Leave == 0 && slices.Contains(v.Nodes, dme.NodeID(s.Lane+1)); v.Property == vnet.Exclusion && s.Bad != inside {
			c.Errorf("%s: section %+v", c.line, s)
		}
	}
	for _, id := range v.Nodes {
		waits := v.Property == Progress || v.Property == Liveness || v.Property == Starvation
		if waits != (len(d.Ends) > 0 && d.Ends[id-1] == "waits") {
			c.Errorf("%s: at the end nodes are said to be %q", c.line, d.Ends)
		}
	}
	for lane, state := range d.States {
		for _, l := range state {
			if !strings.Contains(t.States[lane], l) {
				c.Errorf("%s: node %d has %q at the end, not %q", c.line, lane+1, t.States[lane], l)
			}
		}
	}
}

// minimal fails the test where a single step of a schedule can be left out.
func (c *testCase) minimal(s *Search, t *Trace) {
	steps, property := t.Steps(), t.Violation.Property
	if again, _ := s.replay(plan{model: t.model}, steps, false); again.Violation.Verdict != t.Violation.Verdict {
		c.Errorf("%s: replayed: %v", c.line, &again.Violation)
	}
	for i := range steps {
		less := slices.Concat(steps[:i], steps[i+1:])
		if again, _ := s.replay(plan{model: t.model}, less, false); again.Violation.Property == property {
			c.Errorf("%s: step %d of %d, %v, can be left out", c.line, i+1, len(steps), steps[i])
		}
	}
}

// alike fails the test where several workers, a reduced search, or one that keeps bits of
// states alone come to another verdict.
func (c *testCase) alike(s *Search, want Report) {
	if want.Stopped != "" || s.Reduce {
		return
	}
	property := func(r Report) string {
		if r.Violation != nil {
			return string(r.Violation.Property)
		}
		return "none"
	}
	for name, change := range map[string]func(*Search){
		"three workers": func(s *Search) { s.Workers = 3 },
		"reduction":     func(s *Search) { s.Reduce = !s.Reduce },
		"bits":          func(s *Search) { s.Bitstate = 16 << 20 },
		"bits, shared":  func(s *Search) { s.Bitstate, s.Workers = 16<<20, 2 },
	} {
		other := *s
		m := *s.model
		other.model = &m
		change(&other)
		if name == "reduction" && len(m.Invariants) > 0 {
			continue // which it does not preserve
		}
		r, err := other.Exhaustive(c.Context())
		same := property(r) == property(want)
		if strings.HasPrefix(name, "bits") { // depth first: of several properties it may meet another
			same = (r.Violation == nil) == (want.Violation == nil)
		}
		if err != nil || !same {
			c.Errorf("%s: with %s %s, %v; want %s", c.line, name, property(r), err, property(want))
			continue
		}
		exact := want.Violation == nil && (name == "three workers" || name == "bits")
		if exact && (r.States != want.States || r.Steps != want.Steps) {
			c.Errorf("%s: with %s %d states and %d steps, want %d and %d", c.line, name, r.States, r.Steps, want.States, want.Steps)
		}
		if bits := r.Bitstate != nil; bits != strings.HasPrefix(name, "bits") || bits && r.Complete {
			c.Errorf("%s: with %s %+v", c.line, name, r)
		}
	}
}

// parted searches in parts of so many schedules, each of which travels as JSON and is run
// by a search of its own.
func (c *testCase) parted(s *Search, size int) Report {
	r, err := s.Join(c.Context(), func(ctx context.Context, first int) (p Part, err error) {
		elsewhere, err := New(c.alg, c.o)
		if err != nil {
			return p, err
		}
		b, err := json.Marshal(elsewhere.Part(ctx, first, min(size, s.Schedules-first)))
		if err != nil {
			return p, err
		}
		return p, json.Unmarshal(b, &p)
	})
	if err != nil {
		c.Fatal(c.line, err)
	}
	return r
}

// plain is a report without what cannot be compared, but by what it shows.
func plain(r Report) any {
	var lines []string
	if r.Trace != nil {
		lines = append(r.Trace.Lines(), r.Trace.States...)
	}
	if r.Violation != nil {
		lines = append(lines, r.Violation.Verdict, string(r.Violation.Property))
	}
	r.Trace, r.Violation, r.Elapsed, r.Workers = nil, nil, 0, 0
	return struct {
		Report
		Lines string
	}{r, strings.Join(lines, "\n")}
}

// follow follows a lasso in a network of its own.
func follow(t *testing.T, s *Search, r LivenessResult) {
	t.Helper()
	n := vnet.New(s.model)
	take := func(steps []vnet.Step) {
		for _, x := range steps {
			if !n.Possible(x) {
				t.Fatalf("%v is not possible", x)
			}
			n.Do(x)
		}
	}
	take(r.Lasso.Prefix)
	switch r.Verdict {
	case Unsafe:
		if n.Violation == nil {
			t.Error("the prefix breaks nothing")
		}
		return
	case Deadlock:
		if !n.Stuck() || len(r.Lasso.Loop) > 0 {
			t.Errorf("stuck: %v, and %d steps follow", n.Stuck(), len(r.Lasso.Loop))
		}
		return
	}
	waits := func() bool { return slices.Contains(n.Waiting(), r.Node) }
	if !waits() {
		t.Fatalf("node %d does not wait at the beginning of the loop", r.Node)
	}
	before := string(n.SaveAlike(nil))
	for turn := range 5 {
		entries, arrived := n.Entries, make(map[[2]dme.NodeID]bool)
		full, inside := occupied(n), n.Inside()
		left := make(map[dme.NodeID]bool)
		for _, x := range r.Lasso.Loop {
			take([]vnet.Step{x})
			arrived[[2]dme.NodeID{x.From, x.Node}] = true
			left[x.Node] = left[x.Node] || x.Kind == dme.Exit
			if !waits() {
				t.Fatalf("turn %d: node %d does not wait any more", turn, r.Node)
			}
		}
		if string(n.SaveAlike(nil)) != before {
			t.Fatalf("turn %d of the loop leads elsewhere", turn)
		}
		if (n.Entries > entries) != (r.Verdict == Starved) {
			t.Errorf("%s, and %d entries in a turn of the loop", r.Verdict, n.Entries-entries)
		}
		for _, link := range full {
			if !arrived[link] {
				t.Errorf("nothing arrives on link %v, which holds something", link)
			}
		}
		for _, id := range inside {
			if !left[id] {
				t.Errorf("node %d is inside and does not leave", id)
			}
		}
	}
}

func occupied(n *vnet.Network) (links [][2]dme.NodeID) {
	for _, f := range n.InFlight() {
		links = append(links, [2]dme.NodeID{f.From, f.To})
	}
	return links
}
