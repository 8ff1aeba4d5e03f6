package raymond

import (
	"dmebench/algorithms/spanning"
	"dmebench/dme"
	"dmebench/dme/claim"
)

// Section 9.12.6, init=messages: HOLDER is not computed beforehand. One node is chosen
// as the privileged one, node 1. It sends INITIALIZE to its neighbours; a node that
// receives it sets HOLDER to the sender, and sends INITIALIZE to its own neighbours. A
// node that has received it may ask although others have not. Before, a request of its
// local process waits in REQUEST_Q, and is made as INITIALIZE arrives.
//
// Errors of the printed text: 'to its own immediate neighbors' would be to the
// sender as well, whose HOLDER would turn away from the privilege; two nodes would then
// point to each other, and no request would ever reach it. A node sends it to the others
// only.
//
// A node asks towards HOLDER, which has received INITIALIZE before it, so no REQUEST
// comes to a node that has not. Links need not keep order for that: a node sends nothing
// to a neighbour that INITIALIZE has yet to reach, but INITIALIZE itself.
//
// INITIALIZE belongs to no entry: there are N−1, one over each edge, before the first
// entry of the farthest node. Claims about messages per critical section are
// about the other two kinds.

const kindInitialize = kindPrivilege + 1

const optInit = "init"

func initOption() dme.Option {
	return dme.Choice(optInit,
		"how nodes learn in which direction the token lies at the beginning: it is computed as they are made, or told by "+
			"INITIALIZE messages from node 1 through the tree",
		"computed", "messages")
}

// initialized is a node of init=messages, which does not know HOLDER at first.
type initialized struct{ node }

func newInitialized(id dme.NodeID, t *spanning.Tree) *initialized {
	return &initialized{node{self: id, tree: t, holder: dme.None}}
}

// Start is the beginning, at the node that is chosen.
func (n *initialized) Start(out *dme.Outbox) {
	if n.self == spanning.Root {
		n.initialize(n.self, out)
	}
}

// initialize makes HOLDER known, passes the word on, and serves or makes the request that
// has waited for it.
func (n *initialized) initialize(holder dme.NodeID, out *dme.Outbox) {
	n.holder = holder
	for _, id := range n.tree.Neighbours(n.self) {
		if id != holder {
			out.Send(id, dme.Message{Kind: kindInitialize})
		}
	}
	n.assignPrivilege(out)
	n.makeRequest(out)
}

// Receive takes INITIALIZE, once and from the direction of node 1, and before it nothing
// else.
func (n *initialized) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	known := n.holder != dme.None
	switch {
	case m.Kind != kindInitialize && !known:
		out.Refuse("a message to a node that is not initialized")
	case m.Kind != kindInitialize:
		n.node.Receive(from, m, out)
	case known || from != n.tree.Parent(n.self):
		out.Refuse("INITIALIZE to a node that is initialized, or from below")
	default:
		n.initialize(from, out)
	}
}

// Waits names the neighbour whose word is missing, or that the privilege is to come from.
func (n *initialized) Waits() []dme.Wait {
	if n.holder == dme.None && !n.requestQ.Empty() {
		return []dme.Wait{{For: n.tree.Parent(n.self), What: "INITIALIZE"}}
	}
	return n.node.Waits()
}

// InitializeMessages counts the INITIALIZE messages of a run, which belong to no entry.
var InitializeMessages = claim.Quantity{ID: "initialize-messages", Name: "INITIALIZE messages before all nodes know where the token is"}

// initClaim is about the beginning by messages.
func initClaim() claim.Claim {
	return InitializeMessages.Is("N−1: one over each edge of the tree", claim.Static, "textbook, section 9.12.6").
		Where(initializedByMessages).MeasuredBy(initializeMessages)
}

// initializedByMessages reports whether nodes learn HOLDER by INITIALIZE messages.
func initializedByMessages(s dme.Setting) bool {
	switch sys := s.System.(type) {
	case *system:
		return sys.byMessages
	case robustSystem:
		return true
	}
	return false
}

// initializeMessages starts all nodes, delivers messages until none is on its way, and counts them.
// ok is false if HOLDER is not known everywhere then.
func initializeMessages(s dme.Setting) (count float64, ok bool) {
	type starter interface {
		dme.Starter
		knowsHolder() bool
	}
	net := claim.Rehearse(s)
	for id := range dme.Others(s.Nodes, dme.None) {
		if _, ok := net.Nodes[id].(starter); !ok {
			return 0, false
		}
		net.Do(id, func(n dme.Node, out *dme.Outbox) { n.(starter).Start(out) })
	}
	net.Settle()
	for _, n := range net.Nodes[1:] {
		if !n.(starter).knowsHolder() {
			return 0, false
		}
	}
	return float64(net.Received), true
}

// knowsHolder reports whether the node knows in which direction the privilege is.
func (n *node) knowsHolder() bool { return n.holder != dme.None }

// withoutInitialize restricts what is claimed of all messages to runs that begin without
// INITIALIZE: these belong to no entry, and the texts count none.
func withoutInitialize(claims claim.List) claim.List {
	for i, c := range claims {
		if c.Quantity == claim.MessagesPerCS {
			claims[i] = c.Where(func(s dme.Setting) bool { return !initializedByMessages(s) })
		}
	}
	return claims
}
