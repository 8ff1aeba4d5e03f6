package spacetime

import (
	"iter"

	"dmebench/internal/recording"
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
