package ricartagrawala

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/collections"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit"
)

func delayedSet(most int, more ...string) map[string]string {
	set := map[string]string{"increments": "priority", "most": fmt.Sprint(most), optLower: "delayed"}
	for i := 0; i < len(more); i += 2 {
		set[more[i]] = more[i+1]
	}
	return set
}

func delaysAt(net *conformance.Net, id dme.NodeID) *delayingNode {
	return net.Host(id).Node().(*delayingNode)
}

// again lets a node leave and ask in one instant.
func again(net *conformance.Net, id dme.NodeID) {
	net.Release(id)
	net.Request(id)
	net.Settle()
}

// Section 6.5, 2: node 1 monopolizes the critical section, until its numbers reach that of
// node 3, which asked while it was inside for the first time.
func TestMonopolyUntilForced(t *testing.T) {
	const most = 4
	net := conformance.Make(t, Priority(), 3, delayedSet(most))
	net.Request(1)
	net.Settle()
	net.Request(3) // with 1 + D
	net.Settle()
	for number := uint64(2); number <= 1+most; number++ {
		again(net, 1)
		net.WantInside(t, 1)
		if net.Fire() {
			t.Fatal("the end of the delay is still due, though node 1 has asked again")
		}
		n := delaysAt(net, 1)
		if n.ourSequenceNumber != number || n.highestSequenceNumber != number || !n.delayed.Has(3) {
			t.Fatalf("node 1 is inside with %d, has seen %d and delays %v; want number %d",
				n.ourSequenceNumber, n.highestSequenceNumber, n.delayed, number)
		}
	}
	again(net, 1)
	net.WantInside(t, 3)
	if n := delaysAt(net, 1); n.ourSequenceNumber != 2+most || len(n.delayed) > 0 {
		t.Errorf("node 1 waits with %d and delays %v", n.ourSequenceNumber, n.delayed)
	}
	net.Release(3)
	net.Settle()
	net.WantInside(t, 1)
	if err := net.Err(); err != nil || net.Refused() != 0 {
		t.Errorf("%v, %d refused", err, net.Refused())
	}
}

// What the claim about it measures is D, whatever the number of nodes, and nothing where
// REQUESTs are acted on as they are heard.
func TestMeasuredMonopoly(t *testing.T) {
	for _, nodes := range []int{2, 3, 9} {
		for _, most := range []int{1, 4, 8} {
			set := delayedSet(most)
			if got, ok := monopoly(conformance.Make(t, Priority(), nodes, set).Setting); !ok || got != float64(most) {
				t.Errorf("%d nodes, D=%d: %v, %v", nodes, most, got, ok)
			}
			set[optLower] = "heard"
			if got, ok := monopoly(conformance.Make(t, Priority(), nodes, set).Setting); !ok || got != 0 {
				t.Errorf("%d nodes, D=%d, heard: %v, %v", nodes, most, got, ok)
			}
		}
	}
}

// A node of higher priority is not delayed, and neither is a request that goes before the
// node's own: the two would wait for each other.
func TestWhoIsNotDelayed(t *testing.T) {
	net := conformance.Make(t, Priority(), 3, delayedSet(8))
	net.Request(3) // with 8
	net.Request(2) // with 4, before it has heard of that
	net.Request(1) // with 1
	net.Settle()
	net.WantInside(t, 1)
	again(net, 1) // with 2
	net.WantInside(t, 1)
	for range 2 {
		again(net, 1) // with 3 and 4
		net.WantInside(t, 1)
	}
	again(net, 1) // 5: forced to let node 2 go first, and not node 3
	net.WantInside(t, 2)
	if n := delaysAt(net, 1); !slices.Equal(n.delayed, collections.RequestQueue{{Clock: 8, Node: 3}}) {
		t.Errorf("node 1 delays %v, want 3's request alone", n.delayed)
	}
	net.Release(2)
	net.Settle()
	net.WantInside(t, 1)
}

// A node that does not ask again answers when the time is over, and until then keeps what
// comes.
func TestHoldEnds(t *testing.T) {
	net := conformance.Make(t, Priority(), 3, delayedSet(8, "hold", "5ms"))
	net.Request(1)
	net.Settle()
	net.Release(1)
	net.Request(3)
	for net.Deliver(3, 1, 0); len(net.InFlight(3, 2)) > 0; {
		net.Deliver(3, 2, 0)
	}
	if n := delaysAt(net, 1); !n.holding || !n.delayed.Has(3) {
		t.Fatalf("holding %v, delayed %v; want it kept", n.holding, n.delayed)
	}
	if e := net.InFlight(1, 3); len(e) > 0 {
		t.Fatalf("node 1 answers %+v", e)
	}
	net.Host(1).Timeout(holdTimer)
	net.Settle()
	net.WantInside(t, 3)
	if n := delaysAt(net, 1); n.holding || n.highestSequenceNumber != delaysAt(net, 3).ourSequenceNumber {
		t.Errorf("node 1 has not acted on it: %+v", n)
	}
}

// Every schedule of small systems, with timers that fire at any time, on links without
// order: safe, live and within the bounds that are claimed, of which that for two nodes is
// reached.
func TestDelayingExhaustively(t *testing.T) {
	for _, x := range []struct {
		nodes, requests, most int
		hold                  string
		reached               bool
	}{
		{2, 8, 1, "0s", true}, {2, 8, 3, "0s", true}, {2, 6, 2, "1ms", true}, {3, 3, 2, "0s", false},
	} {
		o := check.Options{
			Nodes: x.nodes, Requests: x.requests, Unordered: true, Set: delayedSet(x.most, "hold", x.hold),
			Bypass: (x.nodes - 1) * ((x.nodes-1)*x.most + 1),
		}
		r, err := check.Exhaustive(t.Context(), Priority(), o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil || !r.Complete {
			t.Errorf("%+v: %+v", x, r)
		}
		if o.Bypass--; x.reached {
			if r, err := check.Exhaustive(t.Context(), Priority(), o); err != nil || r.Violation == nil {
				t.Errorf("%+v: nobody is overtaken %d times: %+v, %v", x, o.Bypass+1, r, err)
			}
		}
	}
}

func TestHold(t *testing.T) {
	for value, ok := range map[string]bool{"0s": true, "3ms": true, "-1ms": false, "5": false, "x": false} {
		if _, err := Priority().Resolve(map[string]string{"hold": value}); (err == nil) != ok {
			t.Errorf("hold=%s: %v", value, err)
		}
	}
}

// TestDelayingMutantsAreCaught shows that each rule of the delay is needed. The text, which
// sets no end to it, is the first two.
func TestDelayingMutantsAreCaught(t *testing.T) {
	if !testkit.Full() {
		t.Skip("builds the package once for each mutant; with DMEBENCH_TESTS=full")
	}
	const stalls = "stalled: node"
	conformance.TestMutants(t, "^TestDelayingExhaustively$", []conformance.Mutant{
		{Name: "delays what goes before its own", File: "delaying.go", Caught: stalls,
			Old: "(n.holding || n.defers(r)):", New: "(n.holding || n.requestingCriticalSection):"},
		{Name: "the delay has no end", File: "delaying.go", Caught: stalls,
			Old: "\tfor len(n.delayed) > 0 {\n\t\tn.act(out)\n\t}\n", New: ""},
		{Name: "is never forced", File: "delaying.go", Caught: stalls,
			Old: "len(n.delayed) > 0 && n.delayed[0].Precedes(dme.Stamp{Clock: n.next(), Node: n.me});", New: "false;"},
		{Name: "answers without raising its number", File: "delaying.go", Caught: "two nodes",
			Old: "n.receiveRequest(n.delayed.Pop(), out)", New: "n.answer(n.delayed.Pop(), false, out)"},
	}...)
	// A request that is delayed could as well be on its way: only who looks finds out.
	conformance.TestMutants(t, "^(TestMonopolyUntilForced|TestMeasuredMonopoly|TestHoldEnds)$", []conformance.Mutant{
		{Name: "raises its number at once", File: "delaying.go", Caught: "want [1]",
			Old: "\t\tn.delayed.Insert(r)\n", New: "\t\tn.delayed.Insert(r)\n\t\tn.highestSequenceNumber = max(n.highestSequenceNumber, r.Clock)\n"},
		{Name: "the timer outlives the next request", File: "delaying.go", Caught: "still due",
			Old: "\t\tout.CancelTimer(holdTimer)\n", New: ""},
		{Name: "does not wait for its next request", File: "delaying.go", Caught: "want it kept",
			Old: "n.hold > 0 {", New: "false {"},
	}...)
}

// What rests on delays is claimed where increments give priority and lower ones are
// delayed, and nowhere else.
func TestDelayingIsClaimedOfDelays(t *testing.T) {
	claimed := 0
	for _, c := range Priority().Claims {
		if c.Set[optLower] != "delayed" {
			continue
		}
		for _, increments := range []string{"random", "priority"} {
			for _, lower := range []string{"heard", "delayed"} {
				setting := conformance.Make(t, Priority(), 3, map[string]string{"increments": increments, optLower: lower}).Setting
				setting.T, setting.E = time.Millisecond, time.Millisecond
				_, ok := c.Prediction(setting)
				if want := increments == "priority" && lower == "delayed"; ok != want {
					t.Errorf("%s %q: increments=%s, lower=%s: claimed: %v", c.Quantity, c.Formula, increments, lower, ok)
				}
				claimed++
			}
		}
	}
	if claimed == 0 {
		t.Error("nothing is claimed of delays")
	}
}
