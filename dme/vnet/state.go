package vnet

import (
	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// state is a state of the network, however it is held: the rules are written on
// it alone. A [Network] holds nodes that run; a [Walker] holds the numbers of
// components that it keeps once.
type state interface {
	process(id dme.NodeID) *process // not to be changed
	shared() *shared                // not to be changed

	// arriving returns the arrival of the first message of each link that holds
	// some, whether it may come next or not. It is valid until the next change.
	arriving() []Step
	length(link int) int
	passage(link, i int) *passage // not to be changed
	// heads returns which messages of a link that holds some may arrive next, as far as their order
	// on the link says. If one may go for another that is equal, one of them will do.
	heads(link int) []int

	// edit returns what can be changed of shared, and keep keeps the changes.
	edit() *shared
	keep()
	// take takes the i-th message from a link, or leaves it there as a copy.
	take(link, i int, leave bool) *passage
	// rewrite changes what is known about a link's messages, in order; change says if it has.
	rewrite(from, to dme.NodeID, change func(*passage) bool)
	// empty loses everything that a link holds.
	empty(link int)
	// announce puts news about a node on its way to another.
	announce(from, to dme.NodeID, what dme.EventKind)
	// run runs the handler of a step, with the message that was taken.
	run(x Step) *outcome
	// post puts the messages of the outcome on their way.
	post(marks []mark)
}

type process struct {
	activity noderun.Activity
	reads    bool // its request, or its entry, is a reader's
	stopped  bool // no more requests will come to the node
	leaving  bool // the node is to leave
	absent   bool // not part of the system: not joined yet, or gone
	requests int  // still to make
}

func (p *process) mayAsk() bool {
	return p.requests > 0 && p.activity == noderun.Idle && !p.stopped && !p.leaving
}

// member is where the node stands in the system.
func (p *process) member() Member {
	return Member{Down: p.activity == noderun.Down, Absent: p.absent, Leaving: p.leaving}
}

func (p *process) served() bool { return p.requests == 0 && p.activity == noderun.Idle }

func (p *process) begin(x Step) {
	switch x.Kind {
	case dme.Request, dme.RequestShared:
		if p.requests < anyNumber { // any number less one is any number
			p.requests--
		}
	case dme.Stop:
		p.stopped = true
	case dme.Join:
		p.absent = false
	case dme.Depart:
		p.leaving, p.requests = true, 0
	case dme.Crash:
		p.stopped, p.leaving = false, false
	}
}

// end notes what the process does after a step, and reports whether its node has left in it.
func (p *process) end(h *noderun.Runner) (left bool) {
	p.activity, p.reads = h.Activity(), h.Shared()
	if left = p.leaving && p.activity == noderun.Down; left {
		p.leaving, p.absent = false, true
	}
	return left
}

type passage struct {
	From, To dme.NodeID
	copied   bool          // has arrived once
	news     dme.EventKind // PeerDown or PeerUp: it is no message, but says what has become of its sender; 0: a message

	// On a sequenced medium a broadcast is on its way to every node, its sender too. Its place in
	// the order is open until the first node hears it, and then the same for all: 1 is the first
	// that some node has yet to hear, 0 stands for none yet.
	broadcast bool
	place     int32
	marks     []mark
}

type shared struct {
	lose       int     // messages that may still be lost
	crashes    int     // still allowed
	departures int     // still allowed
	overtaken  []int   // by node, from 1: entries of others since it asked; nil if not counted
	timers     []Timer // in the order in which they were set
}

type outcome struct {
	timers  []timing
	broken  *Violation // an entry without a request, a panic
	entered bool
	left    bool   // the node has left the system
	refused bool   // the node has refused the message; if outcomes are kept
	taken   bool   // the step was taken, and not only looked at; where outcomes are kept
	next    uint32 // the node afterwards, if nodes have numbers
}

// fatal reports whether the handler has left nothing behind that could go on.
func (o *outcome) fatal() bool { return o.broken != nil && o.broken.Property == Sanity }

func rewriteAll(s state, change func(*passage) bool) {
	for _, x := range s.arriving() {
		s.rewrite(x.From, x.Node, change)
	}
}

// Sent returns how many messages have been sent, news of nodes included: the number of the last.
func (n *Network) Sent() uint64 { return n.sent }

// Number returns the number of the message, or of the news, that arrives or is lost in
// a step, which must be possible. They are numbered from 1 in the order of sending.
func (n *Network) Number(x Step) uint64 {
	return n.links[n.link(x.From, x.Node)].messages[x.Index].number
}
