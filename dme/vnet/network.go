package vnet

import (
	"fmt"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// Network is a network of nodes that run, by steps that are taken by [Network.Do].
type Network struct {
	*Model
	runners   []noderun.Runner // by node, from 1
	counters  []noderun.Counters
	traffic   []noderun.Traffic
	meters    *noderun.Meters // nil if nothing is measured
	processes []process       // by node, from 1
	inside    []dme.NodeID
	waiting   int
	links     []linkQueue // by [Model.link]
	occupied  []Step      // the arrivals of the first messages, in no order
	common    shared
	sent      uint64 // the number of the last message
	indexes   []int  // 0, 1, …: scratch

	// Of all steps.
	Started   []Event // what the nodes did at their start, if they did anything
	Steps     int
	QuietFor  int // steps since a request, an entry or an exit
	Entries   uint64
	MaxBypass int        // most entries of others between a request and its entry
	Violation *Violation // the first, or a panic

	judge     *judge // nil if nothing is judged
	judgeAll  bool   // the state before was not judged
	disturbed bool   // a node has crashed, come back, joined or left

	// Of the step that is being taken, or was taken last.
	event   Event
	noting  bool // the event is being read
	out     outcome
	sending []transit // what the handler has sent
	taken   transit
}

type linkQueue struct {
	messages []transit
	at       int // in Network.occupied, if the queue is not empty
}

type transit struct {
	number uint64 // in the order of sending, from 1
	msg    dme.Message
	passage
}

var (
	_ noderun.World = (*Network)(nil)
	_ state         = (*Network)(nil)
)

// New returns a network of started nodes.
func New(m *Model) *Network {
	n := &Network{
		Model: m, runners: make([]noderun.Runner, m.Nodes+1), counters: make([]noderun.Counters, m.Nodes+1),
		traffic:   make([]noderun.Traffic, m.Nodes+1),
		processes: make([]process, m.Nodes+1), links: make([]linkQueue, m.Nodes*m.Nodes),
		common: shared{lose: m.Lose, crashes: m.Crashes, departures: m.Departures, overtaken: make([]int, m.Nodes+1)},
	}
	group := noderun.NewGroup(m.Algorithm, m.System, m.Nodes, n)
	for id := range m.IDs() {
		n.runners[id] = group.Runner(id, &n.counters[id], &n.traffic[id])
		n.processes[id].requests = anyNumber
		if m.Requests != nil {
			n.processes[id].requests = m.Requests(id)
		}
	}
	for _, id := range m.Absent {
		n.runners[id].Crash()
		n.processes[id].activity, n.processes[id].absent = noderun.Down, true
	}
	for id := range m.IDs() {
		if n.processes[id].absent {
			continue
		}
		start := Step{Kind: dme.Start, Node: id}
		n.begin(start, true)
		if n.finish(n.do(n, start)); len(n.event.Effects) > 0 {
			n.Started = append(n.Started, n.event.Clone())
		}
	}
	if len(m.Invariants) > 0 {
		n.judge = newJudge(m)
		n.judgeState(dme.None)
	}
	return n
}

// anyNumber of requests is as good as no limit.
const anyNumber = 1 << 40

// Do takes a step, and returns what came of it, which is valid until the next
// one. The step must be possible; a node need not have a request left to ask.
func (n *Network) Do(x Step) *Event {
	n.step(x, true)
	return &n.event
}

// Take takes a step like [Network.Do], and saves the time to note down what came of it.
func (n *Network) Take(x Step) { n.step(x, false) }

func (n *Network) step(x Step, note bool) {
	n.Steps++
	n.QuietFor++
	n.begin(x, note)
	p := &n.processes[x.Node]
	was := p.activity
	n.disturbed = n.disturbed || x.disturbs()
	switch p.begin(x); x.Kind {
	case dme.Crash:
		if was == noderun.Requesting {
			n.waiting--
		}
		n.inside = slices.DeleteFunc(n.inside, func(id dme.NodeID) bool { return id == x.Node })
		n.QuietFor = 0
	case dme.Request, dme.RequestShared:
		n.waiting++
		n.common.overtaken[x.Node] = 0
		n.QuietFor = 0
	case dme.Exit:
		n.inside = slices.DeleteFunc(n.inside, func(id dme.NodeID) bool { return id == x.Node })
		n.QuietFor = 0
	}
	n.finish(n.do(n, x))
	if n.judge != nil {
		n.judgeState(x.Node)
	}
}

// Inject hands a node a message that no link holds. From then on invariants are not judged.
func (n *Network) Inject(from, to dme.NodeID, m *dme.Message) *Event {
	n.judge = nil
	n.begin(Step{Node: to, From: from}, true)
	o := n.handle(to, func(h *noderun.Runner) { h.Receive(from, m) })
	n.finish(n.apply(n, to, nil, o))
	return &n.event
}

func (n *Network) begin(x Step, note bool) {
	if n.noting = note; note {
		n.event = Event{Step: x, Effects: n.event.Effects[:0]}
	}
	n.out.entered, n.out.left, n.out.timers, n.out.broken = false, false, n.out.timers[:0], nil
	n.sending = n.sending[:0]
}

func (n *Network) finish(bad *Violation) {
	if bad != nil && (n.Violation == nil || bad.Property == Sanity) {
		n.Violation = bad
	}
}

// Enabled appends every step that is possible.
func (n *Network) Enabled(to []Step) []Step {
	to, _ = n.enabled(n, to)
	return to
}

// MayArrive reports whether a message may arrive, on a network whose links need not keep order.
func (n *Network) MayArrive(x Step) bool {
	link := n.link(x.From, x.Node)
	return x.Index < len(n.links[link].messages) && (!n.Sequenced || n.audible(n, link, x.Index))
}

// AllowMore lets every node make that many more requests, even after a stop.
func (n *Network) AllowMore(requests int) {
	for id := range n.IDs() {
		n.processes[id].requests += requests
		n.processes[id].stopped = false
	}
}

// Possible reports whether a step is possible now.
func (n *Network) Possible(x Step) bool { return n.possible(n, x) }

// Oldest returns the arrival of the message that was sent first among those
// that may arrive, as on links that all have the same delay.
func (n *Network) Oldest() (x Step, ok bool) {
	var least uint64
	for _, first := range n.occupied {
		link := n.link(first.From, first.Node)
		if number := n.links[link].messages[0].number; (!ok || number < least) && n.mayArrive(n, link, 0) {
			x, least, ok = first, number, true
			x.Kind = n.links[link].messages[0].arrival()
		}
	}
	return x, ok
}

// Return returns the step by which the first of the nodes that are down comes back, if one may.
func (n *Network) Return() (x Step, ok bool) {
	for id := range n.IDs() {
		if x, ok := n.comingBack(id, &n.processes[id]); ok && n.faulty {
			return x, true
		}
	}
	return Step{}, false
}

// FirstTimer returns the firing of the timer that was set first among those that may fire.
func (n *Network) FirstTimer() (x Step, ok bool) {
	for i, t := range n.common.timers {
		if n.mayFire(n, i) {
			return Step{Kind: dme.Timeout, Node: t.Node, Timer: t.ID}, true
		}
	}
	return Step{}, false
}

// The network as the world of its nodes: it writes down what a handler does, for the rules.

func (n *Network) Send(from, to dme.NodeID, m *dme.Message) { n.send(from, to, m, m.Vec, false) }

func (n *Network) Broadcast(from dme.NodeID, m *dme.Message) (transmissions int) {
	for to := range n.IDs() {
		if to != from || n.Sequenced {
			n.send(from, to, m, slices.Clone(m.Vec), n.Sequenced)
		}
	}
	return 1
}

// send sends m with vec as its vector.
func (n *Network) send(from, to dme.NodeID, m *dme.Message, vec []uint64, broadcast bool) {
	n.sent++
	n.sending = append(n.sending, transit{number: n.sent, msg: *m, passage: passage{From: from, To: to, broadcast: broadcast}})
	msg := &n.sending[len(n.sending)-1].msg
	msg.Vec = vec
	if n.Carry != nil {
		*msg = n.Carry(from, to, msg)
	}
	if n.noting {
		n.note(Effect{Effect: dme.Effect{Kind: dme.Send, To: to, Msg: *msg}, Number: n.sent})
	}
}

func (n *Network) note(e Effect) { n.event.Effects = append(n.event.Effects, e) }

func (n *Network) Enter(id dme.NodeID, stamp dme.Stamp) {
	n.Entries++
	n.waiting--
	n.QuietFor = 0
	n.MaxBypass = max(n.MaxBypass, n.common.overtaken[id])
	n.inside = append(n.inside, id)
	n.out.entered = true
	if n.noting {
		n.note(Effect{Effect: dme.Effect{Kind: dme.Enter, Stamp: stamp}})
	}
}

func (n *Network) SetTimer(id dme.NodeID, timer dme.TimerID, delay time.Duration) {
	n.out.timers = append(n.out.timers, timing{Timer{id, timer, delay, n.reach(delay)}, true})
	if n.noting {
		n.note(Effect{Effect: dme.Effect{Kind: dme.SetTimer, Timer: timer, Delay: delay}})
	}
}

func (n *Network) CancelTimer(id dme.NodeID, timer dme.TimerID) {
	n.out.timers = append(n.out.timers, timing{Timer: Timer{Node: id, ID: timer}})
}

// The methods below are the network as its rules see it.

func (n *Network) process(id dme.NodeID) *process { return &n.processes[id] }
func (n *Network) shared() *shared                { return &n.common }
func (n *Network) edit() *shared                  { return &n.common }
func (n *Network) keep()                          {}
func (n *Network) arriving() []Step               { return n.occupied }
func (n *Network) length(link int) int            { return len(n.links[link].messages) }
func (n *Network) passage(link, i int) *passage   { return &n.links[link].messages[i].passage }

func (n *Network) heads(link int) []int {
	if !n.Unordered {
		return firstAlone[:]
	}
	held := n.length(link)
	for len(n.indexes) < held {
		n.indexes = append(n.indexes, len(n.indexes))
	}
	return n.indexes[:held]
}

func (n *Network) rewrite(from, to dme.NodeID, change func(*passage) bool) {
	messages := n.links[n.link(from, to)].messages
	for i := range messages {
		change(&messages[i].passage)
	}
}

func (n *Network) take(link, i int, leave bool) *passage {
	q := &n.links[link].messages
	n.taken = (*q)[i]
	if leave {
		(*q)[i].copied = true
		n.taken.msg.Vec = slices.Clone(n.taken.msg.Vec) // the copy keeps the other
	} else if len(*q) > 1 {
		*q = slices.Delete(*q, i, i+1)
	} else {
		*q = (*q)[:0] // what it held need not be cleared: the next message comes soon
		n.vacate(link)
	}
	if n.noting {
		n.event.Number, n.event.Msg = n.taken.number, n.taken.msg
	}
	return &n.taken.passage
}

func (n *Network) empty(link int) {
	if n.length(link) > 0 {
		n.links[link].messages = n.links[link].messages[:0]
		n.vacate(link)
	}
}

func (n *Network) vacate(link int) {
	hole, last := n.links[link].at, n.occupied[len(n.occupied)-1]
	n.occupied[hole] = last
	n.links[n.link(last.From, last.Node)].at = hole
	n.occupied = n.occupied[:len(n.occupied)-1]
}

func (n *Network) announce(from, to dme.NodeID, what dme.EventKind) {
	n.sent++
	n.put(&transit{number: n.sent, passage: passage{From: from, To: to, news: what}})
}

func (n *Network) run(x Step) *outcome {
	return n.handle(x.Node, func(h *noderun.Runner) { x.perform(h, &n.taken.msg) })
}

func (n *Network) handle(id dme.NodeID, handler func(*noderun.Runner)) *outcome {
	h, c := &n.runners[id], &n.counters[id]
	unasked, refused := c.Unasked.Load(), c.Refused.Load()
	if text := try(n.Recover, h, handler); text != "" {
		n.out.broken = violated(Sanity, id, "panics: %s", text)
		return &n.out
	}
	if n.out.left = n.processes[id].end(h); n.out.left && n.noting {
		n.note(Effect{Effect: dme.Effect{Kind: dme.Left}})
	}
	if c.Unasked.Load() > unasked {
		n.out.broken = violated(Asked, id, "enters the critical section without a request")
	}
	if n.noting && c.Refused.Load() > refused {
		n.event.Refused = h.LastRefusal()
	}
	return &n.out
}

// try runs a handler and, if it is to recover, returns the text of its panic.
func try(recovers bool, h *noderun.Runner, handler func(*noderun.Runner)) (text string) {
	if recovers {
		defer func() {
			if r := recover(); r != nil {
				text = fmt.Sprint(r)
			}
		}()
	}
	handler(h)
	return ""
}

func (n *Network) post(marks []mark) {
	for i := range n.sending {
		x := &n.sending[i]
		if n.faulty && n.severed(n, x.From, x.To) {
			n.event.lose(x.number)
			continue
		}
		x.marks = marks
		n.put(x)
	}
}

func (n *Network) put(x *transit) {
	l := &n.links[n.link(x.From, x.To)]
	if len(l.messages) == 0 {
		l.at = len(n.occupied)
		n.occupied = append(n.occupied, Step{Kind: dme.Receive, From: x.From, Node: x.To})
	}
	l.messages = append(l.messages, *x)
}
