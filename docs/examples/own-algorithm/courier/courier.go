// Package courier is an example of an algorithm that lives in a module of its own. The node with
// the highest number keeps a key. A node that wants to enter sends for the key and brings it back
// afterwards; nodes that ask while the key is out wait in line. It is the centralized algorithm
// with another centre, and as simple as an algorithm can be that is still safe and live.
//
// It needs links that neither lose nor duplicate messages, and no order: if a node's next WANT
// overtakes its BACK, the keeper puts the node in line, and lends the key when it is back.
package courier

import (
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

// The messages, in the order of Algorithm.Kinds.
const (
	want dme.Kind = iota + 1 // asks the keeper for the key
	key                      // the key
	back                     // the key returns
)

// Algorithm describes the courier to dmebench.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:     "courier",
		Title:    "Courier",
		Citation: "an example: docs/adding-an-algorithm.md",
		Class:    dme.Permission,
		Needs:    dme.Always(dme.Needs{Reliable: true}),
		Kinds:    []string{"WANT", "KEY", "BACK"},
		Claims: claim.List{{
			Quantity: claim.MessagesPerCS, Formula: "3(N−1)/N", Load: claim.Light, Kind: claim.Mean,
			Source: "docs/adding-an-algorithm.md",
		}},
		Prepare: func(c dme.Config) (dme.System, error) {
			return system{keeper: dme.NodeID(c.Nodes)}, nil
		},
	}
}

type system struct{ keeper dme.NodeID }

func (s system) Node(id dme.NodeID) dme.Node {
	return &node{me: id, keeper: s.keeper, here: id == s.keeper}
}

// node is one node's state. Only the keeper uses here and line.
type node struct {
	me, keeper dme.NodeID
	waiting    bool                  // for the key
	here       bool                  // the key is at home
	line       collections.NodeQueue // nodes waiting for it
}

// Request sends for the key.
func (n *node) Request(out *dme.Outbox) {
	n.waiting = true
	if n.me == n.keeper {
		n.ask(n.me, out)
		return
	}
	out.Send(n.keeper, dme.Message{Kind: want})
}

// Release brings the key back.
func (n *node) Release(out *dme.Outbox) {
	if n.me == n.keeper {
		n.returned(out)
		return
	}
	out.Send(n.keeper, dme.Message{Kind: back})
}

// Receive handles a message; what cannot be is refused.
func (n *node) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch {
	case m.Kind == want && n.me == n.keeper && !n.line.Has(from):
		n.ask(from, out)
	case m.Kind == back && n.me == n.keeper && !n.here:
		n.returned(out)
	case m.Kind == key && from == n.keeper && n.waiting:
		n.waiting = false
		out.Enter(dme.Stamp{})
	default:
		out.Refuse("a message that no node can have sent now")
	}
}

func (n *node) ask(from dme.NodeID, out *dme.Outbox) {
	n.line.Push(from)
	n.lend(out)
}

func (n *node) returned(out *dme.Outbox) {
	n.here = true
	n.lend(out)
}

// lend gives the key to the first in line, if it is at home.
func (n *node) lend(out *dme.Outbox) {
	if !n.here || n.line.Empty() {
		return
	}
	first := n.line.Pop()
	n.here = false
	if first == n.me {
		n.waiting = false
		out.Enter(dme.Stamp{})
		return
	}
	out.Send(first, dme.Message{Kind: key})
}

// State names every variable: to save, load, hash and print a node.
func (n *node) State(v *dme.Visitor) {
	v.Bool("waiting", &n.waiting)
	v.Bool("here", &n.here)
	n.line.Show(v, "line")
}
