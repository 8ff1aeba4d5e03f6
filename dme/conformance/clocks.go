package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// clockSteps is how long a walk is that looks at clocks: long enough that the
// clocks of a few nodes are far from where they began.
const clockSteps = 300

// checkClocks looks for a state in which a node does something else where clocks
// are lower that have the same order, or where a variable is 0 that is said to be
// looked at by nobody. Nodes that ask without end take random steps, and from
// each state the same step is taken from the representative of its class: what
// comes of it must be of one of the classes that [vnet.Classes] says.
func checkClocks(a *dme.Algorithm, nodes int, set map[string]string, seed uint64) error {
	if a.Clocks == nil {
		return nil
	}
	opt, err := a.Resolve(set)
	if err != nil {
		return err
	}
	needs := a.Needs(opt)
	model, err := vnet.NewModel(vnet.Config{
		Algorithm: a, Nodes: nodes, Options: opt, Seed: seed, Recover: true,
		Unordered: !needs.FIFO && !needs.SequencedBroadcast, Bounded: needs.BoundedDelay, Sequenced: needs.SequencedBroadcast,
	})
	if err != nil {
		return err
	}
	n, space := vnet.New(model), vnet.NewSpace(model)
	walker, classes := space.NewWalker(), space.NewClasses()
	rng := rand.New(rand.NewPCG(seed, uint64(nodes)))
	v, _ := space.Of(n)
	here := slices.Clone(classes.Of(v))
	for range clockSteps {
		steps, _ := walker.Enabled(here, nil)
		if len(steps) == 0 {
			return nil
		}
		x := steps[rng.IntN(len(steps))]
		real, ok := classes.In(n, here, x)
		if !ok {
			return fmt.Errorf("%s on %d nodes, seed %d: %v is possible only where clocks are lower", a.Name, nodes, seed, x)
		}
		var expected [][]uint32
		low := classes.Step(walker, here, x, func(v []uint32) { expected = append(expected, slices.Clone(v)) })
		before := n.States()
		n.Do(real)
		if bad := n.Violation; low != nil && bad == nil || bad != nil && bad.Property != vnet.Exclusion {
			if low == nil || bad == nil {
				return fmt.Errorf("%s on %d nodes, seed %d: %v: %v, and %v where clocks are lower", a.Name, nodes, seed, real, bad, low)
			}
			return nil // others look for what is wrong with that
		}
		after, _ := space.Of(n)
		i := slices.IndexFunc(expected, func(v []uint32) bool { return classes.Covers(v, after) })
		if i < 0 {
			return fmt.Errorf("%s on %d nodes, seed %d: %v does something else where clocks are lower that have the same order, from\n%s\nto\n%s",
				a.Name, nodes, seed, real, strings.Join(before, "\n"), strings.Join(n.States(), "\n"))
		}
		here = expected[i]
	}
	return nil
}
