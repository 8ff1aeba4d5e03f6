package check

import (
	"strings"
	"testing"

	"dmebench/dme"
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
	queue   dme.NodeQueue
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
	v.Queue("queue", &c.queue)
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
