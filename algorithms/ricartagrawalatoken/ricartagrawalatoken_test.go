package ricartagrawalatoken

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/testkit/suite"
)

// No message where the node has the token, else N.
func TestZeroOrNMessages(t *testing.T) {
	conformance.TestZeroOrN(t, Algorithm(), 1, 2, 3, 8, 16)
}

func TestTooManyNodes(t *testing.T) {
	if err := Algorithm().CheckNodes(dme.MaxVec+1, nil); err == nil {
		t.Error("a token longer than a message is accepted")
	}
}

func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
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
				Fault: func(n *conformance.Net) { at(n, 2).token = make([]uint64, 3) },
			},
			{
				Invariant: "request numbers", Nodes: 3, Says: "node 3 has heard of request 1 of node 2, whose last request is 0",
				Fault: func(n *conformance.Net) { at(n, 3).request[1] = 1 },
			},
			{
				Invariant: "executed requests", Nodes: 3, Says: "the token has the number 2 for node 2",
				Fault: func(n *conformance.Net) { at(n, 1).token[1] = 2 },
			},
			{
				Invariant: "executed requests", Nodes: 3, Says: "the token has the number 2 for node 3",
				Fault: func(n *conformance.Net) { at(n, 1).token[2] = 2; n.Request(2); n.Deliver(2, 1, 0) },
			},
		},
		Refusals: []suite.Refusals{
			{
				Start: waiting,
				From:  1, To: 2,
				Messages: []suite.Refused{
					{What: "no array", Series: []dme.Message{token()}},
					{What: "short array", Series: []dme.Message{token(0, 0)}},
					{What: "long array", Series: []dme.Message{token(0, 0, 0, 0)}},
					{What: "a token that has served the request", Series: []dme.Message{token(0, 1, 0)}},
					{What: "REQUEST without a number", Series: []dme.Message{{Kind: kindRequest}}},
				},
			},
			{
				Start: start,
				From:  3,
				Messages: []suite.Refused{
					{What: "a token to the node that has it", To: 1, Series: []dme.Message{token(0, 0, 0)}},
					{What: "a token to a node that did not ask", To: 2, Series: []dme.Message{token(0, 0, 0)}},
				},
			},
		},
	})
}

func TestSchedules(t *testing.T) { suite.Schedules(t, Algorithm()) }
