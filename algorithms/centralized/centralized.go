// Package centralized is the simple method of the textbook's Exercise 9.6 (Kshemkalyani and
// Singhal, Distributed Computing, chapter 9): the site that contains the resource serves all. It is
// the yardstick for every distributed algorithm: three messages, and one node that does all the
// work.
//
// Node 1 holds the resource.
//
//  1. To ask, a node sends REQUEST to node 1.
//  2. Node 1 grants the resource to one node at a time, in the order in which requests arrive, by
//     sending GRANT.
//  3. A node that receives GRANT enters.
//  4. On leaving, it sends RELEASE to node 1, which grants the next request.
//
// The exercise leaves the scheduling to "any classical method"; here it is a first-in, first-out
// queue. Node 1 takes part like all others and handles what it would send to itself without a
// message.
//
// Links need not keep order. The only messages that can overtake one another are a RELEASE and the
// REQUEST that the same node sends after it: the early REQUEST waits in the queue, and the resource
// stays granted until the RELEASE arrives. Neither needs a number, since a node has at most one
// request pending. Loss and duplication are not tolerated.
package centralized

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

const (
	kindRequest dme.Kind = iota + 1
	kindGrant
	kindRelease
)

// coordinator is the node that holds the resource.
const coordinator dme.NodeID = 1

// Algorithm describes the centralized algorithm.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "centralized",
		Title: "Centralized",
		Description: "Every node asks one coordinator, node 1, which grants one request at a time in the order of arrival. An entry costs a " +
			"REQUEST, a GRANT and a RELEASE, and none at the coordinator itself, whatever the number of nodes. A handover takes two " +
			"messages in a row, RELEASE and GRANT. It is the yardstick for all others: nothing is cheaper to build or to run. But " +
			"all work falls on one node, and everything stops when that one does.",
		Citation:    "A. D. Kshemkalyani, M. Singhal: Distributed Computing, Cambridge University Press 2008, chapter 9, Exercise 9.6",
		Class:       dme.Permission,
		Needs:       dme.Always(dme.Needs{Reliable: true}),
		Kinds:       []string{"REQUEST", "GRANT", "RELEASE"},
		Claims:      claim.Lazy(claims),
		Invariants:  invariants(),
		Waits:       dme.OfNode(waiter.Waits),
		QueueLength: dme.OfNode((*server).QueueLength),
		Peers:       dme.OfSystem(system.Peers),
		Root:        coordinator,
		Prepare: func(c dme.Config) (dme.System, error) {
			return system{nodes: c.Nodes}, nil
		},
	}
}

// waiter is a node, with the resource or without.
type waiter interface{ Waits() []dme.Wait }

type system struct{ nodes int }

func (s system) Node(id dme.NodeID) dme.Node {
	if id == coordinator {
		return &server{queued: collections.MakeNodeSet(s.nodes)}
	}
	return &client{}
}

// Peers returns node 1, and for node 1 all others.
func (s system) Peers(id dme.NodeID) []dme.NodeID {
	if id != coordinator {
		return []dme.NodeID{coordinator}
	}
	return slices.Collect(dme.Others(s.nodes, coordinator))
}

// client is a node without the resource.
type client struct {
	waiting bool // for GRANT
}

// Request is step 1.
func (c *client) Request(out *dme.Outbox) {
	c.waiting = true
	out.Send(coordinator, dme.Message{Kind: kindRequest})
}

// Receive is step 3.
func (c *client) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch {
	case m.Kind != kindGrant:
		out.Refuse("this node does not hold the resource")
	case from != coordinator:
		out.Refuse("GRANT from a node that does not hold the resource")
	case !c.waiting:
		out.Refuse("GRANT without a request")
	default:
		c.waiting = false
		out.Enter(dme.Stamp{})
	}
}

// Release is step 4.
func (c *client) Release(out *dme.Outbox) {
	out.Send(coordinator, dme.Message{Kind: kindRelease})
}

func (c *client) State(v *dme.Visitor) { v.Bool("waiting", &c.waiting) }

// Waits names node 1: a client that has asked waits for it.
func (c *client) Waits() []dme.Wait { return dme.WaitIf(c.waiting, "GRANT", coordinator) }

// server is the node with the resource.
type server struct {
	holder dme.NodeID            // has the resource; None if it is free
	queue  collections.NodeQueue // nodes waiting for it
	queued collections.NodeSet   // the nodes in queue
}

// Request is node 1's own step 1.
func (s *server) Request(out *dme.Outbox) { s.enqueue(coordinator, out) }

// Release is node 1's own step 4.
func (s *server) Release(out *dme.Outbox) {
	s.holder = dme.None
	s.grant(out)
}

func (s *server) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case kindRequest: // step 2
		if s.queued.Has(from) {
			out.Refuse("REQUEST from a node that is waiting already")
			return
		}
		s.enqueue(from, out)
	case kindRelease: // step 4
		if s.holder != from {
			out.Refuse("RELEASE from a node that does not have the resource")
			return
		}
		s.holder = dme.None
		s.grant(out)
	default:
		out.Refuse("GRANT to the node that holds the resource")
	}
}

func (s *server) enqueue(id dme.NodeID, out *dme.Outbox) {
	s.queue.Push(id)
	s.queued.Add(id)
	s.grant(out)
}

// grant is step 2: it gives the resource, if it is free, to the first in line.
func (s *server) grant(out *dme.Outbox) {
	if s.holder != dme.None || s.queue.Empty() {
		return
	}
	s.holder = s.queue.Pop()
	s.queued.Remove(s.holder)
	if s.holder == coordinator {
		out.Enter(dme.Stamp{})
		return
	}
	out.Send(s.holder, dme.Message{Kind: kindGrant})
}

func (s *server) State(v *dme.Visitor) {
	v.Node("holder", &s.holder)
	s.queue.Show(v, "queue")
	s.queued.Show(v, "queued")
}

// Waits names the node that has the resource.
func (s *server) Waits() []dme.Wait {
	return dme.WaitIf(s.holder != dme.None && s.holder != coordinator, "RELEASE", s.holder)
}

func (s *server) QueueLength() int { return s.queue.Len() }
