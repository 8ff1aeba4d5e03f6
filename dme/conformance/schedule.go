package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"dmebench/dme"
	"dmebench/internal/noderun"
)

// Load says when the nodes of a schedule ask.
type Load string

// The loads under which schedules run: rounds in which all nodes ask before
// any message is delivered; nodes that ask at random times; nodes that ask
// again in the step in which they leave.
const (
	Bursts     Load = "bursts"
	Churn      Load = "churn"
	Saturation Load = "saturation"
)

// schedule runs a Net to its end, choosing each step at random.
type schedule struct {
	*Net
	load   Load
	rng    *rand.Rand
	budget []int  // requests that each node has still to make
	stops  []bool // which nodes have been told to stop
	shares bool   // nodes distinguish readers

	// What this schedule favours.
	deliver, leave, ask, fire int
	slow                      dme.NodeID // messages to and from it wait longest
}

// maxSteps ends a schedule that never comes to rest.
const maxSteps = 200_000

// runSchedule runs one schedule of a, drawn from seed, and returns what was
// wrong with it.
func runSchedule(a *dme.Algorithm, nodes int, set map[string]string, load Load, seed uint64) error {
	s, err := newSchedule(a, nodes, set, load, seed)
	if err != nil {
		return err
	}
	if err := s.run(); err != nil {
		return fmt.Errorf("on %d nodes, %v, %s, seed %d: %w", nodes, set, load, seed, err)
	}
	return nil
}

func newSchedule(a *dme.Algorithm, nodes int, set map[string]string, load Load, seed uint64) (*schedule, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	var faults []string
	r := &reloader{
		now:   func() bool { return rng.IntN(8) == 0 },
		fault: func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) },
	}
	net, err := newNet(a, nodes, seed, set, r)
	if err != nil {
		return nil, err
	}
	net.faults = append(net.faults, faults...)
	r.fault = net.fault
	s := &schedule{
		Net: net, load: load, rng: rng,
		budget: make([]int, nodes+1), stops: make([]bool, nodes+1),
		deliver: 1 + rng.IntN(20), leave: 1 + rng.IntN(20), ask: 1 + rng.IntN(20), fire: 1 + rng.IntN(4),
		slow: dme.NodeID(rng.IntN(2 * nodes)), // often none
	}
	most := 1 + rng.IntN(4)
	for i := range s.ids() {
		s.budget[i] = 1 + rng.IntN(most)
	}
	_, s.shares = net.Setting.System.Node(1).(dme.SharedRequester)
	return s, nil
}

// run ends when every node has made its requests, all were served, and nothing
// moves.
func (s *schedule) run() error {
	if s.load == Saturation {
		for i := range s.ids() {
			s.request(i)
		}
	}
	for range maxSteps {
		if s.load == Bursts && s.quiet() {
			s.burst()
		}
		if !s.step() {
			return s.verdict()
		}
		if len(s.faults) > 0 {
			return s.Err()
		}
	}
	return fmt.Errorf("no end after %d steps\n%s", maxSteps, s.States())
}

// verdict judges a schedule in which nothing moves any more.
func (s *schedule) verdict() error {
	if err := s.Err(); err != nil {
		return err
	}
	for i := range s.ids() {
		if h := s.hosts[i]; h.Activity() != noderun.Idle || s.budget[i] > 0 {
			return fmt.Errorf("node %d is %v and nothing moves\n%s", i, h.Activity(), s.States())
		}
		if n := s.hosts[i].Counters().Refused.Load(); n > 0 {
			return fmt.Errorf("node %d refused %d messages: %s\n%s", i, n, s.hosts[i].LastRefusal(), s.States())
		}
	}
	return s.checkClaims()
}

// quiet reports whether a burst is over: everything is served and, but for a
// token that never rests, nothing moves.
func (s *schedule) quiet() bool {
	for i := range s.ids() {
		if s.hosts[i].Activity() != noderun.Idle {
			return false
		}
	}
	return len(s.busy) == 0 && len(s.timers) == 0 || s.restless()
}

// restless reports whether messages flow without anybody asking.
func (s *schedule) restless() bool {
	perpetual := s.Algorithm.Perpetual
	return perpetual != nil && perpetual(s.Setting.Options)
}

func (s *schedule) burst() {
	order := slices.Collect(s.ids())
	s.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for _, i := range order {
		if s.budget[i] > 0 {
			s.request(i)
		}
	}
}

func (s *schedule) request(i dme.NodeID) {
	s.budget[i]--
	if s.shares && s.rng.IntN(2) == 0 {
		s.asked[i] = len(s.Entries)
		s.hosts[i].RequestShared()
		return
	}
	s.Request(i)
}

// step does one thing that can happen, and reports whether there was one.
func (s *schedule) step() bool {
	deliver, leave, ask, fire, stop := 0, 0, 0, 0, 0
	if len(s.busy) > 0 {
		deliver = s.deliver
	}
	if len(s.inside) > 0 {
		leave = s.leave
	}
	askers := s.askers()
	if len(askers) > 0 {
		ask = s.ask
	}
	timers := s.ripeTimers()
	if len(timers) > 0 {
		fire = s.fire
	}
	stoppers := s.stoppers()
	if len(stoppers) > 0 {
		stop = 1
	}
	total := deliver + leave + ask + fire + stop
	if total == 0 {
		return false
	}
	x := s.rng.IntN(total)
	switch {
	case x < deliver:
		s.deliverSome()
	case x < deliver+leave:
		i := s.inside[s.rng.IntN(len(s.inside))]
		s.Release(i)
		if s.load == Saturation && s.budget[i] > 0 {
			s.request(i)
		}
	case x < deliver+leave+ask:
		s.request(askers[s.rng.IntN(len(askers))])
	case x < deliver+leave+ask+fire:
		i := timers[s.rng.IntN(len(timers))]
		t := s.timers[i]
		s.timers = slices.Delete(s.timers, i, i+1)
		s.hosts[t.node].Timeout(t.id)
	default:
		i := stoppers[s.rng.IntN(len(stoppers))]
		s.stops[i] = true
		s.hosts[i].Stop()
	}
	return true
}

// askers returns the nodes that may ask now.
func (s *schedule) askers() []dme.NodeID {
	if s.load != Churn {
		return nil
	}
	var all []dme.NodeID
	for i := range s.ids() {
		if s.budget[i] > 0 && s.hosts[i].Activity() == noderun.Idle {
			all = append(all, i)
		}
	}
	return all
}

// stoppers returns the nodes that can be told that no more requests will come:
// perhaps while the last one is pending, and while others still ask.
func (s *schedule) stoppers() []dme.NodeID {
	var all []dme.NodeID
	for i := range s.ids() {
		if s.budget[i] == 0 && !s.stops[i] {
			all = append(all, i)
		}
	}
	return all
}

// deliverSome delivers a message of a random link: its oldest where links keep
// order, else any.
func (s *schedule) deliverSome() {
	i, k := s.someMessage()
	for range 5 {
		if from, to := s.ends(i); from != s.slow && to != s.slow && s.mayArrive(i, k) {
			break
		}
		i, k = s.someMessage()
	}
	if !s.mayArrive(i, k) {
		i, k = s.firstOnMedium()
	}
	from, to := s.ends(i)
	s.Deliver(from, to, k)
}

func (s *schedule) someMessage() (link, k int) {
	link = s.busy[s.rng.IntN(len(s.busy))]
	if !s.needs.FIFO {
		k = s.rng.IntN(len(s.links[link].queue))
	}
	return link, k
}

// mayArrive reports whether the k-th message on a link may be the next that its
// receiver sees: a sequenced broadcast comes after all earlier ones.
func (s *schedule) mayArrive(link, k int) bool {
	_, to := s.ends(link)
	place := s.links[link].queue[k].place
	return place == 0 || place == s.heard[to]+1
}

// firstOnMedium returns the earliest broadcast that some node has still to
// receive. On links that keep order it may wait for an earlier message of its
// link, which is then returned.
func (s *schedule) firstOnMedium() (link, k int) {
	link = -1
	var first uint64
	for _, i := range s.busy {
		for at, l := range s.links[i].queue {
			if l.place > 0 && (link < 0 || l.place < first) {
				link, k, first = i, at, l.place
			}
		}
	}
	if s.needs.FIFO {
		k = 0
	}
	return link, k
}

// ripeTimers returns the timers that may fire now, by their position.
//
// Where the algorithm relies on bounded delay, every timer is taken to be set
// to no less than the bound: the messages that were on the way when it was set
// arrive before it fires. And of two timers, the one that was set first, and to
// no more, fires first. A timer that must also outlast the answers to those
// messages has to be set anew when they have arrived.
func (s *schedule) ripeTimers() []int {
	var ripe []int
	for i, t := range s.timers {
		if !s.needs.BoundedDelay || !s.mustWait(t) && !slices.ContainsFunc(s.timers[:i], func(u timer) bool { return u.due <= t.due }) {
			ripe = append(ripe, i)
		}
	}
	return ripe
}

// mustWait reports whether a message is still on the way that was so when the
// timer was set.
func (s *schedule) mustWait(t timer) bool {
	for _, i := range s.busy {
		for _, l := range s.links[i].queue {
			if l.number <= t.number {
				return true
			}
		}
	}
	return false
}
