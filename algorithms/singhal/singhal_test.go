package singhal

import (
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

func TestConformance(t *testing.T) { conformance.Test(t, Algorithm()) }

// The literal text lets two sites in, on links in order.
func TestAsPublishedIsUnsafe(t *testing.T) {
	err := conformance.Search(AsPublished(), 3, nil, 1000)
	if err == nil || !strings.Contains(err.Error(), conformance.Unsafe) {
		t.Fatalf("no schedule broke it; %v", err)
	}
	t.Log(err)
}

// With the request sets as initialized in the text, one request is enough.
func TestAsPublishedWaitsForItself(t *testing.T) {
	for n := 1; n <= 3; n++ {
		net := conformance.Make(t, AsPublished(), n, map[string]string{"initial": "printed"})
		if _, err := net.Serve(1); err == nil || !strings.Contains(err.Error(), "R={1}") {
			t.Errorf("on %d sites, site 1 has asked: %v", n, err)
		}
	}
}

// later makes a step of what follows the timer.
func later(body string) [2]string {
	const state = "func (s *site) State(v *dme.Visitor) {"
	return [2]string{state, "func (s *site) Timeout(_ dme.TimerID, out *dme.Outbox) {\n" + body + "\n}\n\n" + state}
}

const (
	ask      = "func (s *site) ask(j dme.NodeID, out *dme.Outbox) {\n"
	enter    = "\t\ts.requesting, s.executing = false, true // S2: together\n\t\tout.Enter(s.request)\n"
	priority = "return s.request.Precedes(r)"
	stamp    = "Clock: s.request.Clock}) // S4: not C_i"
)

// TestMutantsAreCaught shows that TestConformance and TestExercise98 can fail:
// they must, for every repair, and every rule of the text, taken out.
func TestMutantsAreCaught(t *testing.T) {
	// Invariants that are broken before two sites are inside, or all wait.
	const structure, answer = "information structure: ", "one answer: "
	mutant := func(name, caught string, edits ...[2]string) conformance.Mutant {
		return conformance.Mutant{
			Name: name, File: "singhal.go", Old: edits[0][0], New: edits[0][1], More: edits[1:], Caught: caught,
		}
	}
	conformance.TestMutants(t, "^TestConformance$",
		mutant("S1", conformance.Stalled,
			[2]string{"j < id; j++ { // S1", "j <= id; j++ { // S1"},
			[2]string{ask, ask + "\tif j == s.i {\n\t\treturn\n\t}\n"}),
		mutant("S2", conformance.Unsafe,
			[2]string{enter, "\t\ts.requesting = false\n\t\tout.SetTimer(0, 0)\n"},
			later("s.executing = true\nout.Enter(s.request)")),
		mutant("S3", answer,
			[2]string{enter, "\t\tout.SetTimer(0, 0)\n"},
			later("if s.requesting {\ns.requesting, s.executing = false, true\nout.Enter(s.request)\n}")),
		mutant("S4 in My_priority", structure, [2]string{priority, "return dme.Stamp{Clock: s.c, Node: s.i}.Precedes(r)"}),
		mutant("S4 in the second REQUEST", answer, [2]string{stamp, "Clock: s.c})"}),
		mutant("the second REQUEST", structure, [2]string{"\t\t\ts.r.Add(r.Node)\n\t\t\ts.ask(r.Node, out)\n", ""}),
		mutant("who leaves must ask next time", structure,
			[2]string{"\t\ts.reply(k, out)\n\t\ts.r.Add(k.Node)\n", "\t\ts.reply(k, out)\n"}),
	)
	conformance.TestMutants(t, "^TestExercise98$",
		mutant("who replies at rest must ask next time", structure,
			[2]string{"\tdefault:\n\t\ts.r.Add(r.Node)\n", "\tdefault:\n"}),
	)
}

// Silent moments count where the request sets are no staircase, or not one of the site
// that executed last.
func TestMomentsWithoutAStaircase(t *testing.T) {
	s := conformance.Make(t, Algorithm(), 3, nil).Setting
	m := newStairs(s)
	wants := func(moments float64, any bool) {
		t.Helper()
		if got, ok := m.Value(); got != moments || ok != any {
			t.Errorf("%v moments, %v; want %v, %v", got, ok, moments, any)
		}
	}
	wants(0, false)
	serve := func(id dme.NodeID) {
		for _, what := range []dme.Occasion{dme.HasAsked, dme.HasEntered, dme.HasLeft} {
			m.Note(dme.Moment{What: what, ID: id, Node: s.System.Node(id)})
		}
	}
	serve(3)
	wants(1, true) // site 1 is at the right end
	serve(1)
	wants(1, true)
}

// The invariants can be broken: each of these states breaks one.
func TestInvariants(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *site { return n.Host(id).Made().(*site) }
	conformance.TestInvariants(t, Algorithm(),
		conformance.Breach{
			Invariant: "information structure", Nodes: 3, Says: "node 3 is not in R of node 1, nor node 1 in that of node 3",
			Fault: func(n *conformance.Net) { at(n, 3).r.Remove(1) },
		},
		conformance.Breach{
			Invariant: "one answer", Nodes: 3, Says: "node 3 awaits 0 REPLYs of node 1, in whose I it stands 0 times, with 1 REQUESTs",
			Fault: func(n *conformance.Net) { n.Request(3); at(n, 3).r.Remove(1) },
		},
		conformance.Breach{
			Invariant: "one answer", Nodes: 3, Says: "node 2 awaits 1 REPLYs of node 1, in whose I it stands 1 times, with 1 REQUESTs",
			Fault: func(n *conformance.Net) { n.Request(2); at(n, 1).inform.Add(dme.Stamp{Clock: 1, Node: 2}) },
		},
	)
}

func TestRefusals(t *testing.T) {
	request := func(clock uint64) dme.Message {
		return dme.Message{Kind: kindRequest, Clock: clock}
	}
	reply := func(number uint64) dme.Message {
		return dme.Message{Kind: kindReply, Clock: 9, Req: dme.Stamp{Clock: number, Node: 3}}
	}
	start := func() *conformance.Net {
		net := conformance.Make(t, Algorithm(), 3, nil)
		if _, err := net.Serve(3); err != nil {
			t.Fatal(err)
		}
		for _, i := range []dme.NodeID{1, 2} { // so that site 3 must ask them again
			if _, err := net.Serve(i); err != nil {
				t.Fatal(err)
			}
		}
		at(net, 3).c = 1
		net.Request(3) // with clock 2
		return net
	}
	conformance.TestRefusals(t, 1, 3, start, map[string][]dme.Message{
		"REQUEST without a clock":                {request(0)},
		"REQUEST of a clock that would overflow": {request(latest + 1)},
		"REQUEST twice":                          {request(9), request(9)},
		"REPLY to an earlier request":            {reply(1)},
		"REPLY to another site's request":        {{Kind: kindReply, Clock: 9, Req: dme.Stamp{Clock: 2, Node: 2}}},
		"REPLY twice":                            {reply(2), reply(2)},
	})
}

func TestStateHasTheTextsNames(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 3, nil)
	net.Request(2)
	net.Request(3)
	net.Deliver(3, 2, 0)
	const want = "C=1 R={1} I=[(1,3)] Requesting=true Executing=false request=(1,2)"
	if got := dme.DescribeState(net.Host(2).Node()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// cycle is what one entry costs under saturation: the request, all replies, all
// requests of the others, and the release.
func cycle(s *site, n int, out *dme.Outbox) {
	s.Request(out)
	for j := dme.NodeID(1); int(j) <= n; j++ {
		if s.r.Has(j) {
			out.Reset()
			s.Receive(j, dme.Message{Kind: kindReply, Clock: s.c, Req: s.request}, out)
		}
	}
	for j := dme.NodeID(n); j >= 1; j-- { // the worst order for the list
		if j != s.i {
			out.Reset()
			s.Receive(j, dme.Message{Kind: kindRequest, Clock: s.c}, out)
		}
	}
	out.Reset()
	s.Release(out)
	out.Reset()
}

func TestNoAllocationPerEvent(t *testing.T) {
	const n = 64
	s := system{nodes: n}.Node(n).(*site)
	var out dme.Outbox
	cycle(s, n, &out) // the list grows to its length
	if got := testing.AllocsPerRun(100, func() { cycle(s, n, &out) }); got != 0 {
		t.Errorf("%v allocations per entry", got)
	}
}

// BenchmarkHandlers measures the handlers alone, per message received.
func BenchmarkHandlers(b *testing.B) {
	const n = 64
	s := system{nodes: n}.Node(n).(*site)
	var out dme.Outbox
	cycle(s, n, &out)
	messages := 0
	for b.Loop() {
		cycle(s, n, &out)
		messages += 2 * (n - 1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(messages), "ns/message")
}
