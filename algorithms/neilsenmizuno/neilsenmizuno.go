// Package neilsenmizuno is the algorithm of M. L. Neilsen and M. Mizuno, A DAG-Based Algorithm for
// Distributed Mutual Exclusion, Proceedings of the 11th International Conference on Distributed
// Computing Systems, 1991.
//
// One token exists, PRIVILEGE. The nodes form a tree whose edges have directions: LAST of a node is
// the neighbour at the other end of its only outgoing edge. All ways lead to a sink, a node without
// LAST: where the last request that the others know of came from. A node has three variables:
//
//   - HOLDING: the node has the token and does not use it;
//   - LAST: where requests are sent; none at a sink;
//   - FOLLOW: where the token goes after this node.
//
// There are two procedures:
//
//   - P1. A node that wants to enter and is not HOLDING sends REQUEST(self, self) to LAST, becomes
//     a sink, and waits for PRIVILEGE. Leaving, it sends PRIVILEGE to FOLLOW, or is HOLDING if
//     there is none.
//   - P2. A node that receives REQUEST(X, Y), from its neighbour X on behalf of Y, turns the edge:
//     X becomes LAST. A node that was no sink passes REQUEST(self, Y) on along the former LAST. A
//     sink that is HOLDING sends PRIVILEGE to Y; another makes Y its FOLLOW.
//
// REQUESTs keep to the tree. PRIVILEGE goes straight to the node that gets it.
//
// Links need not keep order: an edge has a direction or carries one REQUEST, so that two never
// share a link, and a sink that waits does the same with a REQUEST whether PRIVILEGE has come or
// not. Loss and duplication are not tolerated.
package neilsenmizuno

import (
	"fmt"

	"dmebench/algorithms/spanning"
	"dmebench/dme"
	"dmebench/dme/claim"
)

const (
	kindRequest   dme.Kind = iota + 1 // Node: Y, the node that wants to enter; the sender is X
	kindPrivilege                     // the token
)

// Algorithm describes the algorithm of Neilsen and Mizuno.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "neilsen-mizuno",
		Title: "Neilsen–Mizuno",
		Description: "One token, a tree, and three variables at each node. Requests travel along the tree towards the node that asked last " +
			"and turn each edge on their way; the token goes straight to the next in line. On a star an entry costs at most three " +
			"messages, as with a coordinator, but a handover takes one delay and one message. A good choice under any load if the " +
			"failure of the token's holder, and of the centre, can be ruled out. Choose the tree by --set tree.",
		Citation:   "M. L. Neilsen, M. Mizuno: A DAG-Based Algorithm for Distributed Mutual Exclusion, 11th ICDCS, 1991",
		Class:      dme.Token,
		Dynamic:    true,
		Needs:      dme.Always(dme.Needs{Reliable: true}),
		Kinds:      []string{"REQUEST", "PRIVILEGE"},
		Options:    []dme.Option{spanning.Option("star")},
		Claims:     claim.Lazy(claims),
		Invariants: invariants(),
		HasToken:   dme.OfNode((*node).HasToken),
		Wanted:     dme.OfNode(func(n *node) bool { return n.follow != dme.None }),
		Waits:      dme.OfNode((*node).Waits),
		Root:       spanning.Root,
		Prepare: func(c dme.Config) (dme.System, error) {
			t, err := spanning.Make(c)
			if err != nil {
				return nil, fmt.Errorf("neilsen-mizuno: %w", err)
			}
			return &system{tree: t}, nil
		},
	}
}

type system struct{ tree *spanning.Tree }

func (s *system) SpanningTree() *spanning.Tree { return s.tree }

// Node returns node id, which is HOLDING or whose edges lead to the node that is.
func (s *system) Node(id dme.NodeID) dme.Node {
	return &node{self: id, tree: s.tree, last: s.tree.Parent(id), holding: id == spanning.Root}
}

type node struct {
	self dme.NodeID
	tree *spanning.Tree

	holding bool
	last    dme.NodeID
	follow  dme.NodeID

	// Where the node is in P1.
	waiting   bool // for PRIVILEGE
	executing bool
}

// Request is P1 until the node enters or waits.
func (n *node) Request(out *dme.Outbox) {
	if n.holding {
		n.enter(out)
		return
	}
	n.waiting = true
	out.Send(n.last, dme.Message{Kind: kindRequest, Node: n.self})
	n.last = dme.None
}

func (n *node) enter(out *dme.Outbox) {
	n.holding, n.waiting, n.executing = false, false, true
	out.Enter(dme.Stamp{})
}

func (n *node) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch {
	case m.Kind == kindRequest:
		n.receiveRequest(from, m.Node, out)
	case !n.waiting:
		out.Refuse("PRIVILEGE that is not awaited")
	default:
		n.enter(out)
	}
}

// receiveRequest is P2.
func (n *node) receiveRequest(x, y dme.NodeID, out *dme.Outbox) {
	switch {
	case y < 1 || int(y) > n.tree.Nodes() || y == n.self:
		out.Refuse("REQUEST on behalf of no other node")
		return
	case !n.tree.Adjacent(n.self, x) || n.last == x:
		out.Refuse("REQUEST against the direction of the tree's edges")
		return
	case n.last != dme.None:
		out.Send(n.last, dme.Message{Kind: kindRequest, Node: y})
	case n.holding:
		n.holding = false
		out.Send(y, dme.Message{Kind: kindPrivilege})
	default:
		n.follow = y
	}
	n.last = x
}

// Release is the end of P1.
func (n *node) Release(out *dme.Outbox) {
	n.executing = false
	if n.follow == dme.None {
		n.holding = true
		return
	}
	out.Send(n.follow, dme.Message{Kind: kindPrivilege})
	n.follow = dme.None
}

func (n *node) State(v *dme.Visitor) {
	v.Bool("HOLDING", &n.holding)
	v.Node("LAST", &n.last)
	v.Node("FOLLOW", &n.follow)
	v.Bool("waiting", &n.waiting)
	v.Bool("executing", &n.executing)
}

func (n *node) HasToken() bool { return n.holding || n.executing }

// Waits names the token: whose FOLLOW this node is, it does not know.
func (n *node) Waits() []dme.Wait { return dme.WaitIf(n.waiting, "PRIVILEGE", dme.None) }
