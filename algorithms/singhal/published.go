package singhal

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/collections"
)

// AsPublished describes Algorithm 9.3 as the textbook prints it, a negative
// control: it lets two sites in.
//
// The handlers and the three steps exclude each other, the wait in step 1 does
// not. So other events may come when the wait is over and before step 1 goes
// on, and between the steps 1 and 2; a timer without delay stands for the
// process that has still to be scheduled. The pending request has no timestamp
// of its own: My_priority compares (C_i, i).
func AsPublished() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "singhal-as-published",
		Title: "Singhal (as published)",
		Description: "The textbook's Algorithm 9.3 to the letter. Steps that must be one are two, and a request's timestamp is not kept: two " +
			"nodes can enter, and it can stop. Kept as a negative control; use singhal.",
		Citation:    "Textbook, section 9.5, Algorithm 9.3, to the letter",
		Class:       dme.Permission,
		Dynamic:     true,
		AsPublished: true,
		Needs:       dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds:       []string{"REQUEST", "REPLY"},
		Clocks:      dme.ClockInMessages,
		Options: []dme.Option{dme.Choice("initial",
			"request sets at the start: without the site itself, as in the example of 9.5.2, "+
				"or with it, as in the initialization, so that it waits for itself for ever",
			"example", "printed")},
		Waits: dme.OfNode((*published).Waits),
		Prepare: func(c dme.Config) (dme.System, error) {
			self := c.Options.Get("initial") == "printed" // whether R_i contains S_i itself
			return dme.Unshared(func(n int, id dme.NodeID) dme.Node { return newPublished(n, id, self) })(c)
		},
	}
}

// published is S_i as printed.
type published struct {
	i dme.NodeID

	c          uint64              // C_i
	r          collections.NodeSet // R_i
	inform     collections.NodeSet // I_i
	requesting bool
	executing  bool
	at         uint64 // the site's place in the three steps
}

func newPublished(n int, id dme.NodeID, self bool) dme.Node {
	s := &published{i: id, r: collections.MakeNodeSet(n), inform: collections.MakeNodeSet(n)}
	s.r.AddOthers(int(id), id)
	s.inform.Add(id)
	if self {
		s.r.Add(id)
	}
	return s
}

// Where a process stands.
const (
	outside  uint64 = iota // of the three steps
	waiting                // until R_i = ∅
	resuming               // the wait is over: the rest of step 1 comes next
	between                // step 1 is over: step 2 comes next
	inside                 // executes its critical section
)

// proceed is the timer of a process that can go on.
const proceed dme.TimerID = 0

// Request is step 1 up to its wait.
func (s *published) Request(out *dme.Outbox) {
	s.requesting = true
	s.c++
	for k := range s.r.All() {
		if k != s.i {
			out.Send(k, dme.Message{Kind: kindRequest, Clock: s.c})
		}
	}
	s.at = waiting
	s.wake(out)
}

// wake ends the wait; the process goes on when its turn comes.
func (s *published) wake(out *dme.Outbox) {
	if s.at == waiting && s.r.Empty() {
		s.at = resuming
		out.SetTimer(proceed, 0)
	}
}

// Timeout gives the process its turn.
func (s *published) Timeout(_ dme.TimerID, out *dme.Outbox) {
	switch s.at {
	case resuming: // the end of step 1
		s.requesting = false
		s.at = between
		out.SetTimer(proceed, 0)
	case between: // step 2
		s.executing = true
		s.at = inside
		out.Enter(dme.Stamp{})
	}
}

// Release is the end of step 2, and step 3.
func (s *published) Release(out *dme.Outbox) {
	s.executing = false
	for k := range s.inform.All() {
		if k == s.i {
			continue
		}
		s.inform.Remove(k)
		s.reply(k, out)
		s.r.Add(k)
	}
	s.at = outside
}

func (s *published) Receive(j dme.NodeID, m dme.Message, out *dme.Outbox) {
	s.c = max(s.c, m.Clock)
	if m.Kind == kindReply {
		s.r.Remove(j)
		s.wake(out)
		return
	}
	switch {
	case s.requesting:
		myPriority := dme.Stamp{Clock: s.c, Node: s.i}.Precedes(dme.Stamp{Clock: m.Clock, Node: j})
		if myPriority {
			s.inform.Add(j)
			return
		}
		s.reply(j, out)
		if !s.r.Has(j) {
			s.r.Add(j)
			out.Send(j, dme.Message{Kind: kindRequest, Clock: s.c})
		}
	case s.executing:
		s.inform.Add(j)
	default:
		s.r.Add(j)
		s.reply(j, out)
	}
}

func (s *published) reply(k dme.NodeID, out *dme.Outbox) {
	out.Send(k, dme.Message{Kind: kindReply, Clock: s.c})
}

func (s *published) State(v *dme.Visitor) {
	v.Clock("C", &s.c)
	s.r.Show(v, "R")
	s.inform.Show(v, "I")
	v.Bool("Requesting", &s.requesting)
	v.Bool("Executing", &s.executing)
	v.Uint("at", &s.at)
}

// Waits names those in R_i, which may be the site itself.
func (s *published) Waits() []dme.Wait {
	return dme.WaitIf(s.at == waiting, "REPLY", slices.Collect(s.r.All())...)
}
