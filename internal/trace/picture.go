package trace

import (
	"fmt"

	"dmebench/dme"
	"dmebench/internal/spacetime"
)

// picture draws a scenario while it is played: a row for each event.
type picture struct {
	algorithm *dme.Algorithm
	diagram   *spacetime.Diagram
	row       int
	entered   map[dme.NodeID]int // row of the entry of who is inside
}

func newPicture(s *Scenario, a *dme.Algorithm) *picture {
	d := &spacetime.Diagram{Title: s.Title}
	for id := 1; id <= s.Nodes; id++ {
		d.Lanes = append(d.Lanes, fmt.Sprintf("node %d", id))
	}
	return &picture{algorithm: a, diagram: d, entered: make(map[dme.NodeID]int)}
}

func lane(id dme.NodeID) int { return int(id) - 1 }

// point begins a row with an event at one node.
func (p *picture) point(id dme.NodeID, mark spacetime.Mark) {
	p.row++
	p.diagram.Points = append(p.diagram.Points, spacetime.Point{Lane: lane(id), Row: p.row, Mark: mark})
}

// ends begins a row with what becomes of a message.
func (p *picture) ends(l letter, fate spacetime.Fate) {
	p.row++
	p.message(l, fate)
}

func (p *picture) message(l letter, fate spacetime.Fate) {
	p.diagram.Messages = append(p.diagram.Messages, spacetime.Message{
		From: lane(l.from), To: lane(l.to), Sent: l.sent, End: p.row, Fate: fate, Label: p.algorithm.KindName(l.message.Kind),
	})
}

func (p *picture) enter(id dme.NodeID) { p.entered[id] = p.row }

func (p *picture) leave(id dme.NodeID) {
	p.point(id, spacetime.Exit)
	p.diagram.Sections = append(p.diagram.Sections, spacetime.Section{Lane: lane(id), Enter: p.entered[id], Leave: p.row})
	delete(p.entered, id)
}

// finish adds what is under way when the scenario ends.
func (p *picture) finish(flight []letter) *spacetime.Diagram {
	p.diagram.Last = p.row
	for _, l := range flight {
		p.message(l, spacetime.OnTheWay)
	}
	for id := dme.NodeID(1); int(id) <= len(p.diagram.Lanes); id++ {
		if row, inside := p.entered[id]; inside {
			p.diagram.Sections = append(p.diagram.Sections, spacetime.Section{Lane: lane(id), Enter: row})
		}
	}
	return p.diagram
}
