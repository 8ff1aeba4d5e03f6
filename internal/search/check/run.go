package check

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/runtime/stall"
)

type run struct {
	*vnet.Network
	search     *Search
	taken      []vnet.Step
	trace      *Trace        // of a replay
	losses     *stall.Losses // of a replay
	starvation *starvation   // in a schedule that tries to starve a node
}

func newRun(s *Search, p plan, taken []vnet.Step) *run {
	r := &run{Network: vnet.New(p.model), search: s, taken: taken}
	if p.victim != dme.None {
		r.starvation = &starvation{newDelays(r.Network), p.patience, slices.Repeat([]int{notWaiting}, r.Nodes+1), 0}
	}
	return r
}

// draw appends the steps of a planned schedule to taken, until something is broken, nothing is left or
// ctx ends.
func (s *Search) draw(ctx context.Context, p plan, taken []vnet.Step) *run {
	if p.victim != dme.None {
		return s.starve(ctx, p, taken)
	}
	return s.random(ctx, rand.New(rand.NewPCG(p.model.Seed, 0x5ca1ab1e)), p.model, math.MaxInt, taken)
}

func (s *Search) random(ctx context.Context, rng *rand.Rand, m *vnet.Model, most int, taken []vnet.Step) *run {
	schedule := &vnet.Schedule{
		Network: vnet.New(m), Rand: rng, Load: vnet.Load(rng.IntN(int(vnet.Loads))),
		Readers: float64(rng.IntN(5)) / 4, Mishap: 1 / float64(uint(2)<<rng.IntN(5)), Choose: vnet.Chance{Rand: rng},
	}
	if s.Faults > 0 {
		// Most runs are over within some times N² steps a request.
		schedule.Fault = 1 / float64(1+rng.IntN(4*m.Nodes*max(m.Nodes, s.Requests)))
	}
	if s.Sites != nil {
		schedule.Choose = newDistances(s.Sites, rng)
	}
	if s.Adversary == Adversarial || s.Adversary == Mixed && rng.IntN(2) == 0 {
		schedule.Choose = newAdversary(m, s.Requests, rng)
		if _, ok := schedule.Choose.(*isolation); ok {
			schedule.Load = vnet.Churn // says when nodes ask
		}
	}
	schedule.Begin()
	r := &run{Network: schedule.Network, search: s, taken: taken}
	for r.Violation == nil && r.Steps < most && !r.over() && !r.halted(ctx) {
		x, ok := schedule.Next()
		if !ok {
			break
		}
		r.take(x)
	}
	return r
}

// stepsPerLook is how often a schedule checks whether it has been cancelled.
const stepsPerLook = 64

func (r *run) halted(ctx context.Context) bool { return r.Steps%stepsPerLook == 0 && ctx.Err() != nil }

// over reports whether a schedule that brings no more entries is given up: soon if no request need be served.
func (r *run) over() bool {
	most := r.search.Patience
	return r.QuietFor > most/20 && !r.mustServe() && (r.QuietFor > most || r.Hopeless())
}

// mustServe reports whether it is a violation if waiting nodes are never served.
func (r *run) mustServe() bool { return !r.search.SafetyOnly && !r.Hopeless() }

// take takes a step, and if there is a trace adds to it what came of the step.
func (r *run) take(x vnet.Step) {
	r.taken = append(r.taken, x)
	if r.starvation != nil {
		r.starvation.before(x)
	}
	if r.trace == nil {
		r.Take(x)
	} else {
		e := r.Do(x).Clone()
		see(r.losses, &e)
		r.trace.Events = append(r.trace.Events, e)
	}
	r.judge()
}

// judge looks for what no single step shows: that nothing, or nothing of use, happens any more.
func (r *run) judge() {
	if r.starvation != nil {
		if starved := r.starvation.judge(r.taken[len(r.taken)-1]); r.Violation == nil {
			r.Violation = starved
		}
	}
	switch {
	case r.Violation != nil || r.search.SafetyOnly:
	case r.Stuck():
		r.Violation = stalled(r.Waiting())
	case r.QuietFor <= r.search.Patience || r.Hopeless():
	case len(r.Waiting()) > 0 || r.Served() && !r.MayGoOn():
		r.Violation = forever(r.Waiting(), fmt.Sprintf(" in %d steps", r.search.Patience),
			fmt.Sprintf("%d steps after the last exit messages still flow", r.search.Patience))
	}
}

// replay runs the possible ones among the steps of a schedule that was planned, and then,
// if finish, lets the network run on. It returns what happened, and the steps that were
// possible.
func (s *Search) replay(p plan, steps []vnet.Step, finish bool) (*Trace, []vnet.Step) {
	m := p.model
	r := newRun(s, p, nil)
	r.losses = stall.NewLosses(m.Algorithm, m.Nodes, r.Network)
	for id := range r.IDs() {
		r.losses.Moved(id)
	}
	r.trace = &Trace{Nodes: m.Nodes, model: m, Started: r.Started}
	t := r.trace
	if t.Repeats = r.repeat(steps, finish); r.Violation != nil {
		t.Violation = *r.Violation
		switch t.Violation.Property {
		case Progress:
			t.Standstill = r.losses.Standstill()
		case vnet.Overtaking:
			t.Bypass = m.Bypass
		case Starvation:
			t.Bypass = r.starvation.passed[t.Violation.Nodes[0]] - 1
		}
	}
	t.States = r.States()
	return t, r.taken
}

// repeat takes the possible steps; if finish, lets the network run on, and counts those that repeat for ever.
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
	if cycle > 0 && r.Violation == nil && r.mustServe() {
		again := fmt.Sprintf("the last %d steps repeat for ever", cycle)
		r.Violation = forever(r.Waiting(), ": "+again, again)
	}
	return cycle
}

// timersTurn is how often a timer that may fire goes before all messages: messages that never end
// would keep it from firing.
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

// see passes the losses of an event in a network on.
func see(l *stall.Losses, e *vnet.Event) {
	switch e.Kind {
	case dme.Lose:
		l.Lost(e.From, e.Node, e.Msg.Kind, l.Arrives(e.Number))
	case dme.Receive:
		l.Arrives(e.Number)
	case dme.Crash:
		l.Died(e.Node)
	case dme.Restart, dme.Join:
		l.Returned(e.Node)
	}
	for _, x := range e.Effects {
		switch {
		case x.Kind != dme.Send:
		case x.Lost:
			l.Lost(e.Node, x.To, x.Msg.Kind, l.Gave(e.Node))
		case l.Gave(e.Node):
			l.Carries(x.Number, x.To)
		}
	}
	l.Moved(e.Node)
}
