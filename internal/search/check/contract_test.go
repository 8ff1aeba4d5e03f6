package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/dme/collections"
	"dmebench/dme/vnet"
	"dmebench/internal/record/spacetime"
)

// clerk is a node of an algorithm in which node 1 lets in one node after another. It
// tells the others the timestamp of its own requests, which they keep. They have a
// clock that rises with each of their requests alone, and some enter at once where
// their clocks have a value that their rule likes.
type clerk struct {
	id, n   dme.NodeID
	rule    func(clock uint64, known, request dme.Stamp) bool // clock: before it rises for request
	plain   bool                                              // the clock is shown as one that does more than rise
	clock   uint64
	known   dme.Stamp // of node 1's last request
	request dme.Stamp
	at      dme.NodeID // node 1: who is inside
	queue   collections.NodeQueue
}

const (
	clerkNews    dme.Kind = iota + 1 // of node 1's request
	clerkRequest                     // of another node
	clerkGrant
	clerkRelease
)

func clerks(name string, plain bool, rule func(clock uint64, known, request dme.Stamp) bool) *dme.Algorithm {
	a := toy(name, func(id dme.NodeID, n int) dme.Node {
		return &clerk{id: id, n: dme.NodeID(n), rule: rule, plain: plain}
	}, "NEWS", "REQUEST", "GRANT", "RELEASE")
	a.Needs = dme.Always(dme.Needs{Reliable: true, FIFO: true})
	a.Clocks = func(_ int, from dme.NodeID, m *dme.Message, v *dme.Visitor) {
		if m.Kind == clerkNews {
			v.Timestamp("", from, &m.Clock)
		}
	}
	return a
}

func (c *clerk) Request(out *dme.Outbox) {
	before := c.clock
	c.clock++
	c.request = dme.Stamp{Clock: c.clock, Node: c.id}
	switch {
	case c.id == 1:
		out.Broadcast(dme.Message{Kind: clerkNews, Clock: c.clock})
		c.queue.Push(1)
		c.serve(out)
	case !c.known.IsZero() && c.rule(before, c.known, c.request):
		out.Enter(dme.Stamp{})
	default:
		out.Send(1, dme.Message{Kind: clerkRequest})
	}
}

func (c *clerk) Release(out *dme.Outbox) {
	c.request = dme.Stamp{}
	if c.id == 1 {
		c.at = dme.None
		c.serve(out)
		return
	}
	out.Send(1, dme.Message{Kind: clerkRelease})
}

func (c *clerk) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case clerkNews:
		c.known = dme.Stamp{Clock: m.Clock, Node: from}
	case clerkRequest:
		c.queue.Push(from)
		c.serve(out)
	case clerkGrant:
		out.Enter(dme.Stamp{})
	case clerkRelease:
		c.at = dme.None
		c.serve(out)
	}
}

func (c *clerk) serve(out *dme.Outbox) {
	if c.at != dme.None || c.queue.Empty() {
		return
	}
	c.at = c.queue.Pop()
	if c.at == 1 {
		out.Enter(dme.Stamp{})
		return
	}
	out.Send(c.at, dme.Message{Kind: clerkGrant})
}

func (c *clerk) State(v *dme.Visitor) {
	if c.plain {
		v.Clock("clock", &c.clock)
	} else {
		v.Rising("clock", c.id, &c.clock)
	}
	v.Stamp("known", &c.known)
	v.Stamp("request", &c.request)
	v.Node("at", &c.at)
	c.queue.Show(v, "queue")
}

// Of a handler that does more with its clocks than it says nothing is proven, and no
// property is said to hold in every state: it is found to be unsafe, or there is no
// verdict.
func TestNothingIsProvenOfABrokenContract(t *testing.T) {
	// The clock has not passed what the timestamp made of it in the same event is after.
	tie := func(clock uint64, known, request dme.Stamp) bool {
		return dme.Stamp{Clock: clock, Node: request.Node}.Precedes(known) && known.Precedes(request)
	}
	inNobody := func(uint64, dme.Stamp, dme.Stamp) bool { return false }
	for _, c := range []struct {
		name string
		rule func(clock uint64, known, request dme.Stamp) bool
	}{
		{"tie", tie},
		{"successor", func(clock uint64, known, _ dme.Stamp) bool { return known.Clock == clock+1 }},
		{"constant", func(clock uint64, _, _ dme.Stamp) bool { return clock == 3 }},
		{"modulus", func(clock uint64, _, _ dme.Stamp) bool { return clock%4 == 3 }},
		{"arithmetic", func(clock uint64, known, _ dme.Stamp) bool { return clock >= known.Clock+3 }},
	} {
		unsafe, err := Exhaustive(t.Context(), clerks(c.name, false, c.rule), Options{Nodes: 2, Requests: 10})
		if err != nil || unsafe.Violation == nil {
			t.Fatalf("%s: %+v, %v; want it to be unsafe", c.name, unsafe.Violation, err)
		}
		reduced, err := Exhaustive(t.Context(), clerks(c.name, false, c.rule), Options{Nodes: 2, Requests: 10, Reduce: true})
		givesNoVerdict(t, c.name+", exhaustive", reduced.Violation == nil && reduced.Complete, err)
		for _, n := range []int{2, 3} {
			s, err := New(clerks(c.name, false, c.rule), Options{Nodes: n, Unlimited: true, InFlight: 1})
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Liveness(t.Context())
			givesNoVerdict(t, c.name+", liveness", r.Proven, err)
		}
	}
	r := livenessOf(t, clerks("tie", true, tie), Options{Nodes: 2, InFlight: 1})
	if r.Verdict != Unsafe {
		t.Errorf("where the clock is shown as one that does more than rise: %+v, want what it does to be found", r)
	}
	for _, plain := range []bool{false, true} {
		r := livenessOf(t, clerks("right", plain, inNobody), Options{Nodes: 3, InFlight: 1})
		if !r.Proven {
			t.Errorf("%+v", r)
		}
	}
}

func givesNoVerdict(t *testing.T, what string, right bool, err error) {
	t.Helper()
	if err == nil {
		if right {
			t.Errorf("%s: nothing was found, and nothing refused", what)
		}
		return
	}
	for _, want := range []string{"Request of node 2", "node 2 is idle: clock=", "(clock, known, ", "where clocks are lower", "Visitor.Uint"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q is not in the error: %v", what, want, err)
		}
	}
}

func onMedium(nodes, requests int) Options {
	return Options{Nodes: nodes, Requests: requests, Set: map[string]string{"form": "sequenced"}}
}

// TestSequencedMedium follows random schedules: every node hears the same, its
// own broadcasts among it, though not always in the order of sending.
func TestSequencedMedium(t *testing.T) {
	const nodes = 4
	search, err := New(ricartagrawala.Broadcast(), onMedium(nodes, 12))
	if err != nil {
		t.Fatal(err)
	}
	overtaken := false
	for seed := range uint64(50) {
		m, err := search.model.WithSeed(seed + 1)
		if err != nil {
			t.Fatal(err)
		}
		c := vnet.New(m)
		taken := search.random(m, nil).taken
		var sent []string // "2#5": the fifth broadcast of node 2
		said := map[dme.NodeID]int{}
		heard := map[dme.NodeID][]string{}
		count := map[[2]dme.NodeID]int{}
		for _, x := range taken {
			e := c.Do(x)
			messages := 0
			for _, effect := range e.Effects {
				if effect.Kind == dme.EffectSend {
					messages++
				}
			}
			if x.Kind == vnet.Deliver {
				link := [2]dme.NodeID{x.From, x.Node}
				count[link]++
				heard[x.Node] = append(heard[x.Node], fmt.Sprintf("%v#%d", x.From, count[link]))
			}
			if n := messages; n != 0 && n != nodes {
				t.Fatalf("%v: a broadcast is sent to %d nodes", x, n)
			} else if n > 0 {
				said[x.Node]++
				sent = append(sent, fmt.Sprintf("%v#%d", x.Node, said[x.Node]))
			}
			for _, other := range heard {
				n := min(len(other), len(heard[1]))
				if !slices.Equal(other[:n], heard[1][:n]) {
					t.Fatalf("seed %d: nodes hear %v and %v", seed, other, heard[1])
				}
			}
		}
		if c.Violation != nil || len(sent) != 24 {
			t.Fatalf("seed %d: %v, %d broadcasts", seed, c.Violation, len(sent))
		}
		for id := range c.IDs() {
			if len(heard[id]) != len(sent) {
				t.Errorf("seed %d: node %d has heard %d of %d broadcasts", seed, id, len(heard[id]), len(sent))
			}
		}
		overtaken = overtaken || !slices.Equal(heard[1], sent)
	}
	if !overtaken {
		t.Error("no broadcast ever comes before one that was sent earlier")
	}
}

// Without the medium the sequenced form breaks: nobody hears his own requests.
func TestSequencedFormNeedsTheMedium(t *testing.T) {
	for name, spoil := range map[string]func(*Options){
		"unordered":  func(o *Options) { o.Unordered = true },
		"duplicates": func(o *Options) { o.Duplicate = true },
		"losses":     func(o *Options) { o.Lose = 1 },
	} {
		o := onMedium(2, 2)
		spoil(&o)
		r, err := Exhaustive(t.Context(), ricartagrawala.Broadcast(), o)
		if err != nil || r.Violation == nil || r.Violation.Property != Progress {
			t.Errorf("%s: %v, %v, want a standstill", name, r.Violation, err)
		}
		search, err := New(ricartagrawala.Broadcast(), o)
		if err != nil || !strings.Contains(strings.Join(search.Notes(), "\n"), "do not give it") {
			t.Errorf("%s: notes %q, %v", name, search.Notes(), err)
		}
	}
}

// eager is the sequenced form with a fault that only the order of broadcasts
// shows: a node takes its own request for the first before it has heard it.
func eager() *dme.Algorithm {
	a := *ricartagrawala.Broadcast()
	prepare := a.Prepare
	a.Prepare = func(c dme.Config) (dme.System, error) {
		s, err := prepare(c)
		return eagerSystem{s}, err
	}
	return &a
}

type eagerSystem struct{ dme.System }

func (s eagerSystem) Node(id dme.NodeID) dme.Node {
	return &eagerNode{Node: s.System.Node(id)}
}

type eagerNode struct{ dme.Node }

func (n *eagerNode) Request(out *dme.Outbox) {
	n.Node.Request(out)
	n.Node.(dme.Monitor).Transmitted(dme.Message{Kind: 1}, out)
}

func TestFaultsOnAMediumAreFound(t *testing.T) {
	r, err := Exhaustive(t.Context(), eager(), onMedium(2, 2))
	if err != nil || r.Violation == nil || r.Violation.Property != vnet.Exclusion {
		t.Fatalf("%v, %v, want two nodes inside", r.Violation, err)
	}
	if lines := r.Trace.Lines(); len(lines) != 2 {
		t.Errorf("the shortest schedule has two requests, not\n%s", strings.Join(lines, "\n"))
	}
	random, err := Random(t.Context(), eager(), onMedium(3, 6))
	if err != nil || random.Violation == nil {
		t.Errorf("at random: %v, %v", random.Violation, err)
	}
}

func TestOwnBroadcastsAreDrawnAsHeard(t *testing.T) {
	search, err := New(ricartagrawala.Broadcast(), onMedium(2, 2))
	if err != nil {
		t.Fatal(err)
	}
	trace, _ := search.replay(search.model, []vnet.Step{
		{Kind: vnet.Ask, Node: 1}, {Kind: vnet.Deliver, Node: 1, From: 1}, {Kind: vnet.Deliver, Node: 2, From: 1},
	}, false)
	d := trace.Diagram()
	if len(d.Messages) != 1 || d.Messages[0].From != 0 || d.Messages[0].To != 1 || d.Messages[0].End != 3 {
		t.Errorf("messages %+v, want one from node 1 to node 2", d.Messages)
	}
	heard := spacetime.Point{Lane: 0, Row: 2, Mark: spacetime.Dot, Label: "REQUEST heard"}
	if !slices.Contains(d.Points, heard) {
		t.Errorf("points %+v", d.Points)
	}
}
