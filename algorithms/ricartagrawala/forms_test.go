package ricartagrawala

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
)

// Two messages for each other node are claimed as long as a critical section takes no
// longer than nodes expect.
func TestWhereCriticalSectionsAreAsExpected(t *testing.T) {
	net := conformance.Make(t, Robust(), 3, nil)
	s := net.Setting
	expected := s.System.(*robustSystem).csBound
	for e, want := range map[time.Duration]bool{0: true, expected: true, expected + 1: false} {
		s.E = e
		claimed := 0
		for _, c := range claim.Of(Robust()) {
			if c.Quantity != claim.MessagesPerCS {
				continue
			}
			claimed++
			if got, ok := c.Prediction(s); ok != want || ok && got != 4 {
				t.Errorf("%s, E=%v: %v, %v; want 4, %v", c.Load, e, got, ok, want)
			}
		}
		if claimed < 2 {
			t.Errorf("only %d claims of messages per CS", claimed)
		}
	}
}

// forms are the modifications of sections 6.1 to 6.3, with what an isolated
// request costs on n > 1 nodes.
var forms = []struct {
	algorithm               func() *dme.Algorithm
	option, value           string
	messages, transmissions func(n int) int
}{
	// Without contention nobody says anything.
	{Implicit, "broadcast", "false", func(n int) int { return n - 1 }, func(n int) int { return n - 1 }},
	{Implicit, "broadcast", "true", func(n int) int { return n - 1 }, func(int) int { return 1 }},
	// One of the transmissions is the REQUEST.
	{Broadcast, "form", "listed", func(n int) int { return 2 * (n - 1) }, func(n int) int { return n }},
	{Broadcast, "form", "sequenced", func(n int) int { return 2 * (n - 1) }, func(int) int { return 2 }},
	// Once round the ring.
	{Ring, "form", "echo", func(n int) int { return n }, func(n int) int { return n }},
	{Ring, "form", "notes", func(n int) int { return n }, func(n int) int { return n }},
}

func TestIsolatedRequests(t *testing.T) {
	for _, f := range forms {
		for _, nodes := range []int{1, 2, 3, 8, 13} {
			want := [2]int{f.messages(nodes), f.transmissions(nodes)}
			if nodes == 1 {
				want = [2]int{}
			}
			net := conformance.Make(t, f.algorithm(), nodes, map[string]string{f.option: f.value})
			for i := range nodes {
				before := net.Transmissions()
				messages, err := net.Serve(dme.NodeID(i + 1))
				if got := [2]int{int(messages), int(net.Transmissions() - before)}; got != want || err != nil {
					t.Errorf("%s %s, N=%d: messages and transmissions %d, want %d; %v", net.Algorithm.Name, f.value, nodes, got, want, err)
				}
			}
		}
	}
}

// All ask at once, and are served in the order of their numbers. Each pair of
// nodes has one deferral: it costs another message of section 6.1 and of notes.
func TestBurst(t *testing.T) {
	const nodes, pairs = 8, 8 * 7 / 2
	for _, c := range []struct {
		algorithm *dme.Algorithm
		set       map[string]string
		want      uint64
	}{
		{Implicit(), nil, nodes*(nodes-1) + 2*pairs},
		{Ring(), map[string]string{"form": "echo"}, nodes * nodes},
		{Ring(), map[string]string{"form": "notes"}, nodes*nodes + pairs},
	} {
		net := conformance.Make(t, c.algorithm, nodes, c.set)
		for i := range nodes {
			net.Request(dme.NodeID(i + 1))
		}
		for i := dme.NodeID(1); i <= nodes; i++ {
			net.Elapse()
			net.WantInside(t, i)
			net.Release(i)
		}
		net.Elapse()
		if net.Sent() != c.want || net.Err() != nil {
			t.Errorf("%s %v: %d messages, want %d; %v", c.algorithm.Name, c.set, net.Sent(), c.want, net.Err())
		}
	}
}

// saturate lets all nodes ask again as soon as they leave, and returns what the
// counter says of an entry once that is steady.
func saturate(t *testing.T, net *conformance.Net, counter func() uint64) float64 {
	t.Helper()
	const warmUp, rounds = 2, 10
	nodes := net.Setting.Nodes
	for i := range nodes {
		net.Request(dme.NodeID(i + 1))
	}
	var before uint64
	for k := range (warmUp + rounds) * nodes {
		net.Elapse()
		in := net.Inside()
		if len(in) != 1 {
			t.Fatalf("%v are in the critical section\n%s", in, net.States())
		}
		if k == warmUp*nodes {
			before = counter()
		}
		i := in[0]
		net.Release(i)
		net.Request(i)
	}
	net.Elapse()
	if err := net.Err(); err != nil {
		t.Fatal(err)
	}
	return float64(counter()-before) / float64(rounds*nodes)
}

// The claim of at most 2(N−1) is false where everybody always asks: each
// request is deferred by all others, at two messages for a deferral.
func TestSaturationCostsThreeMessagesPerNode(t *testing.T) {
	const nodes = 8
	net := conformance.Make(t, Implicit(), nodes, nil)
	if per := saturate(t, net, net.Sent); per != 3*(nodes-1) {
		t.Errorf("%v messages per entry, want %d", per, 3*(nodes-1))
	}
	claims := slices.DeleteFunc(claim.Of(Implicit()), func(c claim.Claim) bool { return c.KnownFalse == "" })
	if len(claims) != 1 || claims[0].Formula != "2(N−1)" || claims[0].Load != claim.AnyLoad {
		t.Errorf("the claim that this test refutes is not marked as false: %+v", claims)
	}
}

// The audience of a REPLY grows with contention: under saturation one answers
// all others, and an entry takes 2 transmissions.
func TestSaturationTakesTwoTransmissions(t *testing.T) {
	for _, form := range []string{"listed", "sequenced"} {
		net := conformance.Make(t, Broadcast(), 8, map[string]string{"form": form})
		if per := saturate(t, net, net.Transmissions); per != 2 {
			t.Errorf("%s: %v transmissions per entry, want 2", form, per)
		}
	}
}

// A REPLY lists two numbers for each other node, and no more than a message holds.
func TestMostNodesOfABroadcastReply(t *testing.T) {
	const most = dme.MaxVec/2 + 1
	for form, limited := range map[string]bool{"listed": true, "sequenced": false} {
		opt, err := Broadcast().Resolve(map[string]string{"form": form})
		if err != nil {
			t.Fatal(err)
		}
		if err := Broadcast().CheckNodes(most, opt); err != nil {
			t.Error(err)
		}
		err = Broadcast().CheckNodes(most+1, opt)
		if (err != nil) != limited || limited && !strings.Contains(err.Error(), fmt.Sprintf("room for %d; want at most %d", most-1, most)) {
			t.Errorf("%s, %d nodes: %v", form, most+1, err)
		}
	}
}

// A message that takes longer than the bound brings two nodes in: here the
// DEFERRED of a node that is inside.
func TestBrokenBoundIsUnsafe(t *testing.T) {
	net := conformance.Make(t, Implicit(), 2, nil)
	net.Request(1)
	net.Request(2)
	net.Deliver(1, 2, 0)
	net.Deliver(2, 1, 0)
	for net.Fire() { // and the DEFERRED stays on its way
	}
	if len(net.Inside()) != 2 || net.Err() == nil {
		t.Fatalf("%v are in the critical section", net.Inside())
	}
	net.Deliver(1, 2, 0)
	if net.Refused() != 1 {
		t.Error("a DEFERRED that comes too late is not refused")
	}
}

// The wait is a round trip, in legs of the bound.
func TestImplicitWait(t *testing.T) {
	for _, c := range []struct {
		option string
		known  time.Duration
		want   time.Duration
	}{
		{"auto", 3 * time.Millisecond, 3 * time.Millisecond},
		{"auto", 0, anyBound},
		{"50ms", 3 * time.Millisecond, 50 * time.Millisecond},
	} {
		a := Implicit()
		opt, err := a.Resolve(map[string]string{"bound": c.option})
		if err != nil {
			t.Fatal(err)
		}
		sys, err := a.Prepare(dme.Config{Nodes: 2, Options: opt, Bound: c.known})
		if err != nil {
			t.Fatal(err)
		}
		n := sys.Node(1)
		var out dme.Outbox
		n.Request(&out)
		timers := 0
		for timer(t, &out, c.want) {
			timers++
			out.Reset()
			n.(dme.Timed).Timeout(waited, &out)
		}
		if timers != 2 || len(out.Effects()) != 1 || out.Effects()[0].Kind != dme.Enter {
			t.Errorf("%+v: %d legs, then %+v", c, timers, out.Effects())
		}
		for _, k := range claim.Of(a) {
			if k.Quantity != claim.ResponseTime || k.Load != claim.Light {
				continue
			}
			got, ok := k.Prediction(dme.Setting{Nodes: 2, Options: opt, System: sys, E: time.Millisecond})
			if want := (2*c.want + time.Millisecond).Seconds(); !ok || got != want {
				t.Errorf("%+v: predicts a response of %v s, want %v", c, got, want)
			}
		}
	}
}

// timer reports whether a timer is the last effect, and checks its length.
func timer(t *testing.T, out *dme.Outbox, want time.Duration) bool {
	t.Helper()
	e := out.Effects()[len(out.Effects())-1]
	if e.Kind != dme.SetTimer {
		return false
	}
	if e.Delay != want {
		t.Errorf("a leg of %v, want %v", e.Delay, want)
	}
	return true
}

// burst lets all nodes ask before any hears of another, and returns the order in
// which they enter.
func burst(t *testing.T, net *conformance.Net) []dme.NodeID {
	t.Helper()
	first := len(net.Entries)
	for i := 1; i <= net.Setting.Nodes; i++ {
		net.Request(dme.NodeID(i))
	}
	for range net.Setting.Nodes {
		net.Settle()
		net.Release(net.Inside()[0])
	}
	net.Settle()
	if err := net.Err(); err != nil {
		t.Fatal(err)
	}
	var order []dme.NodeID
	for _, e := range net.Entries[first:] {
		order = append(order, e.Node)
	}
	return order
}

// Section 6.5, 1: where all choose the same number, node 1 is always first.
// Random increments reduce that, the more, the larger they may be: with D values,
// another node is before node 1 with probability (1 − 1/D)/2.
func TestRandomIncrementsReduceTheBias(t *testing.T) {
	const nodes, bursts = 8, 1000
	for _, most := range []int{1, 8, 1000} {
		net := conformance.Make(t, Priority(), nodes, map[string]string{"most": fmt.Sprint(most)})
		before := 0 // entries before node 1's
		for range bursts {
			before += slices.Index(burst(t, net), 1)
		}
		claims := claim.Of(Priority())
		at := slices.IndexFunc(claims, func(c claim.Claim) bool { return c.Quantity == claim.NumberRange })
		if apart, ok := claims[at].Prediction(net.Setting); !ok || apart != float64((nodes-1)*most) {
			t.Errorf("D=%d: numbers are claimed to be up to %v apart", most, apart)
		}
		want := (nodes - 1) * (1 - 1/float64(most)) / 2
		if mean := float64(before) / bursts; math.Abs(mean-want) > 0.3 {
			t.Errorf("D=%d: %.2f entries on average before node 1's, want %.2f", most, mean, want)
		}
	}
}

// Section 6.5, 2: where requests cross, small increments go first.
func TestSmallIncrementsHavePriority(t *testing.T) {
	const nodes = 8
	net := conformance.Make(t, Priority(), nodes, map[string]string{"increments": "priority", "most": "8"})
	for range 10 {
		order := burst(t, net)
		if !slices.IsSorted(order) {
			t.Fatalf("order %v, want that of the priorities", order)
		}
		// Not by the tie-breaking rule: no two of these numbers are equal.
		last := net.Entries[len(net.Entries)-nodes:]
		for i := range last[1:] {
			if last[i].Stamp.Clock >= last[i+1].Stamp.Clock {
				t.Fatalf("entries %+v", last)
			}
		}
	}
}

func TestIncrements(t *testing.T) {
	for _, most := range []uint64{1, 2, 8, largestMost} {
		i := increments{most: most, nodes: 5, seed: 9}
		counts := map[uint64]int{}
		for k := range uint64(800) {
			for id := dme.NodeID(1); id <= 5; id++ {
				d := i.of(id, k)
				if d < 1 || d > most {
					t.Fatalf("an increment of %d, want 1 to %d", d, most)
				}
				counts[d]++
			}
		}
		if most <= 8 {
			for d := uint64(1); d <= most; d++ {
				if fair := 4000 / int(most); counts[d] < fair*8/10 || counts[d] > fair*12/10 {
					t.Errorf("D=%d: %d was drawn %d times of 4000", most, d, counts[d])
				}
			}
		}
	}
	for nodes := 1; nodes <= 20; nodes++ {
		i := increments{most: 8, priority: true, nodes: nodes}
		last := uint64(1)
		for id := dme.NodeID(1); int(id) <= nodes; id++ {
			d := i.of(id, 7)
			if d < last || d > 8 {
				t.Errorf("N=%d: node %d has %d, the one before %d", nodes, id, d, last)
			}
			last = d
		}
		if nodes > 1 && last != 8 {
			t.Errorf("N=%d: the last has %d", nodes, last)
		}
	}
}

func delayedSet(most int, more ...string) map[string]string {
	set := map[string]string{"increments": "priority", "most": fmt.Sprint(most), optLower: "delayed"}
	for i := 0; i < len(more); i += 2 {
		set[more[i]] = more[i+1]
	}
	return set
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

// Section 6.5: a node that asks again within the delay has nothing more to wait for.
func TestAskingAgainEndsTheDelay(t *testing.T) {
	net := conformance.Make(t, Priority(), 3, map[string]string{"increments": "priority", "most": "4", optLower: "delayed"})
	net.Request(1)
	net.Settle()
	net.Request(3)
	net.Settle()
	net.Release(1)
	net.Request(1)
	net.Settle()
	net.WantInside(t, 1)
	if net.Fire() {
		t.Error("the end of the delay is still due, though node 1 has asked again")
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

// What rests on delays is claimed where increments give priority and lower ones are
// delayed, and nowhere else.
func TestDelayingIsClaimedOfDelays(t *testing.T) {
	claimed := 0
	for _, c := range claim.Of(Priority()) {
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
