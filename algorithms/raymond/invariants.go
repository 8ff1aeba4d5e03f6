package raymond

import (
	"slices"

	"dmebench/algorithms/spanning"
	"dmebench/dme"
	"dmebench/dme/collections"
)

// invariants are those of sections 9.12.1 to 9.12.4. That of HOLDER implies that
// there is one privilege: n−1 edges and n nodes, each with one HOLDER.
func invariants() []dme.Invariant {
	return []dme.Invariant{
		dme.OneToken("textbook, section 9.12.4, mutual exclusion", dme.OfKind(kindPrivilege)),
		dme.PairInvariant("HOLDER path", "textbook, section 9.12.2",
			"of two neighbours one has the other as its HOLDER, so that HOLDER leads from every node to the privilege; "+
				"both have, while the PRIVILEGE is on its way between them", holderPath),
		dme.PairInvariant("one REQUEST", "textbook, section 9.12.2, ASKED",
			"a node that has ASKED has one REQUEST on its way to HOLDER, or stands in the REQUEST_Q there, or the PRIVILEGE "+
				"is on its way to it; no other node has any of these", oneRequest),
	}
}

// robustInvariants are the same where every node is up and knows HOLDER: section
// 9.12.7 re-establishes them. Before, a privilege may be lost, but there are never two.
func robustInvariants() []dme.Invariant {
	all := invariants()
	for k := range all {
		all[k].Faults = true
	}
	one := all[0].Holds
	all[0].Holds = func(v dme.GlobalView) error {
		if !complete(v) {
			return nil
		}
		return one(v)
	}
	all[0].Statement = "if every node is up and knows HOLDER, " + all[0].Statement
	for k := 1; k < len(all); k++ {
		all[k].Statement = "if both are up and have heard each other: " + all[k].Statement
	}
	return all
}

// complete reports whether all nodes are up and know HOLDER.
func complete(v dme.GlobalView) bool {
	for id := dme.NodeID(1); int(id) <= v.Setting().Nodes; id++ {
		n := dme.NodeOf[*robust](v, id)
		if n == nil || n.holder == dme.None || n.recovering {
			return false
		}
	}
	return true
}

// section is what the invariants read of a node.
type section struct {
	holder   dme.NodeID // None if it is not known
	requestQ *collections.NodeQueue
	asked    bool
	unheard  func(id dme.NodeID) bool // whether a neighbour's word is missing, after a crash; nil: never
}

// sectioned is a node of any form in which all know HOLDER at some time.
type sectioned interface {
	dme.Node
	section() section
}

func (n *node) section() section { return section{n.holder, &n.requestQ, n.asked, nil} }

// section of a node that does not know HOLDER says nothing.
func (n *robust) section() section {
	if n.recovering {
		return section{}
	}
	return section{n.holder, &n.requestQ, n.asked, func(id dme.NodeID) bool {
		i, found := slices.BinarySearch(n.near, id)
		return found && n.awaited.Has(i)
	}}
}

func treeOf(v dme.GlobalView) *spanning.Tree {
	return v.Setting().System.(interface{ SpanningTree() *spanning.Tree }).SpanningTree()
}

// holderPath looks at each edge once: that of a node to its parent.
func holderPath(v dme.GlobalView, id, parent dme.NodeID, n, above sectioned) error {
	if treeOf(v).Parent(id) != parent {
		return nil
	}
	a, b := n.section(), above.section()
	if a.holder == dme.None || b.holder == dme.None {
		return nil
	}
	up, down := a.holder == parent, b.holder == id
	travelling := dme.Between(v, kindPrivilege, id, parent) + dme.Between(v, kindPrivilege, parent, id)
	if travelling > 1 || (travelling == 1) != (up && down) || !up && !down {
		return dme.Broken([]dme.NodeID{id, parent},
			"HOLDER is %d at node %d and %d at its neighbour %d, with %d PRIVILEGEs on their way between them",
			a.holder, id, b.holder, parent, travelling)
	}
	return nil
}

func oneRequest(v dme.GlobalView, id, other dme.NodeID, n, neighbour sectioned) error {
	if !treeOf(v).Adjacent(id, other) {
		return nil
	}
	a, b := n.section(), neighbour.section()
	if a.holder == dme.None || b.holder == dme.None || b.unheard != nil && b.unheard(id) {
		return nil
	}
	requests, privileges, queued := dme.Between(v, kindRequest, id, other), dme.Between(v, kindPrivilege, other, id), 0
	for x := range b.requestQ.All() {
		queued += dme.Count(x == id)
	}
	if requests+privileges+queued != dme.Count(a.asked && a.holder == other) {
		return dme.Broken([]dme.NodeID{id, other},
			"node %d, HOLDER %d and ASKED %t, has %d REQUESTs on their way to node %d and stands %d times in its REQUEST_Q, "+
				"with %d PRIVILEGEs on their way back", id, a.holder, a.asked, requests, other, queued, privileges)
	}
	return nil
}
