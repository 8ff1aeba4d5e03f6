package conformance

import (
	"dmebench/dme"
	"dmebench/dme/vnet"
)

// checkClocks looks for a state in which a node does something else where clocks
// are lower that have the same order, or where a variable is 0 that is said to be
// looked at by nobody: see [vnet.CompareClocks].
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
	return vnet.CompareClocks(model, 1, 0)
}
