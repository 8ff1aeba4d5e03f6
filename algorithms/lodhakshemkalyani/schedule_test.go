package lodhakshemkalyani

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
	nodes     int
	rounds    int  // requests of each process
	reorder   bool // links do not keep order
	seed      uint64
	fault     string // the only one to look for; "" for any
}

func (s schedule) String() string {
	return fmt.Sprintf("%s on %d processes, %d requests each, reorder=%t, seed %d", s.algorithm.Name, s.nodes, s.rounds, s.reorder, s.seed)
}

// What a schedule can show.
const (
	unsafe = "UNSAFE"
	stall  = "STALL"
	broken = "BROKEN"
)

// search runs the schedules of the seeds below seeds, on 2 to most processes
// with 1 to rounds requests each, and returns the first that shows the fault, or
// any if it is ""; nil where none does.
func search(a *dme.Algorithm, most, rounds int, reorder bool, seeds uint64, fault string) error {
	for seed := range seeds {
		for nodes := 2; nodes <= most; nodes++ {
			s := schedule{algorithm: a, nodes: nodes, rounds: 1 + int(seed)%rounds, reorder: reorder, seed: seed, fault: fault}
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
	rng := rand.New(rand.NewPCG(s.seed, uint64(s.nodes)))
	net, err := conformance.New(s.algorithm, s.nodes, nil)
	if err != nil {
		return err
	}
	left := make([]int, s.nodes+1)
	var ids []dme.NodeID
	var links []link
	slow := make(map[link]bool)
	for i := dme.NodeID(1); int(i) <= s.nodes; i++ {
		ids, left[i] = append(ids, i), s.rounds
		for j := dme.NodeID(1); int(j) <= s.nodes; j++ {
			if i != j {
				links = append(links, link{i, j})
				slow[link{i, j}] = rng.IntN(4) == 0
			}
		}
	}
	ask, leave := []int{1, 4, 16}[rng.IntN(3)], []int{1, 4, 16}[rng.IntN(3)]
	seen := newConcurrency(net)
	var events []func()
	for {
		events = events[:0]
		add := func(weight int, event func()) {
			for range weight {
				events = append(events, event)
			}
		}
		waiting := false
		for _, l := range links {
			queue := net.InFlight(l.from, l.to)
			if len(queue) == 0 {
				continue
			}
			at, weight := 0, 16
			if s.reorder {
				at = rng.IntN(len(queue))
			}
			if slow[l] {
				weight = 1
			}
			add(weight, func() {
				seen.delivered(l, queue[at])
				net.Deliver(l.from, l.to, at)
			})
		}
		for _, i := range ids {
			switch net.Host(i).Activity() {
			case noderun.Inside:
				add(leave, func() { net.Release(i) })
			case noderun.Requesting:
				waiting = true
			default:
				if left[i] > 0 {
					add(ask, func() {
						left[i]--
						seen.asks(i)
						net.Request(i)
					})
				}
			}
		}
		is := func(fault string) bool { return s.fault == "" || s.fault == fault }
		switch {
		case net.Err() != nil && is(unsafe):
			return fmt.Errorf("%s: %w", unsafe, net.Err())
		case len(events) > 0:
			events[rng.IntN(len(events))]()
			continue
		case waiting && is(stall):
			return fmt.Errorf("%s: requests wait and nothing moves\n%s", stall, net.States())
		case !s.algorithm.AsPublished && is(broken):
			if err := seen.judge(); err != nil {
				return fmt.Errorf("%s: %w\n%s", broken, err, net.States())
			}
		}
		return nil
	}
}
