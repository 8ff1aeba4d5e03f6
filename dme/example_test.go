package dme_test

import (
	"fmt"

	"dmebench/dme"
)

// The messages, in the order of Kinds.
const (
	ask  dme.Kind = iota + 1 // lets node 1 know who wants to enter
	pass                     // lets a node enter
	done                     // the node has left
)

// node is one node. Node 1 lets the others enter, one at a time.
type node struct {
	me    dme.NodeID
	waits bool
	queue []dme.NodeID // at node 1: who is inside, and who comes after
}

func (n *node) Request(out *dme.Outbox) { n.waits = true; n.send(1, ask, out) }
func (n *node) Release(out *dme.Outbox) { n.send(1, done, out) }
func (n *node) State(v *dme.Visitor)    { v.Bool("waits", &n.waits); v.Nodes("queue", &n.queue) }

func (n *node) send(to dme.NodeID, kind dme.Kind, out *dme.Outbox) {
	if to == n.me { // what a node would send to itself it handles at once
		n.Receive(n.me, dme.Message{Kind: kind}, out)
		return
	}
	out.Send(to, dme.Message{Kind: kind})
}

func (n *node) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch {
	case n.me == 1 && m.Kind == ask:
		if n.queue = append(n.queue, from); len(n.queue) == 1 {
			n.send(from, pass, out)
		}
	case n.me == 1 && m.Kind == done && len(n.queue) > 0 && n.queue[0] == from:
		if n.queue = n.queue[1:]; len(n.queue) > 0 {
			n.send(n.queue[0], pass, out)
		}
	case m.Kind == pass && n.waits:
		n.waits = false
		out.Enter(dme.Stamp{})
	default:
		out.Refuse("a message that nobody can have sent")
	}
}

var door = &dme.Algorithm{
	Name: "door", Title: "Door", Citation: "an example", Class: dme.Permission,
	Needs:   dme.Always(dme.Needs{Reliable: true}),
	Kinds:   []string{"ASK", "PASS", "DONE"},
	Prepare: dme.Unshared(func(_ int, id dme.NodeID) dme.Node { return &node{me: id} }),
}

func Example() {
	fmt.Println(door.Check())
	// Output: <nil>
}
