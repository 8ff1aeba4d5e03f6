package conformance

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/dme/collections"
	"dmebench/dme/vnet"
)

// Net is a system of nodes on a network in memory that does nothing by itself: the test delivers
// each message and lets each node ask and leave. It watches over mutual exclusion and records every
// entry.
//
// Every message passes through its wire form, and the vector that a node has handed over is
// overwritten, so that a node that still looks at it is found out.
//
// If the algorithm needs broadcasts to be sequenced, a broadcast is also on the way to its sender,
// and its place in the one order is that in which the first node hears it.
type Net struct {
	Algorithm *dme.Algorithm
	Setting   dme.Setting
	Entries   []Entry

	network *vnet.Network
	peers   []collections.NodeSet // by node, from 1: the peers that it declares; nil if it declares none
	faults  []string
	asked   []int // entries there had been when the node asked
	sent    []int // entries there had been when the message of each number, from 1, was sent
	trip    int   // most entries while a message was on its way
	wire    []byte
}

// Entry is one entry into the critical section.
type Entry struct {
	Node   dme.NodeID
	Stamp  dme.Stamp
	Bypass int // entries by others since the node asked
	ByOne  int // the most of these that were one node's
	asked  int // entries there had been when the node asked
}

// New returns a system of a on nodes nodes; set holds the options that differ
// from their defaults. Nodes with a Start have been started.
func New(a *dme.Algorithm, nodes int, set map[string]string) (*Net, error) {
	return NewWithout(a, nodes, nil, set)
}

// NewWithout returns a system like [New], without some of the nodes at the start.
func NewWithout(a *dme.Algorithm, nodes int, absent []dme.NodeID, set map[string]string) (*Net, error) {
	return newNet(a, vnet.Config{Nodes: nodes, Absent: absent, Faults: true, Seed: 1}, set, nil)
}

// newNet completes the configuration by links that give what the algorithm
// needs, and no more.
func newNet(a *dme.Algorithm, c vnet.Config, set map[string]string, r *reloader) (*Net, error) {
	opt, err := a.Resolve(set)
	if err != nil {
		return nil, err
	}
	if err := a.CheckNodes(c.Nodes, opt); err != nil {
		return nil, err
	}
	n := &Net{Algorithm: a, asked: make([]int, c.Nodes+1)}
	needs := a.Needs(opt)
	c.Algorithm, c.Options, c.Carry = a, opt, n.carry
	c.Unordered, c.Bounded, c.Sequenced = !needs.FIFO, needs.BoundedDelay, needs.SequencedBroadcast
	c.Faults = c.Faults && !c.Sequenced
	model, err := vnet.NewModel(c)
	if err != nil {
		return nil, err
	}
	n.Setting = dme.Setting{Algorithm: a, Nodes: c.Nodes, Options: opt, System: model.System}
	if a.Peers != nil && a.Peers(model.System, 1) != nil {
		n.peers = make([]collections.NodeSet, c.Nodes+1)
		for id := range model.IDs() {
			n.peers[id] = collections.MakeNodeSet(c.Nodes)
			for _, j := range a.Peers(model.System, id) {
				n.peers[id].Add(j)
			}
		}
	}
	if r != nil {
		r.fault = n.fault
		model.System = reloading{System: model.System, r: r}
	}
	n.network = vnet.New(model)
	for i := range n.network.Started {
		n.note(&n.network.Started[i])
	}
	return n, nil
}

// Host is one node, as a test may meet it.
type Host struct {
	id  dme.NodeID
	net *Net
}

// Host returns node id's host.
func (n *Net) Host(id dme.NodeID) Host { return Host{id, n} }

// Node returns the node itself, for its state.
func (h Host) Node() dme.Node { return h.net.network.Node(h.id) }

// Activity says where the local process of the node stands.
func (h Host) Activity() dme.Activity { return h.net.network.Activity(h.id) }

// Counts returns what has been counted of the node until now.
func (h Host) Counts() vnet.Counts { return h.net.network.Counts(h.id) }

// RequestShared lets the node ask as a reader.
func (h Host) RequestShared() { h.net.do(vnet.Step{Kind: dme.RequestShared, Node: h.id}) }

// Receive hands the node a message that need not have been sent.
func (h Host) Receive(from dme.NodeID, m *dme.Message) {
	h.net.note(h.net.network.Inject(from, h.id, m))
}

// Timeout fires a timer of the node.
func (h Host) Timeout(timer dme.TimerID) {
	h.net.do(vnet.Step{Kind: dme.Timeout, Node: h.id, Timer: timer})
}

// Stop tells the node that no more requests will come.
func (h Host) Stop() { h.net.do(vnet.Step{Kind: dme.Stop, Node: h.id}) }

// Request lets node id ask for the critical section.
func (n *Net) Request(id dme.NodeID) { n.do(vnet.Step{Kind: dme.Request, Node: id}) }

// Release lets node id leave the critical section.
func (n *Net) Release(id dme.NodeID) { n.do(vnet.Step{Kind: dme.Exit, Node: id}) }

// Crash takes node id out of the system: see [dme.Restarter].
func (n *Net) Crash(id dme.NodeID) { n.do(vnet.Step{Kind: dme.Crash, Node: id}) }

// Restart brings node id back after a crash.
func (n *Net) Restart(id dme.NodeID) { n.do(vnet.Step{Kind: dme.Restart, Node: id}) }

// Join brings node id in, which was absent.
func (n *Net) Join(id dme.NodeID) { n.do(vnet.Step{Kind: dme.Join, Node: id}) }

// Depart tells node id to leave the system.
func (n *Net) Depart(id dme.NodeID) { n.do(vnet.Step{Kind: dme.Depart, Node: id}) }

// Inside returns the nodes in the critical section.
func (n *Net) Inside() []dme.NodeID { return n.network.Inside() }

// InFlight returns the messages on the way between two nodes, in the order in
// which they were sent.
func (n *Net) InFlight(from, to dme.NodeID) []dme.Message { return n.network.OnTheWay(from, to) }

// Flying returns all messages that are on the way, in the order in which they
// were sent.
func (n *Net) Flying() []vnet.Flight { return n.network.InFlight() }

// Deliver delivers the k-th message, from 0, on the way between two nodes, or the news that the
// sender is down or up. It panics if there is none, and if a node would receive a sequenced
// broadcast before an earlier one. It may overtake others of its link, but no news.
func (n *Net) Deliver(from, to dme.NodeID, k int) {
	x := vnet.Step{Kind: dme.Receive, Node: to, From: from, Index: k}
	if kind, ok := n.network.News(from, to); ok {
		x.Kind = kind
	}
	if !n.network.MayArrive(x) {
		panic(fmt.Sprintf("conformance: message %d from node %d to node %d, of %v", k, from, to, n.InFlight(from, to)))
	}
	n.do(x)
}

// DeliverOldest delivers the message that was sent first, as links that all
// have the same delay do. It reports whether there was one.
func (n *Net) DeliverOldest() bool { return n.doIf(n.network.Oldest()) }

// Settle delivers messages, the oldest first, until none is on the way.
func (n *Net) Settle() {
	for n.DeliverOldest() {
	}
}

// Fire fires the timer that was set first, and reports whether there was one.
func (n *Net) Fire() bool {
	timers := n.network.Timers()
	if len(timers) == 0 {
		return false
	}
	return n.doIf(vnet.Step{Kind: dme.Timeout, Node: timers[0].Node, Timer: timers[0].ID}, true)
}

// Elapse lets time pass until nothing is left to happen: messages arrive, the oldest first, and
// when none is on the way the timers fire that were set. It does not return if timers are set again
// and again.
func (n *Net) Elapse() {
	for n.DeliverOldest() || n.Fire() {
	}
}

// Serve has node id ask, enter and leave while no other asks, with everything in between that
// happens in time, and returns the number of messages that this took. The network must be at rest.
func (n *Net) Serve(id dme.NodeID) (messages uint64, err error) {
	before := n.Sent()
	n.Request(id)
	n.Elapse()
	if !slices.Equal(n.Inside(), []dme.NodeID{id}) {
		return 0, fmt.Errorf("node %d asked and %v are in the critical section\n%s", id, n.Inside(), n.States())
	}
	n.Release(id)
	n.Elapse()
	return n.Sent() - before, n.Err()
}

// Drain has the nodes inside leave until no node enters any more, and returns the order in which
// they did.
func (n *Net) Drain() []dme.NodeID {
	var order []dme.NodeID
	for len(n.Inside()) > 0 {
		id := n.Inside()[0]
		order = append(order, id)
		n.Release(id)
		n.Settle()
	}
	return order
}

// Sent returns the number of messages sent so far, one for each receiver.
func (n *Net) Sent() uint64 {
	return n.network.Counts(dme.None).Sent
}

// SentOf returns the number of messages of a kind sent so far.
func (n *Net) SentOf(k dme.Kind) uint64 {
	return n.network.Counts(dme.None).SentOf[k]
}

// Transmissions returns the number of transmissions so far: a broadcast is one.
func (n *Net) Transmissions() uint64 {
	return n.network.Counts(dme.None).Transmissions
}

// Refused returns the number of messages that nodes have refused so far.
func (n *Net) Refused() uint64 {
	return n.network.Counts(dme.None).Refused
}

// Refusal returns why a message was refused, "" if none was.
func (n *Net) Refusal() string {
	_, reason := n.network.Refused()
	return reason
}

// Err returns what went wrong so far: two nodes in the critical section, an
// entry without a request, a message that its wire form does not carry.
func (n *Net) Err() error {
	switch {
	case len(n.faults) > 0:
		return fmt.Errorf("%s\n%s", n.faults[0], n.States())
	case n.network.Violation != nil:
		return fmt.Errorf("%s\n%s", n.network.Violation.Verdict, n.States())
	}
	return nil
}

// Broken returns an invariant of the algorithm that does not hold now; nil if all hold. It is for
// tests that have changed a node by hand, to see that an invariant notices; [Net.Err] says what
// breaks in a step.
func (n *Net) Broken() *vnet.Violation { return n.network.Broken() }

// States describes every node, one on a line.
func (n *Net) States() string { return strings.Join(n.network.States(), "\n") + "\n" }

func (n *Net) fault(format string, args ...any) {
	n.faults = append(n.faults, fmt.Sprintf(format, args...))
}

// do takes a step, and returns what came of it, which is valid until the next.
func (n *Net) do(x vnet.Step) *vnet.Event {
	switch x.Kind {
	case dme.Request, dme.RequestShared:
		n.asked[x.Node] = len(n.Entries)
	case dme.Crash, dme.Depart:
		n.peers = nil // others may take the place of a peer
	case dme.Receive, dme.Timeout:
		if len(n.network.Invariants) > 0 && !n.network.Possible(x) {
			n.network.Unwatch() // a test overtakes if links keep order, or fires a timer too early
		}
	}
	e := n.network.Do(x)
	if e.Kind == dme.Receive && e.Number > 0 {
		n.trip = max(n.trip, len(n.Entries)-n.sent[e.Number])
	}
	n.note(e)
	return e
}

// doIf takes a step, if there is one.
func (n *Net) doIf(x vnet.Step, ok bool) bool {
	if ok {
		n.do(x)
	}
	return ok
}

// note records the entry of an event, if it is one, and when messages were sent.
func (n *Net) note(e *vnet.Event) {
	for _, x := range e.Effects {
		for uint64(len(n.sent)) <= x.Number {
			n.sent = append(n.sent, len(n.Entries))
		}
		if x.Kind != dme.Enter {
			continue
		}
		entry := Entry{Node: e.Node, Stamp: x.Stamp, asked: n.asked[e.Node]}
		by := make(map[dme.NodeID]int)
		for _, other := range n.Entries[entry.asked:] {
			if other.Node != e.Node {
				by[other.Node]++
				entry.Bypass, entry.ByOne = entry.Bypass+1, max(entry.ByOne, by[other.Node])
			}
		}
		n.Entries = append(n.Entries, entry)
	}
}

// carry returns what the receiver decodes of a message. Its vector belongs to the network now and
// is overwritten, so that a node that still reads it is noticed.
func (n *Net) carry(from, to dme.NodeID, m *dme.Message) dme.Message {
	if n.peers != nil && from != to && !n.peers[from].Has(to) {
		n.fault("node %d sends to node %d, which is not among its peers", from, to)
	}
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
	for i := range m.Vec {
		m.Vec[i] = ^uint64(0)
	}
	return got
}
