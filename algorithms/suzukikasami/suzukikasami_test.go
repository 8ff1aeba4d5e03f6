package suzukikasami

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/collections"
	"dmebench/dme/conformance"
)

// Section 9.11, performance: no message where the site holds the idle token,
// else N.
func TestZeroOrNMessages(t *testing.T) {
	conformance.TestZeroOrN(t, Algorithm(), 1, 2, 3, 7, 16)
}

// A REQUEST that arrives after it has been served does not attract the token,
// though RN_i[j] > n does not hold.
func TestOutdatedRequest(t *testing.T) { conformance.TestOutdatedRequest(t, Algorithm()) }

// Step (b) must read the requester's element of LN: with the holder's own, the
// request of node 3 would be lost as soon as the two differ.
func TestStepBReadsTheRequestersElement(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 3, nil)
	for range 3 {
		for _, id := range []dme.NodeID{2, 1} {
			if _, err := net.Serve(id); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := net.Serve(3); err != nil {
		t.Fatal(err)
	}
}

// Steps (d) to (f): the queue is filled in the order of the sites' numbers, and
// whoever is in it keeps the place.
func TestQueue(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 5, nil)
	net.Request(1)
	for _, id := range []dme.NodeID{4, 2} {
		net.Request(id)
	}
	net.Settle()
	net.Release(1)
	if q := net.InFlight(1, 2)[0].Vec[5:]; len(q) != 1 || q[0] != 4 {
		t.Fatalf("Q is %v, want 4 alone", q)
	}
	net.Settle()
	net.Request(3)
	net.Settle()
	net.Release(2)
	net.Request(2)
	net.Settle()
	net.Release(4)
	net.Settle()
	net.Release(3)
	net.Settle()
	var order []dme.NodeID
	for _, e := range net.Entries {
		order = append(order, e.Node)
	}
	want := []dme.NodeID{1, 2, 4, 3, 2}
	if len(order) != len(want) {
		t.Fatalf("entries %v, want %v", order, want)
	}
	for i := range want {
		if order[i] != want[i] {
			t.Fatalf("entries %v, want %v", order, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		vec  []uint64
	}{
		{"no array", nil},
		{"short array", []uint64{0, 0}},
		{"no such site in the queue", []uint64{0, 0, 0, 4}},
		{"no site in the queue", []uint64{0, 0, 0, 0}},
		{"a site twice in the queue", []uint64{0, 0, 0, 3, 3}},
		{"the receiver in the queue", []uint64{0, 0, 0, 2}},
		{"a number that wraps round", []uint64{0, 0, 0, 1<<32 + 3}},
		{"an older token", []uint64{0, 5, 0}},
	} {
		net := conformance.Make(t, Algorithm(), 3, nil)
		net.Request(2)
		net.Host(2).Receive(1, &dme.Message{Kind: kindToken, Vec: c.vec})
		if net.Refused() != 1 || len(net.Inside()) != 0 {
			t.Errorf("%s: not refused", c.name)
		}
	}
	net := conformance.Make(t, Algorithm(), 3, nil)
	net.Host(2).Receive(1, &dme.Message{Kind: kindToken, Vec: []uint64{0, 0, 0}})
	net.Host(2).Receive(1, &dme.Message{Kind: kindRequest})
	if net.Refused() != 2 {
		t.Error("a token without a request, a REQUEST without a number: not refused")
	}
}

func TestTooManyNodes(t *testing.T) {
	if err := Algorithm().CheckNodes(dme.MaxVec/2+1, nil); err == nil {
		t.Error("a token longer than a message is accepted")
	}
}

func TestNoAllocationPerEvent(t *testing.T) {
	conformance.TestHandOverAllocatesNothing(t, newSite(64, 1), newSite(64, 2))
}

func TestConformance(t *testing.T) { conformance.Test(t, Algorithm()) }

// TestMutantsAreCaught shows that TestConformance can fail: it must, for the
// rule of step (b) as printed, and for every other rule taken out.
func TestMutantsAreCaught(t *testing.T) {
	const file = "suzukikasami.go"
	conformance.TestMutants(t, "^TestConformance$",
		conformance.Mutant{Name: "step b: LN[j] for LN[i]", File: file, Caught: conformance.Stalled,
			Old: "!s.executing && s.outstanding(from)", New: "!s.executing && s.rn[from-1] == s.token.ln(s.i)+1"},
		conformance.Mutant{Name: "step b: outdated requests", File: file, Caught: "one token: ",
			Old: "!s.executing && s.outstanding(from)", New: "!s.executing && s.rn[from-1] <= sn"},
		conformance.Mutant{Name: "step b: while executing", File: file, Caught: "panics: ",
			Old: "s.token != nil && !s.executing && s.outstanding(from)", New: "s.token != nil && s.outstanding(from)"},
		conformance.Mutant{Name: "step d", File: file, Caught: "sends to node",
			Old: "\ts.token.setLN(s.i, s.rn[s.i-1]) // (d)\n", New: ""},
		conformance.Mutant{Name: "step e", File: file, Caught: conformance.Stalled,
			Old: "if s.outstanding(j) && !s.seen.Has(j) {", New: "if false {"},
	)
}

// The invariants can be broken: each of these states breaks one.
func TestInvariants(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *site { return n.Host(id).Made().(*site) }
	conformance.TestInvariants(t, Algorithm(),
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Says: "at node 1, at node 2",
			Fault: func(n *conformance.Net) { at(n, 2).token = newToken(3) },
		},
		conformance.Breach{
			Invariant: "request numbers", Nodes: 3, Says: "RN_3[2] is 1, and RN_2[2] only 0",
			Fault: func(n *conformance.Net) { at(n, 3).rn[1] = 1 },
		},
		conformance.Breach{
			Invariant: "executed requests", Nodes: 3, Says: "RN_2[2] is 0 and LN[2] of the token 1",
			Fault: func(n *conformance.Net) { at(n, 1).token.setLN(2, 1) },
		},
		conformance.Breach{
			Invariant: "request numbers", Nodes: 3, Says: "a REQUEST of node 2 has the number 1, and RN_2[2] is 0",
			Fault: func(n *conformance.Net) { n.Request(2); at(n, 2).rn[1] = 0 },
		},
		conformance.Breach{
			Invariant: "token queue", Nodes: 3, Says: "node 3 stands in the queue [3] of the token, and is idle",
			Fault: func(n *conformance.Net) { s := at(n, 1); s.token = append(s.token, 3) },
		},
		conformance.Breach{ // on its way
			Invariant: "token queue", Nodes: 3, Says: "node 2 stands in the queue [2 2] of the token",
			Fault: func(n *conformance.Net) {
				s := at(n, 1)
				s.token = append(s.token, 2, 2)
				n.Request(2)
				n.Deliver(2, 1, 0)
			},
		},
	)
}

// Entries of others count from when a request is in the token's queue, or the token is
// sent for it, until its own entry.
func TestAheadInQueue(t *testing.T) {
	const n = 3
	m := newAhead(dme.Setting{Nodes: n})
	wants := func(value float64, ok bool) {
		t.Helper()
		if got, told := m.Value(); told != ok || ok && got != value {
			t.Errorf("%v, %v; want %v, %v", got, told, value, ok)
		}
	}
	enter := func(id dme.NodeID) { m.Note(dme.Moment{What: dme.HasEntered, ID: id}) }
	send := func(to dme.NodeID, ln [n]uint64, queue ...uint64) {
		m.Note(dme.Moment{What: dme.HasSent, Peer: to, Msg: dme.Message{Kind: kindToken, Vec: append(ln[:], queue...)}})
	}
	enter(1) // it has had the token from the start
	wants(0, false)
	send(2, [n]uint64{1, 0, 1}) // site 1 has been served, and is in no queue
	enter(2)
	wants(0, true)
	send(1, [n]uint64{1, 1, 1})
	enter(1)
	wants(0, true)
	send(2, [n]uint64{2, 1, 1}, 3, 1)
	enter(2)
	send(3, [n]uint64{2, 2, 1}, 1)
	enter(3)
	wants(1, true)
	send(1, [n]uint64{2, 2, 2})
	enter(1)
	wants(2, true)
	m.Note(dme.Moment{What: dme.HasSent, Peer: 3, Msg: dme.Message{Kind: kindRequest}})
	enter(2)
	enter(2)
	enter(2)
	enter(3) // of no token is known
	wants(2, true)
}

// A token that arrives has a number for each site and a queue of different sites, not of
// its receiver; what else bytes say is refused, however large.
func TestWellFormed(t *testing.T) {
	const n, receiver = 3, 2
	scratch := collections.MakeNodeSet(n)
	for _, x := range []struct {
		queue []uint64
		want  bool
	}{
		{nil, true}, {[]uint64{1}, true}, {[]uint64{3, 1}, true}, {[]uint64{1, 3}, true},
		{[]uint64{2}, false}, {[]uint64{1, 2}, false}, {[]uint64{1, 1}, false}, {[]uint64{1, 3, 1}, false}, {[]uint64{0}, false},
		{[]uint64{4}, false}, {[]uint64{200, 1}, false}, {[]uint64{1, 1 << 31, 3}, false}, {[]uint64{1<<32 + 1}, false},
	} {
		if got := append(token{7, 0, 9}, x.queue...).wellFormed(n, receiver, &scratch); got != x.want || !scratch.Empty() {
			t.Errorf("queue %v: well formed: %v; %d nodes are left in the set", x.queue, got, scratch.Len())
		}
	}
	if (token{1, 1}).wellFormed(n, receiver, &scratch) {
		t.Error("a token with two numbers for three sites")
	}
}
