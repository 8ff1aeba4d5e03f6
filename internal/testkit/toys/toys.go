// Package toys has tiny algorithms for tests, most of them broken on purpose: each breaks
// one property, or does one thing that hardly any algorithm does.
package toys

import (
	"time"

	"dmebench/dme"
	"dmebench/dme/collections"
)

// All returns the toys that need no argument. Their names are those that tests give.
func All() []*dme.Algorithm {
	return []*dme.Algorithm{
		Anarchy(), Silence(), uninvited(), earlyBird(), explosive(), chatter(), neverAtRest(), Favouritism(), seniority(), library(),
		nonAtomic(), implicit("implicit", 2), implicit("implicit-hasty", 1), implicit("implicit-patient", 3), metronome(), phoenix(),
		Noisy(), patient(), procrastinator(), hasty(), postponed("postponing", true), postponed("punctual", false), opener(), unfair(),
		ReadersFirst(), Queuers("queuers", 0, false), Queuers("distant", 2, false), Slowly(100),
	}
}

// New describes an algorithm whose nodes newNode makes.
func New(name string, newNode func(id dme.NodeID, n int) dme.Node, kinds ...string) *dme.Algorithm {
	if len(kinds) == 0 {
		kinds = []string{"PING"}
	}
	return &dme.Algorithm{
		Name: name, Title: name, Citation: "nobody", Class: dme.Token, Kinds: kinds,
		Needs: dme.Always(dme.Needs{Reliable: true}),
		Prepare: func(c dme.Config) (dme.System, error) {
			return system{c.Nodes, newNode}, nil
		},
	}
}

type system struct {
	n       int
	newNode func(dme.NodeID, int) dme.Node
}

func (s system) Node(id dme.NodeID) dme.Node { return s.newNode(id, s.n) }

// Script is a node whose handlers are functions over a few variables; nil ones do nothing.
type Script struct {
	ID      dme.NodeID
	N       int // nodes
	X, Y    uint64
	Queue   collections.NodeQueue
	Begin   func(*Script, *dme.Outbox)
	Ask     func(*Script, *dme.Outbox)
	Done    func(*Script, *dme.Outbox)
	Hear    func(*Script, dme.NodeID, dme.Message, *dme.Outbox)
	Expired func(*Script, dme.TimerID, *dme.Outbox)
}

func call(f func(*Script, *dme.Outbox), s *Script, out *dme.Outbox) {
	if f != nil {
		f(s, out)
	}
}

func (s *Script) Start(out *dme.Outbox) { call(s.Begin, s, out) }

func (s *Script) Request(out *dme.Outbox) { call(s.Ask, s, out) }

func (s *Script) Release(out *dme.Outbox) { call(s.Done, s, out) }

func (s *Script) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if s.Hear != nil {
		s.Hear(s, from, m, out)
	}
}

func (s *Script) Timeout(id dme.TimerID, out *dme.Outbox) {
	if s.Expired != nil {
		s.Expired(s, id, out)
	}
}

func (s *Script) State(v *dme.Visitor) {
	v.Uint("x", &s.X)
	v.Uint("y", &s.Y)
	s.Queue.Show(v, "queue")
}

// Scripted describes an algorithm all of whose nodes are like one, but for their numbers.
func Scripted(name string, s Script, kinds ...string) *dme.Algorithm {
	return New(name, func(id dme.NodeID, n int) dme.Node {
		node := s
		node.ID, node.N = id, n
		return &node
	}, kinds...)
}

// Enter enters the critical section.
func Enter(_ *Script, out *dme.Outbox) { out.Enter(dme.Stamp{}) }

// Ping sends a message to the next node.
func Ping(s *Script, out *dme.Outbox) {
	if s.N > 1 {
		out.Send(s.ID%dme.NodeID(s.N)+1, dme.Message{Kind: 1})
	}
}

// Anarchy: a node that asks enters.
func Anarchy() *dme.Algorithm { return Scripted("anarchy", Script{Ask: Enter}) }

// Silence: a node that asks waits for ever.
func Silence() *dme.Algorithm {
	return Scripted("silence", Script{Ask: func(*Script, *dme.Outbox) {}})
}

// uninvited: a node that asks sends a message, and the receiver enters.
func uninvited() *dme.Algorithm {
	return Scripted("uninvited", Script{
		Ask:  Ping,
		Hear: func(s *Script, _ dme.NodeID, _ dme.Message, out *dme.Outbox) { Enter(s, out) },
	})
}

// earlyBird: a node enters before any has asked.
func earlyBird() *dme.Algorithm {
	return Scripted("early-bird", Script{Begin: Enter, Ask: Enter})
}

// explosive: the first message that a node receives is one too many.
func explosive() *dme.Algorithm {
	return Scripted("explosive", Script{
		Ask: Ping,
		Hear: func(s *Script, _ dme.NodeID, _ dme.Message, out *dme.Outbox) {
			panic("one too many")
		},
	})
}

// chatter: a node that asks starts a message that goes round for ever, and none enters.
func chatter() *dme.Algorithm {
	return Scripted("chatter", Script{
		Ask:  Ping,
		Hear: func(s *Script, _ dme.NodeID, _ dme.Message, out *dme.Outbox) { Ping(s, out) },
	})
}

// neverAtRest: one node's requests are served at once, and then messages go round for ever.
func neverAtRest() *dme.Algorithm {
	return Scripted("restless", Script{
		Ask:  Enter,
		Done: Ping,
		Hear: func(s *Script, _ dme.NodeID, _ dme.Message, out *dme.Outbox) { Ping(s, out) },
	})
}

const (
	toyRequest dme.Kind = iota + 1
	toyGrant
	toyRelease
)

// Favouritism: node 1 coordinates, and the node with the largest number goes first.
func Favouritism() *dme.Algorithm {
	return favour("favouritism", func(s *Script) (best dme.NodeID) {
		for id := range s.Queue.All() {
			best = max(best, id)
		}
		return best
	})
}

// seniority: node 1 coordinates, and the node with the smallest number goes first.
func seniority() *dme.Algorithm {
	return favour("seniority", func(s *Script) dme.NodeID {
		best := s.Queue.Front()
		for id := range s.Queue.All() {
			best = min(best, id)
		}
		return best
	})
}

func favour(name string, choose func(*Script) dme.NodeID) *dme.Algorithm {
	grant := func(s *Script, out *dme.Outbox) {
		best := choose(s)
		var others []dme.NodeID
		for !s.Queue.Empty() {
			if id := s.Queue.Pop(); id != best {
				others = append(others, id)
			}
		}
		for _, id := range others {
			s.Queue.Push(id)
		}
		switch s.X = uint64(best); best {
		case dme.None:
		case 1:
			Enter(s, out)
		default:
			out.Send(best, dme.Message{Kind: toyGrant})
		}
	}
	ask := func(s *Script, id dme.NodeID, out *dme.Outbox) {
		if s.Queue.Push(id); s.X == 0 {
			grant(s, out)
		}
	}
	return Scripted(name, Script{
		Ask: func(s *Script, out *dme.Outbox) {
			if s.ID == 1 {
				ask(s, 1, out)
			} else {
				out.Send(1, dme.Message{Kind: toyRequest})
			}
		},
		Done: func(s *Script, out *dme.Outbox) {
			if s.ID == 1 {
				grant(s, out)
			} else {
				out.Send(1, dme.Message{Kind: toyRelease})
			}
		},
		Hear: func(s *Script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
			switch m.Kind {
			case toyRequest:
				ask(s, from, out)
			case toyGrant:
				Enter(s, out)
			case toyRelease:
				grant(s, out)
			}
		},
	}, "REQUEST", "GRANT", "RELEASE")
}

// library: node 1 lets readers in at once, even while a writer is inside.
func library() *dme.Algorithm {
	return New("library", func(id dme.NodeID, n int) dme.Node {
		return &reader{Script{ID: id, N: n, Ask: Enter}}
	})
}

type reader struct{ Script }

func (r *reader) RequestShared(out *dme.Outbox) { out.Enter(dme.Stamp{}) }

// metronome sets, resets and cancels timers that wait for chains of messages.
func metronome() *dme.Algorithm {
	a := Scripted("metronome", Script{
		Ask: func(_ *Script, out *dme.Outbox) {
			out.SetTimer(1, 30*time.Millisecond)
			out.Broadcast(dme.Message{Kind: 1, Num: 2})
			out.SetTimer(2, 10*time.Millisecond)
		},
		Hear: func(s *Script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
			s.X++
			if m.Num > 0 {
				out.Send(from, dme.Message{Kind: 1, Num: m.Num - 1})
			}
			if m.Num == 1 {
				out.SetTimer(2, 20*time.Millisecond)
			}
		},
		Expired: func(s *Script, id dme.TimerID, out *dme.Outbox) {
			s.Y = s.Y*4 + uint64(id)
			if id == 2 && s.X == 0 {
				out.CancelTimer(1)
				out.Broadcast(dme.Message{Kind: 1})
				Enter(s, out)
			}
			if id == 1 {
				Enter(s, out)
			}
		},
	})
	return bounded(a)
}

// bounded has a need a bound on delays, and gives it an option for it.
func bounded(a *dme.Algorithm) *dme.Algorithm {
	a.Needs = dme.Always(dme.Needs{Reliable: true, BoundedDelay: true})
	a.Options = boundOption()
	return a
}

func boundOption() []dme.Option {
	return []dme.Option{{
		Name: "bound", Default: "10ms", Forms: []string{"DURATION"}, Help: "on delays", Valid: dme.Valid(time.ParseDuration),
	}}
}

// restless has messages go round for ever, from the start.
func restless(s *Script, out *dme.Outbox) {
	if s.ID == 1 {
		Ping(s, out)
	}
}

// Noisy has its node 1 let the two take turns, while messages that mean nothing go back and forth:
// only fairness makes the node inside leave, and a REQUEST arrive.
func Noisy() *dme.Algorithm {
	const request, release dme.Kind = 2, 3 // and grant is request's answer
	grant := func(s *Script, out *dme.Outbox) {
		switch s.X = uint64(s.Queue.Pop()); s.X {
		case 0:
		case 1:
			Enter(s, out)
		default:
			out.Send(2, dme.Message{Kind: request})
		}
	}
	ask := func(s *Script, out *dme.Outbox) {
		if s.X == 0 {
			grant(s, out)
		}
	}
	return Scripted("noisy", Script{
		Begin: restless,
		Ask: func(s *Script, out *dme.Outbox) {
			if s.ID == 2 {
				out.Send(1, dme.Message{Kind: request})
				return
			}
			s.Queue.Push(1)
			ask(s, out)
		},
		Done: func(s *Script, out *dme.Outbox) {
			if s.ID == 2 {
				out.Send(1, dme.Message{Kind: release})
				return
			}
			grant(s, out)
		},
		Hear: func(s *Script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
			switch {
			case m.Kind == 1:
				Ping(s, out)
			case m.Kind == release:
				grant(s, out)
			case s.ID == 2:
				Enter(s, out)
			default:
				s.Queue.Push(from)
				ask(s, out)
			}
		},
	}, "PING", "REQUEST", "RELEASE")
}

// patient: node 1 alone is served, by a timer, while messages mean nothing and never end.
func patient() *dme.Algorithm {
	return Scripted("patient", Script{
		Begin: restless,
		Ask: func(s *Script, out *dme.Outbox) {
			if s.ID == 1 {
				out.SetTimer(1, time.Second)
			}
		},
		Expired: func(s *Script, _ dme.TimerID, out *dme.Outbox) { Enter(s, out) },
		Hear:    func(s *Script, _ dme.NodeID, m dme.Message, out *dme.Outbox) { Ping(s, out) },
	})
}

// procrastinator: a node that asks sets a timer that sets itself again.
func procrastinator() *dme.Algorithm {
	again := func(s *Script, out *dme.Outbox) { out.SetTimer(1, time.Second) }
	return Scripted("procrastinator", Script{Ask: again, Expired: func(s *Script, _ dme.TimerID, out *dme.Outbox) { again(s, out) }})
}

// hasty: node 1 enters at once, and tells the others. Node 3 warns node 2, which sets a
// timer then. If that fires before node 2 has heard from node 1, it enters, too.
func hasty() *dme.Algorithm {
	const entered, warning = 1, 2
	return Scripted("hasty", Script{
		Ask: func(s *Script, out *dme.Outbox) {
			out.Broadcast(dme.Message{Kind: entered})
			out.Enter(dme.Stamp{})
		},
		Hear: func(s *Script, _ dme.NodeID, m dme.Message, out *dme.Outbox) {
			switch {
			case m.Kind == warning:
				out.SetTimer(1, time.Second)
			case s.ID == 3:
				out.Send(2, dme.Message{Kind: warning})
			default:
				s.X = 1
			}
		},
		Expired: func(s *Script, _ dme.TimerID, out *dme.Outbox) {
			if s.X == 0 {
				out.Enter(dme.Stamp{})
			}
		},
	}, "TOLD", "WARNING")
}

// postponed: node 2 serves node 1 at once and itself when a timer fires, which it
// sets anew whenever node 1 is through, if it is postponing. A timer that fires while
// node 1 is served has node 2 enter next.
func postponed(name string, postponing bool) *dme.Algorithm {
	const wait = 1 // the timer
	const request, reply, release = 1, 2, 3
	const idle, waiting, due = 0, 1, 2 // x, of node 2
	const free, served, held = 0, 1, 2 // y, of node 2: node 1 is served; its request is held
	return Scripted(name, Script{
		Ask: func(s *Script, out *dme.Outbox) {
			if s.ID == 1 {
				out.Send(2, dme.Message{Kind: request})
				return
			}
			s.X = waiting
			out.SetTimer(wait, time.Second)
		},
		Done: func(s *Script, out *dme.Outbox) {
			if s.ID == 1 {
				out.Send(2, dme.Message{Kind: release})
			} else if s.X = idle; s.Y == held {
				s.Y = served
				out.Send(1, dme.Message{Kind: reply})
			}
		},
		Hear: func(s *Script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
			switch {
			case m.Kind == reply:
				out.Enter(dme.Stamp{})
			case m.Kind == request && s.X == due:
				s.Y = held
			case m.Kind == request:
				s.Y = served
				out.Send(from, dme.Message{Kind: reply})
			case s.X == due:
				s.Y = free
				out.Enter(dme.Stamp{})
			default:
				if s.Y = free; s.X == waiting && postponing {
					out.SetTimer(wait, time.Second)
				}
			}
		},
		Expired: func(s *Script, _ dme.TimerID, out *dme.Outbox) {
			if s.X = due; s.Y == free {
				out.Enter(dme.Stamp{})
			}
		},
	}, "REQUEST", "REPLY", "RELEASE")
}

// opener sends messages at the start: node 1 kinds 1 and 3 to node 2, and node 3 kind 2.
// Node 2 breaks down if it asks after it has received them in the order 1, 2, 3.
func opener() *dme.Algorithm {
	return Scripted("opener", Script{
		Begin: func(s *Script, out *dme.Outbox) {
			switch s.ID {
			case 1:
				out.Send(2, dme.Message{Kind: 1})
				out.Send(2, dme.Message{Kind: 3})
			case 3:
				out.Send(2, dme.Message{Kind: 2})
			}
		},
		Ask: func(s *Script, out *dme.Outbox) {
			if s.X == 3 {
				panic("in order")
			}
			Enter(s, out)
		},
		Hear: func(s *Script, _ dme.NodeID, m dme.Message, _ *dme.Outbox) {
			if s.X+1 == uint64(m.Kind) {
				s.X++
			} else if m.Kind == 3 {
				s.X = 9
			}
		},
	}, "ONE", "TWO", "THREE")
}

// unfair: node 1 is never served, and the others enter as they like.
func unfair() *dme.Algorithm {
	return Scripted("unfair", Script{Ask: func(s *Script, out *dme.Outbox) {
		if s.ID != 1 {
			Enter(s, out)
		}
	}})
}
