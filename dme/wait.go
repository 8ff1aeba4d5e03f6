package dme

import "iter"

// Wait is one reason for which a node cannot go on: it needs something of a
// peer. It is an edge of the wait-for graph by which a standstill is explained.
type Wait struct {
	For  NodeID // None where the node cannot know who has it: a token that is somewhere
	What string // in the paper's words, as what follows "waits for 2's …": "REPLY", "RELEASE of its lock", "PRIVILEGE"
}

// Waiter is a Node that can tell what it waits for: a requester the answers that
// it lacks, an arbiter the release of its lock, a node of a tree the token that
// it has asked for. Nothing where the node waits for nobody. The order is that of
// the peers.
type Waiter interface{ Waits() []Wait }

// WaitsFor returns a wait for the same thing of each of the nodes.
func WaitsFor(what string, nodes iter.Seq[NodeID]) []Wait {
	var waits []Wait
	for id := range nodes {
		waits = append(waits, Wait{For: id, What: what})
	}
	return waits
}
