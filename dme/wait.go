package dme

// Wait is one reason for which a node cannot go on: it needs something of a
// peer. It is an edge of the wait-for graph by which a standstill is explained.
type Wait struct {
	For  NodeID
	What string // in the paper's words, as what follows "waits for 2's …": "REPLY", "RELEASE of its lock", "PRIVILEGE"
}

// Waiter is a Node that can tell what it waits for: a requester the answers that
// it lacks, an arbiter the release of its lock, a node of a tree the token that
// it has asked for. Nothing where the node waits for nobody. The order is that of
// the peers.
type Waiter interface{ Waits() []Wait }
