package suzukikasami

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/testkit/suite"
)

// Section 9.11, performance: no message where the site holds the idle token,
// else N.
func TestZeroOrNMessages(t *testing.T) {
	conformance.TestZeroOrN(t, Algorithm(), 1, 2, 3, 7, 16)
}

func TestTooManyNodes(t *testing.T) {
	if err := Algorithm().CheckNodes(dme.MaxVec/2+1, nil); err == nil {
		t.Error("a token longer than a message is accepted")
	}
}

func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *site { return n.Host(id).Made().(*site) }
	start := func() *conformance.Net { return conformance.Make(t, Algorithm(), 3, nil) }
	waiting := func() *conformance.Net {
		net := start()
		net.Request(2)
		return net
	}
	token := func(vec ...uint64) dme.Message { return dme.Message{Kind: kindToken, Vec: vec} }
	suite.Run(t, suite.Suite{
		Algorithm: Algorithm(), AllocatesNothing: true,
		Breaches: []conformance.Breach{
			{
				Invariant: "one token", Nodes: 3, Says: "at node 1, at node 2",
				Fault: func(n *conformance.Net) { at(n, 2).token = newToken(3) },
			},
			{
				Invariant: "request numbers", Nodes: 3, Says: "RN_3[2] is 1, and RN_2[2] only 0",
				Fault: func(n *conformance.Net) { at(n, 3).rn[1] = 1 },
			},
			{
				Invariant: "executed requests", Nodes: 3, Says: "RN_2[2] is 0 and LN[2] of the token 1",
				Fault: func(n *conformance.Net) { at(n, 1).token.setLN(2, 1) },
			},
			{
				Invariant: "request numbers", Nodes: 3, Says: "a REQUEST of node 2 has the number 1, and RN_2[2] is 0",
				Fault: func(n *conformance.Net) { n.Request(2); at(n, 2).rn[1] = 0 },
			},
			{
				Invariant: "token queue", Nodes: 3, Says: "node 3 stands in the queue [3] of the token, and is idle",
				Fault: func(n *conformance.Net) { s := at(n, 1); s.token = append(s.token, 3) },
			},
			{ // on its way
				Invariant: "token queue", Nodes: 3, Says: "node 2 stands in the queue [2 2] of the token",
				Fault: func(n *conformance.Net) {
					s := at(n, 1)
					s.token = append(s.token, 2, 2)
					n.Request(2)
					n.Deliver(2, 1, 0)
				},
			},
		},
		Refusals: []suite.Refusals{
			{
				Start: waiting,
				From:  1, To: 2,
				Messages: []suite.Refused{
					{What: "no array", Series: []dme.Message{token()}},
					{What: "short array", Series: []dme.Message{token(0, 0)}},
					{What: "no such site in the queue", Series: []dme.Message{token(0, 0, 0, 4)}},
					{What: "no site in the queue", Series: []dme.Message{token(0, 0, 0, 0)}},
					{What: "a site twice in the queue", Series: []dme.Message{token(0, 0, 0, 3, 3)}},
					{What: "the receiver in the queue", Series: []dme.Message{token(0, 0, 0, 2)}},
					{What: "a number that wraps round", Series: []dme.Message{token(0, 0, 0, 1<<32+3)}},
					{What: "an older token", Series: []dme.Message{token(0, 5, 0)}},
				},
			},
			{
				Start: start,
				From:  1, To: 2,
				Messages: []suite.Refused{
					{What: "a token without a request", Series: []dme.Message{token(0, 0, 0)}},
					{What: "REQUEST without a number", Series: []dme.Message{{Kind: kindRequest}}},
				},
			},
		},
	})
}

func TestSchedules(t *testing.T) { suite.Schedules(t, Algorithm()) }

func TestMutants(t *testing.T) { suite.Mutants(t) }

// Entries of others count from when a request is in the token's queue, or the token is
// sent for it, until its own entry.
func TestAheadInQueue(t *testing.T) {
	const n = 3
	m := newAhead(dme.Setting{Nodes: n})
	wants := func(value float64, ok bool) {
		t.Helper()
		if got, known := m.Value(); known != ok || ok && got != value {
			t.Errorf("%v, %v; want %v, %v", got, known, value, ok)
		}
	}
	enter := func(id dme.NodeID) { m.Note(&dme.Event{Kind: dme.Enter, ID: id}) }
	send := func(to dme.NodeID, ln [n]uint64, queue ...uint64) {
		m.Note(&dme.Event{Kind: dme.Send, Peer: to, Msg: dme.Message{Kind: kindToken, Vec: append(ln[:], queue...)}})
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
	m.Note(&dme.Event{Kind: dme.Send, Peer: 3, Msg: dme.Message{Kind: kindRequest}})
	enter(2)
	enter(2)
	enter(2)
	enter(3) // of no token is known
	wants(2, true)
}
