// Package spacetime draws space-time diagrams: a lifeline for each node, time downwards, an arrow
// for each message from where it is sent to where it arrives, a box while a node is in its critical
// section.
//
// A [Diagram] lists what there is to see; rows are the steps of a schedule, one event each, so that
// their numbers are those of a printed trace. Elements differ in shape and shade as well as in
// colour. The drawing is a function of the Diagram: an SVG file of its own, without scripts or
// fonts to load, that any browser shows.
package spacetime

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"dmebench/dme"
	"dmebench/internal/record/recording"
)

// Diagram is what is to be drawn. Lanes count from 0, rows from 1; row 0 is before the first step.
type Diagram struct {
	Title    string
	Caption  []string   // lines below the drawing, such as a verdict
	Lanes    []string   // the names of the nodes
	Ends     []string   // by lane: how it stands at the end; may be shorter
	States   [][]string // by lane: its variables at the end; may be shorter
	First    int        // the first row to be shown; 0 or 1: all
	Last     int        // the last one
	Times    []string   // by row, from the first, in ms: shown in the place of its number, not to scale; may be shorter
	Messages []Message
	Sections []Section
	Absences []Section // while a node is no part of the system
	Points   []Point
	Notes    []Note
	Bad      []int // rows to be highlighted: where a property breaks
	Loop     int   // this many of the last rows repeat for ever; 0: none does
}

type Fate int

// A message arrives, is still on the way at the end, or is lost.
const (
	Arrives Fate = iota
	OnTheWay
	Lost
)

// Message is a message from one lane to another.
type Message struct {
	From, To  int // lanes
	Sent, End int // rows; End: where it arrives or is lost
	Fate      Fate
	Label     string
}

// Section is the time a node spends in its critical section.
type Section struct {
	Lane  int
	Enter int
	Leave int  // 0: it is still inside at the end
	Bad   bool // an error
}

// Point is an event at one node that is not an arrival.
type Point struct {
	Lane, Row int
	Mark      Mark
	Label     string
}

// Note says in small letters what an event has changed at its node.
type Note struct {
	Lane, Row int
	Text      string
}

type Mark int

// A request is a triangle, an exit a bar, a timer that fires a clock, the end of
// a node a cross, anything else a dot.
const (
	Dot Mark = iota
	Request
	Exit
	Timer
	Crash
)

// Recorded is a part of a recording, and its picture.
type Recorded struct {
	Events []recording.Event
	More   bool // events behind them were left out, because there are too many
	*Diagram
}

// Record draws a part of a recording. Rows have the times of their steps.
func Record(h recording.Header, events iter.Seq2[recording.Event, error], part recording.Part) (*Recorded, error) {
	p := NewPainter(h.Nodes, true)
	p.Absent(h.Absent)
	var r Recorded
	var err error
	if r.Events, r.More, err = part.Of(events, p.Before); err != nil {
		return nil, err
	}
	for i := range r.Events {
		e := &r.Events[i]
		p.Add(e)
		if h.Clock != recording.Steps && p.Row() > len(p.Times) {
			p.Times = append(p.Times, recording.Milliseconds(e.At))
		}
	}
	r.Diagram = p.Finish()
	r.Title = h.Summary()
	if h.Whole && !r.More && !part.To.Given() {
		for i := range r.Messages { // what is still on its way at the end of all is lost
			if m := &r.Messages[i]; m.Fate == OnTheWay && m.Sent > 0 {
				m.Fate, m.End = Lost, m.Sent
			}
		}
	}
	return &r, nil
}

// Painter draws the events of a recording: a row for a step, with what its handler does.
type Painter struct {
	Diagram
	labels bool // say more about an event than its shape does
	row    int
	at     map[dme.NodeID]int // the row of each node's last step
	flight map[uint64]Message // on their way, by number
	gone   map[uint64]Message // a copy may still arrive
	inside map[dme.NodeID]int // row of the entry of each node inside
	down   map[dme.NodeID]int // row since which a node is no part of the system
}

// NewPainter draws that many nodes; with labels, more than shapes say, and stops.
func NewPainter(nodes int, labels bool) *Painter {
	p := &Painter{
		labels: labels, at: make(map[dme.NodeID]int), flight: make(map[uint64]Message), gone: make(map[uint64]Message),
		inside: make(map[dme.NodeID]int), down: make(map[dme.NodeID]int),
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

func (p *Painter) Row() int { return p.row }

// Before takes note of an event that comes before the first that is drawn.
func (p *Painter) Before(e *recording.Event) {
	switch e.What {
	case dme.Send:
		if !e.Lost {
			p.flight[e.ID] = Message{From: lane(e.Node), To: lane(e.Peer), Fate: OnTheWay, Label: e.Kind}
		}
	case dme.Receive, dme.Hear, dme.Lose:
		delete(p.flight, e.ID)
	case dme.Enter:
		p.inside[e.Node] = 0
	case dme.Exit:
		delete(p.inside, e.Node)
	case dme.Crash, dme.Left:
		delete(p.inside, e.Node)
		p.down[e.Node] = 0
	case dme.Restart, dme.Join:
		delete(p.down, e.Node)
	}
}

// Add draws an event: in the next row if it begins a step, else in its node's last.
func (p *Painter) Add(e *recording.Event) {
	if !e.Begins() {
		p.effect(e)
		return
	}
	switch _, stepped := p.at[e.Node]; {
	case e.What == dme.Start && !stepped: // in the row before the first
		p.at[e.Node] = 0
		return
	case e.What == dme.Stop && !p.labels: // in no row
		p.at[e.Node] = p.row
		return
	}
	p.row++
	p.at[e.Node] = p.row
	switch e.What {
	case dme.Request:
		p.point(e, Request, "")
	case dme.RequestShared:
		p.point(e, Request, "read")
	case dme.Exit:
		p.leave(e.Node)
		p.point(e, Exit, "")
	case dme.Receive, dme.Lose:
		p.message(e)
	case dme.Hear:
		p.point(e, Dot, e.Kind+" heard")
		delete(p.flight, e.ID)
	case dme.Timeout:
		p.point(e, Timer, fmt.Sprintf("timer %d", *cmp.Or(e.Timer, new(int))))
	case dme.Start, dme.Stop:
		p.point(e, Dot, e.What.String())
	default:
		p.fault(e)
	}
	if e.State != "" {
		p.Notes = append(p.Notes, Note{Lane: lane(e.Node), Row: p.row, Text: e.State})
	}
}

func (p *Painter) point(e *recording.Event, mark Mark, label string) {
	if !p.labels {
		label = ""
	}
	p.mark(e, p.row, mark, label)
}

func (p *Painter) mark(e *recording.Event, row int, mark Mark, label string) {
	p.Points = append(p.Points, Point{Lane: lane(e.Node), Row: row, Mark: mark, Label: label})
}

func (p *Painter) leave(id dme.NodeID) {
	if enter, inside := p.inside[id]; inside {
		p.Sections = append(p.Sections, Section{Lane: lane(id), Enter: enter, Leave: p.row})
		delete(p.inside, id)
	}
}

func (p *Painter) fault(e *recording.Event) {
	mark, label := Dot, ""
	switch e.What {
	case dme.Crash:
		p.leave(e.Node)
		mark, label = Crash, "crash"
	case dme.Restart, dme.Join:
		if from, ok := p.down[e.Node]; ok {
			p.Absences = append(p.Absences, Section{Lane: lane(e.Node), Enter: from, Leave: p.row})
			delete(p.down, e.Node)
		}
		label = e.What.String()
	case dme.Depart:
		label = "leave"
	default:
		label = fmt.Sprintf("%d is %v", e.Peer, e.What) // a bare dot would be a riddle
	}
	p.mark(e, p.row, mark, label)
	if e.What == dme.Crash {
		p.vanish(e.Node)
	}
}

func (p *Painter) vanish(id dme.NodeID) {
	p.down[id] = p.row
	for _, number := range slices.Sorted(maps.Keys(p.flight)) {
		if m := p.flight[number]; m.To == lane(id) {
			m.End, m.Fate = p.row, Lost
			p.Messages = append(p.Messages, m)
			delete(p.flight, number)
		}
	}
}

func (p *Painter) message(e *recording.Event) {
	m, known := p.flight[e.ID]
	if !known {
		m, known = p.gone[e.ID]
	}
	if !known {
		p.mark(e, p.row, Dot, e.Kind)
		return
	}
	p.gone[e.ID] = m
	if !e.Copy || e.What == dme.Lose {
		delete(p.flight, e.ID)
	}
	m.End, m.Fate = p.row, Arrives
	if e.What == dme.Lose {
		m.Fate = Lost
	}
	p.Messages = append(p.Messages, m)
}

func (p *Painter) effect(e *recording.Event) {
	row := p.at[e.Node]
	switch e.What {
	case dme.Enter:
		p.inside[e.Node] = row
	case dme.Left:
		p.mark(e, row, Crash, "left")
		p.vanish(e.Node)
	case dme.Refuse:
		for i := len(p.Messages) - 1; i >= 0 && p.labels; i-- {
			if m := &p.Messages[i]; m.To == lane(e.Node) && m.End == row && m.Fate == Arrives {
				m.Label += " refused"
				return
			}
		}
	case dme.Send:
		m := Message{From: lane(e.Node), To: lane(e.Peer), Sent: row, Fate: OnTheWay, Label: e.Kind}
		switch {
		case e.Peer == e.Node: // its own broadcast, which it will hear
		case e.Lost:
			m.End, m.Fate = row, Lost
			p.Messages = append(p.Messages, m)
		default:
			p.flight[e.ID] = m
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
	for id, row := range p.inside {
		p.Sections = append(p.Sections, Section{Lane: lane(id), Enter: row})
	}
	slices.SortFunc(p.Sections[first:], func(a, b Section) int { return cmp.Compare(a.Lane, b.Lane) })
	for _, number := range slices.Sorted(maps.Keys(p.flight)) {
		p.Messages = append(p.Messages, p.flight[number])
	}
	return &p.Diagram
}
