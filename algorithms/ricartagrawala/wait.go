package ricartagrawala

import "dmebench/dme"

// This file says what the nodes of all sections wait for.

// waitsFor returns one edge of the wait-for graph for each node of a set.
func waitsFor(nodes *dme.NodeSet, what string) (all []dme.Wait) {
	for j := range nodes.All() {
		all = append(all, dme.Wait{For: j, What: what})
	}
	return all
}

// Waits implements [dme.Waiter].
func (n *node) Waits() []dme.Wait { return waitsFor(&n.awaitingReply, "REPLY") }
