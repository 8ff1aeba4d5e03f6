package maekawa

import (
	"math"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/conformance"
)

func (s setup) setting() dme.Setting {
	opt, err := Algorithm().Resolve(s.options())
	if err != nil {
		panic(err)
	}
	return dme.Setting{Algorithm: Algorithm(), Nodes: s.nodes, Options: opt, System: s.prepare()}
}

// predict evaluates the one claim about a quantity with that formula under that
// load.
func predict(t *testing.T, s setup, q claim.Quantity, formula string, load claim.Load) (float64, bool) {
	t.Helper()
	for _, c := range claims() {
		if c.Quantity == q && c.Formula == formula && c.Load == load {
			return c.Prediction(s.setting())
		}
	}
	t.Fatalf("no claim %q about %s, %s", formula, q, load)
	return 0, false
}

// serial lets each node enter once, alone, and returns the messages of each.
func serial(t *testing.T, sys *system) []uint64 {
	t.Helper()
	net := conformance.Make(t, on(sys), sys.Nodes(), nil)
	var each []uint64
	for id := dme.NodeID(1); int(id) <= sys.Nodes(); id++ {
		messages, err := net.Serve(id)
		if err != nil {
			t.Fatal(err)
		}
		each = append(each, messages)
	}
	return each
}

// TestLightLoad: 3(K−1) messages for each entry.
func TestLightLoad(t *testing.T) {
	for _, x := range []struct {
		construction string
		nodes        int
		want         uint64
	}{
		{"plane", 1, 0}, {"plane", 2, 3}, {"plane", 7, 6}, {"plane", 13, 9}, {"plane", 31, 15},
		{"grid", 9, 12}, {"majority", 5, 6}, {"tree", 7, 6}, {"hierarchical", 9, 9},
	} {
		for _, yield := range []string{"failed", "always"} {
			for _, grants := range []string{"plain", "numbered"} {
				s := setup{x.construction, x.nodes, yield, grants}
				claimed, ok := predict(t, s, claim.MessagesPerCS, "3(K−1)", claim.Light)
				if !ok || claimed != float64(x.want) {
					t.Errorf("%v: claim %v, %v; want %d", s, claimed, ok, x.want)
				}
				for i, got := range serial(t, s.prepare()) {
					if got != x.want {
						t.Errorf("%v: node %d: %d messages, want %d", s, i+1, got, x.want)
					}
				}
			}
		}
	}
}

// TestLightLoadOfUnequalSets: the exact claim is not made; the mean holds.
func TestLightLoadOfUnequalSets(t *testing.T) {
	for _, s := range []setup{
		{"plane", 8, "failed", "plain"}, {"plane", 20, "failed", "plain"}, {"grid", 7, "failed", "plain"},
		{"singleton", 5, "failed", "plain"}, {"tree", 5, "failed", "plain"},
	} {
		if _, ok := predict(t, s, claim.MessagesPerCS, "3(K−1)", claim.Light); ok {
			t.Errorf("%v: an exact claim about unequal sets", s)
		}
		claimed, ok := predict(t, s, claim.MessagesPerCS, "3(K−1), K the mean", claim.Light)
		var total uint64
		for _, messages := range serial(t, s.prepare()) {
			total += messages
		}
		if got := float64(total) / float64(s.nodes); !ok || math.Abs(got-claimed) > 1e-9 {
			t.Errorf("%v: mean %v messages, claim %v, %v", s, got, claimed, ok)
		}
	}
	if _, ok := predict(t, setup{"plane", 7, "failed", "plain"}, claim.MessagesPerCS, "3(K−1), K the mean", claim.Light); ok {
		t.Error("a mean where the exact claim applies")
	}
}

// TestContentionStaysBelowTheClaim: five messages for each other member are not
// reached in random bursts.
func TestContentionStaysBelowTheClaim(t *testing.T) {
	for _, n := range []int{7, 13, 31} {
		s := setup{"plane", n, "failed", "plain"}
		limit, _ := predict(t, s, claim.MessagesPerCS, "5(K−1)", claim.Contention)
		sys := s.prepare()
		for seed := range uint64(100) {
			net, err := judged(walk(sys, seed, true, 1))
			if got := float64(net.Sent()) / float64(n); err != nil || got > limit {
				t.Errorf("%v, seed %d: %v messages for each entry, claim %v; %v", s, seed, got, limit, err)
			}
		}
	}
}

// TestWorstOrderPassesTheClaims shows that neither 5(K−1) nor 5√N is a bound.
// Half of the nodes of a plane of order 17 ask at once. The REQUESTs of the most
// preceding node arrive first, but not its LOCKEDs: nearly every other node
// fails at the one member that it shares with it. Then the others' arrive, the least
// preceding node's first, and each takes the locks of those before.
func TestWorstOrderPassesTheClaims(t *testing.T) {
	s := setup{"plane", 307, "failed", "plain"}
	sys := s.prepare()
	net := conformance.Make(t, on(sys), s.nodes, nil)
	first, last := dme.NodeID(154), dme.NodeID(306)
	for id := first; id <= last; id++ {
		net.Request(id)
	}
	deliverRequests(net, sys, first)
	drainBut(net, first)
	for id := last; id > first; id-- {
		deliverRequests(net, sys, id)
		drainBut(net, first)
		for _, inside := range slices.Clone(net.Inside()) { // it shares only itself with the first, and did not fail
			net.Release(inside)
		}
	}
	net.Settle()
	net.Drain()
	requests := int(last - first + 1)
	if err := net.Err(); err != nil || len(net.Entries) != requests {
		t.Fatalf("%d of %d entered; %v", len(net.Entries), requests, err)
	}
	got := float64(net.Sent()) / float64(requests)
	for _, formula := range []string{"5(K−1)", "5√N"} {
		if claimed, ok := predict(t, s, claim.MessagesPerCS, formula, claim.Worst); !ok || got <= claimed {
			t.Errorf("%v messages for each entry do not pass %s = %v", got, formula, claimed)
		}
	}
	if ceiling := 6*18.0 - 3; got > ceiling {
		t.Errorf("%v messages for each entry, above 6K−3 = %v", got, ceiling)
	}
}

// deliverRequests delivers the REQUESTs of one node.
func deliverRequests(net *conformance.Net, sys *system, id dme.NodeID) {
	for _, j := range sys.RequestSet(id) {
		if link := net.InFlight(id, j); len(link) > 0 && link[0].Kind == kindRequest {
			net.Deliver(id, j, 0)
		}
	}
}

// drainBut delivers all but REQUESTs, what is behind them, and what is for one
// node.
func drainBut(net *conformance.Net, one dme.NodeID) {
	for moved := true; moved; {
		moved = false
		for _, f := range net.Flying() {
			if f.To != one && net.InFlight(f.From, f.To)[0].Kind != kindRequest {
				net.Deliver(f.From, f.To, 0)
				moved = true
			}
		}
	}
}

// TestEntriesOutOfTimestampOrder answers exercise 9.5 of the textbook: no.
func TestEntriesOutOfTimestampOrder(t *testing.T) {
	sys := setup{"plane", 7, "failed", "plain"}.prepare()
	late := 0
	for seed := range uint64(20) {
		net, err := judged(walk(sys, seed, false, 2))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(net.Entries, func(x, y conformance.Entry) int { return inPrecedence(x.Stamp, y.Stamp) }) {
			late++
		}
	}
	if late == 0 {
		t.Error("all entries were in timestamp order")
	}
}

// TestSlidesFormulas: 3(K−1) is not 3(√N−1), and a lock that is relinquished
// makes a second LOCKED necessary.
func TestSlidesFormulas(t *testing.T) {
	s := setup{"plane", 13, "failed", "plain"}
	claimed, ok := predict(t, s, claim.MessagesPerCS, "3(√N − 1)", claim.Light)
	if got := serial(t, s.prepare())[0]; !ok || got != 9 || math.Abs(claimed-7.8) > 0.05 {
		t.Errorf("%d messages, claimed %v, %v", got, claimed, ok)
	}
	k, ok := predict(t, s, claim.KindPerCS("LOCKED"), "K−1", claim.Contention)
	if !ok || k != 3 {
		t.Fatalf("claimed %v LOCKEDs, %v", k, ok)
	}
	given, sys := 0, s.prepare()
	for seed := range uint64(100) {
		net, err := judged(walk(sys, seed, true, 1))
		locked, relinquished := net.SentOf(kindLocked), net.SentOf(kindRelinquish)
		if want := uint64(s.nodes)*uint64(k) + relinquished; err != nil || locked != want {
			t.Errorf("seed %d: %d LOCKEDs, want one for each member and one for each of %d RELINQUISHs: %d; %v",
				seed, locked, relinquished, want, err)
		}
		given += int(relinquished)
	}
	if given == 0 {
		t.Error("no lock was relinquished")
	}
	for _, c := range claims() {
		disproved := c.Quantity == claim.KindPerCS("LOCKED") && c.Formula == "K−1" && c.Load == claim.Contention ||
			c.Quantity == claim.MessagesPerCS && c.Formula == "3(√N − 1)" && c.Load == claim.Light
		if disproved && c.KnownFalse == "" {
			t.Errorf("%s %s: %q is disproved here, and not said to be known to be false", c.Quantity.ID, c.Load, c.Formula)
		}
	}
}
