package check

import (
	"math/rand/v2"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// plan says what one random schedule is to be. It is a function of its seed.
type plan struct {
	model    *vnet.Model
	victim   dme.NodeID // whom the schedule tries to starve; none in most
	seed     uint64     // of the steps of such a schedule
	patience int        // steps for which it holds back what concerns the victim
}

// plan draws what the schedule of a seed is to be. What it draws comes from a source
// of its own: the steps of a schedule whose requests were given are drawn alike
// whether others vary or not.
func (s *Search) plan(seed uint64) (plan, error) {
	m, err := s.model.WithSeed(seed)
	if err != nil {
		return plan{}, err
	}
	rng := rand.New(rand.NewPCG(seed, 0xd1ce))
	one := *m
	one.Bypass = s.bound
	if s.starves && rng.IntN(starvingTurn) == 0 {
		return s.starvation(one, rng), nil
	}
	if s.Vary {
		requests := vary(rng, s.Nodes, s.Requests)
		one.Requests = requestsOf(requests)
	}
	return plan{model: &one}, nil
}

// vary deals requests to nodes, at most so many in all. Each schedule draws how many
// nodes ask and how often, as most faults need few of either and are hidden by more,
// and some need many (Groce, Zhang, Eide, Chen, Regehr, Swarm Testing, ISSTA 2012).
// The result is by node, from 1.
func vary(rng *rand.Rand, nodes, most int) []int {
	asking := nodes
	switch rng.IntN(4) {
	case 0:
		asking = 1 + rng.IntN(nodes)
	case 1:
		asking = min(nodes, 2+rng.IntN(3))
	}
	asking = min(asking, most)
	requests := make([]int, nodes+1)
	who := rng.Perm(nodes)[:asking]
	for _, i := range who {
		requests[1+i]++
	}
	rest := most - asking
	switch rng.IntN(4) {
	case 0:
		rest = 0
	case 1:
		rest = min(rest, asking)
	}
	for range rest {
		requests[1+who[rng.IntN(asking)]]++
	}
	return requests
}

// requestsOf says how many requests a node makes, of a list by node.
func requestsOf(requests []int) func(dme.NodeID) int {
	return func(id dme.NodeID) int { return requests[id] }
}
