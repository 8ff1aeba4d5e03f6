package toys

import (
	"dmebench/dme"
	"dmebench/dme/collections"
)

// queuer asks with a timestamp, and enters when its request is the first of those it has heard of.
// It waits for no reply, so two may be inside.
type queuer struct {
	id       dme.NodeID
	distance uint64 // a message so far above its clock has it enter, asked or not; 0: none has
	tells    bool   // a RELEASE names the request
	clock    uint64
	request  dme.Stamp
	inside   bool
	queue    collections.RequestQueue
}

// Queuers takes the distance; with tells messages have both a timestamp and a rising clock.
func Queuers(name string, distance uint64, tells bool) *dme.Algorithm {
	q := queuer{distance: distance, tells: tells}
	a := New(name, func(id dme.NodeID, _ int) dme.Node {
		one := q
		one.id = id
		return &one
	}, "REQUEST", "RELEASE")
	a.Clocks = func(_ int, from dme.NodeID, m *dme.Message, v *dme.Visitor) {
		if m.Kind == 1 {
			v.Timestamp("", from, &m.Clock)
		} else {
			v.Rising("", from, &m.Clock)
		}
		for i := range m.Vec {
			v.Timestamp("", from, &m.Vec[i])
		}
	}
	return a
}

func (q *queuer) Request(out *dme.Outbox) {
	q.clock++
	q.request = dme.Stamp{Clock: q.clock, Node: q.id}
	q.queue.Insert(q.request)
	out.Broadcast(dme.Message{Kind: 1, Clock: q.clock})
	q.enter(out)
}

func (q *queuer) Release(out *dme.Outbox) {
	q.clock++
	q.queue.Remove(q.id)
	released := dme.Message{Kind: 2, Clock: q.clock}
	if q.tells {
		released.Vec = []uint64{q.request.Clock}
	}
	q.request, q.inside = dme.Stamp{}, false
	out.Broadcast(released)
}

func (q *queuer) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if q.distance > 0 && m.Clock >= q.clock+q.distance {
		out.Enter(dme.Stamp{})
	}
	q.clock = max(q.clock, m.Clock) + 1
	if m.Kind == 1 {
		q.queue.Insert(dme.Stamp{Clock: m.Clock, Node: from})
	} else {
		q.queue.Remove(from)
	}
	if q.distance == 0 {
		q.enter(out)
	}
}

func (q *queuer) enter(out *dme.Outbox) {
	if q.request != (dme.Stamp{}) && !q.inside && q.queue[0] == q.request {
		q.inside = true
		out.Enter(q.request)
	}
}

func (q *queuer) State(v *dme.Visitor) {
	v.Rising("clock", q.id, &q.clock)
	v.Stamp("request", &q.request)
	v.Bool("inside", &q.inside)
	q.queue.Show(v, "queue")
}

// clerk is a node of an algorithm in which node 1 lets in one node after another. It tells the
// others the timestamp of its own requests, which they keep. They have a clock that rises with each
// of their requests alone, and some enter at once if their clocks have a value that their rule
// likes.
type clerk struct {
	id, n   dme.NodeID
	rule    func(clock uint64, known, request dme.Stamp) bool // clock: before it rises for request
	plain   bool                                              // the clock is shown as one that does more than rise
	clock   uint64
	known   dme.Stamp // of node 1's last request
	request dme.Stamp
	at      dme.NodeID // node 1: the node inside
	queue   collections.NodeQueue
}

const (
	clerkNews    dme.Kind = iota + 1 // of node 1's request
	clerkRequest                     // of another node
	clerkGrant
	clerkRelease
)

func Clerks(name string, plain bool, rule func(clock uint64, known, request dme.Stamp) bool) *dme.Algorithm {
	a := New(name, func(id dme.NodeID, n int) dme.Node {
		return &clerk{id: id, n: dme.NodeID(n), rule: rule, plain: plain}
	}, "NEWS", "REQUEST", "GRANT", "RELEASE")
	a.Needs = dme.Always(dme.Needs{Reliable: true, FIFO: true})
	a.Clocks = func(_ int, from dme.NodeID, m *dme.Message, v *dme.Visitor) {
		if m.Kind == clerkNews {
			v.Timestamp("", from, &m.Clock)
		}
	}
	return a
}

func (c *clerk) Request(out *dme.Outbox) {
	before := c.clock
	c.clock++
	c.request = dme.Stamp{Clock: c.clock, Node: c.id}
	switch {
	case c.id == 1:
		out.Broadcast(dme.Message{Kind: clerkNews, Clock: c.clock})
		c.queue.Push(1)
		c.serve(out)
	case !c.known.IsZero() && c.rule(before, c.known, c.request):
		out.Enter(dme.Stamp{})
	default:
		out.Send(1, dme.Message{Kind: clerkRequest})
	}
}

func (c *clerk) Release(out *dme.Outbox) {
	c.request = dme.Stamp{}
	if c.id == 1 {
		c.at = dme.None
		c.serve(out)
		return
	}
	out.Send(1, dme.Message{Kind: clerkRelease})
}

func (c *clerk) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case clerkNews:
		c.known = dme.Stamp{Clock: m.Clock, Node: from}
	case clerkRequest:
		c.queue.Push(from)
		c.serve(out)
	case clerkGrant:
		out.Enter(dme.Stamp{})
	case clerkRelease:
		c.at = dme.None
		c.serve(out)
	}
}

func (c *clerk) serve(out *dme.Outbox) {
	if c.at != dme.None || c.queue.Empty() {
		return
	}
	c.at = c.queue.Pop()
	if c.at == 1 {
		out.Enter(dme.Stamp{})
		return
	}
	out.Send(c.at, dme.Message{Kind: clerkGrant})
}

func (c *clerk) State(v *dme.Visitor) {
	if c.plain {
		v.Clock("clock", &c.clock)
	} else {
		v.Rising("clock", c.id, &c.clock)
	}
	v.Stamp("known", &c.known)
	v.Stamp("request", &c.request)
	v.Node("at", &c.at)
	c.queue.Show(v, "queue")
}

// slow: node 2 asks node 1 again and again, whose clock rises by 1 each time, and is
// next when that clock has reached a goal.
type slow struct {
	id              dme.NodeID
	clock, goal     uint64
	busy            bool // node 1 is inside, or node 2 may be
	waiting, wanted bool // node 2 is next; node 1 asks
}

const (
	slowQuestion dme.Kind = iota + 1
	slowNotYet
	slowNow
	slowRelease
)

func Slowly(goal uint64) *dme.Algorithm {
	a := New("slow", func(id dme.NodeID, _ int) dme.Node { return &slow{id: id, goal: goal} }, "QUESTION", "NOT_YET", "NOW", "RELEASE")
	a.Clocks = func(int, dme.NodeID, *dme.Message, *dme.Visitor) {}
	return a
}

func (n *slow) Request(out *dme.Outbox) {
	if n.id == 2 {
		out.Send(1, dme.Message{Kind: slowQuestion})
		return
	}
	n.wanted = true
	n.serve(out)
}

func (n *slow) Release(out *dme.Outbox) {
	if n.id == 2 {
		out.Send(1, dme.Message{Kind: slowRelease})
		return
	}
	n.busy = false
	n.serve(out)
}

func (n *slow) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch {
	case m.Kind == slowNow:
		out.Enter(dme.Stamp{})
	case m.Kind == slowNotYet:
		out.Send(from, dme.Message{Kind: slowQuestion})
	case m.Kind == slowRelease:
		n.busy = false
		n.serve(out)
	case n.clock == n.goal:
		n.waiting = true
		n.serve(out)
	default:
		n.clock++
		out.Send(from, dme.Message{Kind: slowNotYet})
	}
}

func (n *slow) serve(out *dme.Outbox) {
	switch {
	case n.busy:
	case n.waiting:
		n.busy, n.waiting = true, false
		out.Send(2, dme.Message{Kind: slowNow})
	case n.wanted:
		n.busy, n.wanted = true, false
		out.Enter(dme.Stamp{})
	}
}

func (n *slow) State(v *dme.Visitor) {
	if n.id == 1 { // node 2's, which stays where it was, would fall behind at the same time
		v.Clock("clock", &n.clock)
		v.Clock("goal", &n.goal)
	}
	v.Bool("busy", &n.busy)
	v.Bool("waiting", &n.waiting)
	v.Bool("wanted", &n.wanted)
}

// ReadersFirst: node 1 coordinates, and lets readers in as long as there are any: a
// writer waits for the moment at which none is there.
func ReadersFirst() *dme.Algorithm {
	return New("readers-first", func(id dme.NodeID, n int) dme.Node { return &readersFirst{id: id} }, "READ", "WRITE", "GRANT", "DONE")
}

type readersFirst struct {
	id      dme.NodeID
	inside  uint64 // readers
	writing bool
	writers collections.NodeQueue
	readers collections.NodeQueue // asking while a writer is inside
}

const (
	readRequest dme.Kind = iota + 1
	writeRequest
	grantReply
	releaseNotice
)

func (d *readersFirst) Request(out *dme.Outbox)       { d.send(writeRequest, out) }
func (d *readersFirst) RequestShared(out *dme.Outbox) { d.send(readRequest, out) }
func (d *readersFirst) Release(out *dme.Outbox)       { d.send(releaseNotice, out) }

func (d *readersFirst) send(kind dme.Kind, out *dme.Outbox) {
	if d.id == 1 {
		d.handle(1, kind, out)
	} else {
		out.Send(1, dme.Message{Kind: kind})
	}
}

func (d *readersFirst) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	d.handle(from, m.Kind, out)
}

func (d *readersFirst) handle(from dme.NodeID, kind dme.Kind, out *dme.Outbox) {
	switch kind {
	case grantReply:
		out.Enter(dme.Stamp{})
		return
	case readRequest:
		d.readers.Push(from)
	case writeRequest:
		d.writers.Push(from)
	case releaseNotice:
		if d.writing {
			d.writing = false
		} else {
			d.inside--
		}
	}
	for !d.writing && !d.readers.Empty() {
		d.inside++
		d.grant(d.readers.Pop(), out)
	}
	if !d.writing && d.inside == 0 && !d.writers.Empty() {
		d.writing = true
		d.grant(d.writers.Pop(), out)
	}
}

func (d *readersFirst) grant(id dme.NodeID, out *dme.Outbox) {
	if id == d.id {
		out.Enter(dme.Stamp{})
	} else {
		out.Send(id, dme.Message{Kind: grantReply})
	}
}

func (d *readersFirst) State(v *dme.Visitor) {
	v.Uint("inside", &d.inside)
	v.Bool("writing", &d.writing)
	d.writers.Show(v, "writers")
	d.readers.Show(v, "readers")
}
