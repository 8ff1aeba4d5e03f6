package quorum

import (
	"errors"
	"fmt"
	"slices"

	"dmebench/dme"
)

// listed is a family whose sets are written down.
type listed struct {
	sets   [][]dme.NodeID // S_i at i-1
	served [][]dme.NodeID // the nodes whose sets contain i at i-1
}

// List returns a system of the given sets: sets[i-1] is S_i. The sets may be in
// any order; they must not be empty, name a member twice or name a node that
// does not exist. Whether they meet is not checked: see [System.Properties].
func List(name string, sets [][]dme.NodeID) (*System, error) {
	f, err := list(sets)
	if err != nil {
		return nil, fmt.Errorf("quorum: %s: %w", name, err)
	}
	return &System{name: name, nodes: len(sets), sets: f}, nil
}

func list(sets [][]dme.NodeID) (listed, error) {
	f := listed{served: make([][]dme.NodeID, len(sets))}
	if len(sets) == 0 {
		return f, errors.New("no request sets; there must be one for each node")
	}
	for i, set := range sets {
		id := dme.NodeID(i + 1)
		set, err := ascending(set, len(sets))
		if err != nil {
			return f, fmt.Errorf("set S_%d: %w", id, err)
		}
		for _, member := range set {
			f.served[member-1] = append(f.served[member-1], id)
		}
		f.sets = append(f.sets, set)
	}
	return f, nil
}

// ascending returns a copy of a set in ascending order, or says why it is no set
// of the nodes 1 to N.
func ascending(set []dme.NodeID, nodes int) ([]dme.NodeID, error) {
	if len(set) == 0 {
		return nil, errors.New("the set is empty; a node must ask somebody")
	}
	set = slices.Sorted(slices.Values(set))
	for k, member := range set {
		if member < 1 || int(member) > nodes {
			return nil, fmt.Errorf("the set names node %d; there are the nodes 1 to %d", member, nodes)
		}
		if k > 0 && member == set[k-1] {
			return nil, fmt.Errorf("the set names node %d twice", member)
		}
	}
	return set, nil
}

func (f listed) appendSet(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	return append(to, f.sets[id-1]...)
}

func (f listed) appendServed(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	return append(to, f.served[id-1]...)
}
