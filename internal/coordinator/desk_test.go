package coordinator

import (
	"slices"

	"dmebench/dme"
)

// desk is an algorithm for these tests: node 1 lets one node after the other in,
// and goes on when one of them is down. With deaf set it does not listen to that.
func desk(name string, deaf bool) *dme.Algorithm {
	return &dme.Algorithm{
		Name: name, Title: "a desk", Citation: "none: it is for tests", Class: dme.Permission, AsPublished: true,
		Needs:   dme.Always(dme.Needs{Reliable: true}),
		Kinds:   []string{"ASK", "GRANT", "DONE"},
		Prepare: func(dme.Config) (dme.System, error) { return deskSystem{deaf}, nil },
	}
}

const (
	ask dme.Kind = 1 + iota
	grant
	done
)

type deskSystem struct{ deaf bool }

func (s deskSystem) Node(id dme.NodeID) dme.Node { return &deskNode{id: id, deaf: s.deaf} }
func (deskSystem) Root() dme.NodeID              { return 1 }

type deskNode struct {
	id      dme.NodeID
	deaf    bool
	inside  dme.NodeID // at the desk: who is; elsewhere: this node, if it is
	waiting []dme.NodeID
	heard   []dme.NodeID // who was down and is up again
}

func (n *deskNode) Request(out *dme.Outbox) {
	if n.id == 1 {
		n.take(1, out)
		return
	}
	out.Send(1, dme.Message{Kind: ask})
}

func (n *deskNode) Release(out *dme.Outbox) {
	n.inside = 0
	if n.id == 1 {
		n.next(out)
		return
	}
	out.Send(1, dme.Message{Kind: done})
}

func (n *deskNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case ask:
		n.take(from, out)
	case grant:
		n.inside = n.id
		out.Enter(dme.Stamp{})
	case done:
		n.inside = 0
		n.next(out)
	}
}

func (n *deskNode) take(id dme.NodeID, out *dme.Outbox) {
	n.waiting = append(n.waiting, id)
	if n.inside == 0 {
		n.next(out)
	}
}

func (n *deskNode) next(out *dme.Outbox) {
	if len(n.waiting) == 0 {
		return
	}
	n.inside, n.waiting = n.waiting[0], n.waiting[1:]
	if n.inside == 1 {
		out.Enter(dme.Stamp{})
		return
	}
	out.Send(n.inside, dme.Message{Kind: grant})
}

func (n *deskNode) Down(peer dme.NodeID, out *dme.Outbox) {
	if n.id != 1 || n.deaf {
		return
	}
	n.waiting = slices.DeleteFunc(n.waiting, func(id dme.NodeID) bool { return id == peer })
	if n.inside == peer {
		n.inside = 0
		n.next(out)
	}
}

func (n *deskNode) Up(peer dme.NodeID, _ *dme.Outbox) { n.heard = append(n.heard, peer) }
func (n *deskNode) Restart(*dme.Outbox)               {}
func (n *deskNode) Join(*dme.Outbox)                  {}
func (n *deskNode) Leave(out *dme.Outbox)             { out.Left() }
func (n *deskNode) HasToken() bool                    { return n.id != 1 && n.inside == n.id }

func (n *deskNode) State(v *dme.Visitor) {
	v.Node("inside", &n.inside)
	v.Nodes("waiting", &n.waiting)
	v.Nodes("heard", &n.heard)
}
