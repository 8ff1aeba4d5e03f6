package check

import (
	"fmt"
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/recording"
	"dmebench/internal/spacetime"
	"dmebench/internal/stall"
)

// Trace is a schedule as it went, up to the step that broke a property.
type Trace struct {
	Violation vnet.Violation
	Nodes     int
	Started   []vnet.Event // what the nodes did before the first step, where they did anything
	Events    []vnet.Event // one for each step
	Repeats   int          // where the schedule goes on for ever: how many of the last events repeat
	States    []string     // the nodes at the end, one on a line

	// Bypass is the bound on overtaking that the schedule passes in its last step, where
	// that is what it shows.
	Bypass int

	Standstill *stall.Standstill // who waits for whom at the end, where nothing moves; else nil

	alg   *dme.Algorithm
	model *vnet.Model
}

// Why explains a standstill in a few lines, none where there is no more to say.
func (t *Trace) Why() []string {
	if t.Standstill == nil {
		return nil
	}
	return t.Standstill.Explain().Lines()
}

// Steps returns the steps of the schedule.
func (t *Trace) Steps() []vnet.Step {
	steps := make([]vnet.Step, len(t.Events))
	for i, e := range t.Events {
		steps[i] = e.Step
	}
	return steps
}

// Lines returns the trace as numbered lines, one for each step.
func (t *Trace) Lines() []string {
	var lines []string
	for i := range t.Started {
		lines = append(lines, "  0. "+t.Started[i].Describe(t.alg))
	}
	for i := range t.Events {
		lines = append(lines, fmt.Sprintf("%3d. %s", i+1, t.Events[i].Describe(t.alg)))
	}
	return lines
}

// Recording returns the trace as events, which say what they have changed, and the
// variables of each node at the end that hold something. The steps are taken once
// more for that: it is too dear for the many replays that shorten a schedule.
func (t *Trace) Recording() (events []recording.Event, states [][]string) {
	n := vnet.New(t.model)
	tape := recording.NewTape(t.alg)
	for i := range n.Started {
		tape.Start(&n.Started[i])
	}
	for id := range n.IDs() {
		tape.Watch(id, n.Runner(id).Node())
	}
	for i := range t.Events {
		e := n.Do(t.Events[i].Step)
		tape.Add(e)
		if n.Violation == nil || n.Violation.Property != vnet.Sanity {
			tape.Changed(e.Node, n.Runner(e.Node).Node())
		}
	}
	for id := range n.IDs() {
		states = append(states, recording.Held(n.Runner(id).Node()))
	}
	return tape.Events, states
}

// maxRows is how much of a long schedule is drawn: its end.
const maxRows = 200

// Diagram returns the trace as a space-time diagram, whose rows are the trace's
// lines. Of a long one it shows the end.
func (t *Trace) Diagram() *spacetime.Diagram {
	events, states := t.Recording()
	p := spacetime.NewPainter(t.Nodes, true)
	for i := range events {
		p.Add(&events[i])
	}
	d := p.Finish()
	d.States = states
	d.Title = fmt.Sprintf("%s on %d nodes", t.alg.Title, t.Nodes)
	d.Caption = append([]string{t.Violation.Verdict}, t.Why()...)
	d.First = max(1, d.Last-maxRows+1)
	d.Loop = t.Repeats
	if t.Violation.Property != "" {
		d.Bad = []int{d.Last}
	}
	switch t.Violation.Property {
	case vnet.Exclusion:
		for i := range d.Sections {
			s := &d.Sections[i]
			s.Bad = s.Leave == 0 && slices.Contains(t.Violation.Nodes, dme.NodeID(s.Lane+1))
		}
	case Progress, Liveness, Starvation:
		d.Ends = make([]string, t.Nodes)
		for _, id := range t.Violation.Nodes {
			d.Ends[id-1] = "waits"
		}
	}
	return d
}
