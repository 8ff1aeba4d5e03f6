package vnet

import (
	"math/rand/v2"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// Load says when the nodes of a schedule ask.
type Load int

// All ask before anything else happens, and again when everything has come to
// rest; each asks at some time; each asks again as it leaves.
const (
	Bursts Load = iota
	Churn
	Saturation
	Loads
)

func (l Load) String() string { return [...]string{"bursts", "churn", "saturation"}[l] }

// Schedule draws the steps of one run of a network. It is a function of what is drawn from Rand.
type Schedule struct {
	*Network
	Rand    *rand.Rand
	Load    Load
	Choose  Chooser
	Readers float64 // the fraction of shared requests, if nodes distinguish them
	Mishap  float64 // how often a message that could be lost or copied is
	Fault   float64 // how often a node that could crash or leave does, at each step

	due     []Step // what has been decided for the next steps
	scratch []Step
}

// Chooser picks one of the steps that are possible, by its index.
type Chooser interface {
	Pick(n *Network, steps []Step) int
}

// Chance picks any with the same probability.
type Chance struct{ *rand.Rand }

// Pick implements [Chooser].
func (c Chance) Pick(_ *Network, steps []Step) int { return c.IntN(len(steps)) }

// Begin decides on what happens first. It is called once, before Next.
func (s *Schedule) Begin() {
	if s.Load == Saturation {
		s.everybodyAsks()
	}
}

// Next returns the next step; there is none when everything is at rest.
func (s *Schedule) Next() (x Step, ok bool) {
	if len(s.due) == 0 && s.Load == Bursts && s.burstIsOver() {
		s.everybodyAsks()
	}
	if len(s.due) > 0 {
		x, s.due = s.due[0], s.due[1:]
		return x, true
	}
	if s.MayGoOn() && s.Served() {
		return Step{}, false
	}
	steps := s.moves(s.scratch[:0])
	if s.Load == Churn {
		steps = s.asks(steps)
	}
	s.scratch = steps
	if s.faulty && (len(steps) > 0 || !s.allIdle()) && s.Rand.Float64() < s.Fault {
		if faults := s.strikes(nil); len(faults) > 0 {
			return faults[s.Rand.IntN(len(faults))], true
		}
	}
	if len(steps) == 0 {
		return Step{}, false
	}
	x = s.mishaps(steps[s.Choose.Pick(s.Network, steps)])
	if x.Kind == dme.Exit && s.Load == Saturation && s.processes[x.Node].requests > 0 {
		s.due = append(s.due, s.ask(x.Node))
	}
	return x, true
}

// moves appends every step that is possible now but requests and the faults of
// links: exits, arrivals, timers, and the stops that end a run.
func (s *Schedule) moves(to []Step) []Step {
	for _, id := range s.inside {
		to = append(to, Step{Kind: dme.Exit, Node: id})
	}
	to = s.arrivals(s.Network, to, s.occupied, false, false)
	if len(s.common.timers) > 0 {
		to = s.fires(s.Network, to)
	}
	if s.faulty {
		to = s.returns(to)
	}
	return s.stopSteps(s.Network, to)
}

func (s *Schedule) returns(to []Step) []Step {
	for id := range s.IDs() {
		if back, ok := s.comingBack(id, &s.processes[id]); ok {
			to = append(to, back)
		}
	}
	return to
}

func (s *Schedule) strikes(to []Step) []Step {
	for id := range s.IDs() {
		if p := &s.processes[id]; p.activity != noderun.Down {
			to = s.faults(s.Network, id, p, to)
		}
	}
	return to
}

// MayGoOn reports whether messages may flow although all requests are served.
func (m *Model) MayGoOn() bool { return m.Endless && !m.Stops }

// burstIsOver reports whether all are served and nothing moves but a token that never rests.
func (s *Schedule) burstIsOver() bool {
	quiet := !s.Busy() && len(s.common.timers) == 0 || s.Endless && s.Rand.IntN(4) == 0
	return quiet && s.allIdle()
}

func (s *Schedule) everybodyAsks() {
	s.due = s.asks(s.due)
	s.Rand.Shuffle(len(s.due), func(i, j int) { s.due[i], s.due[j] = s.due[j], s.due[i] })
}

func (s *Schedule) asks(to []Step) []Step {
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		if s.processes[id].mayAsk() {
			to = append(to, s.ask(id))
		}
	}
	return to
}

func (s *Schedule) ask(id dme.NodeID) Step {
	kind := dme.Request
	if s.Shares && s.Rand.Float64() < s.Readers {
		kind = dme.RequestShared
	}
	return Step{Kind: kind, Node: id}
}

func (s *Schedule) mishaps(x Step) Step {
	if x.Kind != dme.Receive || !s.Duplicate && s.common.lose == 0 || s.Rand.Float64() >= s.Mishap {
		return x
	}
	other := x
	other.Kind = dme.Copy
	if s.common.lose > 0 && (!s.Duplicate || s.Rand.IntN(2) == 0) {
		other.Kind = dme.Lose
	}
	if !s.Possible(other) {
		return x
	}
	return other
}
