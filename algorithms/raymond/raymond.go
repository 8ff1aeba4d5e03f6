// Package raymond is the tree-based algorithm of K. Raymond, A Tree-Based
// Algorithm for Distributed Mutual Exclusion, ACM Transactions on Computer
// Systems 7(1), 1989, as the textbook (Kshemkalyani and Singhal, Distributed
// Computing, chapter 9) gives it in sections 9.12.1 to 9.12.3.
//
// The nodes form a tree, and a node talks to its neighbours only. One of the
// nodes has the privilege; at every node HOLDER points to the neighbour in
// whose direction it lies. There are two routines and four events (table 9.2):
//
//   - ASSIGN_PRIVILEGE: a node that has the privilege, does not use it, and has
//     a request, gives it to the head of REQUEST_Q: it enters, or sends
//     PRIVILEGE.
//   - MAKE_REQUEST: a node that does not have the privilege, has a request, and
//     has not asked yet, sends REQUEST towards HOLDER.
//   - The node wishes to enter; receives REQUEST; receives PRIVILEGE; exits:
//     each changes one variable and then runs both routines.
//
// Departures from the printed text:
//
//   - HOLDER is computed when a node is made, so that it points towards node 1,
//     where the privilege is at the beginning. With init=messages the INITIALIZE
//     messages of section 9.12.6 tell it (initialize.go).
//   - A node's own number stands for "self".
//
// The tree is one of a rule (binary, star, line, kary, radiating), read edge by
// edge from a file, or the minimal spanning tree of links whose costs a file
// gives, as the text assumes (section 9.12): option tree.
//
// Links need not keep order: the REQUEST that follows a PRIVILEGE may overtake
// it (section 9.12.3, message overtaking). Loss and duplication are not
// tolerated, and neither are failures: [Robust] is the algorithm with the
// recovery of section 9.12.7.
package raymond

import (
	"fmt"

	"dmebench/algorithms/spanning"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

const (
	kindRequest dme.Kind = iota + 1
	kindPrivilege
)

// Algorithm describes Raymond's algorithm.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "raymond",
		Title: "Raymond",
		Description: "The nodes form a tree, and each knows only in which direction the token lies. Requests go that way, a node asks only " +
			"once for all requests that it has collected, and the token comes back along the same edges. An entry costs about 2 log " +
			"N messages on a balanced tree when nobody else asks, and close to 4 under full load, however many nodes there are; " +
			"under full load a handover takes about two delays. Nodes talk to neighbours only and keep little state. The best " +
			"choice for many nodes under heavy load. Choose the tree by --set tree.",
		Citation:    "K. Raymond: A Tree-Based Algorithm for Distributed Mutual Exclusion, ACM TOCS 7(1), 1989; textbook, section 9.12",
		Class:       dme.Token,
		Needs:       dme.Always(dme.Needs{Reliable: true}),
		Kinds:       []string{"REQUEST", "PRIVILEGE", "INITIALIZE"},
		Options:     []dme.Option{spanning.Option("binary"), initOption()},
		Claims:      claim.Lazy(claims),
		Invariants:  invariants(),
		HasToken:    dme.OfNode(holder.HasToken),
		Wanted:      dme.OfNode(func(n holder) bool { return n.QueueLength() > 0 }),
		QueueLength: dme.OfNode(holder.QueueLength),
		Waits:       dme.OfNode(holder.Waits),
		Root:        spanning.Root,
		Peers:       dme.OfSystem((*system).Peers),
		Prepare: func(c dme.Config) (dme.System, error) {
			s, err := prepare(c)
			if err != nil {
				return nil, err
			}
			s.byMessages = c.Options.Get(optInit) == "messages"
			return s, nil
		},
	}
}

// holder is a node, whether or not it knows the tree.
type holder interface {
	HasToken() bool
	QueueLength() int
	Waits() []dme.Wait
}

type system struct {
	tree       *spanning.Tree
	byMessages bool // INITIALIZE messages set HOLDER
}

func prepare(c dme.Config) (*system, error) {
	t, err := spanning.Make(c)
	if err != nil {
		return nil, fmt.Errorf("raymond: %w", err)
	}
	return &system{tree: t}, nil
}

func (s *system) Node(id dme.NodeID) dme.Node {
	if s.byMessages {
		return newInitialized(id, s.tree)
	}
	n := &node{self: id, tree: s.tree, holder: s.tree.Parent(id)}
	if id == spanning.Root {
		n.holder = n.self
	}
	return n
}

func (s *system) SpanningTree() *spanning.Tree { return s.tree }

func (s *system) Peers(id dme.NodeID) []dme.NodeID { return s.tree.Neighbours(id) }

type node struct {
	self dme.NodeID
	tree *spanning.Tree

	holder   dme.NodeID            // self, or the neighbour in whose direction the privilege lies; None while that is not known
	using    bool                  // executing the critical section
	requestQ collections.NodeQueue // self and neighbours that want the privilege, each at most once
	asked    bool                  // a REQUEST to holder has not been answered
}

// Request is the event of a node that wishes to execute the critical section.
func (n *node) Request(out *dme.Outbox) {
	n.requestQ.Push(n.self)
	n.assignPrivilege(out)
	n.makeRequest(out)
}

func (n *node) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if !n.tree.Adjacent(n.self, from) {
		out.Refuse("the sender is not a neighbour in the tree")
		return
	}
	if m.Kind == kindRequest {
		n.receiveRequest(from, out)
	} else {
		n.receivePrivilege(from, out)
	}
}

func (n *node) receiveRequest(from dme.NodeID, out *dme.Outbox) {
	if n.requestQ.Has(from) {
		out.Refuse("REQUEST from a neighbour that has asked already")
		return
	}
	n.requestQ.Push(from)
	n.assignPrivilege(out)
	n.makeRequest(out)
}

func (n *node) receivePrivilege(from dme.NodeID, out *dme.Outbox) {
	if n.holder != from || !n.asked {
		out.Refuse("PRIVILEGE that this node did not ask for")
		return
	}
	n.holder = n.self
	n.assignPrivilege(out)
	n.makeRequest(out)
}

// Release is the event of a node that exits the critical section.
func (n *node) Release(out *dme.Outbox) {
	n.using = false
	n.assignPrivilege(out)
	n.makeRequest(out)
}

// assignPrivilege is the routine ASSIGN_PRIVILEGE.
func (n *node) assignPrivilege(out *dme.Outbox) {
	if n.holder != n.self || n.using || n.requestQ.Empty() {
		return
	}
	n.holder = n.requestQ.Pop()
	n.asked = false
	if n.holder == n.self {
		n.using = true
		out.Enter(dme.Stamp{})
		return
	}
	out.Send(n.holder, dme.Message{Kind: kindPrivilege})
}

// makeRequest is the routine MAKE_REQUEST.
func (n *node) makeRequest(out *dme.Outbox) {
	if n.holder == n.self || n.holder == dme.None || n.requestQ.Empty() || n.asked {
		return
	}
	n.asked = true
	out.Send(n.holder, dme.Message{Kind: kindRequest})
}

func (n *node) State(v *dme.Visitor) {
	v.Node("HOLDER", &n.holder)
	v.Bool("USING", &n.using)
	n.requestQ.Show(v, "REQUEST_Q")
	v.Bool("ASKED", &n.asked)
}

func (n *node) QueueLength() int { return n.requestQ.Len() }

func (n *node) HasToken() bool { return n.holder == n.self }

// Waits names the neighbour that the privilege is to come from.
func (n *node) Waits() []dme.Wait {
	return dme.WaitIf(n.holder != n.self && n.asked, "PRIVILEGE", n.holder)
}
