package rapriority

import (
	"math/bits"
	"math/rand/v2"

	"dmebench/dme"
)

// increments says by how much the number of a request exceeds all that its node
// has seen: at least 1, at most the most.
type increments struct {
	most     uint64 // D
	priority bool   // one for each node, instead of random ones
	nodes    int
	seed     uint64
}

// of returns the increment of the k-th request of a node. It is a function of
// the system's seed, so that a node that is loaded from its saved state draws
// what the other would have drawn.
func (i increments) of(id dme.NodeID, k uint64) uint64 {
	if i.priority {
		return i.rank(id)
	}
	var source rand.PCG
	source.Seed(i.seed, uint64(id)<<32^k)
	above, _ := bits.Mul64(source.Uint64(), i.most) // uniform from 0 to D−1
	return 1 + above
}

// rank spreads the nodes evenly, from 1 at node 1 to D at node N.
func (i increments) rank(id dme.NodeID) uint64 {
	if i.nodes == 1 {
		return 1
	}
	return 1 + uint64(id-1)*(i.most-1)/uint64(i.nodes-1)
}
