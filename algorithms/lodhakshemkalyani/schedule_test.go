package lodhakshemkalyani

import (
	"fmt"
	"strings"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
)

// search walks once for each seed below seeds on each number of nodes up to most,
// with 1 to rounds requests of each process, and returns the first error that
// shows the fault, or any if it is ""; nil where none does.
func search(a *dme.Algorithm, least, most, rounds int, reorder bool, seeds uint64, fault string) error {
	if fault != "" { // an invariant would be broken first, and end the schedule
		without := *a
		without.Invariants = nil
		a = &without
	}
	for seed := range seeds {
		for nodes := least; nodes <= most; nodes++ {
			seen := newConcurrency()
			net, err := conformance.Walk{
				Algorithm: a, Nodes: nodes, Requests: conformance.Each(1 + int(seed)%rounds), Load: vnet.Churn, Reorder: reorder, Seed: seed,
				Look: func(_ *conformance.Net, e *vnet.Event) error {
					seen.note(e)
					return nil
				},
			}.Run()
			if err == nil && !a.AsPublished && !reorder {
				if err = seen.judge(net); err != nil {
					err = fmt.Errorf("seed %d, %d processes: against section 9.6.4: %w\n%s", seed, nodes, err, net.States())
				}
			}
			if err != nil && strings.Contains(err.Error(), fault) {
				return err
			}
		}
	}
	return nil
}
