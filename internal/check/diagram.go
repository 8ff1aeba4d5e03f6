package check

import (
	"fmt"
	"slices"

	"dmebench/dme"
	"dmebench/internal/spacetime"
)

// maxRows is how much of a long schedule is drawn: its end.
const maxRows = 200

// Diagram returns the trace as a space-time diagram, whose rows are the trace's
// lines. Of a long one it shows the end.
func (t *Trace) Diagram() *spacetime.Diagram {
	d := &spacetime.Diagram{
		Title:   fmt.Sprintf("%s on %d nodes", t.alg.Title, t.Nodes),
		Caption: []string{t.Violation.Verdict},
		Last:    len(t.Events),
		First:   max(1, len(t.Events)-maxRows+1),
	}
	if t.Violation.Property != "" {
		d.Bad = []int{len(t.Events)}
	}
	for i := range t.Nodes {
		d.Lanes = append(d.Lanes, fmt.Sprintf("node %d", i+1))
	}
	p := &painter{Trace: t, Diagram: d, sent: make(map[uint64]spacetime.Message), inside: make(map[dme.NodeID]int)}
	for _, e := range t.Started {
		p.sends(0, e)
	}
	for i, e := range t.Events {
		p.event(i+1, e)
	}
	p.end()
	return d
}

// painter turns events into shapes.
type painter struct {
	*Trace
	*spacetime.Diagram
	sent   map[uint64]spacetime.Message // by number: on the way
	inside map[dme.NodeID]int           // the row of the entry
}

func lane(id dme.NodeID) int { return int(id) - 1 }

func (p *painter) event(row int, e Event) {
	point := func(mark spacetime.Mark, label string) {
		p.Points = append(p.Points, spacetime.Point{Lane: lane(e.Node), Row: row, Mark: mark, Label: label})
	}
	switch e.Kind {
	case Ask:
		point(spacetime.Request, "")
	case AskShared:
		point(spacetime.Request, "read")
	case Leave:
		p.Sections = append(p.Sections, p.section(e.Node, p.inside[e.Node], row))
		delete(p.inside, e.Node)
		point(spacetime.Exit, "")
	case Deliver, Copy, Lose:
		if e.From == e.Node { // its own broadcast
			point(spacetime.Dot, p.alg.KindName(e.Msg.Kind)+" heard")
			break
		}
		m := p.sent[e.Number]
		m.End, m.Fate = row, spacetime.Arrives
		if e.Kind == Lose {
			m.Fate = spacetime.Lost
		}
		if e.Refused != "" {
			m.Label += " refused"
		}
		p.Messages = append(p.Messages, m)
		if e.Kind != Copy {
			delete(p.sent, e.Number)
		}
	case Fire:
		point(spacetime.Timer, fmt.Sprintf("timer %d", e.Timer))
	case Stop:
		point(spacetime.Dot, "stop")
	}
	p.sends(row, e)
	if e.Entered {
		p.inside[e.Node] = row
	}
}

func (p *painter) sends(row int, e Event) {
	for _, s := range e.Sent {
		if s.To == e.Node {
			continue
		}
		p.sent[s.Number] = spacetime.Message{
			From: lane(e.Node), To: lane(s.To), Sent: row, Fate: spacetime.OnTheWay, Label: p.alg.KindName(s.Msg.Kind),
		}
	}
}

// section is a stay in the critical section; leave is 0 where it lasts.
func (p *painter) section(id dme.NodeID, enter, leave int) spacetime.Section {
	bad := leave == 0 && p.Violation.Property == Exclusion && slices.Contains(p.Violation.Nodes, id)
	return spacetime.Section{Lane: lane(id), Enter: enter, Leave: leave, Bad: bad}
}

// end draws what has not come to its end.
func (p *painter) end() {
	for id := dme.NodeID(1); int(id) <= p.Nodes; id++ {
		if row, ok := p.inside[id]; ok {
			p.Sections = append(p.Sections, p.section(id, row, 0))
		}
	}
	var numbers []uint64
	for number := range p.sent {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	for _, number := range numbers {
		p.Messages = append(p.Messages, p.sent[number])
	}
	if p.Violation.Property == Progress || p.Violation.Property == Liveness {
		p.Ends = make([]string, p.Nodes)
		for _, id := range p.Violation.Nodes {
			p.Ends[lane(id)] = "waits"
		}
	}
}
