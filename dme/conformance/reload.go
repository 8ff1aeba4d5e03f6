package conformance

import (
	"bytes"

	"dmebench/dme"
)

// reloader decides when a node is replaced by one that was made again and
// loaded with the state of the old one.
type reloader struct {
	now   func() bool
	fault func(format string, args ...any)
}

// reloading is a System whose nodes live in their saved states.
type reloading struct {
	dme.System
	r *reloader
}

func (s reloading) Node(id dme.NodeID) dme.Node {
	return &reloaded{sys: s.System, id: id, node: s.System.Node(id), r: s.r}
}

type reloaded struct {
	sys  dme.System
	id   dme.NodeID
	node dme.Node
	r    *reloader
}

// current returns the node, perhaps a copy of it.
func (n *reloaded) current() dme.Node {
	if !n.r.now() {
		return n.node
	}
	saved := dme.SaveState(nil, n.node)
	twin := n.sys.Node(n.id)
	rest, err := dme.LoadState(saved, twin)
	switch {
	case err != nil:
		n.r.fault("node %d: saved state: %v", n.id, err)
	case len(rest) != 0:
		n.r.fault("node %d: %d bytes of the saved state are not loaded", n.id, len(rest))
	case !bytes.Equal(saved, dme.SaveState(nil, twin)):
		n.r.fault("node %d: loaded and saved again, %s is not %s", n.id,
			dme.DescribeState(twin), dme.DescribeState(n.node))
	case n.r.now() && dme.DescribeState(n.node) != dme.DescribeState(twin):
		n.r.fault("node %d: %s prints as %s after loading", n.id,
			dme.DescribeState(n.node), dme.DescribeState(twin))
	}
	n.node = twin
	return twin
}

// Unwrap returns the node that the algorithm made.
func (n *reloaded) Unwrap() dme.Node { return n.node }

func (n *reloaded) Request(out *dme.Outbox) { n.current().Request(out) }
func (n *reloaded) Release(out *dme.Outbox) { n.current().Release(out) }
func (n *reloaded) State(v *dme.Visitor)    { n.node.State(v) }

func (n *reloaded) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	n.current().Receive(from, m, out)
}

func (n *reloaded) RequestShared(out *dme.Outbox) {
	n.current().(dme.SharedRequester).RequestShared(out)
}

func (n *reloaded) Transmitted(m dme.Message, out *dme.Outbox) {
	if x, ok := n.current().(dme.Monitor); ok {
		x.Transmitted(m, out)
	}
}

func (n *reloaded) Timeout(id dme.TimerID, out *dme.Outbox) {
	n.current().(dme.Timed).Timeout(id, out)
}

func (n *reloaded) Start(out *dme.Outbox) {
	if s, ok := n.current().(dme.Starter); ok {
		s.Start(out)
	}
}

func (n *reloaded) Stop(out *dme.Outbox) {
	if s, ok := n.current().(dme.Stopper); ok {
		s.Stop(out)
	}
}

func (n *reloaded) Restart(out *dme.Outbox) { n.current().(dme.Restarter).Restart(out) }
func (n *reloaded) Join(out *dme.Outbox)    { n.current().(dme.Joiner).Join(out) }
func (n *reloaded) Leave(out *dme.Outbox)   { n.current().(dme.Leaver).Leave(out) }

func (n *reloaded) Down(peer dme.NodeID, out *dme.Outbox) {
	if w, ok := n.current().(dme.PeerWatcher); ok {
		w.Down(peer, out)
	}
}

func (n *reloaded) Up(peer dme.NodeID, out *dme.Outbox) {
	if w, ok := n.current().(dme.PeerWatcher); ok {
		w.Up(peer, out)
	}
}

func (n *reloaded) QueueLength() int {
	if q, ok := n.node.(dme.Queuer); ok {
		return q.QueueLength()
	}
	return 0
}
