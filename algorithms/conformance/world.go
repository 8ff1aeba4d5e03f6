package conformance

import (
	"bytes"
	"reflect"
	"slices"
	"time"

	"dmebench/algorithms"
	"dmebench/internal/host"
)

// world is a Net as its hosts see it.
type world Net

var _ host.World = (*world)(nil)

func (w *world) Send(from, to algorithms.NodeID, m *algorithms.Message) {
	w.post(from, to, m, 0)
	for i := range m.Vec {
		m.Vec[i] = ^uint64(0) // it is ours now: who still reads it, reads this
	}
}

func (w *world) Broadcast(from algorithms.NodeID, m *algorithms.Message) int {
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

func (w *world) post(from, to algorithms.NodeID, m *algorithms.Message, place uint64) {
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
func (n *Net) throughWire(m *algorithms.Message) algorithms.Message {
	n.wire = algorithms.AppendMessage(n.wire[:0], m)
	if size := algorithms.MessageSize(m); size != len(n.wire) {
		n.fault("MessageSize says %d of a message of %d bytes: %+v", size, len(n.wire), *m)
	}
	var got algorithms.Message
	if err := algorithms.DecodeMessage(n.wire, &got, nil); err != nil {
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

func (w *world) Enter(id algorithms.NodeID, stamp algorithms.Stamp) {
	n := (*Net)(w)
	for _, j := range n.inside {
		if !n.hosts[id].Shared() || !n.hosts[j].Shared() {
			n.fault("nodes %d and %d are in the critical section", j, id)
		}
	}
	n.inside = append(n.inside, id)
	entry := Entry{Node: id, Stamp: stamp, asked: n.asked[id]}
	by := make(map[algorithms.NodeID]int)
	for _, e := range n.Entries[n.asked[id]:] {
		if e.Node != id {
			by[e.Node]++
			entry.Bypass, entry.ByOne = entry.Bypass+1, max(entry.ByOne, by[e.Node])
		}
	}
	n.Entries = append(n.Entries, entry)
}

func (w *world) SetTimer(id algorithms.NodeID, t algorithms.TimerID, delay time.Duration) {
	w.CancelTimer(id, t)
	w.timers = append(w.timers, timer{node: id, id: t, number: w.sent, due: delay})
}

func (w *world) CancelTimer(id algorithms.NodeID, t algorithms.TimerID) {
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
	algorithms.System
	r *reloader
}

func (s reloading) Node(id algorithms.NodeID) algorithms.Node {
	return &reloaded{sys: s.System, id: id, node: s.System.Node(id), r: s.r}
}

type reloaded struct {
	sys  algorithms.System
	id   algorithms.NodeID
	node algorithms.Node
	r    *reloader
}

// current returns the node, perhaps a copy of it.
func (n *reloaded) current() algorithms.Node {
	if !n.r.now() {
		return n.node
	}
	saved := algorithms.SaveState(nil, n.node)
	twin := n.sys.Node(n.id)
	rest, err := algorithms.LoadState(saved, twin)
	switch {
	case err != nil:
		n.r.fault("node %d: saved state: %v", n.id, err)
	case len(rest) != 0:
		n.r.fault("node %d: %d bytes of the saved state are not loaded", n.id, len(rest))
	case !bytes.Equal(saved, algorithms.SaveState(nil, twin)):
		n.r.fault("node %d: loaded and saved again, %s is not %s", n.id,
			algorithms.DescribeState(twin), algorithms.DescribeState(n.node))
	case n.r.now() && algorithms.DescribeState(n.node) != algorithms.DescribeState(twin):
		n.r.fault("node %d: %s prints as %s after loading", n.id,
			algorithms.DescribeState(n.node), algorithms.DescribeState(twin))
	}
	n.node = twin
	return twin
}

func (n *reloaded) Request(out *algorithms.Outbox) { n.current().Request(out) }
func (n *reloaded) Release(out *algorithms.Outbox) { n.current().Release(out) }
func (n *reloaded) State(v *algorithms.Visitor)    { n.node.State(v) }

func (n *reloaded) Receive(from algorithms.NodeID, m algorithms.Message, out *algorithms.Outbox) {
	n.current().Receive(from, m, out)
}

func (n *reloaded) RequestShared(out *algorithms.Outbox) {
	n.current().(algorithms.SharedRequester).RequestShared(out)
}

func (n *reloaded) Transmitted(m algorithms.Message, out *algorithms.Outbox) {
	if x, ok := n.current().(algorithms.Monitor); ok {
		x.Transmitted(m, out)
	}
}

func (n *reloaded) Timeout(id algorithms.TimerID, out *algorithms.Outbox) {
	n.current().(algorithms.Timed).Timeout(id, out)
}

func (n *reloaded) Start(out *algorithms.Outbox) {
	if s, ok := n.current().(algorithms.Starter); ok {
		s.Start(out)
	}
}

func (n *reloaded) Stop(out *algorithms.Outbox) {
	if s, ok := n.current().(algorithms.Stopper); ok {
		s.Stop(out)
	}
}

func (n *reloaded) QueueLength() int {
	if q, ok := n.node.(algorithms.Queuer); ok {
		return q.QueueLength()
	}
	return 0
}
