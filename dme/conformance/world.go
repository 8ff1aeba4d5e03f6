package conformance

import (
	"bytes"
	"reflect"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/noderun"
)

// world is a Net as its hosts see it.
type world Net

var _ noderun.World = (*world)(nil)

func (w *world) Send(from, to dme.NodeID, m *dme.Message) {
	w.post(from, to, m, 0)
	for i := range m.Vec {
		m.Vec[i] = ^uint64(0) // it is ours now: who still reads it, reads this
	}
}

func (w *world) Broadcast(from dme.NodeID, m *dme.Message) int {
	n := (*Net)(w)
	if n.needs.SequencedBroadcast {
		n.onMedium++
		for to := range n.ids() {
			w.post(from, to, m, n.onMedium)
		}
		return 1
	}
	for to := range n.ids() {
		if to != from {
			w.post(from, to, m, 0)
		}
	}
	return 1
}

func (w *world) post(from, to dme.NodeID, m *dme.Message, place uint64) {
	n := (*Net)(w)
	if n.peers != nil && from != to && !n.peers[from].Has(to) {
		n.fault("node %d sends to node %d, which is not among its peers", from, to)
	}
	i := n.index(from, to)
	l := &n.links[i]
	if len(l.queue) == 0 {
		l.at = len(n.busy)
		n.busy = append(n.busy, i)
	}
	n.sent++
	l.queue = append(l.queue, letter{number: n.sent, place: place, msg: n.throughWire(m)})
}

// throughWire returns what the receiver decodes.
func (n *Net) throughWire(m *dme.Message) dme.Message {
	n.wire = dme.AppendMessage(n.wire[:0], m)
	if size := dme.MessageSize(m); size != len(n.wire) {
		n.fault("MessageSize says %d of a message of %d bytes: %+v", size, len(n.wire), *m)
	}
	var got dme.Message
	if err := dme.DecodeMessage(n.wire, &got, nil); err != nil {
		n.fault("%v: %+v", err, *m)
	}
	want := *m
	if len(want.Vec) == 0 {
		want.Vec = nil
	}
	if !reflect.DeepEqual(got, want) {
		n.fault("%+v arrives as %+v", want, got)
	}
	return got
}

func (w *world) Enter(id dme.NodeID, stamp dme.Stamp) {
	n := (*Net)(w)
	for _, j := range n.inside {
		if !n.hosts[id].Shared() || !n.hosts[j].Shared() {
			n.fault("nodes %d and %d are in the critical section", j, id)
		}
	}
	n.inside = append(n.inside, id)
	entry := Entry{Node: id, Stamp: stamp, asked: n.asked[id]}
	by := make(map[dme.NodeID]int)
	for _, e := range n.Entries[n.asked[id]:] {
		if e.Node != id {
			by[e.Node]++
			entry.Bypass, entry.ByOne = entry.Bypass+1, max(entry.ByOne, by[e.Node])
		}
	}
	n.Entries = append(n.Entries, entry)
}

func (w *world) SetTimer(id dme.NodeID, t dme.TimerID, delay time.Duration) {
	w.CancelTimer(id, t)
	w.timers = append(w.timers, timer{node: id, id: t, number: w.sent, due: delay})
}

func (w *world) CancelTimer(id dme.NodeID, t dme.TimerID) {
	w.timers = slices.DeleteFunc(w.timers, func(x timer) bool { return x.node == id && x.id == t })
}

// reloader decides when a node is replaced by one that was made anew and
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

func (n *reloaded) QueueLength() int {
	if q, ok := n.node.(dme.Queuer); ok {
		return q.QueueLength()
	}
	return 0
}
