// Package spacetime draws space-time diagrams: a lifeline for each node, time
// downwards, an arrow for each message from where it is sent to where it
// arrives, a box while a node is in its critical section.
//
// A [Diagram] lists what there is to see; rows are the steps of a schedule, one
// event to each, so that their numbers are those of a printed trace. What it
// shows is told apart by shape and shade as well as by colour. The drawing is a
// function of the Diagram: an SVG file of its own, without scripts or fonts to
// load, that any browser shows.
package spacetime

import (
	"iter"

	"dmebench/internal/record/recording"
)

// Diagram is what is to be drawn. Lanes are counted from 0, rows from 1; row 0
// is before the first step.
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
	Loop     int   // so many of the last rows repeat for ever; 0: none does
}

// Fate is what became of a message.
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
	Leave int // 0: it is still inside at the end
	Label string
	Bad   bool // it should not be there
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

// Mark is the shape of a point.
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
		r.missing()
	}
	return &r, nil
}

// missing draws as lost what is still on its way at the end of all.
func (d *Diagram) missing() {
	for i := range d.Messages {
		if m := &d.Messages[i]; m.Fate == OnTheWay && m.Sent > 0 {
			m.Fate, m.End = Lost, m.Sent
		}
	}
}
