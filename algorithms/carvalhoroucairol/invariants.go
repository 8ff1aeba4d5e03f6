package carvalhoroucairol

import "dmebench/dme"

// invariants are those of lasting permissions.
func invariants() []dme.Invariant {
	const source = "Carvalho and Roucairol, CACM 26(2), 1983"
	return []dme.Invariant{
		{
			Name: "one permission", Citation: source,
			Statement: "of any two nodes at most one has the other's permission, or the REPLY that gives it on its way",
			Holds:     onePermission,
		},
		{
			Name: "one answer", Citation: source + ", with Ricart and Agrawala, TR-869, section 2.2",
			Statement: "a node that waits for another one's permission has one REQUEST on its way to it, or is deferred there, " +
				"or the REPLY is on its way",
			Holds: oneAnswer,
		},
	}
}

// has reports whether a node has the permission of j, or will once a REPLY arrives.
func has(v dme.GlobalView, i, j dme.NodeID, n *node) bool {
	return !n.lacking.Has(j) || count(v, kindReply, j, i) > 0
}

// count returns how many messages of a kind are on their way between two nodes.
func count(v dme.GlobalView, kind dme.Kind, from, to dme.NodeID) (messages int) {
	for _, m := range v.Between(from, to) {
		if m.Kind == kind {
			messages++
		}
	}
	return messages
}

func onePermission(v dme.GlobalView) error {
	for i, n := range dme.NodesOf[*node](v) {
		for j, other := range dme.NodesOf[*node](v) {
			if i < j && has(v, i, j, n) && has(v, j, i, other) {
				return dme.Broken([]dme.NodeID{i, j}, "nodes %d and %d have each other's permission, counting %d REPLYs on their way",
					i, j, count(v, kindReply, j, i)+count(v, kindReply, i, j))
			}
		}
	}
	return nil
}

func oneAnswer(v dme.GlobalView) error {
	for i, n := range dme.NodesOf[*node](v) {
		for j, other := range dme.NodesOf[*node](v) {
			if i == j {
				continue
			}
			requests, replies, deferred, want := count(v, kindRequest, i, j), count(v, kindReply, j, i), 0, 0
			if other.replyDeferred.Has(i) {
				deferred = 1
			}
			if n.requesting && n.lacking.Has(j) {
				want = 1
			}
			if requests+replies+deferred != want {
				return dme.Broken([]dme.NodeID{i, j}, "node %d awaits %d REPLYs of node %d, which has deferred %d, "+
					"with %d REQUESTs and %d REPLYs on their way", i, want, j, deferred, requests, replies)
			}
		}
	}
	return nil
}
