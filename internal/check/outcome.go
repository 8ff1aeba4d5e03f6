package check

import (
	"time"

	"dmebench/dme"
	"dmebench/internal/noderun"
)

// stimulus is what happens to a node: a request, an exit, a timer, a message.
type stimulus uint32

const (
	stimAsk stimulus = iota
	stimAskShared
	stimLeave
	stimStop
	stimFire                     // and the timer's number
	stimMessage = stimFire + 256 // and the parcel's number
)

// outcome is what a stimulus does to a node in one state. It is a function of
// the two, since a node is deterministic: it is computed once by each worker,
// by the node's own handler, and looked up ever after.
type outcome struct {
	next    uint32 // the node afterwards
	entered bool
	broken  *Violation // unasked entry, panic
	posted  []posted
	timers  []timing // set or cancelled, in this order
}

// posted is a message that was sent: an unmarked parcel, and where its link is
// in a state's vector.
type posted struct {
	at     int32
	parcel uint32
}

// timing is a timer that was set, or cancelled.
type timing struct {
	alarm
	set bool
}

// laboratory runs the handlers of nodes, one at a time, and writes down what
// they do. It is the noderun.World of its nodes.
type laboratory struct {
	*model
	components *components
	at         []int32 // link (from−1)·N + to−1: its place in a vector
	hosts      []*noderun.Runner
	counters   []noderun.Counters
	now        outcome
	message    []byte
	key        []byte
	refused    uint64
	refusal    string
}

func newLaboratory(m *model, c *components, at []int32) *laboratory {
	l := &laboratory{model: m, components: c, at: at, hosts: make([]*noderun.Runner, m.Nodes+1), counters: make([]noderun.Counters, m.Nodes+1)}
	for i := range m.ids() {
		l.hosts[i] = noderun.New(m.alg, m.sys, m.Nodes, i, l, &l.counters[i])
	}
	return l
}

// try does x to a node.
func (l *laboratory) try(x *local, what stimulus) outcome {
	l.now = outcome{}
	h, c := l.hosts[x.id], &l.counters[x.id]
	h.Restore(x.activity, x.shared)
	if _, err := dme.LoadState([]byte(x.state), h.Node()); err != nil {
		panic("check: " + err.Error()) // it was saved by the same node
	}
	unaskedBefore, refusedBefore := c.Unasked.Load(), c.Refused.Load()
	after := *x
	text := ""
	switch {
	case what == stimAsk:
		after.budget--
		text = try(h, (*noderun.Runner).Request)
	case what == stimAskShared:
		after.budget--
		text = try(h, (*noderun.Runner).RequestShared)
	case what == stimLeave:
		text = try(h, (*noderun.Runner).Release)
	case what == stimStop:
		after.stopped = true
		text = try(h, (*noderun.Runner).Stop)
	case what >= stimMessage:
		p := l.components.parcels.at(uint32(what - stimMessage))
		var m dme.Message
		if err := dme.DecodeMessage([]byte(p.body), &m, nil); err != nil {
			panic("check: " + err.Error()) // it was encoded here
		}
		text = try(h, func(h *noderun.Runner) {
			if p.from == p.to {
				h.Transmitted(&m)
			} else {
				h.Receive(p.from, &m)
			}
		})
	default:
		text = try(h, func(h *noderun.Runner) { h.Timeout(dme.TimerID(what - stimFire)) })
	}
	if c.Unasked.Load() > unaskedBefore {
		l.now.broken = unasked(x.id)
	}
	if n := c.Refused.Load() - refusedBefore; n > 0 {
		l.refused += n
		l.refusal = h.LastRefusal()
	}
	if text != "" {
		// What a panic leaves behind is of no use.
		l.counters[x.id] = noderun.Counters{}
		l.hosts[x.id] = noderun.New(l.alg, l.sys, l.Nodes, x.id, l, c)
		l.now.broken = panicked(x.id, text)
		return l.now
	}
	after.activity, after.shared = h.Activity(), h.Shared()
	l.now.next, l.key = l.components.localOf(l.key, &after, h.Node())
	return l.now
}

func (l *laboratory) Send(from, to dme.NodeID, m *dme.Message) {
	l.message = dme.AppendMessage(l.message[:0], m)
	l.post(from, to, transit{})
}

func (l *laboratory) Broadcast(from dme.NodeID, m *dme.Message) int {
	l.message = dme.AppendMessage(l.message[:0], m)
	for to := range l.ids() {
		if to != from || l.sequenced {
			l.post(from, to, transit{broadcast: l.sequenced})
		}
	}
	if l.sequenced {
		return 1
	}
	return l.Nodes - 1
}

func (l *laboratory) post(from, to dme.NodeID, t transit) {
	var p posted
	p.at = l.at[int(from-1)*l.Nodes+int(to-1)]
	p.parcel, l.key = l.components.parcelOf(l.key, from, to, l.message, t, nil)
	l.now.posted = append(l.now.posted, p)
}

func (l *laboratory) Enter(dme.NodeID, dme.Stamp) { l.now.entered = true }

func (l *laboratory) SetTimer(id dme.NodeID, t dme.TimerID, delay time.Duration) {
	l.now.timers = append(l.now.timers, timing{alarm{id, t, delay, l.reach(delay)}, true})
}

func (l *laboratory) CancelTimer(id dme.NodeID, t dme.TimerID) {
	l.now.timers = append(l.now.timers, timing{alarm: alarm{node: id, id: t}})
}
