package singhal

import (
	"fmt"
	"math/rand/v2"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/noderun"
)

// schedule is one random run, a function of its fields.
type schedule struct {
	algorithm *dme.Algorithm
	sites     int
	rounds    int  // requests of each site
	reorder   bool // links do not keep order
	seed      uint64
	fault     string // the only one to look for; "" for any
}

func (s schedule) String() string {
	return fmt.Sprintf("%s on %d sites, %d requests each, reorder=%t, seed %d", s.algorithm.Name, s.sites, s.rounds, s.reorder, s.seed)
}

// What a schedule can show.
const (
	unsafe  = "UNSAFE"
	stall   = "STALL"
	refusal = "REFUSED"
	broken  = "BROKEN"
)

// search runs the schedules of the seeds below seeds, on 2 to most sites each,
// and returns the first that shows the fault, or any if it is ""; nil where none
// does.
func search(a *dme.Algorithm, most int, reorder bool, seeds uint64, fault string) error {
	for seed := range seeds {
		for sites := 2; sites <= most; sites++ {
			s := schedule{algorithm: a, sites: sites, rounds: 3, reorder: reorder, seed: seed, fault: fault}
			if err := s.run(); err != nil {
				return fmt.Errorf("%v: %w", s, err)
			}
		}
	}
	return nil
}

type link struct{ from, to dme.NodeID }

// run chooses among the events that can happen until there is none. Links that
// the seed makes slow seldom deliver.
func (s schedule) run() error {
	rng := rand.New(rand.NewPCG(s.seed, uint64(s.sites)))
	net, err := conformance.New(watched(s.algorithm), s.sites, nil)
	if err != nil {
		return err
	}
	left := make([]int, s.sites+1)
	var ids []dme.NodeID
	var links []link
	slow := make(map[link]bool)
	for i := dme.NodeID(1); int(i) <= s.sites; i++ {
		ids, left[i] = append(ids, i), s.rounds
		for j := dme.NodeID(1); int(j) <= s.sites; j++ {
			if i != j {
				links = append(links, link{i, j})
				slow[link{i, j}] = rng.IntN(4) == 0
			}
		}
	}
	ask, leave := []int{1, 4, 16}[rng.IntN(3)], []int{1, 4, 16}[rng.IntN(3)]
	var events []func()
	for {
		events = events[:0]
		add := func(weight int, event func()) {
			for range weight {
				events = append(events, event)
			}
		}
		atRest, served := true, true
		for _, l := range links {
			waiting := len(net.InFlight(l.from, l.to))
			if waiting == 0 {
				continue
			}
			atRest = false
			at, weight := 0, 16
			if s.reorder {
				at = rng.IntN(waiting)
			}
			if slow[l] {
				weight = 1
			}
			add(weight, func() { net.Deliver(l.from, l.to, at) })
		}
		for _, i := range ids {
			h := net.Host(i)
			if w := h.Node().(*watch); w.armed {
				atRest = false
				add(4, func() { h.Timeout(w.timer) })
			}
			switch h.Activity() {
			case noderun.Inside:
				atRest = false
				add(leave, func() { net.Release(i) })
			case noderun.Requesting:
				atRest, served = false, false
			default:
				if left[i] > 0 {
					add(ask, func() { left[i]--; net.Request(i) })
				}
			}
		}
		is := func(fault string) bool { return s.fault == "" || s.fault == fault }
		switch {
		case net.Err() != nil && is(unsafe):
			return fmt.Errorf("%s: %w", unsafe, net.Err())
		case net.Refused() > 0 && is(refusal):
			return fmt.Errorf("%s: %d messages\n%s", refusal, net.Refused(), net.States())
		case len(events) == 0 && !served && is(stall):
			return fmt.Errorf("%s: requests wait and nothing moves\n%s", stall, net.States())
		case atRest && is(broken) && !s.algorithm.AsPublished:
			if err := judge(net); err != nil {
				return fmt.Errorf("%s: %w\n%s", broken, err, net.States())
			}
		}
		if len(events) == 0 {
			return nil
		}
		events[rng.IntN(len(events))]()
	}
}

// judge examines a system at rest: the staircase, one REPLY for each REQUEST,
// at most n−1 REQUESTs for each entry.
func judge(net *conformance.Net) error {
	requests, replies := sent(net, kindRequest), sent(net, kindReply)
	if most := len(net.Entries) * (net.Setting.Nodes - 1); requests != replies || requests > most {
		return fmt.Errorf("%d REQUEST and %d REPLY messages for %d entries", requests, replies, len(net.Entries))
	}
	_, err := staircase(net)
	return err
}

func sent(net *conformance.Net, kind dme.Kind) (messages int) {
	for i := 1; i <= net.Setting.Nodes; i++ {
		messages += int(net.Host(dme.NodeID(i)).Counters().Sent[kind].Load())
	}
	return messages
}

// staircase returns the sites of a system at rest from right to left, in the
// order of |R_i|. It says why they are not a staircase where one of them does
// not ask exactly those to its right, or where another site than the one at the
// right end was in its critical section last.
func staircase(net *conformance.Net) (order []dme.NodeID, err error) {
	order = make([]dme.NodeID, net.Setting.Nodes)
	for i := 1; i <= len(order); i++ {
		s := at(net, dme.NodeID(i))
		if step := s.r.Len(); len(s.inform) > 0 || step >= len(order) || order[step] != dme.None {
			return nil, fmt.Errorf("not a staircase: site %d", i)
		} else {
			order[step] = s.i
		}
	}
	for k, i := range order {
		for _, right := range order[:k] {
			if !at(net, i).r.Has(right) {
				return nil, fmt.Errorf("not a staircase: site %d does not ask site %d", i, right)
			}
		}
	}
	if n := len(net.Entries); n > 0 && net.Entries[n-1].Node != order[0] {
		return nil, fmt.Errorf("site %d was in its critical section last, site %d stands at the right end", net.Entries[n-1].Node, order[0])
	}
	return order, nil
}

func at(net *conformance.Net, i dme.NodeID) *site {
	n := net.Host(i).Node()
	if w, ok := n.(*watch); ok {
		n = w.Node
	}
	return n.(*site)
}

// watched is a whose nodes show whether their timer is set: the schedule decides
// when it fires.
func watched(a *dme.Algorithm) *dme.Algorithm {
	b := *a
	b.Prepare = func(c dme.Config) (dme.System, error) {
		sys, err := a.Prepare(c)
		return watchedSystem{sys}, err
	}
	return &b
}

type watchedSystem struct{ dme.System }

func (s watchedSystem) Node(id dme.NodeID) dme.Node {
	return &watch{Node: s.System.Node(id)}
}

type watch struct {
	dme.Node
	timer dme.TimerID
	armed bool
}

func (w *watch) look(out *dme.Outbox) {
	for _, e := range out.Effects() {
		if e.Kind == dme.EffectSetTimer {
			w.timer, w.armed = e.Timer, true
		}
	}
}

func (w *watch) Request(out *dme.Outbox) {
	w.Node.Request(out)
	w.look(out)
}

func (w *watch) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	w.Node.Receive(from, m, out)
	w.look(out)
}

func (w *watch) Timeout(id dme.TimerID, out *dme.Outbox) {
	w.armed = false
	w.Node.(dme.Timed).Timeout(id, out)
	w.look(out)
}
