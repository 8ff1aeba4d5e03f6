// Package courier is an example of an algorithm that lives in a module of its
// own. The node with the highest number keeps a key. Who wants to enter sends
// for the key and brings it back afterwards; who comes while it is out waits in
// line. It is the centralized algorithm with another centre, and as simple as an
// algorithm can be that is still safe and live.
//
// Messages are numbered by request, because on links without order a node's
// next WANT may overtake its BACK.
package courier

import "dmebench/dme"

// The messages, in the order of Algorithm.Kinds.
const (
	want dme.Kind = iota + 1 // Num: which of the sender's requests this is
	key                      // Num: of the request that it answers
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
		Claims: []dme.Claim{{
			Quantity: dme.MessagesPerCS, Formula: "3(N−1)/N", Load: dme.Light, Kind: dme.Mean,
			Source:  "docs/adding-an-algorithm.md",
			Predict: dme.PerN(func(n float64) float64 { return 3 * (n - 1) / n }),
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
	mine       uint64      // number of my latest request
	waiting    bool        // for the key
	here       bool        // the key is at home
	line       []dme.Stamp // who waits for it: request number and node
}

// Request sends for the key.
func (n *node) Request(out *dme.Outbox) {
	n.mine++
	n.waiting = true
	if n.me == n.keeper {
		n.ask(dme.Stamp{Clock: n.mine, Node: n.me}, out)
		return
	}
	out.Send(n.keeper, dme.Message{Kind: want, Num: n.mine})
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
	case m.Kind == want && n.me == n.keeper && m.Num > 0:
		n.ask(dme.Stamp{Clock: m.Num, Node: from}, out)
	case m.Kind == back && n.me == n.keeper && !n.here:
		n.returned(out)
	case m.Kind == key && from == n.keeper && n.waiting && m.Num == n.mine:
		n.waiting = false
		out.Enter(dme.Stamp{})
	default:
		out.Refuse("a message that nobody can have sent now")
	}
}

func (n *node) ask(request dme.Stamp, out *dme.Outbox) {
	n.line = append(n.line, request)
	n.lend(out)
}

func (n *node) returned(out *dme.Outbox) {
	n.here = true
	n.lend(out)
}

// lend gives the key to the first in line, if it is at home.
func (n *node) lend(out *dme.Outbox) {
	if !n.here || len(n.line) == 0 {
		return
	}
	first := n.line[0]
	n.line = n.line[:copy(n.line, n.line[1:])]
	n.here = false
	if first.Node == n.me {
		n.waiting = false
		out.Enter(dme.Stamp{})
		return
	}
	out.Send(first.Node, dme.Message{Kind: key, Num: first.Clock})
}

// State names every variable: to save, load, hash and print a node.
func (n *node) State(v *dme.Visitor) {
	v.Uint("mine", &n.mine)
	v.Bool("waiting", &n.waiting)
	v.Bool("here", &n.here)
	v.Stamps("line", &n.line)
}
