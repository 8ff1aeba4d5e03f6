package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/algorithms/lamport"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/algorithms/tokenring"
	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/runtime/noderun"
)

// twin counts the states of a search the dumb way: every state is its text,
// and is reached by running its whole schedule again. It returns the steps
// taken too, and the first violation, by breadth.
func twin(t *testing.T, a *dme.Algorithm, o Options) (states, steps uint64, depth int, violation *vnet.Violation) {
	search, err := New(a, o)
	if err != nil {
		t.Fatal(err)
	}
	run := func(path []vnet.Step) *twinState {
		s := &twinState{Network: vnet.New(search.model), path: path, overtaken: map[dme.NodeID]int{}}
		for _, x := range path {
			e := s.Do(x)
			if x.Kind == dme.Request || x.Kind == dme.RequestShared {
				s.overtaken[x.Node] = 0
			}
			if e.Entered() {
				for _, id := range s.Waiting() {
					s.overtaken[id]++
				}
			}
		}
		return s
	}
	seen := map[string]bool{run(nil).text(): true}
	for layer := [][]vnet.Step{nil}; len(layer) > 0; {
		var next [][]vnet.Step
		for _, path := range layer {
			s := run(path)
			if s.Stuck() {
				return 0, 0, len(path), stalled(s.Waiting())
			}
			for _, x := range s.distinct(s.Enabled(nil)) {
				steps++
				after := run(append(slices.Clone(path), x))
				if after.Violation != nil {
					return 0, 0, len(after.path), after.Violation
				}
				if key := after.text(); !seen[key] {
					seen[key] = true
					next = append(next, after.path)
				}
			}
		}
		layer = next
		if len(layer) > 0 {
			depth++
		}
	}
	return uint64(len(seen)), steps, depth, nil
}

// twinState is a network and the steps that led to its state.
type twinState struct {
	*vnet.Network
	path      []vnet.Step
	overtaken map[dme.NodeID]int
}

// distinct leaves out steps that do the same to an equal message of the same link.
func (s *twinState) distinct(steps []vnet.Step) []vnet.Step {
	seen := map[string]bool{}
	return slices.DeleteFunc(steps, func(x vnet.Step) bool {
		if x.Kind != dme.Receive && x.Kind != dme.Copy && x.Kind != dme.Lose {
			return false
		}
		key := fmt.Sprintf("%v %s", x.Kind, s.flights(x.From, x.Node)[x.Index])
		again := seen[key]
		seen[key] = true
		return again
	})
}

// flights describes the messages of a link, in the order of sending.
func (s *twinState) flights(from, to dme.NodeID) (all []string) {
	for _, f := range s.InFlight() {
		if f.From == from && f.To == to {
			all = append(all, fmt.Sprintf("%+v", f))
		}
	}
	return all
}

// text is everything about the state in words.
func (s *twinState) text() string {
	var b strings.Builder
	for from := range s.IDs() {
		activity := s.Activity(from)
		done := func(kinds ...dme.EventKind) (times int) {
			for _, x := range s.path {
				if x.Node == from && slices.Contains(kinds, x.Kind) {
					times++
				}
			}
			return times
		}
		fmt.Fprintf(&b, "%v shared=%v asked=%d stopped=%d %s\n", activity, s.Reads(from) && activity != noderun.Idle,
			done(dme.Request, dme.RequestShared), done(dme.Stop), dme.DescribeState(s.Node(from)))
		if s.Bypass > 0 && activity == noderun.Requesting {
			fmt.Fprintf(&b, "overtaken %d\n", s.overtaken[from])
		}
		for to := range s.IDs() {
			flights := s.flights(from, to)
			if s.Unordered {
				slices.Sort(flights)
			}
			fmt.Fprintln(&b, to, flights)
		}
	}
	lost := slices.DeleteFunc(slices.Clone(s.path), func(x vnet.Step) bool { return x.Kind != dme.Lose })
	fmt.Fprintf(&b, "lost %d timers %+v\n", len(lost), s.Timers())
	crashed := slices.DeleteFunc(slices.Clone(s.path), func(x vnet.Step) bool { return x.Kind != dme.Crash })
	fmt.Fprintf(&b, "crashed %d\n", len(crashed))
	return b.String()
}

// The search visits exactly the states that its twin does, by as many steps, and if it packs them, too.
func TestTwin(t *testing.T) {
	for _, c := range []struct {
		name string
		alg  *dme.Algorithm
		o    Options
	}{
		{"", centralized.Algorithm(), Options{Nodes: 2, Requests: 4}},
		{"", centralized.Algorithm(), Options{Nodes: 3, Requests: 4, Unordered: true}},
		{"", tokenring.Algorithm(), Options{Nodes: 3, Requests: 3}},
		{"demand", tokenring.Algorithm(), Options{Nodes: 3, Requests: 3, Unordered: true, Set: map[string]string{"mode": "demand"}}},
		{"", lamport.Algorithm(), Options{Nodes: 2, Requests: 3}},
		{"", ricartagrawala.Algorithm(), Options{Nodes: 2, Requests: 4}},
		{"", ricartagrawala.Algorithm(), Options{Nodes: 3, Requests: 2, Unordered: true}},
		{"", suzukikasami.Algorithm(), Options{Nodes: 3, Requests: 2, Unordered: true}},
		{"", raymond.Algorithm(), Options{Nodes: 3, Requests: 3}},
		{"", maekawa.Algorithm(), Options{Nodes: 3, Requests: 2}},
		{"numbered", maekawa.Algorithm(), Options{Nodes: 2, Requests: 3, Unordered: true, Set: map[string]string{"grants": "numbered"}}},
		{"bypass", ricartagrawala.Algorithm(), Options{Nodes: 2, Requests: 4, Bypass: 4}},
		{"duplicates", suzukikasami.Algorithm(), Options{Nodes: 2, Requests: 3, Duplicate: true}},
		{"duplicates in any order", suzukikasami.Algorithm(), Options{Nodes: 2, Requests: 3, Duplicate: true, Unordered: true}},
		{"", ricartagrawala.ReadersWriters(), Options{Nodes: 2, Requests: 3}},
		{"timers", algorithm(t, "implicit"), Options{Nodes: 2, Requests: 3}},
		{"more timers", algorithm(t, "implicit-patient"), Options{Nodes: 2, Requests: 2, Unordered: true}},
		{"on a medium", ricartagrawala.Broadcast(), Options{Nodes: 2, Requests: 4, Set: map[string]string{"form": "sequenced"}}},
		{"on a medium of three", ricartagrawala.Broadcast(), Options{Nodes: 3, Requests: 2, Set: map[string]string{"form": "sequenced"}}},
		{"chains", algorithm(t, "metronome"), Options{Nodes: 2, Requests: 1}},
		{"crashes", algorithm(t, "phoenix"), Options{Nodes: 2, Requests: 1, Faults: 2}},
		{"crashes of three", algorithm(t, "phoenix"), Options{Nodes: 2, Requests: 1, Faults: 1, Unordered: true, Duplicate: true}},
	} {
		t.Run(c.alg.Name+c.name, func(t *testing.T) {
			states, steps, depth, violation := twin(t, c.alg, c.o)
			for _, from := range []Bytes{packFrom, 0} {
				r, err := packing(from, c.alg, c.o)
				if err != nil {
					t.Fatal(err)
				}
				if violation != nil || r.Violation != nil {
					t.Fatalf("%v, the twin says %v", r.Violation, violation)
				}
				if r.States != states || r.Steps != steps || r.Depth != depth || !r.Complete {
					t.Errorf("packed from %v: %d states, %d steps, depth %d; the twin has %d, %d, %d",
						from, r.States, r.Steps, r.Depth, states, steps, depth)
				}
			}
			if states < 10 {
				t.Errorf("%d states show nothing", states)
			}
		})
	}
}

// packing searches exhaustively, and packs states if it holds as many bytes.
func packing(from Bytes, alg *dme.Algorithm, o Options) (Report, error) {
	defer func(before Bytes) { packFrom = before }(packFrom)
	packFrom = from
	return Exhaustive(context.Background(), alg, o)
}

// apart is an algorithm with an invariant about two of its nodes that soon does not hold: that
// b is never inside while a is idle.
func apart(alg *dme.Algorithm, a, b dme.NodeID) *dme.Algorithm {
	x := *alg
	x.Invariants = []dme.Invariant{dme.PairInvariant("apart", "a test", "", func(v dme.GlobalView, i, j dme.NodeID, _, _ dme.Node) error {
		if i == a && j == b && v.Activity(a) == dme.Idle && v.Activity(b) == dme.Inside {
			return dme.Broken([]dme.NodeID{a, b}, "%d is inside alone", b)
		}
		return nil
	})}
	return &x
}

// Where something is broken, both meet it, by schedules of the same length, and so does a
// search that keeps a few bits of each state.
func TestTwinOfWhatIsBroken(t *testing.T) {
	type example struct {
		alg *dme.Algorithm
		o   Options
	}
	var pairs []example
	for a := dme.NodeID(1); a <= 4; a++ {
		for b := dme.NodeID(1); b <= 4; b++ {
			if a != b { // what a step of a third node lets in, too
				pairs = append(pairs, example{apart(centralized.Algorithm(), a, b), Options{Nodes: 4, Requests: 4}})
			}
		}
	}
	for _, c := range append(pairs, []example{
		{lamport.Algorithm(), Options{Nodes: 2, Requests: 2, Unordered: true}},
		{suzukikasami.Algorithm(), Options{Nodes: 2, Requests: 2, Lose: 1}},
		{ricartagrawala.Algorithm(), Options{Nodes: 2, Requests: 2, Lose: 1}},
		{raymond.Algorithm(), Options{Nodes: 3, Requests: 3, Lose: 1}},
		{algorithm(t, "non-atomic"), Options{Nodes: 2, Requests: 2}},
		{ricartagrawala.Algorithm(), Options{Nodes: 2, Requests: 2, Faults: 1}},
		{raymond.Algorithm(), Options{Nodes: 3, Requests: 3, Faults: 1}},
		{suzukikasami.Algorithm(), Options{Nodes: 2, Requests: 2, Faults: 1, Unordered: true}},
	}...) {
		_, _, depth, violation := twin(t, c.alg, c.o)
		r, err := Exhaustive(t.Context(), c.alg, c.o)
		if err != nil || r.Violation == nil || violation == nil || r.Violation.Property != violation.Property {
			t.Errorf("%s: %v, %v; the twin says %v", c.alg.Name, r.Violation, err, violation)
			continue
		}
		if steps := len(r.Trace.Events); steps != depth {
			t.Errorf("%s: %v after %d steps, where the twin needs %d", c.alg.Name, r.Violation, steps, depth)
		}
		c.o.Bitstate = 1 << 20
		if r, err := Exhaustive(t.Context(), c.alg, c.o); err != nil || r.Violation == nil {
			t.Errorf("%s: a search that keeps bits of states finds %v, %v", c.alg.Name, r.Violation, err)
		}
	}
}
