// Package naimitrehel is the algorithm of M. Naimi and M. Trehel, An Improvement of the log N
// Distributed Algorithm for Mutual Exclusion, Proceedings of the 7th International Conference on
// Distributed Computing Systems, 1987 (also M. Naimi, M. Trehel and A. Arnold, A log(N) Distributed
// Mutual Exclusion Algorithm Based on Path Reversal, Journal of Parallel and Distributed Computing
// 34(1), 1996).
//
// One token exists. Two structures say where requests and the token go. The pointers father form
// trees; a root is where the last request that its tree knows of came from. The pointers next form
// the queue: where the token goes after this node.
//
//  1. A node that wants to enter and has a father sends REQUEST to it and becomes a root. A root
//     has the idle token, and enters.
//  2. A node that receives the REQUEST of j and has a father forwards it. A root that is requesting
//     or executing makes j its next; a root that has the idle token sends it to j. In each case j
//     is the node's father from then on: the path that a request takes is reversed, towards its
//     origin.
//  3. A node that receives the token enters.
//  4. Leaving, a node sends the token to its next, if it has one.
//
// At the beginning node 1 has the token and is the father of all others.
//
// Links need not keep order. A requesting node treats a REQUEST alike whether or not
// the token is there, so that the two may pass each other; and of two REQUESTs on a link, whichever
// comes first becomes the father, to which the other is forwarded. Loss and duplication are not
// tolerated.
package naimitrehel

import (
	"dmebench/dme"
	"dmebench/dme/claim"
)

const (
	kindRequest dme.Kind = iota + 1 // Node: the node that wants to enter
	kindToken
)

// Algorithm describes the algorithm of Naimi and Trehel.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "naimi-trehel",
		Title: "Naimi–Trehel",
		Description: "One token and two pointers at each node: to the probable owner, along which requests travel, and to the next in line, " +
			"to which the token goes. Each node on a request's way turns its pointer to the requester, so that the tree reshapes " +
			"itself towards the nodes that ask. An entry costs about ln N messages on average, and at most N; a handover takes one delay " +
			"and one message. A good choice for many nodes under any load, if the failure of the token's holder can be ruled out.",
		Citation:   "M. Naimi, M. Trehel: An Improvement of the log N Distributed Algorithm for Mutual Exclusion, 7th ICDCS, 1987",
		Class:      dme.Token,
		Dynamic:    true,
		Needs:      dme.Always(dme.Needs{Reliable: true}),
		Kinds:      []string{"REQUEST", "TOKEN"},
		Claims:     claim.Lazy(claims),
		Invariants: invariants(),
		HasToken:   dme.OfNode((*node).HasToken),
		Wanted:     dme.OfNode(func(n *node) bool { return n.next != dme.None }),
		Waits:      dme.OfNode((*node).Waits),
		Root:       elected,
		Prepare:    func(c dme.Config) (dme.System, error) { return system{nodes: c.Nodes}, nil },
	}
}

// elected is the node that has the token at the beginning.
const elected dme.NodeID = 1

type system struct{ nodes int }

// Node returns node id, which has the token or whose father has it.
func (s system) Node(id dme.NodeID) dme.Node {
	if id == elected {
		return &node{me: id, n: s.nodes, tokenPresent: true}
	}
	return &node{me: id, n: s.nodes, father: elected}
}

type node struct {
	me dme.NodeID // this node's number
	n  int        // the number of nodes

	father       dme.NodeID // receives requests; None at a root
	next         dme.NodeID // receives the token
	requestingCS bool       // from the request to the release
	tokenPresent bool
}

// Request is step 1.
func (n *node) Request(out *dme.Outbox) {
	n.requestingCS = true
	if n.father == dme.None {
		out.Enter(dme.Stamp{})
		return
	}
	out.Send(n.father, dme.Message{Kind: kindRequest, Node: n.me})
	n.father = dme.None
}

func (n *node) Receive(_ dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind == kindRequest {
		n.receiveRequest(m.Node, out)
	} else {
		n.receiveToken(out)
	}
}

// receiveRequest is step 2.
func (n *node) receiveRequest(j dme.NodeID, out *dme.Outbox) {
	switch {
	case j < 1 || int(j) > n.n || j == n.me:
		out.Refuse("REQUEST that names no other node")
		return
	case n.father == j:
		out.Refuse("REQUEST from a node whose REQUEST has passed and was not served")
		return
	case n.father != dme.None:
		out.Send(n.father, dme.Message{Kind: kindRequest, Node: j})
	case n.requestingCS:
		n.next = j
	case n.tokenPresent:
		n.sendToken(j, out)
	}
	n.father = j
}

// receiveToken is step 3.
func (n *node) receiveToken(out *dme.Outbox) {
	if !n.requestingCS || n.tokenPresent {
		out.Refuse("TOKEN that is not awaited")
		return
	}
	n.tokenPresent = true
	out.Enter(dme.Stamp{})
}

// Release is step 4.
func (n *node) Release(out *dme.Outbox) {
	n.requestingCS = false
	if n.next != dme.None {
		n.sendToken(n.next, out)
		n.next = dme.None
	}
}

func (n *node) sendToken(to dme.NodeID, out *dme.Outbox) {
	n.tokenPresent = false
	out.Send(to, dme.Message{Kind: kindToken})
}

func (n *node) State(v *dme.Visitor) {
	v.Node("father", &n.father)
	v.Node("next", &n.next)
	v.Bool("requesting_CS", &n.requestingCS)
	v.Bool("token_present", &n.tokenPresent)
}

func (n *node) HasToken() bool { return n.tokenPresent }

// Waits names the token: whose next this node is, it does not know, since its
// REQUEST may have been forwarded.
func (n *node) Waits() []dme.Wait {
	return dme.WaitIf(n.requestingCS && !n.tokenPresent, "TOKEN", dme.None)
}
