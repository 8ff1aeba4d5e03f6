package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/record/recording"
	"dmebench/internal/record/spacetime"
	"dmebench/internal/runtime/stall"
	"dmebench/units"
)

// Report is what a search has found out.
type Report struct {
	Violation *vnet.Violation // nil: none was found
	Trace     *Trace          // how it came about; nil if there is none
	Seed      uint64          // of the schedule that broke the property; for an exhaustive search the search's own

	// Complete: all has been searched. Else nothing is known of the rest.
	Complete bool
	Stopped  string // why it is not complete, "" if it is or if a violation ended it

	Schedules uint64 // random: up to the one that broke a property
	Tally
	States uint64 // exhaustive: distinct ones
	Depth  int    // exhaustive: steps to the farthest state; with reduction, without those that were forced

	Reduced  bool      // exhaustive: orders of steps that make no difference were left out or, if ByClass, states that do
	ByClass  bool      // exhaustive: of states that differ in the values of clocks alone, one was visited
	JudgedIn uint64    // exhaustive: invariants were judged in this many states, and all else in all; 0: invariants too
	Bitstate *Bitstate // exhaustive: what is known where only bits of states were kept; else nil

	NeverSent []string // exhaustive: kinds of messages; nothing is known of what comes of them

	Workers int
	Elapsed time.Duration
}

// Err says what a search has found, or why it is not complete; nil if all that was to be searched
// is right. A refused message is a fault here, as it is on links that lose and repeat nothing.
func (r Report) Err() error {
	switch {
	case r.Violation != nil:
		return fmt.Errorf("seed %d: %v", r.Seed, r.Violation)
	case !r.Complete:
		return errors.New(r.Stopped)
	case r.Refused > 0:
		return fmt.Errorf("%d messages refused: %s", r.Refused, r.Refusal)
	}
	return nil
}

func Random(ctx context.Context, a *dme.Algorithm, o Options) (Report, error) {
	s, err := New(a, o)
	if err != nil {
		return Report{}, err
	}
	return s.Random(ctx), nil
}

func Exhaustive(ctx context.Context, a *dme.Algorithm, o Options) (Report, error) {
	s, err := New(a, o)
	if err != nil {
		return Report{}, err
	}
	return s.Exhaustive(ctx)
}

// The properties that no single step shows, beside those that vnet judges. Progress: a waiting node
// is served even if no other asks again. Liveness: entries keep coming while a node waits.
// Starvation is named for what breaks it: others enter without end while a node that has asked
// waits, although every message arrives, every critical section ends and every timer fires. A
// schedule of a random search has an end, and is judged by [tooMany]. Rest: when all requests are
// served and the nodes know that no more will come, the messages end.
const (
	Progress   vnet.Property = "progress"
	Liveness   vnet.Property = "liveness"
	Starvation vnet.Property = "starvation"
	Rest       vnet.Property = "rest"
)

func stalled(waiting []dme.NodeID) *vnet.Violation {
	return &vnet.Violation{
		Property: Progress, Nodes: waiting,
		Verdict: fmt.Sprintf("stalled: %s, no node is in the critical section, and no message is on the way", Wait(waiting)),
	}
}

// forever is the violation of a system that goes on without an entry, or without rest.
func forever(waiting []dme.NodeID, toWait, toRest string) *vnet.Violation {
	if len(waiting) == 0 {
		return &vnet.Violation{Property: Rest, Verdict: "no rest: " + toRest + ", though no node will ask again"}
	}
	return &vnet.Violation{Property: Liveness, Verdict: "no entry" + toWait + ", though " + Wait(waiting), Nodes: waiting}
}

// Wait is "node 2 waits" or "nodes 1, 3 wait".
func Wait(nodes []dme.NodeID) string {
	if len(nodes) == 1 {
		return "node " + nodes[0].String() + " waits"
	}
	return "nodes " + strings.Join(units.Texts(nodes, dme.NodeID.String), ", ") + " wait"
}

// Trace is a schedule as it went, up to the step that broke a property.
type Trace struct {
	Violation vnet.Violation
	Nodes     int
	Started   []vnet.Event // what the nodes did before the first step, if they did anything
	Events    []vnet.Event // one for each step
	Repeats   int          // where the schedule goes on for ever: how many of the last events repeat
	States    []string     // the nodes at the end, one on a line

	// Bypass is the bound on overtaking that the last step passes, if that is what it shows.
	Bypass int

	Standstill *stall.Standstill // the wait-for graph at the end, if nothing moves; else nil

	model *vnet.Model
}

// Why explains a standstill in a few lines, none if there is no more to say.
func (t *Trace) Why() []string {
	if t.Standstill == nil {
		return nil
	}
	return t.Standstill.Explain().Lines()
}

func (t *Trace) Steps() []vnet.Step {
	steps := make([]vnet.Step, len(t.Events))
	for i, e := range t.Events {
		steps[i] = e.Step
	}
	return steps
}

func (t *Trace) Lines() []string {
	var lines []string
	for i := range t.Started {
		lines = append(lines, "  0. "+t.Started[i].Describe(t.model.Algorithm))
	}
	for i := range t.Events {
		lines = append(lines, fmt.Sprintf("%3d. %s", i+1, t.Events[i].Describe(t.model.Algorithm)))
	}
	return lines
}

// Recording returns the trace as events, which say what they have changed, and the
// variables of each node at the end that hold something. The steps are taken once
// more for that: it is too expensive for the many replays that shorten a schedule.
func (t *Trace) Recording() (events []recording.Event, states [][]string) {
	n := vnet.New(t.model)
	tape := recording.NewTape(t.model.Algorithm)
	for i := range n.Started {
		tape.Start(&n.Started[i])
	}
	for id := range n.IDs() {
		tape.Watch(id, n.Node(id))
	}
	for i := range t.Events {
		e := n.Do(t.Events[i].Step)
		tape.Add(e)
		if n.Violation == nil || n.Violation.Property != vnet.Sanity {
			tape.Changed(e.Node, n.Node(e.Node))
		}
	}
	for id := range n.IDs() {
		states = append(states, recording.Held(n.Node(id)))
	}
	return tape.Events, states
}

const maxRows = 200

// Diagram draws the trace, a row for each of its lines; of a long one the end.
func (t *Trace) Diagram() *spacetime.Diagram {
	events, states := t.Recording()
	p := spacetime.NewPainter(t.Nodes, true)
	for i := range events {
		p.Add(&events[i])
	}
	d := p.Finish()
	d.States = states
	d.Title = fmt.Sprintf("%s on %d nodes", t.model.Algorithm.Title, t.Nodes)
	Mark(d, &t.Violation)
	d.Caption = append(d.Caption, t.Why()...)
	d.First, d.Loop = max(1, d.Last-maxRows+1), t.Repeats
	return d
}

// Mark marks in the picture of a schedule what it breaks in the end.
func Mark(d *spacetime.Diagram, v *vnet.Violation) {
	d.Caption = []string{v.Verdict}
	if v.Property != "" {
		d.Bad = []int{d.Last}
	}
	switch v.Property {
	case vnet.Exclusion:
		for i := range d.Sections {
			s := &d.Sections[i]
			s.Bad = s.Leave == 0 && slices.Contains(v.Nodes, dme.NodeID(s.Lane+1))
		}
	case Progress, Liveness, Starvation:
		d.Ends = make([]string, len(d.Lanes))
		for _, id := range v.Nodes {
			d.Ends[id-1] = "waits"
		}
	}
}
