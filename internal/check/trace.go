package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dmebench/dme"
)

// Trace is a schedule as it went, up to the step that broke a property.
type Trace struct {
	Violation Violation
	Nodes     int
	Started   []Event  // what the nodes did before the first step, where they did anything
	Events    []Event  // one for each step
	Repeats   int      // where the schedule goes on for ever: how many of the last events repeat
	States    []string // the nodes at the end, one on a line

	alg *dme.Algorithm
}

// Event is one step and what came of it.
type Event struct {
	Step
	Number  uint64      // of the message that arrived or was lost
	Msg     dme.Message // that message
	Sent    []Sent
	Entered bool
	Set     []Alarm
	Refused string // why the message was refused
}

// Sent is a message that was sent; its number tells where it arrives.
type Sent struct {
	To     dme.NodeID
	Number uint64
	Msg    dme.Message
}

// Alarm is a timer that was set.
type Alarm struct {
	Timer dme.TimerID
	Delay time.Duration
}

// replay runs the possible ones among steps, and then, if finish, lets the
// system run on. It returns what happened, and the steps that were possible.
func replay(m *model, steps []Step, finish bool) (*Trace, []Step) {
	s := newSystem(m)
	t := &Trace{Nodes: m.Nodes, alg: m.alg, Started: s.started()}
	var taken []Step
	s.event = new(Event)
	for _, x := range steps {
		if s.violation != nil {
			break
		}
		if s.possible(x) {
			s.do(x)
			s.judge()
			taken = append(taken, x)
			t.Events = append(t.Events, *s.event)
		}
	}
	if finish {
		for c := (cycle{}); s.violation == nil && t.Repeats == 0; {
			x, ok := s.plainStep()
			if !ok {
				break
			}
			s.do(x)
			s.judge()
			taken = append(taken, x)
			t.Events = append(t.Events, *s.event)
			t.Repeats = c.closed(s)
		}
	}
	if t.Repeats > 0 && s.violation == nil {
		s.broken(repeats(s.whoWaits(), t.Repeats))
	}
	if s.violation != nil {
		t.Violation = *s.violation
	}
	t.States = s.states()
	return t, taken
}

// started returns what the nodes sent before the first step. Only messages can
// tell: they are all still on the way.
func (s *system) started() []Event {
	byNode := make(map[dme.NodeID]*Event)
	for at := range s.links {
		from, to := s.ends(at)
		for _, l := range s.links[at].queue {
			if byNode[from] == nil {
				byNode[from] = &Event{Step: Step{Node: from}}
			}
			byNode[from].Sent = append(byNode[from].Sent, Sent{to, l.number, l.msg})
		}
	}
	var events []Event
	for id := range s.ids() {
		if e := byNode[id]; e != nil {
			events = append(events, *e)
		}
	}
	return events
}

// Lines returns the trace as numbered lines, one for each step.
func (t *Trace) Lines() []string {
	var lines []string
	for _, e := range t.Started {
		lines = append(lines, fmt.Sprintf("  0. node %d starts: %s", e.Node, t.effects(e)))
	}
	for i, e := range t.Events {
		line := fmt.Sprintf("%3d. %s", i+1, t.happening(e))
		if effects := t.effects(e); effects != "" {
			line += ": " + effects
		}
		lines = append(lines, line)
	}
	return lines
}

// happening says what happened in a step.
func (t *Trace) happening(e Event) string {
	switch e.Kind {
	case Ask:
		return fmt.Sprintf("node %d asks", e.Node)
	case AskShared:
		return fmt.Sprintf("node %d asks, as a reader", e.Node)
	case Leave:
		return fmt.Sprintf("node %d leaves", e.Node)
	case Deliver:
		return t.message(e) + " arrives"
	case Copy:
		return t.message(e) + " arrives, and will again"
	case Lose:
		return t.message(e) + " is lost"
	case Fire:
		return fmt.Sprintf("timer %d of node %d fires", e.Timer, e.Node)
	case Stop:
		return fmt.Sprintf("node %d is told that no more requests will come", e.Node)
	}
	return "?"
}

func (t *Trace) message(e Event) string {
	return fmt.Sprintf("%s %d→%d%s", t.alg.KindName(e.Msg.Kind), e.From, e.Node, fields(&e.Msg))
}

// effects says what came of a step, "" where nothing did.
func (t *Trace) effects(e Event) string {
	var parts []string
	for i := 0; i < len(e.Sent); {
		// What is sent to several in a row is told once.
		group := 1
		for i+group < len(e.Sent) && equalMessages(&e.Sent[i].Msg, &e.Sent[i+group].Msg) {
			group++
		}
		var to []string
		for _, s := range e.Sent[i : i+group] {
			to = append(to, fmt.Sprintf("%d→%d", e.Node, s.To))
		}
		m := &e.Sent[i].Msg
		parts = append(parts, fmt.Sprintf("%s %s%s", t.alg.KindName(m.Kind), strings.Join(to, " "), fields(m)))
		i += group
	}
	for _, a := range e.Set {
		parts = append(parts, fmt.Sprintf("timer %d set to %v", a.Timer, a.Delay))
	}
	if e.Entered {
		parts = append(parts, fmt.Sprintf("node %d enters", e.Node))
	}
	if e.Refused != "" {
		parts = append(parts, "refused, "+e.Refused)
	}
	return strings.Join(parts, ", ")
}

func equalMessages(a, b *dme.Message) bool {
	x, y := *a, *b
	x.Vec, y.Vec = nil, nil
	return slices.Equal(a.Vec, b.Vec) && messageKey(&x) == messageKey(&y)
}

// messageKey makes a message without a vector comparable.
func messageKey(m *dme.Message) string {
	return string(dme.AppendMessage(nil, m))
}

// fields returns the fields of a message that are set: " (clock 3, num 1)", ""
// where there are none.
func fields(m *dme.Message) string {
	var parts []string
	field := func(set bool, name string, value any) {
		if set {
			parts = append(parts, fmt.Sprintf("%s %v", name, value))
		}
	}
	field(m.Flags != 0, "flags", fmt.Sprintf("%b", m.Flags))
	field(m.Node != 0, "node", m.Node)
	field(m.Clock != 0, "clock", m.Clock)
	field(m.Num != 0, "num", m.Num)
	field(!m.Req.IsZero(), "request", m.Req)
	field(!m.Done.IsZero(), "done", m.Done)
	field(len(m.Vec) > 0, "vector", m.Vec)
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
