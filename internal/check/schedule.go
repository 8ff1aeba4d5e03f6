package check

import (
	"math/rand/v2"

	"dmebench/dme"
)

// load says when the nodes of a random schedule ask.
type load int

// All ask before anything else happens, and again when everything has come to
// rest; each asks at some time; each asks again as it leaves.
const (
	bursts load = iota
	churn
	saturation
	loads
)

// schedule chooses the steps of one run. It is a function of its seed.
type schedule struct {
	*system
	rng    *rand.Rand
	load   load
	choose chooser

	readers float64 // which part of the requests is shared, where nodes distinguish them
	mishap  float64 // how often a message that could be lost or copied is
	due     []Step  // what has been decided for the next steps
	scratch []Step
	taken   []Step
}

// chooser picks one of the steps that are possible, by its index.
type chooser interface {
	pick(s *system, steps []Step) int
}

// chance picks any with the same probability.
type chance struct{ rng *rand.Rand }

func (c chance) pick(_ *system, steps []Step) int { return c.rng.IntN(len(steps)) }

func newSchedule(m *model) *schedule {
	rng := rand.New(rand.NewPCG(m.Seed, 0x5ca1ab1e))
	s := &schedule{
		system: newSystem(m), rng: rng, load: load(rng.IntN(int(loads))),
		readers: float64(rng.IntN(5)) / 4, mishap: 1 / float64(uint(2)<<rng.IntN(5)),
		choose: chance{rng},
	}
	if m.Adversary == Adversarial || m.Adversary == Mixed && rng.IntN(2) == 0 {
		s.choose = newAdversary(m, rng)
	}
	if s.load == saturation {
		s.everybodyAsks()
	}
	return s
}

// run takes steps until something is broken or nothing is left to happen.
func (s *schedule) run() {
	for s.violation == nil {
		x, ok := s.next()
		if !ok {
			return
		}
		s.taken = append(s.taken, x)
		s.do(x)
		s.judge()
	}
}

// judge looks for what no single step shows: that nothing, or nothing of use,
// happens any more.
func (s *system) judge() {
	switch {
	case s.stalled():
		s.broken(stalled(s.whoWaits()))
	case s.quietFor <= s.Patience:
	case s.waiting > 0:
		s.broken(unserved(s.whoWaits(), s.Patience))
	case s.served() && !s.mayGoOn():
		s.broken(restless(s.Patience))
	}
}

// mayGoOn reports whether messages may flow although all requests are served.
func (s *system) mayGoOn() bool { return s.endless && !s.stops }

// next returns the next step; there is none when everything is at rest.
func (s *schedule) next() (Step, bool) {
	if len(s.due) == 0 && s.load == bursts && s.idle() {
		s.everybodyAsks()
	}
	if len(s.due) > 0 {
		x := s.due[0]
		s.due = s.due[1:]
		return x, true
	}
	if s.mayGoOn() && s.served() {
		return Step{}, false
	}
	steps := s.moves(s.scratch[:0])
	if s.load == churn {
		steps = s.askers(steps)
	}
	s.scratch = steps
	if len(steps) == 0 {
		return Step{}, false
	}
	x := s.mishaps(steps[s.choose.pick(s.system, steps)])
	if x.Kind == Leave && s.load == saturation && s.budget[x.Node] > 0 {
		s.due = append(s.due, s.ask(x.Node))
	}
	return x, true
}

// idle reports whether everybody is served and, but for a token that never
// rests, nothing moves.
func (s *schedule) idle() bool {
	quiet := len(s.busy) == 0 && len(s.alarms) == 0 || s.endless && s.rng.IntN(4) == 0
	return quiet && s.waiting == 0 && len(s.inside) == 0
}

func (s *schedule) everybodyAsks() {
	for id := range s.ids() {
		if s.mayAsk(id) {
			s.due = append(s.due, s.ask(id))
		}
	}
	s.rng.Shuffle(len(s.due), func(i, j int) { s.due[i], s.due[j] = s.due[j], s.due[i] })
}

// askers appends one request for each node that may ask.
func (s *schedule) askers(to []Step) []Step {
	for id := range s.ids() {
		if s.mayAsk(id) {
			to = append(to, s.ask(id))
		}
	}
	return to
}

func (s *schedule) ask(id dme.NodeID) Step {
	kind := Ask
	if s.shares && s.rng.Float64() < s.readers {
		kind = AskShared
	}
	return Step{Kind: kind, Node: id}
}

// mishaps turns an arrival into one that repeats itself, or a loss, now and then.
func (s *schedule) mishaps(x Step) Step {
	if x.Kind != Deliver || !s.Duplicate && s.lose == 0 || s.rng.Float64() >= s.mishap {
		return x
	}
	other := x
	other.Kind = Copy
	if s.lose > 0 && (!s.Duplicate || s.rng.IntN(2) == 0) {
		other.Kind = Lose
	}
	if !s.possible(other) {
		return x
	}
	return other
}

// timersTurn is how often a timer that may fire goes before all messages, lest
// messages that never end keep it from firing.
const timersTurn = 64

// plainStep returns the next step of a system that runs on without further
// requests: exits at once, then the stops, then the oldest message, then the
// timer that was set first.
func (s *system) plainStep() (Step, bool) {
	if len(s.inside) > 0 {
		return Step{Kind: Leave, Node: s.inside[0]}, true
	}
	if s.served() {
		if s.mayGoOn() {
			return Step{}, false
		}
		for id := range s.ids() {
			if s.stops && !s.stopped[id] {
				return Step{Kind: Stop, Node: id}, true
			}
		}
	}
	if len(s.busy) == 0 || s.steps%timersTurn == 0 {
		for i, a := range s.alarms {
			if s.mayFire(i) {
				return Step{Kind: Fire, Node: a.node, Timer: a.id}, true
			}
		}
	}
	oldest := -1
	for _, at := range s.busy {
		if s.deliverable(at) > 0 && (oldest < 0 || s.links[at].queue[0].number < s.links[oldest].queue[0].number) {
			oldest = at
		}
	}
	if oldest < 0 {
		return Step{}, false
	}
	from, to := s.ends(oldest)
	return Step{Kind: Deliver, Node: to, From: from}, true
}
