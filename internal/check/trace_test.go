package check

import (
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/suzukikasami"
	"dmebench/algorithms/tokenring"
	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/spacetime"
)

func played(t *testing.T, a *dme.Algorithm, o Options, steps ...vnet.Step) *Trace {
	t.Helper()
	s, err := New(a, o)
	if err != nil {
		t.Fatal(err)
	}
	trace, taken := s.replay(s.model, steps, false)
	if len(taken) != len(steps) {
		t.Fatalf("%d of %d steps were possible: %v", len(taken), len(steps), taken)
	}
	return trace
}

func TestLines(t *testing.T) {
	for name, c := range map[string]struct {
		trace *Trace
		want  string
	}{
		"a broken broadcast": {
			played(t, lamport.Algorithm(), Options{Nodes: 3, Requests: 3, Unordered: true},
				vnet.Step{Kind: vnet.Ask, Node: 2}, vnet.Step{Kind: vnet.Ask, Node: 1},
				vnet.Step{Kind: vnet.Deliver, From: 2, Node: 3}, vnet.Step{Kind: vnet.Deliver, From: 2, Node: 1},
				vnet.Step{Kind: vnet.Deliver, From: 3, Node: 2},
				vnet.Step{Kind: vnet.Deliver, From: 1, Node: 2, Index: 1}),
			`  1. node 2 asks: REQUEST 2→1 2→3 clock=1
  2. node 1 asks: REQUEST 1→2 1→3 clock=1
  3. REQUEST 2→3 clock=1 arrives: REPLY 3→2 clock=2
  4. REQUEST 2→1 clock=1 arrives: REPLY 1→2 clock=2
  5. REPLY 3→2 clock=2 arrives
  6. REPLY 1→2 clock=2 arrives: node 2 enters`,
		},
		"loss and duplication": {
			played(t, suzukikasami.Algorithm(), Options{Nodes: 3, Requests: 3, Lose: 1, Duplicate: true},
				vnet.Step{Kind: vnet.Ask, Node: 2}, vnet.Step{Kind: vnet.Lose, From: 2, Node: 3}, vnet.Step{Kind: vnet.Copy, From: 2, Node: 1},
				vnet.Step{Kind: vnet.Copy, From: 1, Node: 2}, vnet.Step{Kind: vnet.Leave, Node: 2}, vnet.Step{Kind: vnet.Deliver, From: 1, Node: 2}),
			`  1. node 2 asks: REQUEST 2→1 2→3 clock=1
  2. REQUEST 2→3 clock=1 is lost
  3. REQUEST 2→1 clock=1 arrives, and will again: TOKEN 1→2 vec=[0 0 0]
  4. TOKEN 1→2 vec=[0 0 0] arrives, and will again: node 2 enters
  5. node 2 leaves
  6. TOKEN 1→2 vec=[0 0 0] arrives: refused, TOKEN without a request`,
		},
		"start and stop": {
			played(t, tokenring.Algorithm(), Options{Nodes: 2, Requests: 1},
				vnet.Step{Kind: vnet.Deliver, From: 1, Node: 2}, vnet.Step{Kind: vnet.Ask, Node: 1}, vnet.Step{Kind: vnet.Deliver, From: 2, Node: 1},
				vnet.Step{Kind: vnet.Leave, Node: 1}, vnet.Step{Kind: vnet.Stop, Node: 2}),
			`  0. node 1 starts: TOKEN 1→2
  1. TOKEN 1→2 arrives: TOKEN 2→1
  2. node 1 asks
  3. TOKEN 2→1 arrives: node 1 enters
  4. node 1 leaves: TOKEN 1→2
  5. node 2 is told that no more requests will come`,
		},
		"timers": {
			played(t, implicit(2), Options{Nodes: 2, Requests: 2},
				vnet.Step{Kind: vnet.Ask, Node: 1}, vnet.Step{Kind: vnet.Deliver, From: 1, Node: 2}, vnet.Step{Kind: vnet.Fire, Node: 1}),
			`  1. node 1 asks: REQUEST 1→2 clock=1, timer 0 set to 20ms
  2. REQUEST 1→2 clock=1 arrives
  3. timer 0 of node 1 fires: node 1 enters`,
		},
		"readers": {
			played(t, library(), Options{Nodes: 2, Requests: 2}, vnet.Step{Kind: vnet.AskShared, Node: 1}, vnet.Step{Kind: vnet.Ask, Node: 2}),
			`  1. node 1 asks, as a reader: node 1 enters
  2. node 2 asks: node 2 enters`,
		},
	} {
		if got := strings.Join(c.trace.Lines(), "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
	}
}

// The picture has an arrow for every arrival, at the row of its line, and shows
// who is where he should not be.
func TestDiagram(t *testing.T) {
	r, err := Exhaustive(t.Context(), lamport.Algorithm(), Options{Nodes: 2, Requests: 2, Unordered: true, Workers: 1})
	if err != nil || r.Trace == nil {
		t.Fatal(r.Violation, err)
	}
	d := r.Trace.Diagram()
	if len(d.Lanes) != 2 || d.Last != len(r.Trace.Events) || !slices.Equal(d.Bad, []int{d.Last}) || d.Caption[0] != r.Violation.Verdict {
		t.Errorf("%+v", d)
	}
	arrivals := map[int]bool{}
	for _, m := range d.Messages {
		if m.Fate == spacetime.Arrives {
			arrivals[m.End] = true
			if m.Sent >= m.End || m.From == m.To {
				t.Errorf("%+v", m)
			}
		}
	}
	for i, e := range r.Trace.Events {
		if arrivals[i+1] != (e.Kind == vnet.Deliver) {
			t.Errorf("row %d is %v", i+1, e.Step)
		}
	}
	if len(d.Sections) != 2 || !d.Sections[0].Bad || !d.Sections[1].Bad || d.Sections[0].Leave != 0 {
		t.Errorf("sections %+v", d.Sections)
	}
	if len(d.SVG()) == 0 {
		t.Error("no picture")
	}
	explained(t, r.Trace, d)
	stall, err := Exhaustive(t.Context(), silence(), Options{Nodes: 3, Requests: 1})
	if err != nil || !slices.Equal(stall.Trace.Diagram().Ends, []string{"waits", "", ""}) {
		t.Errorf("%+v, %v", stall.Trace.Diagram(), err)
	}
}

// explained fails the test where the picture does not say what the steps have
// changed at their nodes, and what these hold at the end.
func explained(t *testing.T, trace *Trace, d *spacetime.Diagram) {
	t.Helper()
	for i, e := range trace.Events {
		if e.Kind != vnet.Ask { // of which each changes the node's own queue
			continue
		}
		if !slices.ContainsFunc(d.Notes, func(n spacetime.Note) bool {
			return n.Row == i+1 && n.Lane == int(e.Node)-1 && strings.Contains(n.Text, "request_queue=[(")
		}) {
			t.Errorf("row %d, %v, does not say what it changes: %+v", i+1, e.Step, d.Notes)
		}
	}
	for lane, state := range d.States {
		for _, line := range state {
			if !strings.Contains(trace.States[lane], line) {
				t.Errorf("node %d has %q at the end, not %q", lane+1, trace.States[lane], line)
			}
		}
		if !slices.ContainsFunc(state, func(line string) bool { return strings.HasPrefix(line, "request_queue=") }) {
			t.Errorf("node %d: no queue among %q", lane+1, state)
		}
	}
	if len(d.States) != trace.Nodes {
		t.Errorf("states of %d nodes", len(d.States))
	}
}

// Of a long schedule the end is drawn.
func TestLongDiagram(t *testing.T) {
	var steps []vnet.Step
	o := Options{Nodes: 2, Requests: 1, Patience: 1 << 20}
	for i := range 3 * maxRows {
		to := dme.NodeID(2 - i%2)
		steps = append(steps, vnet.Step{Kind: vnet.Deliver, From: 3 - to, Node: to})
	}
	d := played(t, tokenring.Algorithm(), o, steps...).Diagram()
	if d.First != 2*maxRows+1 || d.Last != 3*maxRows {
		t.Errorf("rows %d to %d", d.First, d.Last)
	}
}
