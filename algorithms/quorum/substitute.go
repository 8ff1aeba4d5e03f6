package quorum

import (
	"cmp"
	"slices"

	"dmebench/dme"
)

// Substitute returns a quorum for node id of nodes that are up, in ascending
// order; ok is false where there is none. It meets every quorum that any node
// uses, whichever nodes are down there: the quorums of a construction are a
// coterie, of which a node chooses another one.
//
// Of majority and weighted, a quorum is any set of nodes with more than half of
// the votes; of tree, what [TreeQuorum] finds; of the others, the request set of
// any node. Members is what the node asks now: as many of these are kept as the
// construction allows without a search through all quorums.
func (s *System) Substitute(id dme.NodeID, members []dme.NodeID, up func(dme.NodeID) bool) (quorum []dme.NodeID, ok bool) {
	s.mustHave(id)
	switch s.name {
	case "tree":
		return TreeQuorum(s.nodes, id, up)
	case "majority", "weighted":
		return s.substituteVoters(id, members, up)
	}
	return s.substituteSet(id, members, up)
}

// Survives reports whether there is a quorum without these nodes.
func (s *System) Survives(down []dme.NodeID) bool {
	_, ok := s.Substitute(1, nil, func(id dme.NodeID) bool { return !slices.Contains(down, id) })
	return ok
}

// substituteVoters keeps the members that are up and adds the heaviest others, of
// equals the next round the ring. Then those go, the lightest first, without whom
// there is still a majority.
func (s *System) substituteVoters(id dme.NodeID, members []dme.NodeID, up func(dme.NodeID) bool) ([]dme.NodeID, bool) {
	vote := func(id dme.NodeID) uint64 {
		if len(s.weights) == 0 {
			return 1
		}
		return s.weights[id-1]
	}
	var total, have uint64
	var set, others []dme.NodeID
	for k := range s.nodes {
		j := dme.NodeID((int(id)-1+k)%s.nodes + 1)
		total += vote(j)
		switch {
		case vote(j) == 0 || !up(j):
		case position(members, j) >= 0:
			set = append(set, j)
			have += vote(j)
		default:
			others = append(others, j)
		}
	}
	slices.SortStableFunc(others, func(a, b dme.NodeID) int { return cmp.Compare(vote(b), vote(a)) })
	for _, j := range others {
		if have > total/2 {
			break
		}
		set = append(set, j)
		have += vote(j)
	}
	if have <= total/2 {
		return nil, false
	}
	slices.Reverse(set) // of equals the last to come goes first
	slices.SortStableFunc(set, func(a, b dme.NodeID) int { return cmp.Compare(vote(a), vote(b)) })
	set = slices.DeleteFunc(set, func(j dme.NodeID) bool {
		superfluous := have-vote(j) > total/2
		if superfluous {
			have -= vote(j)
		}
		return superfluous
	})
	slices.Sort(set)
	return set, true
}

// substituteSet returns the request set that has the fewest new members, and of
// equals that of the next node round the ring, so that others than one neighbour
// share the work of a failed node.
func (s *System) substituteSet(id dme.NodeID, members []dme.NodeID, up func(dme.NodeID) bool) (best []dme.NodeID, ok bool) {
	var set []dme.NodeID
	fewest := 0
	for k := range s.nodes {
		set = s.sets.appendSet(set[:0], dme.NodeID((int(id)-1+k)%s.nodes+1))
		added, all := 0, true
		for _, j := range set {
			if !up(j) {
				all = false
				break
			}
			if position(members, j) < 0 {
				added++
			}
		}
		if all && (!ok || added < fewest) {
			best, fewest, ok = append(best[:0], set...), added, true
		}
	}
	return best, ok
}
