package check

import (
	"time"

	"dmebench/algorithms"
)

// Tiny algorithms, most of them broken on purpose.

// toy describes an algorithm whose nodes newNode makes.
func toy(name string, newNode func(id algorithms.NodeID, n int) algorithms.Node, kinds ...string) *algorithms.Algorithm {
	if len(kinds) == 0 {
		kinds = []string{"PING"}
	}
	return &algorithms.Algorithm{
		Name: name, Title: name, Citation: "nobody", Class: algorithms.Token, Kinds: kinds,
		Needs: algorithms.Always(algorithms.Needs{Reliable: true}),
		Prepare: func(c algorithms.Config) (algorithms.System, error) {
			return toySystem{c.Nodes, newNode}, nil
		},
	}
}

type toySystem struct {
	n       int
	newNode func(algorithms.NodeID, int) algorithms.Node
}

func (s toySystem) Node(id algorithms.NodeID) algorithms.Node { return s.newNode(id, s.n) }

// script is a node whose handlers are functions over a few variables.
type script struct {
	id      algorithms.NodeID
	n       int
	x, y    uint64
	queue   algorithms.NodeQueue
	request func(*script, *algorithms.Outbox)
	release func(*script, *algorithms.Outbox)
	receive func(*script, algorithms.NodeID, algorithms.Message, *algorithms.Outbox)
	timeout func(*script, algorithms.TimerID, *algorithms.Outbox)
}

func (s *script) Request(out *algorithms.Outbox) { s.request(s, out) }

func (s *script) Release(out *algorithms.Outbox) {
	if s.release != nil {
		s.release(s, out)
	}
}

func (s *script) Receive(from algorithms.NodeID, m algorithms.Message, out *algorithms.Outbox) {
	if s.receive != nil {
		s.receive(s, from, m, out)
	}
}

func (s *script) Timeout(id algorithms.TimerID, out *algorithms.Outbox) { s.timeout(s, id, out) }

func (s *script) State(v *algorithms.Visitor) {
	v.Uint("x", &s.x)
	v.Uint("y", &s.y)
	v.Queue("queue", &s.queue)
}

func scripted(name string, s script, kinds ...string) *algorithms.Algorithm {
	return toy(name, func(id algorithms.NodeID, n int) algorithms.Node {
		node := s
		node.id, node.n = id, n
		return &node
	}, kinds...)
}

func enter(_ *script, out *algorithms.Outbox) { out.Enter(algorithms.Stamp{}) }

func ping(s *script, out *algorithms.Outbox) {
	if s.n > 1 {
		out.Send(s.id%algorithms.NodeID(s.n)+1, algorithms.Message{Kind: 1})
	}
}

// anarchy: who asks enters.
func anarchy() *algorithms.Algorithm { return scripted("anarchy", script{request: enter}) }

// silence: who asks waits for ever.
func silence() *algorithms.Algorithm {
	return scripted("silence", script{request: func(*script, *algorithms.Outbox) {}})
}

// uninvited: who asks sends a message, and whoever receives it enters.
func uninvited() *algorithms.Algorithm {
	return scripted("uninvited", script{
		request: ping,
		receive: func(s *script, _ algorithms.NodeID, _ algorithms.Message, out *algorithms.Outbox) { enter(s, out) },
	})
}

// earlyBird: a node enters before anybody has asked.
func earlyBird() *algorithms.Algorithm {
	return toy("early bird", func(id algorithms.NodeID, n int) algorithms.Node {
		return &starter{script{id: id, n: n, request: enter}}
	})
}

type starter struct{ script }

func (s *starter) Start(out *algorithms.Outbox) { out.Enter(algorithms.Stamp{}) }

// explosive: the first message that a node receives is one too many.
func explosive() *algorithms.Algorithm {
	return scripted("explosive", script{
		request: ping,
		receive: func(s *script, _ algorithms.NodeID, _ algorithms.Message, out *algorithms.Outbox) {
			panic("one too many")
		},
	})
}

// chatter: who asks starts a message that goes round for ever, and nobody enters.
func chatter() *algorithms.Algorithm {
	return scripted("chatter", script{
		request: ping,
		receive: func(s *script, _ algorithms.NodeID, _ algorithms.Message, out *algorithms.Outbox) { ping(s, out) },
	})
}

// restlessToy: one node's requests are served at once, and then messages go
// round for ever.
func restlessToy() *algorithms.Algorithm {
	return scripted("restless", script{
		request: enter,
		release: ping,
		receive: func(s *script, _ algorithms.NodeID, _ algorithms.Message, out *algorithms.Outbox) { ping(s, out) },
	})
}

const (
	toyRequest algorithms.Kind = iota + 1
	toyGrant
	toyRelease
)

// favouritism: node 1 coordinates, and the node with the largest number goes
// first.
func favouritism() *algorithms.Algorithm {
	grant := func(s *script, out *algorithms.Outbox) {
		best := algorithms.None
		for id := range s.queue.All() {
			best = max(best, id)
		}
		var others []algorithms.NodeID
		for !s.queue.Empty() {
			if id := s.queue.Pop(); id != best {
				others = append(others, id)
			}
		}
		for _, id := range others {
			s.queue.Push(id)
		}
		switch s.x = uint64(best); best {
		case algorithms.None:
		case 1:
			enter(s, out)
		default:
			out.Send(best, algorithms.Message{Kind: toyGrant})
		}
	}
	ask := func(s *script, id algorithms.NodeID, out *algorithms.Outbox) {
		if s.queue.Push(id); s.x == 0 {
			grant(s, out)
		}
	}
	return scripted("favouritism", script{
		request: func(s *script, out *algorithms.Outbox) {
			if s.id == 1 {
				ask(s, 1, out)
			} else {
				out.Send(1, algorithms.Message{Kind: toyRequest})
			}
		},
		release: func(s *script, out *algorithms.Outbox) {
			if s.id == 1 {
				grant(s, out)
			} else {
				out.Send(1, algorithms.Message{Kind: toyRelease})
			}
		},
		receive: func(s *script, from algorithms.NodeID, m algorithms.Message, out *algorithms.Outbox) {
			switch m.Kind {
			case toyRequest:
				ask(s, from, out)
			case toyGrant:
				enter(s, out)
			case toyRelease:
				grant(s, out)
			}
		},
	}, "REQUEST", "GRANT", "RELEASE")
}

// library: node 1 lets readers in at once, even while a writer is inside.
func library() *algorithms.Algorithm {
	return toy("library", func(id algorithms.NodeID, n int) algorithms.Node {
		return &reader{script{id: id, n: n, request: enter}}
	})
}

type reader struct{ script }

func (r *reader) RequestShared(out *algorithms.Outbox) { out.Enter(algorithms.Stamp{}) }

// nonAtomic is Ricart–Agrawala's algorithm with the decision to defer a reply
// taken in one step and recorded in another (a timer that fires at any time
// stands for the process that has lost the processor in between).
func nonAtomic() *algorithms.Algorithm {
	return toy("non-atomic", func(id algorithms.NodeID, n int) algorithms.Node { return &raLiteral{id: id, n: n} },
		"REQUEST", "REPLY")
}

type raLiteral struct {
	id         algorithms.NodeID
	n          int
	our        uint64
	highest    uint64
	requesting bool
	count      uint64
	decided    algorithms.NodeQueue // to be deferred, not yet recorded
	deferred   algorithms.NodeQueue
}

func (r *raLiteral) Request(out *algorithms.Outbox) {
	r.requesting = true
	r.highest++
	r.our = r.highest
	r.count = uint64(r.n - 1)
	out.Broadcast(algorithms.Message{Kind: 1, Clock: r.our})
}

func (r *raLiteral) Release(out *algorithms.Outbox) {
	r.requesting = false
	for !r.deferred.Empty() {
		out.Send(r.deferred.Pop(), algorithms.Message{Kind: 2})
	}
}

func (r *raLiteral) Receive(from algorithms.NodeID, m algorithms.Message, out *algorithms.Outbox) {
	if m.Kind == 2 {
		if r.count--; r.count == 0 {
			out.Enter(algorithms.Stamp{Clock: r.our, Node: r.id})
		}
		return
	}
	r.highest = max(r.highest, m.Clock)
	ours, theirs := algorithms.Stamp{Clock: r.our, Node: r.id}, algorithms.Stamp{Clock: m.Clock, Node: from}
	if r.requesting && ours.Precedes(theirs) {
		r.decided.Push(from)
		out.SetTimer(1, 0)
		return
	}
	out.Send(from, algorithms.Message{Kind: 2})
}

func (r *raLiteral) Timeout(_ algorithms.TimerID, _ *algorithms.Outbox) {
	for !r.decided.Empty() {
		r.deferred.Push(r.decided.Pop())
	}
}

func (r *raLiteral) State(v *algorithms.Visitor) {
	v.Uint("our", &r.our)
	v.Uint("highest", &r.highest)
	v.Bool("requesting", &r.requesting)
	v.Uint("count", &r.count)
	v.Queue("decided", &r.decided)
	v.Queue("deferred", &r.deferred)
}

// implicit is the implicit reply of TR-869, section 6.1, for two nodes: a node
// enters if it has not been told to wait within a round trip. patience is how
// long it waits, in bounds on the delay of a message.
func implicit(patience int) *algorithms.Algorithm {
	const bound = 10 * time.Millisecond
	a := toy("implicit", func(id algorithms.NodeID, n int) algorithms.Node {
		return &implicitNode{id: id, wait: time.Duration(patience) * bound}
	}, "REQUEST", "DEFERRED", "REPLY")
	a.Needs = algorithms.Always(algorithms.Needs{Reliable: true, BoundedDelay: true})
	a.Options = []algorithms.Option{{
		Name: "bound", Default: bound.String(), Values: "DURATION", Help: "on delays",
		Valid: func(v string) error { _, err := time.ParseDuration(v); return err },
	}}
	return a
}

type implicitNode struct {
	id       algorithms.NodeID
	wait     time.Duration
	our      uint64
	highest  uint64
	pending  bool
	inside   bool
	balance  bool // told to wait, and not yet told to go on
	deferred bool
}

func (n *implicitNode) Request(out *algorithms.Outbox) {
	n.highest++
	n.our, n.pending, n.balance = n.highest, true, false
	out.Broadcast(algorithms.Message{Kind: 1, Clock: n.our})
	out.SetTimer(0, n.wait)
}

func (n *implicitNode) Release(out *algorithms.Outbox) {
	n.inside = false
	if n.deferred {
		n.deferred = false
		out.Broadcast(algorithms.Message{Kind: 3})
	}
}

func (n *implicitNode) Receive(from algorithms.NodeID, m algorithms.Message, out *algorithms.Outbox) {
	switch m.Kind {
	case 1:
		n.highest = max(n.highest, m.Clock)
		ours, theirs := algorithms.Stamp{Clock: n.our, Node: n.id}, algorithms.Stamp{Clock: m.Clock, Node: from}
		if n.inside || n.pending && ours.Precedes(theirs) {
			n.deferred = true
			out.Send(from, algorithms.Message{Kind: 2})
		}
	case 2:
		n.balance = true
	case 3:
		n.balance = false
		if n.pending {
			n.enter(out)
		}
	}
}

func (n *implicitNode) Timeout(_ algorithms.TimerID, out *algorithms.Outbox) {
	if n.pending && !n.balance {
		n.enter(out)
	}
}

func (n *implicitNode) enter(out *algorithms.Outbox) {
	n.pending, n.inside = false, true
	out.CancelTimer(0)
	out.Enter(algorithms.Stamp{Clock: n.our, Node: n.id})
}

func (n *implicitNode) State(v *algorithms.Visitor) {
	v.Uint("our", &n.our)
	v.Uint("highest", &n.highest)
	v.Bool("pending", &n.pending)
	v.Bool("inside", &n.inside)
	v.Bool("balance", &n.balance)
	v.Bool("deferred", &n.deferred)
}

// metronome sets, resets and cancels timers, which wait for chains of messages
// of different lengths.
func metronome() *algorithms.Algorithm {
	a := scripted("metronome", script{
		request: func(_ *script, out *algorithms.Outbox) {
			out.SetTimer(1, 30*time.Millisecond)
			out.Broadcast(algorithms.Message{Kind: 1, Num: 2})
			out.SetTimer(2, 10*time.Millisecond)
		},
		receive: func(s *script, from algorithms.NodeID, m algorithms.Message, out *algorithms.Outbox) {
			s.x++
			if m.Num > 0 {
				out.Send(from, algorithms.Message{Kind: 1, Num: m.Num - 1})
			}
			if m.Num == 1 {
				out.SetTimer(2, 20*time.Millisecond)
			}
		},
		timeout: func(s *script, id algorithms.TimerID, out *algorithms.Outbox) {
			s.y = s.y*4 + uint64(id)
			if id == 2 && s.x == 0 {
				out.CancelTimer(1)
				out.Broadcast(algorithms.Message{Kind: 1})
				enter(s, out)
			}
			if id == 1 {
				enter(s, out)
			}
		},
	})
	a.Needs = algorithms.Always(algorithms.Needs{Reliable: true, BoundedDelay: true})
	a.Options = []algorithms.Option{{
		Name: "bound", Default: "10ms", Values: "DURATION", Help: "on delays",
		Valid: func(v string) error { _, err := time.ParseDuration(v); return err },
	}}
	return a
}
