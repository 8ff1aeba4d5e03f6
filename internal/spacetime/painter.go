package spacetime

import (
	"cmp"
	"fmt"
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// Painter draws the events of a network, each in a row.
type Painter struct {
	Diagram
	algorithm *dme.Algorithm
	labels    bool // say more about an event than its shape does
	row       int
	onTheWay  map[uint64]Message // by number
	entered   map[dme.NodeID]int // row of the entry of who is inside
}

// NewPainter returns a painter of an algorithm on so many nodes. With labels
// the picture says more about an event than its shape does, and stops have rows
// too.
func NewPainter(a *dme.Algorithm, nodes int, labels bool) *Painter {
	p := &Painter{algorithm: a, labels: labels, onTheWay: make(map[uint64]Message), entered: make(map[dme.NodeID]int)}
	for id := range nodes {
		p.Lanes = append(p.Lanes, fmt.Sprintf("node %d", id+1))
	}
	return p
}

func lane(id dme.NodeID) int { return int(id) - 1 }

// Start draws what a node does at its start, in the row before the first.
func (p *Painter) Start(e *vnet.Event) { p.effects(e) }

// Add draws an event in the next row.
func (p *Painter) Add(e *vnet.Event) {
	if e.Kind == vnet.Stop && !p.labels {
		p.effects(e)
		return
	}
	p.row++
	switch e.Kind {
	case vnet.Ask:
		p.point(e, Request, "")
	case vnet.AskShared:
		p.point(e, Request, "read")
	case vnet.Leave:
		p.Sections = append(p.Sections, Section{Lane: lane(e.Node), Enter: p.entered[e.Node], Leave: p.row})
		delete(p.entered, e.Node)
		p.point(e, Exit, "")
	case vnet.Deliver, vnet.Copy, vnet.Lose:
		p.message(e)
	case vnet.Fire:
		p.point(e, Timer, fmt.Sprintf("timer %d", e.Timer))
	case vnet.Stop:
		p.point(e, Dot, "stop")
	}
	p.effects(e)
}

func (p *Painter) point(e *vnet.Event, mark Mark, label string) {
	if !p.labels {
		label = ""
	}
	p.Points = append(p.Points, Point{Lane: lane(e.Node), Row: p.row, Mark: mark, Label: label})
}

// message draws what becomes of a message.
func (p *Painter) message(e *vnet.Event) {
	if e.From == e.Node { // its own broadcast
		p.point(e, Dot, p.algorithm.KindName(e.Msg.Kind)+" heard")
		return
	}
	m := p.onTheWay[e.Number]
	m.End, m.Fate = p.row, Arrives
	if e.Kind == vnet.Lose {
		m.Fate = Lost
	}
	if e.Refused != "" && p.labels {
		m.Label += " refused"
	}
	p.Messages = append(p.Messages, m)
	if e.Kind != vnet.Copy {
		delete(p.onTheWay, e.Number)
	}
}

// effects notes what a handler has sent, and whether it entered.
func (p *Painter) effects(e *vnet.Event) {
	for _, x := range e.Effects {
		switch {
		case x.Kind == dme.EffectEnter:
			p.entered[e.Node] = p.row
		case x.Kind == dme.EffectSend && x.To != e.Node:
			p.onTheWay[x.Number] = Message{
				From: lane(e.Node), To: lane(x.To), Sent: p.row, Fate: OnTheWay, Label: p.algorithm.KindName(x.Msg.Kind),
			}
		}
	}
}

// Finish adds what has not come to its end, and returns the diagram.
func (p *Painter) Finish() *Diagram {
	p.Last = p.row
	first := len(p.Sections)
	for id, row := range p.entered {
		p.Sections = append(p.Sections, Section{Lane: lane(id), Enter: row})
	}
	slices.SortFunc(p.Sections[first:], func(a, b Section) int { return cmp.Compare(a.Lane, b.Lane) })
	var numbers []uint64
	for number := range p.onTheWay {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	for _, number := range numbers {
		p.Messages = append(p.Messages, p.onTheWay[number])
	}
	return &p.Diagram
}
