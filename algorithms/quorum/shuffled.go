package quorum

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"dmebench/dme"
)

// How nodes are assigned to the points of a construction: by their numbers, or at
// random.
const (
	natural  = "natural"
	shuffled = "shuffled"
)

// relabelled is a family in which the nodes have changed places: node i stands at place
// place[i-1] of the original.
//
// Where the sets are S_i = i + D, those of neighbours meet in one of the two, since 0 and 1
// are in D: S_i and S_(i+1) in i+1. Nodes that enter in the order of their numbers then
// hand over by a single message. That is a property of the numbers, not of the plane.
type relabelled struct {
	family
	place []dme.NodeID // of node i at i-1
	node  []dme.NodeID // at place p, at p-1
}

// shuffle gives the nodes places at random, as the seed decides.
func shuffle(f family, nodes int, seed uint64) relabelled {
	r := relabelled{family: f, place: make([]dme.NodeID, nodes), node: make([]dme.NodeID, nodes)}
	for i, p := range rand.New(rand.NewPCG(seed, 0x1abe1)).Perm(nodes) {
		r.place[i] = dme.NodeID(p + 1)
		r.node[p] = dme.NodeID(i + 1)
	}
	return r
}

func (r relabelled) appendSet(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	return r.named(r.family.appendSet(to, r.place[id-1]), len(to))
}

func (r relabelled) appendServed(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	return r.named(r.family.appendServed(to, r.place[id-1]), len(to))
}

// named replaces the places from an index on by the nodes that stand there.
func (r relabelled) named(places []dme.NodeID, from int) []dme.NodeID {
	added := places[from:]
	for i, p := range added {
		added[i] = r.node[p-1]
	}
	slices.Sort(added)
	return places
}

// relabel does what the option labelling says.
func (s *System) relabel(labelling string, seed uint64) error {
	switch {
	case labelling != shuffled:
	case s.name != "plane" && s.name != "grid":
		return fmt.Errorf("quorum: labelling=%s moves the nodes of quorum=plane and quorum=grid; with quorum=%s leave it at %s",
			shuffled, s.name, natural)
	default:
		s.sets = shuffle(s.sets, s.nodes, seed)
	}
	return nil
}
