package localprocess

import "dmebench/dme"

// Section is the critical section that a node is in.
type Section struct {
	Node    dme.NodeID
	Shared  bool   // a reader's
	Entry   uint64 // which of the node's, from 1
	Entered int64  // when it began
}

// Section returns the critical section that the node is in.
func (p *Process) Section() Section {
	return Section{Node: p.ID(), Shared: p.current.Shared, Entry: p.Counters().Entries.Load() + 1, Entered: p.current.Entered}
}

// Fence gives the current entry its place in the order of all entries, where not the
// witness knows it but a resource that the entries have in common.
func (p *Process) Fence(order uint64) { p.current.Order = order }
