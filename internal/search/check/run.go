package check

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/runtime/stall"
)

type run struct {
	*vnet.Network
	search  *Search
	taken   []vnet.Step
	trace   *Trace    // of a replay
	watched *observer // of a replay
	hunger  *hunger   // in a schedule that tries to starve a node
}

func newRun(s *Search, p plan, taken []vnet.Step) *run {
	r := &run{Network: vnet.New(p.model), search: s, taken: taken}
	if p.victim != dme.None {
		r.hunger = newHunger(r.Network, p.patience)
	}
	return r
}

// draw draws and takes the steps of a schedule that has been planned, until something is
// broken or nothing is left to happen. They are appended to taken.
func (s *Search) draw(p plan, taken []vnet.Step) *run {
	if p.victim != dme.None {
		return s.starve(p, taken)
	}
	return s.random(rand.New(rand.NewPCG(p.model.Seed, 0x5ca1ab1e)), p.model, math.MaxInt, taken)
}

// random draws the steps of a schedule from a source, so many at most.
func (s *Search) random(rng *rand.Rand, m *vnet.Model, most int, taken []vnet.Step) *run {
	schedule := &vnet.Schedule{
		Network: vnet.New(m), Rand: rng, Load: vnet.Load(rng.IntN(int(vnet.Loads))),
		Readers: float64(rng.IntN(5)) / 4, Mishap: 1 / float64(uint(2)<<rng.IntN(5)), Choose: vnet.Chance{Rand: rng},
	}
	if s.Faults > 0 {
		// Most runs are over within some times N² steps a request.
		schedule.Fault = 1 / float64(1+rng.IntN(4*m.Nodes*max(m.Nodes, s.Requests)))
	}
	if s.Adversary == Adversarial || s.Adversary == Mixed && rng.IntN(2) == 0 {
		schedule.Choose = newAdversary(m, s.Requests, rng)
		if _, ok := schedule.Choose.(*isolation); ok {
			schedule.Load = vnet.Churn // it says when nodes ask
		}
	}
	schedule.Begin()
	r := &run{Network: schedule.Network, search: s, taken: taken}
	for r.Violation == nil && r.Steps < most && !(s.SafetyOnly && r.QuietFor > s.Patience) {
		x, ok := schedule.Next()
		if !ok {
			break
		}
		r.take(x)
	}
	return r
}

// take takes a step, and where there is a trace adds to it what came of the step.
func (r *run) take(x vnet.Step) {
	r.taken = append(r.taken, x)
	if r.hunger != nil {
		r.hunger.before(x)
	}
	if r.trace == nil {
		r.Take(x)
	} else {
		e := r.Do(x).Clone()
		r.watched.see(&e)
		r.trace.Events = append(r.trace.Events, e)
	}
	r.judge()
}

// judge looks for what no single step shows: that nothing, or nothing of use,
// happens any more.
func (r *run) judge() {
	if r.hunger != nil {
		if starved := r.hunger.judge(r.taken[len(r.taken)-1]); r.Violation == nil {
			r.Violation = starved
		}
	}
	switch {
	case r.Violation != nil || r.search.SafetyOnly:
	case r.Stuck():
		r.Violation = stalled(r.Waiting())
	case r.QuietFor <= r.search.Patience:
	case len(r.Waiting()) > 0 || r.Served() && !r.MayGoOn():
		r.Violation = tooLong(r.Waiting(), r.search.Patience)
	}
}

// replay runs the possible ones among the steps of a schedule that was planned, and then,
// if finish, lets the network run on. It returns what happened, and the steps that were
// possible.
func (s *Search) replay(p plan, steps []vnet.Step, finish bool) (*Trace, []vnet.Step) {
	m := p.model
	r := newRun(s, p, nil)
	r.watched = newObserver(r.Network)
	r.trace = &Trace{Nodes: m.Nodes, alg: m.Algorithm, model: m, Started: r.Started}
	t := r.trace
	if t.Repeats = r.repeat(steps, finish); r.Violation != nil {
		t.Violation = *r.Violation
		switch t.Violation.Property {
		case Progress:
			t.Standstill = r.watched.Standstill()
		case vnet.Overtaking:
			t.Bypass = m.Bypass
		case Starvation:
			t.Bypass = r.hunger.passed[t.Violation.Nodes[0]] - 1
		}
	}
	t.States = r.States()
	return t, r.taken
}

// repeat takes the possible ones among steps, and then, if finish, lets the network run
// on. It returns how many of the last steps repeat for ever.
func (r *run) repeat(steps []vnet.Step, finish bool) (cycle int) {
	for _, x := range steps {
		if r.Violation != nil {
			break
		}
		if r.Possible(x) {
			r.take(x)
		}
	}
	if finish {
		cycle = r.finish()
	}
	if cycle > 0 && r.Violation == nil && !r.search.SafetyOnly {
		r.Violation = repeats(r.Waiting(), cycle)
	}
	return cycle
}

// timersTurn is how often a timer that may fire goes before all messages, lest
// messages that never end keep it from firing.
const timersTurn = 64

// finish lets the network run on by a fixed rule until something is broken,
// nothing is left to happen, or it achieves nothing and is in a state in which
// it was before: it will go round for ever. Then it returns the length of the
// cycle, else 0.
func (r *run) finish() (cycle int) {
	seen := make(map[string]int) // state: the step after which it was reached
	for r.Violation == nil {
		x, ok := r.plainStep()
		if !ok {
			break
		}
		r.take(x)
		// A network that gets on is not worth the effort.
		if r.QuietFor < 4*r.Nodes*r.Nodes+16 {
			clear(seen)
			continue
		}
		var key []byte
		if len(r.Timers()) > 0 {
			key = append(key, byte(r.Steps%timersTurn))
		}
		state := string(r.Save(key))
		if at, ok := seen[state]; ok {
			return r.Steps - at
		}
		seen[state] = r.Steps
	}
	return 0
}

// plainStep returns the next step of a network that runs on without further
// requests: exits at once, then the stops, then the oldest message, then the
// timer that was set first.
func (r *run) plainStep() (x vnet.Step, ok bool) {
	if inside := r.Inside(); len(inside) > 0 {
		return vnet.Step{Kind: dme.Exit, Node: inside[0]}, true
	}
	if r.Served() {
		if r.MayGoOn() {
			return x, false
		}
		for id := range r.IDs() {
			if stop := (vnet.Step{Kind: dme.Stop, Node: id}); r.Possible(stop) {
				return stop, true
			}
		}
	}
	if !r.Busy() || r.Steps%timersTurn == 0 {
		if x, ok = r.FirstTimer(); ok {
			return x, true
		}
	}
	if x, ok = r.Oldest(); ok {
		return x, true
	}
	return r.Return()
}

// observer watches a network in memory, to explain it once it stands still. It
// has to see every event.
type observer struct {
	network *vnet.Network
	had     map[dme.NodeID]bool     // who had the token after the last event
	carries map[uint64]dme.NodeID   // messages on their way that may carry it, and their receivers
	gone    map[dme.NodeID]bool     // who is down; true: the token was lost with it
	losses  map[stall.Loss]struct{} // what was lost between nodes that are there
}

func newObserver(n *vnet.Network) *observer {
	o := &observer{
		network: n, had: make(map[dme.NodeID]bool), carries: make(map[uint64]dme.NodeID),
		gone: make(map[dme.NodeID]bool), losses: make(map[stall.Loss]struct{}),
	}
	for id := range n.IDs() {
		o.had[id] = holds(n, id)
	}
	for _, id := range n.Absent {
		o.gone[id] = false
	}
	return o
}

func holds(n *vnet.Network, id dme.NodeID) bool {
	return n.Algorithm.HasToken != nil && n.Algorithm.HasToken(n.Node(id))
}

func (o *observer) see(e *vnet.Event) {
	had, carried := o.had[e.Node], false
	o.had[e.Node] = holds(o.network, e.Node)
	switch e.Kind {
	case dme.Lose:
		_, carried = o.carries[e.Number]
		kind := o.network.Algorithm.KindName(e.Msg.Kind)
		o.losses[stall.Loss{From: e.From, To: e.Node, Kind: kind, Token: carried}] = struct{}{}
		delete(o.carries, e.Number)
	case dme.Receive:
		_, carried = o.carries[e.Number]
		delete(o.carries, e.Number)
	case dme.Crash:
		o.had[e.Node], o.gone[e.Node] = false, had
		for number, to := range o.carries {
			if to == e.Node {
				o.gone[e.Node] = true
				delete(o.carries, number)
			}
		}
		return
	case dme.Restart, dme.Join:
		delete(o.gone, e.Node)
	}
	for _, x := range e.Effects {
		switch gave := (had || carried) && !o.had[e.Node]; {
		case x.Kind == dme.Left:
			o.gone[e.Node] = false
		case x.Kind != dme.Send || !gave && !x.Lost:
		case x.Lost:
			o.gone[x.To] = o.gone[x.To] || gave
		default:
			o.carries[x.Number] = x.To
		}
	}
}

// Standstill describes the network as it stands.
func (o *observer) Standstill() *stall.Standstill {
	n := o.network
	s := &stall.Standstill{Nodes: n.Nodes, Waiting: n.Waiting(), Tokens: -1}
	if n.Algorithm.HasToken != nil {
		s.Tokens = 0
	}
	for id := range n.IDs() {
		if token, down := o.gone[id]; down {
			s.Absent = append(s.Absent, stall.Absent{Node: id, Since: -1, Token: token})
			continue
		}
		s.Edges = append(s.Edges, stall.Edges(n.Algorithm, id, n.Node(id))...)
		if o.had[id] {
			s.Tokens, s.Holder = s.Tokens+1, id
		}
	}
	s.Losses = slices.SortedFunc(maps.Keys(o.losses), func(a, b stall.Loss) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
	})
	return s
}
