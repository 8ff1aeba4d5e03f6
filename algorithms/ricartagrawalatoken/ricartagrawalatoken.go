// Package ricartagrawalatoken is the token algorithm of G. Ricart and A. K. Agrawala, Author's
// Response to On Mutual Exclusion in Computer Networks by Carvalho and Roucairol, Communications of
// the ACM 26(2), 1983, pages 147–148.
//
// One token exists; the node that has it may enter. It carries an array: token[j] is the number of
// j's request that was served last. At every node, request[j] is the largest number of a request by
// j that it has heard of; j waits where request[j] > token[j].
//
//  1. A node without the token that wants to enter increments its number, sends REQUEST with it to
//     all others, and waits for the token. A node that has the token enters without a message.
//  2. While it executes, token_held is true.
//  3. Leaving, it sets its element of the token to its number, and sends the token to the first
//     node that waits, looking from its own number upwards and from N on to 1: in this order no
//     node is left out for ever.
//  4. A node that receives REQUEST raises request[j]. If it has the token and does not execute, it
//     does the second half of step 3.
//
// The number is called clock in the response; only the node itself changes it.
//
// The token is at node 1 at the beginning. Links need not keep order: a REQUEST that arrives after
// it has been served does not exceed the token's element. Loss and duplication are not tolerated.
package ricartagrawalatoken

import (
	"errors"

	"dmebench/dme"
	"dmebench/dme/claim"
)

const (
	kindRequest dme.Kind = iota + 1 // Clock: the request's number
	kindToken                       // Vec: token[1..N]
)

// Algorithm describes the token algorithm of Ricart and Agrawala.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "ricart-agrawala-token",
		Title: "Ricart–Agrawala, token",
		Description: "One token, and every request goes to all nodes. A node that leaves sends the token to the next one round the ring of " +
			"numbers that it knows to be waiting. An entry costs N messages, N-1 requests and the token, or none at the node that has the " +
			"token already. A handover takes one delay. Every node waits for at most one turn of each other. The token carries an " +
			"array of N numbers, and its loss stops everything.",
		Citation:   "G. Ricart, A. K. Agrawala: Author's Response to On Mutual Exclusion in Computer Networks, CACM 26(2), 1983, pages 147–148",
		Class:      dme.Token,
		Needs:      dme.Always(dme.Needs{Reliable: true}),
		Kinds:      []string{"REQUEST", "TOKEN"},
		Claims:     claim.Lazy(claims),
		Invariants: invariants(),
		Clocks:     clocks,
		ValidNodes: func(n int, _ dme.Options) error {
			if n > dme.MaxVec {
				return errors.New("the token would be longer than a message may be")
			}
			return nil
		},
		HasToken: dme.OfNode((*node).HasToken),
		Waits:    dme.OfNode((*node).Waits),
		Prepare:  dme.Unshared(newNode),
	}
}

// clocks shows the numbers in a message, which count the requests of one node each.
func clocks(n int, from dme.NodeID, m *dme.Message, v *dme.Visitor) {
	if m.Kind == kindRequest {
		v.ClockOf(from, "", &m.Clock)
	}
	v.ClocksByNode(n, "", &m.Vec) // of a TOKEN
}

type node struct {
	me dme.NodeID // this node's number
	n  int        // the number of nodes

	clock     uint64   // the number of our last request
	request   []uint64 // request[j] is at j-1; our own element is unused
	token     []uint64 // token[j] is at j-1; nil while another node has it
	tokenHeld bool     // executing
	waiting   bool     // for the token
}

func newNode(n int, id dme.NodeID) dme.Node {
	node := &node{me: id, n: n, request: make([]uint64, n)}
	if id == 1 {
		node.token = make([]uint64, n)
	}
	return node
}

// Request is step 1.
func (n *node) Request(out *dme.Outbox) {
	if n.tokenPresent() {
		n.execute(out)
		return
	}
	n.waiting = true
	n.clock++
	out.Broadcast(dme.Message{Kind: kindRequest, Clock: n.clock})
}

func (n *node) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind == kindRequest {
		n.receiveRequest(from, m.Clock, out)
	} else {
		n.receiveToken(m.Vec, out)
	}
}

// receiveToken ends the wait of step 1.
func (n *node) receiveToken(token []uint64, out *dme.Outbox) {
	switch {
	case !n.waiting:
		out.Refuse("TOKEN without a request")
	case len(token) != n.n:
		out.Refuse("TOKEN without a number for each node")
	case token[n.me-1] >= n.clock:
		out.Refuse("TOKEN that does not answer the pending request")
	default:
		n.waiting = false
		n.token = token
		n.execute(out)
	}
}

// execute is step 2.
func (n *node) execute(out *dme.Outbox) {
	n.tokenHeld = true
	out.Enter(dme.Stamp{})
}

// Release is step 3.
func (n *node) Release(out *dme.Outbox) {
	n.tokenHeld = false
	n.token[n.me-1] = n.clock
	n.passToken(out)
}

// receiveRequest is step 4.
func (n *node) receiveRequest(from dme.NodeID, number uint64, out *dme.Outbox) {
	if number == 0 {
		out.Refuse("REQUEST without a number")
		return
	}
	n.request[from-1] = max(n.request[from-1], number)
	if n.tokenPresent() && !n.tokenHeld {
		n.passToken(out)
	}
}

// passToken is the second half of step 3. The token goes with the memory that
// it lies in.
func (n *node) passToken(out *dme.Outbox) {
	for k := range n.n - 1 {
		j := (int(n.me) + k) % n.n // counted from 0: the nodes after this one
		if n.request[j] > n.token[j] {
			out.Send(dme.NodeID(j+1), dme.Message{Kind: kindToken, Vec: n.token})
			n.token = nil
			return
		}
	}
}

func (n *node) tokenPresent() bool { return n.token != nil }

func (n *node) State(v *dme.Visitor) {
	v.ClockOf(n.me, "clock", &n.clock)
	v.ClocksByNode(n.n, "request", &n.request)
	v.ClocksByNode(n.n, "token", &n.token) // empty without the token
	if len(n.token) == 0 {
		n.token = nil // as a loaded state leaves it
	}
	v.Bool("token_held", &n.tokenHeld)
	v.Bool("waiting", &n.waiting)
}

func (n *node) HasToken() bool { return n.tokenPresent() }

// Waits names the token: a node that asks all others does not know which has it.
func (n *node) Waits() []dme.Wait { return dme.WaitIf(n.waiting, "TOKEN", dme.None) }
