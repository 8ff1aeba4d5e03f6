package playground

import (
	"fmt"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/record/recording"
	"dmebench/internal/search/trace"
)

// Types that the page receives. Names of events are those of [dme.EventKind].

// takenView is a step that was taken, and what happened then, as a recording has it.
type takenView struct {
	vnet.Step
	Command string            `json:"command"` // the line of a scenario
	Text    string            `json:"text"`    // in words
	Events  []recording.Event `json:"events"`  // the step, and what came of it
}

// stateView is a state of the network.
type stateView struct {
	Steps     int               `json:"steps"` // taken until here
	Hash      string            `json:"hash"`
	Nodes     []nodeView        `json:"nodes"`
	Flights   []flightView      `json:"flights"` // in the order of sending
	Timers    []timerView       `json:"timers"`  // in the order in which they were set
	Enabled   []vnet.Step       `json:"enabled"` // but for arrivals and timers
	Inside    []dme.NodeID      `json:"inside"`
	Entries   uint64            `json:"entries"`
	Sent      uint64            `json:"sent"`
	ByKind    map[string]uint64 `json:"by_kind"`
	Property  string            `json:"property,omitempty"` // the broken property
	Verdict   string            `json:"verdict,omitempty"`
	Concerned []dme.NodeID      `json:"concerned,omitempty"`
}

type nodeView struct {
	ID       dme.NodeID  `json:"id"`
	Activity string      `json:"activity"`
	Token    bool        `json:"token,omitempty"`
	Colour   string      `json:"colour,omitempty"` // of the token that it holds, if tokens have colours
	Vars     [][2]string `json:"vars"`
	Waits    []dme.Wait  `json:"waits,omitempty"`
}

// offerView is a step that may be possible now.
type offerView struct {
	vnet.Step
	May    bool `json:"may"`
	Beyond bool `json:"beyond,omitempty"` // the algorithm rules it out, and need not work after it
}

type flightView struct {
	offerView        // its arrival
	Message   string `json:"message"`
	Fields    string `json:"fields,omitempty"`

	Fates []dme.EventKind `json:"fates,omitempty"` // what else may befall it: copy, lose
}

type timerView struct {
	offerView
	Delay time.Duration `json:"delay_ns"`
}

// activities are where a local process stands, in a word each.
var activities = [...]string{dme.Idle: "idle", dme.Requesting: "requesting", dme.Inside: "inside", dme.Down: "down"}

func (s *Session) state() *stateView {
	n, a := s.network, s.model.Algorithm
	v := &stateView{
		Steps: len(s.steps), Hash: s.hash(), Inside: append([]dme.NodeID{}, n.Inside()...),
		Nodes: []nodeView{}, Flights: []flightView{}, Timers: []timerView{}, Enabled: []vnet.Step{}, ByKind: map[string]uint64{},
	}
	v.Property, v.Verdict, v.Concerned = s.verdict()
	may := func(x vnet.Step) bool { return n.Violation == nil && n.Possible(x) }
	for id := range n.IDs() {
		v.Nodes = append(v.Nodes, s.node(id))
		for _, kind := range []dme.EventKind{
			dme.Exit, dme.Request, dme.RequestShared, dme.Stop, dme.Crash, dme.Restart, dme.Join, dme.Depart,
		} {
			if x := (vnet.Step{Kind: kind, Node: id}); may(x) {
				v.Enabled = append(v.Enabled, x)
			}
		}
	}
	offer := func(x vnet.Step) offerView { return offerView{x, may(x), trace.BeyondNeeds(s.model, x)} }
	index := make(map[[2]dme.NodeID]int)
	for _, f := range n.InFlight() {
		link := [2]dme.NodeID{f.From, f.To}
		x := flightView{offerView: offer(vnet.Step{Kind: f.Arrival(), From: f.From, Node: f.To, Index: index[link]})}
		index[link]++
		x.Message = fmt.Sprintf("%d is %v", f.From, x.Kind)
		if x.Kind == dme.Receive {
			x.Message, x.Fields = recording.Described(a, &f.Message)
		}
		for _, fate := range []dme.EventKind{dme.Lose, dme.Copy} {
			other := x.Step
			if other.Kind = fate; x.May && n.Possible(other) {
				x.Fates = append(x.Fates, fate)
			}
		}
		v.Flights = append(v.Flights, x)
	}
	for _, t := range n.Timers() {
		v.Timers = append(v.Timers, timerView{offer(vnet.Step{Kind: dme.Timeout, Node: t.Node, Timer: t.ID}), t.Delay})
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

func (s *Session) node(id dme.NodeID) nodeView {
	n, a := s.network, s.model.Algorithm
	v := nodeView{ID: id, Activity: activities[n.Activity(id)], Vars: [][2]string{}}
	if n.Activity(id) == dme.Down {
		return v
	}
	node := n.Node(id)
	for _, variable := range dme.Variables(node) {
		v.Vars = append(v.Vars, [2]string{variable.Name, variable.Value})
	}
	v.Colour, v.Token = colourOf(node), a.HasToken != nil && a.HasToken(node)
	if a.Waits != nil {
		v.Waits = a.Waits(node)
	}
	return v
}

// algorithmView is an algorithm as the page lists it.
type algorithmView struct {
	Name        string       `json:"name"`
	Title       string       `json:"title"`
	Citation    string       `json:"citation"`
	Description string       `json:"description"`
	Options     []optionView `json:"options"`
	FIFO        bool         `json:"fifo"` // its links must keep order
}

type optionView struct {
	Name    string   `json:"name"`
	Default string   `json:"default"`
	Values  []string `json:"values"` // the words, and how others are written: "plane", "kary:K"
	Help    string   `json:"help"`
}

func (c *Catalog) view() (all []algorithmView) {
	for _, a := range c.Algorithms {
		v := algorithmView{Name: a.Name, Title: a.Title, Citation: a.Citation, Description: a.Description}
		if defaults, err := a.Resolve(nil); err == nil {
			v.FIFO = a.Needs(defaults).FIFO
		}
		for _, o := range a.Options {
			v.Options = append(v.Options, optionView{o.Name, o.Default, slices.Concat(o.Words, o.Forms), o.Help})
		}
		all = append(all, v)
	}
	return all
}
