package spacetime

import (
	"cmp"
	"fmt"
	"maps"
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
	down      map[dme.NodeID]int // row since which a node is no part of the system
}

// NewPainter returns a painter of an algorithm on so many nodes. With labels
// the picture says more about an event than its shape does, and stops have rows
// too.
func NewPainter(a *dme.Algorithm, nodes int, labels bool) *Painter {
	p := &Painter{
		algorithm: a, labels: labels, onTheWay: make(map[uint64]Message),
		entered: make(map[dme.NodeID]int), down: make(map[dme.NodeID]int),
	}
	for id := range nodes {
		p.Lanes = append(p.Lanes, fmt.Sprintf("node %d", id+1))
	}
	return p
}

func lane(id dme.NodeID) int { return int(id) - 1 }

// Absent notes which nodes are no part of the system at the start.
func (p *Painter) Absent(nodes []dme.NodeID) {
	for _, id := range nodes {
		p.down[id] = 0
	}
}

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
	case vnet.Crash, vnet.Restart, vnet.Join, vnet.Depart, vnet.Down, vnet.Up:
		p.fault(e)
	}
	p.effects(e)
}

func (p *Painter) point(e *vnet.Event, mark Mark, label string) {
	if !p.labels {
		label = ""
	}
	p.Points = append(p.Points, Point{Lane: lane(e.Node), Row: p.row, Mark: mark, Label: label})
}

// fault draws a node that comes or goes, and the news of it.
func (p *Painter) fault(e *vnet.Event) {
	switch e.Kind {
	case vnet.Crash:
		if enter, inside := p.entered[e.Node]; inside {
			p.Sections = append(p.Sections, Section{Lane: lane(e.Node), Enter: enter, Leave: p.row})
			delete(p.entered, e.Node)
		}
		p.Points = append(p.Points, Point{Lane: lane(e.Node), Row: p.row, Mark: Crash, Label: "crash"})
		p.vanish(e.Node)
	case vnet.Restart, vnet.Join:
		if from, ok := p.down[e.Node]; ok {
			p.Absences = append(p.Absences, Section{Lane: lane(e.Node), Enter: from, Leave: p.row})
			delete(p.down, e.Node)
		}
		p.Points = append(p.Points, Point{Lane: lane(e.Node), Row: p.row, Mark: Dot, Label: e.Kind.String()})
	case vnet.Depart:
		p.Points = append(p.Points, Point{Lane: lane(e.Node), Row: p.row, Mark: Dot, Label: "leave"})
	default:
		news := fmt.Sprintf("%d is %v", e.From, e.Kind) // nobody could guess what the dot is
		p.Points = append(p.Points, Point{Lane: lane(e.Node), Row: p.row, Mark: Dot, Label: news})
	}
}

// vanish draws what a node's end means for the messages on their way to it.
func (p *Painter) vanish(id dme.NodeID) {
	p.down[id] = p.row
	for _, number := range slices.Sorted(maps.Keys(p.onTheWay)) {
		if m := p.onTheWay[number]; m.To == lane(id) {
			m.End, m.Fate = p.row, Lost
			p.Messages = append(p.Messages, m)
			delete(p.onTheWay, number)
		}
	}
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
		case x.Kind == dme.EffectLeft:
			p.Points = append(p.Points, Point{Lane: lane(e.Node), Row: p.row, Mark: Crash, Label: "left"})
			p.vanish(e.Node)
		case x.Kind == dme.EffectSend && x.To != e.Node:
			m := Message{From: lane(e.Node), To: lane(x.To), Sent: p.row, Fate: OnTheWay, Label: p.algorithm.KindName(x.Msg.Kind)}
			if x.Lost {
				m.End, m.Fate = p.row, Lost
				p.Messages = append(p.Messages, m)
				continue
			}
			p.onTheWay[x.Number] = m
		}
	}
}

// Finish adds what has not come to its end, and returns the diagram.
func (p *Painter) Finish() *Diagram {
	p.Last = p.row
	for _, id := range slices.Sorted(maps.Keys(p.down)) {
		p.Absences = append(p.Absences, Section{Lane: lane(id), Enter: p.down[id]})
	}
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
