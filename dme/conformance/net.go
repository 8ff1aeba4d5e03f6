package conformance

import (
	"fmt"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/noderun"
)

// Net is a system of nodes on a network in memory that does nothing by itself:
// the test delivers each message and lets each node ask and leave. It watches
// over mutual exclusion and records every entry.
//
// Every message passes through its wire form, and the vector that a node has
// handed over is overwritten, so that a node that still looks at it is found out.
//
// Where the algorithm needs broadcasts to be sequenced, their order is that in
// which they were sent, and a broadcast is also on the way to its sender.
type Net struct {
	Algorithm *dme.Algorithm
	Setting   dme.Setting
	Entries   []Entry

	hosts    []*noderun.Runner // by node, from 1
	needs    dme.Needs
	peers    []dme.NodeSet // by node, from 1: whom it says it sends to; nil where it does not say
	links    []link        // from each node to each, (from−1)·n + to−1
	busy     []int         // the links that hold messages
	timers   []timer       // in the order in which they were set
	sent     uint64        // messages so far: the number of the last
	onMedium uint64        // sequenced broadcasts so far
	heard    []uint64      // by node: how many of them, from the first, it has received
	inside   []dme.NodeID
	faults   []string
	asked    []int // entries there had been when the node asked
	wire     []byte
	reloader *reloader
}

// Entry is one entry into the critical section.
type Entry struct {
	Node   dme.NodeID
	Stamp  dme.Stamp
	Bypass int // entries by others since the node asked
	ByOne  int // the most of these that were one node's
	asked  int // entries there had been when the node asked
}

type link struct {
	queue []letter
	at    int // position in Net.busy, where the queue is not empty
}

type letter struct {
	number uint64
	place  uint64 // of a sequenced broadcast among all, from 1; 0 for other messages
	msg    dme.Message
}

type timer struct {
	node   dme.NodeID
	id     dme.TimerID
	number uint64 // of the last message sent before it was set
	due    time.Duration
}

// New returns a system of a on nodes nodes; set holds the options that differ
// from their defaults. Nodes with a Start have been started.
func New(a *dme.Algorithm, nodes int, set map[string]string) (*Net, error) {
	return newNet(a, nodes, 1, set, nil)
}

func newNet(a *dme.Algorithm, nodes int, seed uint64, set map[string]string, r *reloader) (*Net, error) {
	opt, err := a.Resolve(set)
	if err != nil {
		return nil, err
	}
	sys, err := a.New(nodes, seed, set)
	if err != nil {
		return nil, err
	}
	n := &Net{
		Algorithm: a,
		Setting:   dme.Setting{Nodes: nodes, Options: opt, System: sys},
		hosts:     make([]*noderun.Runner, nodes+1),
		needs:     a.Needs(opt),
		links:     make([]link, nodes*nodes),
		asked:     make([]int, nodes+1),
		heard:     make([]uint64, nodes+1),
		reloader:  r,
	}
	if linked, ok := sys.(dme.Linked); ok {
		n.peers = make([]dme.NodeSet, nodes+1)
		for i := range n.ids() {
			n.peers[i] = dme.MakeNodeSet(nodes)
			for _, j := range linked.Peers(i) {
				n.peers[i].Add(j)
			}
		}
	}
	run := sys
	if r != nil {
		run = reloading{System: sys, r: r}
	}
	for i := range n.ids() {
		n.hosts[i] = noderun.New(a, run, nodes, i, (*world)(n), new(noderun.Counters))
	}
	for i := range n.ids() {
		n.hosts[i].Start()
	}
	return n, nil
}

// ids yields the nodes in ascending order.
func (n *Net) ids() func(func(dme.NodeID) bool) {
	return func(yield func(dme.NodeID) bool) {
		for i := dme.NodeID(1); int(i) < len(n.hosts); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// Host returns node id's host.
func (n *Net) Host(id dme.NodeID) *noderun.Runner { return n.hosts[id] }

// Request lets node id ask for the critical section.
func (n *Net) Request(id dme.NodeID) {
	n.asked[id] = len(n.Entries)
	n.hosts[id].Request()
}

// Release lets node id leave the critical section.
func (n *Net) Release(id dme.NodeID) {
	n.inside = slices.DeleteFunc(n.inside, func(j dme.NodeID) bool { return j == id })
	n.hosts[id].Release()
}

// Stop tells every node that no more requests will come.
func (n *Net) Stop() {
	for i := range n.ids() {
		n.hosts[i].Stop()
	}
}

// Inside returns the nodes in the critical section.
func (n *Net) Inside() []dme.NodeID { return n.inside }

// InFlight returns the messages on the way between two nodes, in the order in
// which they were sent.
func (n *Net) InFlight(from, to dme.NodeID) []dme.Message {
	var all []dme.Message
	for _, l := range n.link(from, to).queue {
		all = append(all, l.msg)
	}
	return all
}

// Deliver delivers the k-th message, from 0, on the way between two nodes. It
// panics where there is none, and where a node would receive a sequenced
// broadcast before an earlier one.
func (n *Net) Deliver(from, to dme.NodeID, k int) {
	l := n.link(from, to)
	if k >= len(l.queue) {
		panic(fmt.Sprintf("conformance: message %d from node %d to node %d, of %d", k, from, to, len(l.queue)))
	}
	m, place := l.queue[k].msg, l.queue[k].place
	if place > 0 {
		if place != n.heard[to]+1 {
			panic(fmt.Sprintf("conformance: node %d would receive broadcast %d after %d", to, place, n.heard[to]))
		}
		n.heard[to] = place
	}
	l.queue = slices.Delete(l.queue, k, k+1)
	if len(l.queue) == 0 {
		last := n.busy[len(n.busy)-1]
		n.busy[l.at] = last
		n.links[last].at = l.at
		n.busy = n.busy[:len(n.busy)-1]
	}
	if from == to {
		n.hosts[to].Transmitted(&m)
	} else {
		n.hosts[to].Receive(from, &m)
	}
}

// DeliverOldest delivers the message that was sent first, as links that all
// have the same delay do. It reports whether there was one.
func (n *Net) DeliverOldest() bool {
	oldest := -1
	for _, i := range n.busy {
		if oldest < 0 || n.links[i].queue[0].number < n.links[oldest].queue[0].number {
			oldest = i
		}
	}
	if oldest < 0 {
		return false
	}
	from, to := n.ends(oldest)
	n.Deliver(from, to, 0)
	return true
}

// Settle delivers messages, the oldest first, until none is on the way.
func (n *Net) Settle() {
	for n.DeliverOldest() {
	}
}

// Fire fires the timer that was set first, and reports whether there was one.
func (n *Net) Fire() bool {
	if len(n.timers) == 0 {
		return false
	}
	t := n.timers[0]
	n.timers = slices.Delete(n.timers, 0, 1)
	n.hosts[t.node].Timeout(t.id)
	return true
}

// Elapse lets time pass until nothing is left to happen: messages arrive, the
// oldest first, and when none is on the way the timers fire that were set. It
// does not return where timers are set again and again.
func (n *Net) Elapse() {
	for n.DeliverOldest() || n.Fire() {
	}
}

// Serve lets node id ask, enter and leave while nobody else asks, with everything
// in between that happens in time, and returns the number of messages that this
// took. The network must be at rest.
func (n *Net) Serve(id dme.NodeID) (messages uint64, err error) {
	before := n.Sent()
	n.Request(id)
	n.Elapse()
	if !slices.Equal(n.inside, []dme.NodeID{id}) {
		return 0, fmt.Errorf("node %d asked and %v are in the critical section\n%s", id, n.inside, n.States())
	}
	n.Release(id)
	n.Elapse()
	return n.Sent() - before, n.Err()
}

// Sent returns the number of messages sent so far, one for each receiver.
func (n *Net) Sent() uint64 {
	var sum uint64
	for i := range n.ids() {
		sum += n.hosts[i].Counters().SentTotal.Load()
	}
	return sum
}

// Transmissions returns the number of transmissions so far: a broadcast is one.
func (n *Net) Transmissions() uint64 {
	var sum uint64
	for i := range n.ids() {
		sum += n.hosts[i].Counters().Transmissions.Load()
	}
	return sum
}

// Refused returns the number of messages that nodes have refused so far.
func (n *Net) Refused() uint64 {
	var sum uint64
	for i := range n.ids() {
		sum += n.hosts[i].Counters().Refused.Load()
	}
	return sum
}

// Err returns what went wrong so far: two nodes in the critical section, an
// entry without a request, a message that its wire form does not carry.
func (n *Net) Err() error {
	faults := n.faults
	for i := range n.ids() {
		if k := n.hosts[i].Counters().Unasked.Load(); k > 0 {
			faults = append(faults, fmt.Sprintf("node %d entered %d times without a request", i, k))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%s\n%s", faults[0], n.States())
}

// States describes every node, one on a line.
func (n *Net) States() string {
	var b []byte
	for i := range n.ids() {
		h := n.hosts[i]
		b = fmt.Appendf(b, "node %d, %v: %s\n", i, h.Activity(), dme.DescribeState(h.Node()))
	}
	return string(b)
}

func (n *Net) link(from, to dme.NodeID) *link {
	return &n.links[n.index(from, to)]
}

func (n *Net) index(from, to dme.NodeID) int {
	return int(from-1)*n.Setting.Nodes + int(to-1)
}

func (n *Net) ends(index int) (from, to dme.NodeID) {
	return dme.NodeID(index/n.Setting.Nodes + 1), dme.NodeID(index%n.Setting.Nodes + 1)
}

func (n *Net) fault(format string, args ...any) {
	n.faults = append(n.faults, fmt.Sprintf(format, args...))
}
