package check

import (
	"time"

	"dmebench/dme"
	"dmebench/dme/collections"
)

// Tiny algorithms, most of them broken on purpose.

// toy describes an algorithm whose nodes newNode makes.
func toy(name string, newNode func(id dme.NodeID, n int) dme.Node, kinds ...string) *dme.Algorithm {
	if len(kinds) == 0 {
		kinds = []string{"PING"}
	}
	return &dme.Algorithm{
		Name: name, Title: name, Citation: "nobody", Class: dme.Token, Kinds: kinds,
		Needs: dme.Always(dme.Needs{Reliable: true}),
		Prepare: func(c dme.Config) (dme.System, error) {
			return toySystem{c.Nodes, newNode}, nil
		},
	}
}

type toySystem struct {
	n       int
	newNode func(dme.NodeID, int) dme.Node
}

func (s toySystem) Node(id dme.NodeID) dme.Node { return s.newNode(id, s.n) }

// script is a node whose handlers are functions over a few variables.
type script struct {
	id      dme.NodeID
	n       int
	x, y    uint64
	queue   collections.NodeQueue
	request func(*script, *dme.Outbox)
	release func(*script, *dme.Outbox)
	receive func(*script, dme.NodeID, dme.Message, *dme.Outbox)
	timeout func(*script, dme.TimerID, *dme.Outbox)
}

func (s *script) Request(out *dme.Outbox) { s.request(s, out) }

func (s *script) Release(out *dme.Outbox) {
	if s.release != nil {
		s.release(s, out)
	}
}

func (s *script) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if s.receive != nil {
		s.receive(s, from, m, out)
	}
}

func (s *script) Timeout(id dme.TimerID, out *dme.Outbox) { s.timeout(s, id, out) }

func (s *script) State(v *dme.Visitor) {
	v.Uint("x", &s.x)
	v.Uint("y", &s.y)
	s.queue.Show(v, "queue")
}

func scripted(name string, s script, kinds ...string) *dme.Algorithm {
	return toy(name, func(id dme.NodeID, n int) dme.Node {
		node := s
		node.id, node.n = id, n
		return &node
	}, kinds...)
}

func enter(_ *script, out *dme.Outbox) { out.Enter(dme.Stamp{}) }

func ping(s *script, out *dme.Outbox) {
	if s.n > 1 {
		out.Send(s.id%dme.NodeID(s.n)+1, dme.Message{Kind: 1})
	}
}

// anarchy: who asks enters.
func anarchy() *dme.Algorithm { return scripted("anarchy", script{request: enter}) }

// silence: who asks waits for ever.
func silence() *dme.Algorithm {
	return scripted("silence", script{request: func(*script, *dme.Outbox) {}})
}

// uninvited: who asks sends a message, and whoever receives it enters.
func uninvited() *dme.Algorithm {
	return scripted("uninvited", script{
		request: ping,
		receive: func(s *script, _ dme.NodeID, _ dme.Message, out *dme.Outbox) { enter(s, out) },
	})
}

// earlyBird: a node enters before anybody has asked.
func earlyBird() *dme.Algorithm {
	return toy("early bird", func(id dme.NodeID, n int) dme.Node {
		return &starter{script{id: id, n: n, request: enter}}
	})
}

type starter struct{ script }

func (s *starter) Start(out *dme.Outbox) { out.Enter(dme.Stamp{}) }

// explosive: the first message that a node receives is one too many.
func explosive() *dme.Algorithm {
	return scripted("explosive", script{
		request: ping,
		receive: func(s *script, _ dme.NodeID, _ dme.Message, out *dme.Outbox) {
			panic("one too many")
		},
	})
}

// chatter: who asks starts a message that goes round for ever, and nobody enters.
func chatter() *dme.Algorithm {
	return scripted("chatter", script{
		request: ping,
		receive: func(s *script, _ dme.NodeID, _ dme.Message, out *dme.Outbox) { ping(s, out) },
	})
}

// restlessToy: one node's requests are served at once, and then messages go
// round for ever.
func restlessToy() *dme.Algorithm {
	return scripted("restless", script{
		request: enter,
		release: ping,
		receive: func(s *script, _ dme.NodeID, _ dme.Message, out *dme.Outbox) { ping(s, out) },
	})
}

const (
	toyRequest dme.Kind = iota + 1
	toyGrant
	toyRelease
)

// favouritism: node 1 coordinates, and the node with the largest number goes
// first.
func favouritism() *dme.Algorithm {
	return favour("favouritism", func(s *script) (best dme.NodeID) {
		for id := range s.queue.All() {
			best = max(best, id)
		}
		return best
	})
}

// seniority: node 1 coordinates, and the node with the smallest number goes first.
func seniority() *dme.Algorithm {
	return favour("seniority", func(s *script) dme.NodeID {
		best := s.queue.Front()
		for id := range s.queue.All() {
			best = min(best, id)
		}
		return best
	})
}

// favour is a coordinator who chooses among those who wait.
func favour(name string, choose func(*script) dme.NodeID) *dme.Algorithm {
	grant := func(s *script, out *dme.Outbox) {
		best := choose(s)
		var others []dme.NodeID
		for !s.queue.Empty() {
			if id := s.queue.Pop(); id != best {
				others = append(others, id)
			}
		}
		for _, id := range others {
			s.queue.Push(id)
		}
		switch s.x = uint64(best); best {
		case dme.None:
		case 1:
			enter(s, out)
		default:
			out.Send(best, dme.Message{Kind: toyGrant})
		}
	}
	ask := func(s *script, id dme.NodeID, out *dme.Outbox) {
		if s.queue.Push(id); s.x == 0 {
			grant(s, out)
		}
	}
	return scripted(name, script{
		request: func(s *script, out *dme.Outbox) {
			if s.id == 1 {
				ask(s, 1, out)
			} else {
				out.Send(1, dme.Message{Kind: toyRequest})
			}
		},
		release: func(s *script, out *dme.Outbox) {
			if s.id == 1 {
				grant(s, out)
			} else {
				out.Send(1, dme.Message{Kind: toyRelease})
			}
		},
		receive: func(s *script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
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
func library() *dme.Algorithm {
	return toy("library", func(id dme.NodeID, n int) dme.Node {
		return &reader{script{id: id, n: n, request: enter}}
	})
}

type reader struct{ script }

func (r *reader) RequestShared(out *dme.Outbox) { out.Enter(dme.Stamp{}) }

// nonAtomic is Ricart–Agrawala's algorithm with the decision to defer a reply
// taken in one step and recorded in another (a timer that fires at any time
// stands for the process that has lost the processor in between).
func nonAtomic() *dme.Algorithm {
	return toy("non-atomic", func(id dme.NodeID, n int) dme.Node { return &raLiteral{id: id, n: n} },
		"REQUEST", "REPLY")
}

type raLiteral struct {
	id         dme.NodeID
	n          int
	our        uint64
	highest    uint64
	requesting bool
	count      uint64
	decided    collections.NodeQueue // to be deferred, not yet recorded
	deferred   collections.NodeQueue
}

func (r *raLiteral) Request(out *dme.Outbox) {
	r.requesting = true
	r.highest++
	r.our = r.highest
	r.count = uint64(r.n - 1)
	out.Broadcast(dme.Message{Kind: 1, Clock: r.our})
}

func (r *raLiteral) Release(out *dme.Outbox) {
	r.requesting = false
	for !r.deferred.Empty() {
		out.Send(r.deferred.Pop(), dme.Message{Kind: 2})
	}
}

func (r *raLiteral) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind == 2 {
		if r.count--; r.count == 0 {
			out.Enter(dme.Stamp{Clock: r.our, Node: r.id})
		}
		return
	}
	r.highest = max(r.highest, m.Clock)
	ours, theirs := dme.Stamp{Clock: r.our, Node: r.id}, dme.Stamp{Clock: m.Clock, Node: from}
	if r.requesting && ours.Precedes(theirs) {
		r.decided.Push(from)
		out.SetTimer(1, 0)
		return
	}
	out.Send(from, dme.Message{Kind: 2})
}

func (r *raLiteral) Timeout(_ dme.TimerID, _ *dme.Outbox) {
	for !r.decided.Empty() {
		r.deferred.Push(r.decided.Pop())
	}
}

func (r *raLiteral) State(v *dme.Visitor) {
	v.Uint("our", &r.our)
	v.Uint("highest", &r.highest)
	v.Bool("requesting", &r.requesting)
	v.Uint("count", &r.count)
	r.decided.Show(v, "decided")
	r.deferred.Show(v, "deferred")
}

// implicit is the implicit reply of TR-869, section 6.1, for two nodes: a node
// enters if it has not been told to wait within a round trip. patience is how
// long it waits, in bounds on the delay of a message.
func implicit(patience int) *dme.Algorithm {
	const bound = 10 * time.Millisecond
	a := toy("implicit", func(id dme.NodeID, n int) dme.Node {
		return &implicitNode{id: id, wait: time.Duration(patience) * bound}
	}, "REQUEST", "DEFERRED", "REPLY")
	a.Needs = dme.Always(dme.Needs{Reliable: true, BoundedDelay: true})
	a.Options = []dme.Option{{
		Name: "bound", Default: bound.String(), Forms: []string{"DURATION"}, Help: "on delays",
		Valid: func(v string) error { _, err := time.ParseDuration(v); return err },
	}}
	return a
}

type implicitNode struct {
	id       dme.NodeID
	wait     time.Duration
	our      uint64
	highest  uint64
	pending  bool
	inside   bool
	balance  bool // told to wait, and not yet told to go on
	deferred bool
}

func (n *implicitNode) Request(out *dme.Outbox) {
	n.highest++
	n.our, n.pending, n.balance = n.highest, true, false
	out.Broadcast(dme.Message{Kind: 1, Clock: n.our})
	out.SetTimer(0, n.wait)
}

func (n *implicitNode) Release(out *dme.Outbox) {
	n.inside = false
	if n.deferred {
		n.deferred = false
		out.Broadcast(dme.Message{Kind: 3})
	}
}

func (n *implicitNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case 1:
		n.highest = max(n.highest, m.Clock)
		ours, theirs := dme.Stamp{Clock: n.our, Node: n.id}, dme.Stamp{Clock: m.Clock, Node: from}
		if n.inside || n.pending && ours.Precedes(theirs) {
			n.deferred = true
			out.Send(from, dme.Message{Kind: 2})
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

func (n *implicitNode) Timeout(_ dme.TimerID, out *dme.Outbox) {
	if n.pending && !n.balance {
		n.enter(out)
	}
}

func (n *implicitNode) enter(out *dme.Outbox) {
	n.pending, n.inside = false, true
	out.CancelTimer(0)
	out.Enter(dme.Stamp{Clock: n.our, Node: n.id})
}

func (n *implicitNode) State(v *dme.Visitor) {
	v.Uint("our", &n.our)
	v.Uint("highest", &n.highest)
	v.Bool("pending", &n.pending)
	v.Bool("inside", &n.inside)
	v.Bool("balance", &n.balance)
	v.Bool("deferred", &n.deferred)
}

// metronome sets, resets and cancels timers, which wait for chains of messages
// of different lengths.
func metronome() *dme.Algorithm {
	a := scripted("metronome", script{
		request: func(_ *script, out *dme.Outbox) {
			out.SetTimer(1, 30*time.Millisecond)
			out.Broadcast(dme.Message{Kind: 1, Num: 2})
			out.SetTimer(2, 10*time.Millisecond)
		},
		receive: func(s *script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
			s.x++
			if m.Num > 0 {
				out.Send(from, dme.Message{Kind: 1, Num: m.Num - 1})
			}
			if m.Num == 1 {
				out.SetTimer(2, 20*time.Millisecond)
			}
		},
		timeout: func(s *script, id dme.TimerID, out *dme.Outbox) {
			s.y = s.y*4 + uint64(id)
			if id == 2 && s.x == 0 {
				out.CancelTimer(1)
				out.Broadcast(dme.Message{Kind: 1})
				enter(s, out)
			}
			if id == 1 {
				enter(s, out)
			}
		},
	})
	a.Needs = dme.Always(dme.Needs{Reliable: true, BoundedDelay: true})
	a.Options = []dme.Option{{
		Name: "bound", Default: "10ms", Forms: []string{"DURATION"}, Help: "on delays",
		Valid: func(v string) error { _, err := time.ParseDuration(v); return err },
	}}
	return a
}

// phoenix enters at once: it is safe where one node alone asks. All talk to those
// they know to be up, and come back after a crash.
func phoenix() *dme.Algorithm {
	a := toy("phoenix", func(id dme.NodeID, n int) dme.Node { return &firebird{id: id, up: everybody(n)} }, "ASK", "GO", "BYE")
	a.Survives = dme.SurvivesAny
	return a
}

func everybody(n int) collections.NodeSet {
	set := collections.MakeNodeSet(n)
	set.AddOthers(n, dme.None)
	return set
}

type firebird struct {
	id dme.NodeID
	up collections.NodeSet
	n  uint64
}

func (f *firebird) Request(out *dme.Outbox) {
	f.n++
	out.Enter(dme.Stamp{})
	for peer := range f.up.All() {
		if peer != f.id {
			out.Send(peer, dme.Message{Kind: 1, Num: f.n})
		}
	}
}

func (f *firebird) Release(out *dme.Outbox) {}

func (f *firebird) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind == 1 {
		out.Send(from, dme.Message{Kind: 2})
	}
}

func (f *firebird) Restart(out *dme.Outbox) {
	f.n = 7
	for peer := range f.up.All() {
		if peer != f.id {
			out.Send(peer, dme.Message{Kind: 3})
		}
	}
	out.SetTimer(1, 1)
}

func (f *firebird) Timeout(dme.TimerID, *dme.Outbox) { f.n = 8 }

func (f *firebird) Down(peer dme.NodeID, _ *dme.Outbox) { f.up.Remove(peer) }
func (f *firebird) Up(peer dme.NodeID, _ *dme.Outbox)   { f.up.Add(peer) }

func (f *firebird) State(v *dme.Visitor) {
	v.Uint("n", &f.n)
	f.up.Show(v, "up")
}

// restless is a node between which and the next messages go round for ever, from
// the start.
type restless struct{ script }

func (r *restless) Start(out *dme.Outbox) {
	if r.id == 1 {
		ping(&r.script, out)
	}
}

// noisy has its node 1 let the two take turns, while messages that mean nothing go
// back and forth: only fairness makes who is inside leave, and a REQUEST arrive.
func noisy() *dme.Algorithm {
	const request, release dme.Kind = 2, 3 // and grant is request's answer
	grant := func(s *script, out *dme.Outbox) {
		switch s.x = uint64(s.queue.Pop()); s.x {
		case 0:
		case 1:
			enter(s, out)
		default:
			out.Send(2, dme.Message{Kind: request})
		}
	}
	ask := func(s *script, out *dme.Outbox) {
		if s.x == 0 {
			grant(s, out)
		}
	}
	return toy("noisy", func(id dme.NodeID, n int) dme.Node {
		return &restless{script{
			id: id, n: n,
			request: func(s *script, out *dme.Outbox) {
				if s.id == 2 {
					out.Send(1, dme.Message{Kind: request})
					return
				}
				s.queue.Push(1)
				ask(s, out)
			},
			release: func(s *script, out *dme.Outbox) {
				if s.id == 2 {
					out.Send(1, dme.Message{Kind: release})
					return
				}
				grant(s, out)
			},
			receive: func(s *script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
				switch {
				case m.Kind == 1:
					ping(s, out)
				case m.Kind == release:
					grant(s, out)
				case s.id == 2:
					enter(s, out)
				default:
					s.queue.Push(from)
					ask(s, out)
				}
			},
		}}
	}, "PING", "REQUEST", "RELEASE")
}

// patient: node 1 alone does not wait for ever, since its timer fires, while
// messages that mean nothing go back and forth.
func patient() *dme.Algorithm {
	return toy("patient", func(id dme.NodeID, n int) dme.Node {
		return &restless{script{
			id: id, n: n,
			request: func(s *script, out *dme.Outbox) {
				if s.id == 1 {
					out.SetTimer(1, time.Second)
				}
			},
			timeout: func(s *script, _ dme.TimerID, out *dme.Outbox) { enter(s, out) },
			receive: func(s *script, _ dme.NodeID, m dme.Message, out *dme.Outbox) { ping(s, out) },
		}}
	})
}

// procrastinator: who asks sets a timer that sets itself again.
func procrastinator() *dme.Algorithm {
	again := func(s *script, out *dme.Outbox) { out.SetTimer(1, time.Second) }
	return scripted("procrastinator", script{request: again, timeout: func(s *script, _ dme.TimerID, out *dme.Outbox) { again(s, out) }})
}
