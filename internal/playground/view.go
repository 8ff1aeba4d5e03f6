package playground

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/record/recording"
)

// What the page receives. Names of events are those of [dme.EventKind].

// stepView is a step that can be taken, and how the page asks for it.
type stepView struct {
	Kind  string     `json:"kind"`
	Node  dme.NodeID `json:"node"`
	From  dme.NodeID `json:"from,omitempty"`
	Index int        `json:"index,omitempty"`
	Timer int        `json:"timer,omitempty"`
}

func viewOf(x vnet.Step) stepView {
	return stepView{x.Kind.String(), x.Node, x.From, x.Index, int(x.Timer)}
}

func (v stepView) step() (vnet.Step, error) {
	kind, err := dme.ParseEvent(v.Kind)
	return vnet.Step{Kind: kind, Node: v.Node, From: v.From, Index: v.Index, Timer: dme.TimerID(v.Timer)}, err
}

// takenView is a step that was taken, and what happened then, as a recording has it.
type takenView struct {
	stepView
	Command string            `json:"command"` // the line of a scenario
	Text    string            `json:"text"`    // in words
	Events  []recording.Event `json:"events"`  // the step, and what came of it
}

// stateView is a state of the network.
type stateView struct {
	Steps     int               `json:"steps"` // taken until here
	Hash      string            `json:"hash"`
	Nodes     []nodeView        `json:"nodes"`
	Flights   []flightView      `json:"flights"`
	Timers    []timerView       `json:"timers"`
	Next      *stepView         `json:"next"`    // the default next step
	Enabled   []stepView        `json:"enabled"` // but for the fates of messages and timers
	Inside    []dme.NodeID      `json:"inside"`
	Entries   uint64            `json:"entries"`
	Sent      uint64            `json:"sent"`
	ByKind    map[string]uint64 `json:"by_kind"`
	Property  string            `json:"property,omitempty"` // that is broken
	Verdict   string            `json:"verdict,omitempty"`
	Concerned []dme.NodeID      `json:"concerned,omitempty"`
}

type nodeView struct {
	ID       dme.NodeID  `json:"id"`
	Activity string      `json:"activity"`
	Absent   bool        `json:"absent,omitempty"`
	Token    bool        `json:"token,omitempty"`
	Colour   string      `json:"colour,omitempty"` // of the token that it holds, if tokens have colours
	Vars     [][2]string `json:"vars"`
	Waits    []waitView  `json:"waits,omitempty"`
}

type waitView struct {
	For  dme.NodeID `json:"for"`
	What string     `json:"what"`
}

type flightView struct {
	From    dme.NodeID `json:"from"`
	To      dme.NodeID `json:"to"`
	Kind    string     `json:"kind"` // receive, down, up
	Index   int        `json:"index"`
	Message string     `json:"message"`
	Fields  string     `json:"fields,omitempty"`
	May     bool       `json:"may"`             // arrive now
	Fates   []string   `json:"fates,omitempty"` // what else may befall it: copy, lose
}

type timerView struct {
	Node  dme.NodeID    `json:"node"`
	Timer int           `json:"timer"`
	Delay time.Duration `json:"delay_ns"`
	May   bool          `json:"may"` // fire now
}

// activities are where a local process stands, in a word each.
var activities = [...]string{dme.Idle: "idle", dme.Requesting: "requesting", dme.Inside: "inside", dme.Down: "down"}

func (s *Session) state() *stateView {
	n, a := s.network, s.model.Algorithm
	v := &stateView{
		Steps: len(s.steps), Hash: s.hash(), Inside: append([]dme.NodeID{}, n.Inside()...),
		Nodes: []nodeView{}, Flights: []flightView{}, Timers: []timerView{}, Enabled: []stepView{}, ByKind: map[string]uint64{},
	}
	v.Property, v.Verdict, v.Concerned = s.verdict()
	for id := range n.IDs() {
		x := nodeView{ID: id, Activity: activities[n.Activity(id)], Vars: [][2]string{}}
		x.Absent = slices.Contains(s.model.Absent, id) && n.Activity(id) == dme.Down
		if n.Activity(id) != dme.Down {
			node := n.Node(id)
			for _, variable := range dme.Variables(node) {
				x.Vars = append(x.Vars, [2]string{variable.Name, variable.Value})
			}
			x.Colour = colourOf(node)
			x.Token = a.HasToken != nil && a.HasToken(node)
			if a.Waits != nil {
				for _, w := range a.Waits(node) {
					x.Waits = append(x.Waits, waitView{w.For, w.What})
				}
			}
		}
		v.Nodes = append(v.Nodes, x)
	}
	index := make(map[[2]dme.NodeID]int)
	for _, f := range n.InFlight() {
		link := [2]dme.NodeID{f.From, f.To}
		x := flightView{From: f.From, To: f.To, Kind: f.Arrival().String(), Index: index[link]}
		index[link]++
		step := vnet.Step{Kind: f.Arrival(), From: f.From, Node: f.To, Index: x.Index}
		if x.Kind == dme.Receive.String() {
			x.Message, x.Fields = recording.Described(a, &f.Message)
		} else {
			x.Message = fmt.Sprintf("%d is %s", f.From, x.Kind)
		}
		x.May = n.Violation == nil && n.Possible(step)
		for _, fate := range []dme.EventKind{dme.Lose, dme.Copy} {
			if step.Kind = fate; x.May && n.Possible(step) {
				x.Fates = append(x.Fates, fate.String())
			}
		}
		v.Flights = append(v.Flights, x)
	}
	if next, ok := s.next(); ok {
		step := viewOf(next)
		v.Next = &step
	}
	if n.Violation == nil {
		for _, x := range n.Enabled(nil) {
			switch x.Kind {
			case dme.Receive, dme.Copy, dme.Lose, dme.PeerDown, dme.PeerUp, dme.Timeout:
			default:
				v.Enabled = append(v.Enabled, viewOf(x))
			}
		}
		// What else may befall a node, if its algorithm says what to do then.
		for id := range n.IDs() {
			for _, kind := range []dme.EventKind{dme.Crash, dme.Restart, dme.Join, dme.Depart} {
				x := vnet.Step{Kind: kind, Node: id}
				if n.Possible(x) && !slices.Contains(v.Enabled, viewOf(x)) {
					v.Enabled = append(v.Enabled, viewOf(x))
				}
			}
		}
	}
	for _, t := range n.Timers() {
		may := n.Violation == nil && n.Possible(vnet.Step{Kind: dme.Timeout, Node: t.Node, Timer: t.ID})
		v.Timers = append(v.Timers, timerView{t.Node, int(t.ID), t.Delay, may})
	}
	counts := n.Counts(dme.None)
	v.Entries, v.Sent = counts.Entries, counts.Sent
	for kind, count := range counts.SentOf {
		if count > 0 {
			v.ByKind[a.KindName(dme.Kind(kind))] = count
		}
	}
	return v
}

// shape is what the nodes of a system have to do with one another.
type shape struct {
	Layout
	Quorums [][]dme.NodeID `json:"quorums,omitempty"` // by node: its request set
	Source  string         `json:"source"`            // the type of its nodes, as "maekawa.node"
}

func (s *Session) shape() *shape {
	a, system := s.model.Algorithm, s.model.System
	v := &shape{Layout: NewLayout(a, system, s.model.Nodes)}
	v.Source = strings.TrimPrefix(fmt.Sprintf("%T", dme.Unwrap(system.Node(1))), "*")
	if a.RequestSet != nil {
		for id := range s.model.IDs() {
			v.Quorums = append(v.Quorums, append([]dme.NodeID{}, a.RequestSet(system, id)...))
		}
	}
	return v
}

// algorithmView is an algorithm as the page lists it.
type algorithmView struct {
	Name        string       `json:"name"`
	Title       string       `json:"title"`
	Citation    string       `json:"citation"`
	Description string       `json:"description"`
	Options     []optionView `json:"options,omitempty"`
	FIFO        bool         `json:"fifo"` // its links must keep order
}

type optionView struct {
	Name    string   `json:"name"`
	Default string   `json:"default"`
	Words   []string `json:"words,omitempty"`
	Forms   []string `json:"forms,omitempty"` // how other values are written: "kary:K"
	Help    string   `json:"help"`
}

func (c *Catalog) view() []algorithmView {
	var all []algorithmView
	for _, a := range c.Algorithms {
		v := algorithmView{Name: a.Name, Title: a.Title, Citation: a.Citation, Description: a.Description}
		if defaults, err := a.Resolve(nil); err == nil {
			v.FIFO = a.Needs(defaults).FIFO
		}
		for _, o := range a.Options {
			v.Options = append(v.Options, optionView{o.Name, o.Default, o.Words, o.Forms, o.Help})
		}
		all = append(all, v)
	}
	return all
}
