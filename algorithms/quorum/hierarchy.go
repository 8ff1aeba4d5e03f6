package quorum

import "dmebench/dme"

// The nodes are the leaves of a hierarchy: a group of three or more nodes falls into
// three parts, as equal as can be, each of which is a group; one of two nodes into two
// parts. A quorum of a group has quorums of two of its parts: any two quorums have a part
// in common, and so, level by level, a node (A. Kumar, Hierarchical Quorum Consensus: A
// New Algorithm for Managing Replicated Data, IEEE Transactions on Computers 40(9), 1991).
// Of N = 3^k nodes that are 2^k = N^(log 2 / log 3) ≈ N^0.63.

// group is consecutive nodes of the hierarchy.
type group struct {
	first dme.NodeID
	size  int
}

// parts is in how many parts the group falls; one node has one.
func (g group) parts() int { return min(g.size, 3) }

// part returns part k, counted round.
func (g group) part(k int) group {
	n := g.parts()
	k %= n
	from, to := k*g.size/n, (k+1)*g.size/n
	return group{g.first + dme.NodeID(from), to - from}
}

// partOf returns in which part a node of the group is.
func (g group) partOf(id dme.NodeID) int {
	for k := range g.parts() {
		if p := g.part(k); id < p.first+dme.NodeID(p.size) {
			return k
		}
	}
	panic("quorum: a node outside its group")
}

// counterpart returns the node that stands in the other part where id stands in its own.
func counterpart(id dme.NodeID, own, other group) dme.NodeID {
	return other.first + min(id-own.first, dme.NodeID(other.size-1))
}

// hierarchy is the family in which S_i has, of each group of i, the quorum of its own
// part and that of its counterpart in the next.
type hierarchy struct{ nodes int }

func hierarchical(cfg Config) (family, error) { return hierarchy{cfg.Nodes}, nil }

func (h hierarchy) all() group { return group{1, h.nodes} }

func (h hierarchy) has(id, member dme.NodeID) bool {
	g := h.all()
	for g.size > 1 {
		k, of := g.partOf(id), g.partOf(member)
		switch of {
		case k:
		case (k + 1) % g.parts():
			id = counterpart(id, g.part(k), g.part(of))
		default:
			return false
		}
		g = g.part(of)
	}
	return true
}

func (h hierarchy) appendSet(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	return h.all().appendSet(to, id)
}

func (g group) appendSet(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	if g.size == 1 {
		return append(to, id)
	}
	k := g.partOf(id)
	own, next := g.part(k), g.part(k+1)
	other := counterpart(id, own, next)
	if next.first < own.first {
		own, next, id, other = next, own, other, id
	}
	return next.appendSet(own.appendSet(to, id), other)
}

func (h hierarchy) appendServed(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	return h.all().appendServed(to, id)
}

// appendServed appends those in a node's own part that it serves there, and those in the
// part before whose counterparts these are.
func (g group) appendServed(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	if g.size == 1 {
		return append(to, id)
	}
	k := g.partOf(id)
	own, before := g.part(k), g.part(k+g.parts()-1)
	served := own.appendServed(nil, id)
	if own.first < before.first {
		to = append(to, served...)
	}
	next := 0 // of served
	for at := range before.size {
		other := counterpart(before.first+dme.NodeID(at), before, own)
		for next < len(served) && served[next] < other {
			next++
		}
		if next < len(served) && served[next] == other {
			to = append(to, before.first+dme.NodeID(at))
		}
	}
	if own.first > before.first {
		to = append(to, served...)
	}
	return to
}

// smallest returns a smallest quorum of the group among nodes that are up, in ascending order, nil
// if there is none. Of equals it takes that of own parts, then of those that follow, as seen from
// the node towards.
func (g group) smallest(towards dme.NodeID, up func(dme.NodeID) bool) []dme.NodeID {
	if g.size == 1 {
		if up(g.first) {
			return []dme.NodeID{g.first}
		}
		return nil
	}
	k, n := g.partOf(towards), g.parts()
	own := g.part(k)
	var of [3][]dme.NodeID
	for i := range n {
		p := g.part(k + i)
		of[i] = p.smallest(counterpart(towards, own, p), up)
	}
	first, second := -1, -1 // the two smallest
	for i := range n {
		switch {
		case of[i] == nil:
		case first < 0 || len(of[i]) < len(of[first]):
			first, second = i, first
		case second < 0 || len(of[i]) < len(of[second]):
			second = i
		}
	}
	if second < 0 {
		return nil
	}
	a, b := of[first], of[second]
	if b[0] < a[0] {
		a, b = b, a
	}
	return append(a, b...)
}
