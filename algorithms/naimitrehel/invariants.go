package naimitrehel

import "dmebench/dme"

// invariants are those of the two structures of the paper: father pointers are
// trees, next pointers are the queue.
func invariants() []dme.Invariant {
	const source = "Naimi, Trehel and Arnold, JPDC 34(1), 1996"
	return []dme.Invariant{
		dme.OneToken(source, dme.OfKind(kindToken)),
		{
			Name: "father trees", Citation: source + ", the logical rooted tree",
			Statement: "father pointers lead from every node to a root, and there is one root more than REQUESTs are on their way",
			Holds:     fatherTrees,
		},
		{
			Name: "one place in the queue", Citation: source + ", the queue of next pointers",
			Statement: "a node that waits has one REQUEST on its way, or is the next of one node, or has the TOKEN on its way to it; " +
				"no other node has any of these",
			Holds: onePlace,
		},
	}
}

func fatherTrees(v dme.GlobalView) error {
	roots, requests := 0, 0
	for id, n := range dme.NodesOf[*node](v) {
		at := n
		for steps := 0; at.father != dme.None; steps++ {
			if steps == n.n {
				return dme.Broken([]dme.NodeID{id}, "father pointers go round: they lead from node %d to no root", id)
			}
			at = dme.NodeOf[*node](v, at.father)
		}
		if n.father == dme.None {
			roots++
		}
	}
	for _, f := range v.InFlight() {
		if f.Kind == kindRequest {
			requests++
		}
	}
	if roots != requests+1 {
		return dme.Broken(nil, "there are %d roots, and %d REQUESTs on their way", roots, requests)
	}
	return nil
}

func onePlace(v dme.GlobalView) error {
	for id, n := range dme.NodesOf[*node](v) {
		requests, tokens, nexts, want := 0, 0, 0, 0
		for _, f := range v.InFlight() {
			switch {
			case f.Kind == kindRequest && f.Node == id:
				requests++
			case f.Kind == kindToken && f.To == id:
				tokens++
			}
		}
		for _, other := range dme.NodesOf[*node](v) {
			if other.next == id {
				nexts++
			}
		}
		if n.requestingCS && !n.tokenPresent {
			want = 1
		}
		if requests+tokens+nexts != want {
			return dme.Broken([]dme.NodeID{id},
				"node %d is %v: %d REQUESTs for it and %d TOKENs to it are on their way, and it is the next of %d nodes",
				id, v.Activity(id), requests, tokens, nexts)
		}
	}
	return nil
}
