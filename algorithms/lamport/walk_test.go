package lamport

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/noderun"
)

// walk is a random run in which every site asks so many times.
type walk struct {
	*conformance.Net
	rng     *rand.Rand
	reorder bool // links do not keep order
	left    []int
	flying  [][2]dme.NodeID // a message for each time that its link is listed
}

func newWalk(t *testing.T, a *dme.Algorithm, nodes, requests int, seed uint64, reorder bool) *walk {
	t.Helper()
	return &walk{
		Net: conformance.Make(t, a, nodes, nil), rng: rand.New(rand.NewPCG(seed, 93)), reorder: reorder,
		left: slices.Repeat([]int{requests}, nodes),
	}
}

// survey lists the messages on the way and the sites that may still ask.
func (w *walk) survey() (askers []dme.NodeID) {
	w.flying = w.flying[:0]
	n := dme.NodeID(len(w.left))
	for i := dme.NodeID(1); i <= n; i++ {
		for j := dme.NodeID(1); j <= n; j++ {
			if i != j {
				for range w.InFlight(i, j) {
					w.flying = append(w.flying, [2]dme.NodeID{i, j})
				}
			}
		}
		if w.left[i-1] > 0 && w.Host(i).Activity() == noderun.Idle {
			askers = append(askers, i)
		}
	}
	return askers
}

// step does one thing that can happen, and reports whether there was one.
func (w *walk) step() bool {
	askers := w.survey()
	leavers := slices.Clone(w.Inside())
	k := w.rng.IntN(1 + len(w.flying) + len(askers) + len(leavers))
	switch {
	case len(w.flying)+len(askers)+len(leavers) == 0:
		return false
	case k < len(w.flying):
		from, to := w.flying[k][0], w.flying[k][1]
		at := 0
		if w.reorder {
			at = w.rng.IntN(len(w.InFlight(from, to)))
		}
		w.Deliver(from, to, at)
	case k < len(w.flying)+len(askers):
		i := askers[k-len(w.flying)]
		w.left[i-1]--
		w.Request(i)
	case len(leavers) > 0:
		w.Release(leavers[w.rng.IntN(len(leavers))])
	}
	return true
}

// run walks to the end, or to the first violation. look is called after each
// step.
func (w *walk) run(look func() error) error {
	for w.step() {
		if err := w.Err(); err != nil {
			return err
		}
		if look != nil {
			if err := look(); err != nil {
				return err
			}
		}
	}
	for i := range w.left {
		if a := w.Host(dme.NodeID(i + 1)).Activity(); a != noderun.Idle {
			return fmt.Errorf("site %d is %v and nothing moves\n%s", i+1, a, w.States())
		}
	}
	return nil
}
