package quorum

import (
	"slices"

	"dmebench/dme"
)

// plane returns the lines of a projective plane as request sets, the line of
// node i containing i. A plane of order k has N = k²+k+1 points and as many
// lines of K = k+1 points each; any two lines meet in exactly one point. Planes
// are known for every k that is a power of a prime (Maekawa 1985, section 3).
//
// For any other N the sets are degenerate: see [truncate].
func plane(cfg Config) (family, error) {
	n := cfg.Nodes
	if n <= 2 {
		// The planes of order 0, a point, and 1, a triangle, are not made of
		// fields. Of two nodes each asks both, rather than one of them asking
		// itself alone.
		return majority(cfg)
	}
	order := planeOrder(n)
	size := order*order + order + 1
	lines := cyclic{modulus: size, offsets: []int{0, 1}} // the triangle
	if order > 1 {
		lines.offsets = differenceSet(order)
	}
	if n == size {
		return lines, nil
	}
	return truncate(lines, n), nil
}

// planeOrder returns the order of the smallest plane of at least n ≥ 2 points
// that can be made: 1, or a power of a prime.
func planeOrder(n int) int {
	k := 1
	for k*k+k+1 < n || k > 1 && PrimePower(k) == 0 {
		k++
	}
	return k
}

// truncated is the family of the lines 1 … nodes of a larger plane, in which an
// existing node stands in for each point that is missing, in all lines alike.
// (If the missing points were dropped, lines that met in one of them would no
// longer meet.)
type truncated struct {
	lines   cyclic
	nodes   int
	standIn []dme.NodeID   // for the missing point nodes+1+k, at k
	behind  [][]dme.NodeID // the missing points that node i stands in for, at i-1
}

// truncate chooses the stand-ins, one missing point after the other. Each
// choice adds as little as possible to the sum of the squares of the loads,
// where the load of a node is the number of sets that contain it: this keeps
// the sets small, since a stand-in adds nothing to a line that it is already
// on, and the loads near each other. The lowest of equally good nodes is taken.
func truncate(lines cyclic, nodes int) truncated {
	t := truncated{
		lines: lines, nodes: nodes,
		standIn: make([]dme.NodeID, lines.modulus-nodes),
		behind:  make([][]dme.NodeID, nodes),
	}
	loads := make([]int, nodes)  // as if the missing points that are still to come were dropped
	shared := make([]int, nodes) // lines through the missing point that contain the node already
	var served, set []dme.NodeID
	for i := range loads {
		served = t.appendServed(served[:0], dme.NodeID(i+1))
		loads[i] = len(served)
	}
	for k := range t.standIn {
		missing := dme.NodeID(nodes + 1 + k)
		clear(shared)
		served = t.appendLinesThrough(served[:0], missing)
		for _, line := range served {
			set = t.appendSet(set[:0], line)
			for _, member := range set {
				shared[member-1]++
			}
		}
		best, bestCost := 0, -1
		for i, load := range loads {
			added := len(served) - shared[i]
			if cost := added * (2*load + added); bestCost < 0 || cost < bestCost {
				best, bestCost = i, cost
			}
		}
		loads[best] += len(served) - shared[best]
		t.standIn[k] = dme.NodeID(best + 1)
		t.behind[best] = append(t.behind[best], missing)
	}
	return t
}

// appendSet leaves out points that have no stand-in yet; there are none once
// truncate has returned.
func (t truncated) appendSet(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	from := len(to)
	to = t.lines.appendSet(to, id)
	kept := to[:from]
	for _, point := range to[from:] {
		if int(point) > t.nodes {
			point = t.standIn[int(point)-t.nodes-1]
		}
		if point != dme.None {
			kept = append(kept, point)
		}
	}
	slices.Sort(kept[from:])
	return kept[:from+len(slices.Compact(kept[from:]))]
}

func (t truncated) appendServed(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	from := len(to)
	to = t.appendLinesThrough(to, id)
	if len(t.behind[id-1]) == 0 {
		return to
	}
	for _, point := range t.behind[id-1] {
		to = t.appendLinesThrough(to, point)
	}
	slices.Sort(to[from:])
	return to[:from+len(slices.Compact(to[from:]))]
}

// appendLinesThrough appends the lines of existing nodes through a point of the
// plane, ascending.
func (t truncated) appendLinesThrough(to []dme.NodeID, point dme.NodeID) []dme.NodeID {
	from := len(to)
	to = t.lines.appendServed(to, point)
	kept, _ := slices.BinarySearch(to[from:], dme.NodeID(t.nodes+1))
	return to[:from+kept]
}
