package lodhakshemkalyani

import (
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

func at(net *conformance.Net, i dme.NodeID) *process { return net.Host(i).Node().(*process) }

func wantInside(t *testing.T, when string, net *conformance.Net, want ...dme.NodeID) {
	t.Helper()
	if err := net.Err(); err != nil || net.Refused() > 0 || !slices.Equal(net.Inside(), want) {
		t.Fatalf("%s: %v inside, want %v; %d refused; %v\n%s", when, net.Inside(), want, net.Refused(), err, net.States())
	}
}

func wantQueue(t *testing.T, when string, net *conformance.Net, i dme.NodeID, want ...dme.Stamp) {
	t.Helper()
	if got := at(net, i).lrq; !slices.Equal(got, want) {
		t.Errorf("%s: LRQ_%d = %v, want %v", when, i, got, want)
	}
}

func wantReplied(t *testing.T, when string, net *conformance.Net, i dme.NodeID, want ...dme.NodeID) {
	t.Helper()
	if got := slices.Collect(at(net, i).rv.All()); !slices.Equal(got, want) {
		t.Errorf("%s: RV_%d holds for %v, want %v", when, i, got, want)
	}
}

func wantOnTheWay(t *testing.T, when string, net *conformance.Net, from, to dme.NodeID, kinds ...dme.Kind) {
	t.Helper()
	var got []dme.Kind
	for _, m := range net.InFlight(from, to) {
		got = append(got, m.Kind)
	}
	if !slices.Equal(got, kinds) {
		t.Errorf("%s: from %d to %d: kinds %v on the way, want %v", when, from, to, got, kinds)
	}
}

// Figures 9.11 to 9.15.
func TestFigures911To915(t *testing.T) {
	r1, r2, r3 := dme.Stamp{Clock: 1, Node: 1}, dme.Stamp{Clock: 1, Node: 2}, dme.Stamp{Clock: 2, Node: 3}
	net := conformance.Make(t, Algorithm(), 3, nil)

	// P_1 and P_2 are concurrent; the REQUEST of P_1 to P_3 is delayed.
	net.Request(1)
	net.Request(2)
	net.Deliver(1, 2, 0)
	net.Deliver(2, 1, 0)
	wantQueue(t, "9.11", net, 1, r1, r2)
	wantQueue(t, "9.11", net, 2, r1, r2)

	// P_3 receives the REQUEST of P_2 and sends REPLY to P_2 only.
	net.Deliver(2, 3, 0)
	wantOnTheWay(t, "9.12", net, 3, 2, kindReply)
	wantOnTheWay(t, "9.12", net, 3, 1)
	net.Deliver(3, 2, 0)
	wantReplied(t, "9.12", net, 2, 1, 2, 3)
	wantInside(t, "9.12", net)

	// P_3 sends its REQUEST; that of P_1 arrives: the two are concurrent.
	net.Request(3)
	net.Deliver(1, 3, 0)
	wantQueue(t, "9.13", net, 3, r1, r3)
	wantReplied(t, "9.13", net, 3, 1, 3)
	net.Deliver(3, 1, 0)
	net.Deliver(3, 2, 0)
	wantQueue(t, "9.13", net, 1, r1, r2, r3)
	wantQueue(t, "9.13", net, 2, r1, r2) // that of P_3 is deferred
	wantInside(t, "9.13", net, 1)

	// P_1 leaves by a FLUSH to P_2.
	net.Release(1)
	wantOnTheWay(t, "9.14", net, 1, 2, kindFlush)
	wantOnTheWay(t, "9.14", net, 1, 3)
	net.Deliver(1, 2, 0)
	wantQueue(t, "9.14", net, 2, r2)
	wantInside(t, "9.14", net, 2)

	// P_2 leaves. The figure shows a FLUSH to P_3, with whom it is not
	// concurrent; by step (5b) it is a REPLY. P_3 removes (1,1) and enters.
	net.Release(2)
	wantOnTheWay(t, "9.15", net, 2, 3, kindReply)
	net.Deliver(2, 3, 0)
	wantQueue(t, "9.15", net, 3, r3)
	wantInside(t, "9.15", net, 3)

	net.Release(3)
	// |CSet| is 3, 2 and 2: 2·3 − 3 and 2·3 − 2 with a successor; for P_2 and P_3,
	// who have none, 2·3 − 1 − 2.
	if want := uint64(3 + 3 + 3); net.Sent() != want {
		t.Errorf("%d messages, want %d", net.Sent(), want)
	}
}

// Section 9.6.2: "requests R_3, R_0, R_2, R_4, R_1 ordered in decreasing
// priority, where R_0, R_2, R_4 are concurrent with one another, then P_0
// maintains a local queue of [R_0, R_2, R_4] and, when it exits the CS, it sends
// a FLUSH (only) to P_2". P_k is node k+1 here.
func TestScenarioOfSection962(t *testing.T) {
	const p0, p1, p2, p3, p4 dme.NodeID = 1, 2, 3, 4, 5
	net := conformance.Make(t, Algorithm(), 5, nil)
	net.Request(p3)
	net.Settle() // all reply
	wantInside(t, "R_3", net, p3)

	concurrent := []dme.NodeID{p0, p2, p4}
	for _, i := range concurrent {
		net.Request(i)
	}
	net.Settle()
	net.Request(p1) // it has replied to all
	net.Settle()
	r := func(clock uint64, node dme.NodeID) dme.Stamp {
		return dme.Stamp{Clock: clock, Node: node}
	}
	for _, i := range concurrent {
		wantQueue(t, "R_0, R_2, R_4", net, i, r(2, p0), r(2, p2), r(2, p4))
	}
	wantQueue(t, "R_1", net, p1, r(3, p1))

	for _, exit := range []struct {
		who            dme.NodeID
		flush, replies []dme.NodeID
		next           []dme.NodeID
	}{
		{p3, nil, []dme.NodeID{p0, p1, p2, p4}, []dme.NodeID{p0}},
		{p0, []dme.NodeID{p2}, []dme.NodeID{p1}, []dme.NodeID{p2}},
		{p2, []dme.NodeID{p4}, []dme.NodeID{p1}, []dme.NodeID{p4}},
		{p4, nil, []dme.NodeID{p1}, []dme.NodeID{p1}},
		{p1, nil, nil, nil},
	} {
		net.Release(exit.who)
		var flush, replies []dme.NodeID
		for to := p0; to <= p4; to++ {
			for _, m := range net.InFlight(exit.who, to) {
				if m.Kind == kindFlush {
					flush = append(flush, to)
				} else {
					replies = append(replies, to)
				}
			}
		}
		if !slices.Equal(flush, exit.flush) || !slices.Equal(replies, exit.replies) {
			t.Errorf("node %d leaves by FLUSH to %v and REPLY to %v, want %v and %v", exit.who, flush, replies, exit.flush, exit.replies)
		}
		net.Settle()
		wantInside(t, "after node "+exit.who.String(), net, exit.next...)
	}
}

// Section 9.6.2, multiple uses of a REQUEST message: case 2, of two processes
// that ask concurrently each takes the other's REQUEST for its REPLY.
func TestRequestIsAnImplicitReply(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 2, nil)
	net.Request(1)
	net.Request(2)
	net.Settle()
	wantInside(t, "higher priority", net, 1)
	net.Release(1)
	net.Settle()
	wantInside(t, "lower priority, after the FLUSH", net, 2)
	net.Release(2)
	if net.Sent() != 3 {
		t.Errorf("%d messages, want two REQUESTs and a FLUSH", net.Sent())
	}
}
