// Package noderun runs one node of an algorithm on behalf of a runtime.
//
// A [Runner] calls the node's handlers and applies their effects, in order, to
// the runtime's [World]; it counts what is sent and handled and keeps the node
// to its protocol.
//
// Worker processes, the virtual-time simulator and the network in memory of the
// searches all run nodes through this package, so that an algorithm meets the
// same rules everywhere. The caller serializes the events of a node.
package noderun

import (
	"fmt"
	"sync/atomic"
	"time"

	"dmebench/dme"
)

// World is the runtime around the nodes: it carries out their effects. It must
// not call back into a Runner before the Runner's method has returned.
type World interface {
	// Send takes over m.Vec; the rest of m is valid during the call.
	Send(from, to dme.NodeID, m *dme.Message)
	// Broadcast sends m to all nodes but from; m.Vec stays the caller's. It returns the number of
	// transmissions: 1 if the network broadcasts.
	Broadcast(from dme.NodeID, m *dme.Message) (transmissions int)
	// Enter lets the local process of the node into the critical section.
	Enter(id dme.NodeID, stamp dme.Stamp)
	SetTimer(id dme.NodeID, timer dme.TimerID, delay time.Duration)
	CancelTimer(id dme.NodeID, timer dme.TimerID)
}

// Group is what the runners of one goroutine's nodes have in common. Their outbox is empty
// between events.
type Group struct {
	kinds    dme.Kind // largest kind of the algorithm
	nodes    int
	sys      dme.System
	queue    func(dme.Node) int // its length; nil if there is none
	world    World
	observer Observer // nil if there is none
	out      dme.Outbox
	far      func(from, to dme.NodeID) bool // whether two nodes are at different sites; nil if all are at one
}

// NewGroup returns what runners for a system of a on nodes nodes share.
func NewGroup(a *dme.Algorithm, sys dme.System, nodes int, w World) *Group {
	return &Group{nodes: nodes, kinds: dme.Kind(len(a.Kinds)), queue: a.QueueLength, sys: sys, world: w}
}

// CountFar counts messages between nodes as far if far reports true.
func (g *Group) CountFar(far func(from, to dme.NodeID) bool) { g.far = far }

// Runner runs one node.
type Runner struct {
	*Group
	id       dme.NodeID
	activity Activity
	shared   bool // the request pending, or the entry, is a reader's
	node     dme.Node
	counters *Counters
	traffic  *Traffic
	refusal  string // reason of the last refusal
}

// Runner returns a runner for node id. counters must be zero and, like traffic, which may be
// that of the whole group, outlive the runner.
func (g *Group) Runner(id dme.NodeID, counters *Counters, traffic *Traffic) Runner {
	return Runner{Group: g, id: id, counters: counters, traffic: traffic, node: g.sys.Node(id)}
}

func (h *Runner) renew() {
	h.node = h.sys.Node(h.id)
}

func (h *Runner) countFar(to dme.NodeID) {
	if h.far != nil && h.far(h.id, to) {
		h.counters.Far.Add(1)
	}
}

func (h *Runner) ID() dme.NodeID { return h.id }

func (h *Runner) Node() dme.Node { return h.node }

func (h *Runner) Activity() Activity { return h.activity }

func (h *Runner) Counters() *Counters { return h.counters }

func (h *Runner) LastRefusal() string { return h.refusal }

func (h *Runner) Start() {
	h.observe(Event{Kind: dme.Start})
	if n, ok := h.node.(dme.Starter); ok {
		n.Start(&h.out)
		h.apply()
	}
}

func (h *Runner) Stop() {
	if n, ok := h.node.(dme.Stopper); ok {
		h.call(Event{Kind: dme.Stop}, n.Stop)
	}
}

// Crash takes the node out of the system: everything that it knew is forgotten.
// It is also how a node begins that is to join later. Nothing but Restart and
// Join may be called after it.
func (h *Runner) Crash() {
	h.observe(Event{Kind: dme.Crash})
	h.out.Reset()
	h.renew()
	h.shared = false
	h.setActivity(Down)
}

// Restart brings a node back after a Crash; it must be a [dme.Restarter].
func (h *Runner) Restart() {
	h.observe(Event{Kind: dme.Restart})
	h.setActivity(Idle)
	h.node.(dme.Restarter).Restart(&h.out)
	h.apply()
}

// Join brings a node in that was no part of the system; it must be a
// [dme.Member].
func (h *Runner) Join() {
	h.observe(Event{Kind: dme.Join})
	h.setActivity(Idle)
	h.node.(dme.Member).Join(&h.out)
	h.apply()
}

// Depart tells the node to leave the system; it must be a [dme.Member], and the
// local process idle. The activity is Down once it has left.
func (h *Runner) Depart() {
	h.call(Event{Kind: dme.Depart}, h.node.(dme.Member).Depart)
}

// PeerDown tells the node, if it listens, that a peer is down.
func (h *Runner) PeerDown(peer dme.NodeID) {
	if n, ok := h.node.(dme.PeerWatcher); ok {
		h.call(Event{Kind: dme.PeerDown, Peer: peer}, func(out *dme.Outbox) { n.Down(peer, out) })
	}
}

// PeerUp tells the node, if it listens, that a new incarnation of a peer is
// there.
func (h *Runner) PeerUp(peer dme.NodeID) {
	if n, ok := h.node.(dme.PeerWatcher); ok {
		h.call(Event{Kind: dme.PeerUp, Peer: peer}, func(out *dme.Outbox) { n.Up(peer, out) })
	}
}

func (h *Runner) Request() { h.request(false) }

// RequestShared asks for the critical section as a reader. The node must be a
// SharedRequester.
func (h *Runner) RequestShared() { h.request(true) }

func (h *Runner) request(shared bool) {
	if h.activity != Idle {
		panic(fmt.Sprintf("noderun: node %d: Request while %v", h.id, h.activity))
	}
	h.setActivity(Requesting)
	h.shared = shared
	h.counters.Requests.Add(1)
	if shared {
		h.observe(Event{Kind: dme.RequestShared})
		h.node.(dme.SharedRequester).RequestShared(&h.out)
	} else {
		h.observe(Event{Kind: dme.Request})
		h.node.Request(&h.out)
	}
	h.apply()
}

// Shared reports whether the pending request or the current entry is a reader's.
func (h *Runner) Shared() bool { return h.shared }

// Release leaves the critical section. The local process must be inside.
func (h *Runner) Release() {
	if h.activity != Inside {
		panic(fmt.Sprintf("noderun: node %d: Release while %v", h.id, h.activity))
	}
	h.observe(Event{Kind: dme.Exit})
	h.node.Release(&h.out)
	h.apply()
	// Last: a reader that sees the node idle has also seen the messages that ended the entry, and
	// the entry counted, however long this goroutine waits for a core here.
	h.counters.Entries.Add(1)
	h.setActivity(Idle)
}

func (h *Runner) Receive(from dme.NodeID, m *dme.Message) {
	kind := m.Kind
	h.observe(Event{Kind: dme.Receive, Peer: from, Msg: m})
	switch {
	case from < 1 || int(from) > h.nodes || from == h.id:
		h.refuse("sender is not another node of this system")
		kind = 0
	case kind < 1 || kind > h.kinds:
		h.refuse("no such kind of message")
		kind = 0
	default:
		h.node.Receive(from, *m, &h.out)
		h.apply()
	}
	h.CountHandled(kind)
}

// Transmitted shows the node its own broadcast in its place among all, if it listens. A runtime
// calls it if broadcasts are sequenced.
func (h *Runner) Transmitted(m *dme.Message) {
	if n, ok := h.node.(dme.Monitor); ok {
		h.observe(Event{Kind: dme.Hear, Peer: h.id, Msg: m})
		n.Transmitted(*m, &h.out)
		h.apply()
	}
}

// Timeout tells the node that a timer has fired.
func (h *Runner) Timeout(timer dme.TimerID) {
	n, ok := h.node.(dme.Timed)
	if !ok {
		panic(fmt.Sprintf("noderun: node %d: a timer fired, but the algorithm has no Timeout", h.id))
	}
	h.observe(Event{Kind: dme.Timeout, Timer: timer})
	n.Timeout(timer, &h.out)
	h.apply()
}

// Act lets a node act by itself, as one does whose steps a process of its own takes:
// f says what it does.
func (h *Runner) Act(f func(out *dme.Outbox)) {
	f(&h.out)
	h.apply()
}

// CountSent counts a message to a node that the runtime carries in a form of its own, of
// that size in bytes. It is called before the message is sent.
func (h *Runner) CountSent(to dme.NodeID, kind dme.Kind, size int) {
	c := h.counters
	h.countFar(to)
	h.countSent(kind, 1)
	h.traffic.Transmissions.Add(1)
	c.Bytes.Add(uint64(size))
	raise(&c.LongestMessage, uint64(size))
}

// CountHandled counts a message that was given to a node in a form of its own. It may be
// called while the node does something else.
func (h *Runner) CountHandled(kind dme.Kind) {
	h.traffic.Handled[kind].Add(1)
	h.counters.Handled.Add(1)
}

// CountPassed counts a message of a client that needs no node to handle it.
func (h *Runner) CountPassed(kind dme.Kind) {
	h.countSent(kind, 1)
	h.traffic.Transmissions.Add(1)
	h.CountHandled(kind)
}

func (h *Runner) countSent(kind dme.Kind, receivers uint64) {
	h.traffic.Sent[kind].Add(receivers)
	h.counters.Sent.Add(receivers)
}

// Restore puts the local process where it stood at an earlier moment, for an explorer. The
// node's own state is the caller's to load, and counters keep counting.
func (h *Runner) Restore(a Activity, shared bool) {
	h.out.Reset()
	h.setActivity(a)
	h.shared = shared
}

func Describe(h *Runner) string {
	return fmt.Sprintf("node %d is %v: %s", h.id, h.activity, dme.DescribeState(h.node))
}

// call runs a handler of the node. It is not for what happens all the time.
func (h *Runner) call(x Event, handler func(*dme.Outbox)) {
	h.observe(x)
	handler(&h.out)
	h.apply()
}

func (h *Runner) setActivity(a Activity) {
	h.activity = a
	h.counters.Activity.Store(uint64(a))
}

func (h *Runner) refuse(reason string) {
	h.observe(Event{Kind: dme.Refuse, Reason: reason})
	h.refusal = reason
	h.counters.Refused.Add(1)
}

func (h *Runner) apply() {
	c := h.counters
	for i := range h.out.Effects() {
		e := &h.out.Effects()[i]
		switch e.Kind {
		case dme.Send:
			if e.To < 1 || int(e.To) > h.nodes || e.To == h.id {
				panic(fmt.Sprintf("noderun: node %d sends to node %d of %d: %s", h.id, e.To, h.nodes, dme.DescribeState(h.node)))
			}
			h.count(&e.Msg, 1)
			h.traffic.Transmissions.Add(1)
			h.countFar(e.To)
			h.observe(Event{Kind: dme.Send, Peer: e.To, Msg: &e.Msg})
			h.world.Send(h.id, e.To, &e.Msg)
		case dme.Broadcast:
			if h.nodes == 1 {
				continue
			}
			h.count(&e.Msg, uint64(h.nodes-1))
			if h.far != nil {
				for to := range dme.Others(h.nodes, h.id) {
					h.countFar(to)
				}
			}
			if h.observer != nil {
				h.observeBroadcast(&e.Msg)
			}
			h.traffic.Transmissions.Add(uint64(h.world.Broadcast(h.id, &e.Msg)))
		case dme.Enter:
			if h.activity != Requesting {
				c.Unasked.Add(1)
				continue
			}
			h.setActivity(Inside)
			h.observe(Event{Kind: dme.Enter, Stamp: e.Stamp})
			h.world.Enter(h.id, e.Stamp)
		case dme.SetTimer:
			h.observe(Event{Kind: dme.SetTimer, Timer: e.Timer, Delay: e.Delay})
			h.world.SetTimer(h.id, e.Timer, e.Delay)
		case dme.CancelTimer:
			h.world.CancelTimer(h.id, e.Timer)
		case dme.Refuse:
			h.refuse(e.Reason)
		case dme.Left:
			h.observe(Event{Kind: dme.Left})
			h.renew() // may join again
			h.shared = false
			h.setActivity(Down)
		}
		e.Msg.Vec = nil // handed over: the outbox must not keep it alive
	}
	h.out.Reset()
	if h.queue != nil {
		raise(&c.LongestQueue, uint64(h.queue(h.node)))
	}
}

func (h *Runner) count(m *dme.Message, receivers uint64) {
	if m.Kind < 1 || m.Kind > h.kinds {
		panic(fmt.Sprintf("noderun: node %d sends a message of undeclared kind %d", h.id, m.Kind))
	}
	c := h.counters
	size := uint64(dme.MessageSize(m))
	h.countSent(m.Kind, receivers)
	c.Bytes.Add(receivers * size)
	raise(&c.LongestMessage, size)
}

func raise(c *atomic.Uint64, n uint64) {
	if n > c.Load() {
		c.Store(n)
	}
}
