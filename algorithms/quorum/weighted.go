package quorum

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dmebench/dme"
)

// weighted gives each node a set that holds more than half of all votes, so
// that any two sets have a common voter. Node i takes itself and then the
// heaviest of the others, of equals the next round the ring, until they are
// enough. Then, the lightest first, those go without whom they still are: no
// proper subset of a set has a majority. Nodes without votes are in no set, not
// even in their own.
//
// Sets depend on i so that equal voters share the work. With all votes at one
// node that node is everybody's set: centralized control (Maekawa 1985,
// section 1).
func weighted(cfg Config) (family, error) {
	votes := cfg.Weights
	if len(votes) == 0 {
		return majority(cfg)
	}
	if err := oneEach(votes, cfg.Nodes); err != nil {
		return nil, err
	}
	var total uint64
	equal := true
	for _, v := range votes {
		if v > math.MaxUint64-total {
			return nil, fmt.Errorf("the votes do not add up in 64 bits; divide all by the same number")
		}
		total += v
		equal = equal && v == votes[0]
	}
	if total == 0 {
		return nil, fmt.Errorf("nobody has a vote; give some node a weight above 0")
	}
	if equal {
		return majority(cfg)
	}
	sets := make([][]dme.NodeID, cfg.Nodes)
	for i := range sets {
		sets[i] = voters(votes, total, i)
	}
	return list(sets)
}

func oneEach(votes []uint64, nodes int) error {
	if len(votes) != nodes {
		return fmt.Errorf("%d weights for %d nodes; want the votes of each, in the order of the nodes", len(votes), nodes)
	}
	return nil
}

// voters returns the set of the node at index i.
func voters(votes []uint64, total uint64, i int) []dme.NodeID {
	n := len(votes)
	enough := total/2 + 1
	vote := func(id dme.NodeID) uint64 { return votes[id-1] }

	var all []dme.NodeID
	for k := range n {
		if at := (i + k) % n; votes[at] > 0 {
			all = append(all, dme.NodeID(at+1))
		}
	}
	others := all
	if len(all) > 0 && all[0] == dme.NodeID(i+1) {
		others = all[1:]
	}
	slices.SortStableFunc(others, func(a, b dme.NodeID) int { return cmp.Compare(vote(b), vote(a)) })

	var have uint64
	size := 0
	for have < enough {
		have += vote(all[size])
		size++
	}
	set := all[:size]
	// Of equals the last to come goes first and the node itself last: it answers
	// itself without a message.
	slices.Reverse(set)
	slices.SortStableFunc(set, func(a, b dme.NodeID) int { return cmp.Compare(vote(a), vote(b)) })
	return slices.DeleteFunc(set, func(id dme.NodeID) bool {
		superfluous := have-vote(id) >= enough
		if superfluous {
			have -= vote(id)
		}
		return superfluous
	})
}

// singleton lets everybody ask node 1.
func singleton(cfg Config) (family, error) {
	return list(slices.Repeat([][]dme.NodeID{{1}}, cfg.Nodes))
}

// Site is what a node has, whatever its algorithm, that asks a request set and
// is asked by others: who they are, and what it says to itself.
type Site struct {
	ID      dme.NodeID
	Members []dme.NodeID // S_ID, ascending
	Served  []dme.NodeID // the nodes in whose request sets this one is, ascending

	// What the node says to itself waits here for the end of the handler, so
	// that handlers never nest. Empty between events, hence not part of the state.
	local []dme.Message
}

// Site returns what node id has.
func (s *System) Site(id dme.NodeID) Site {
	return Site{ID: id, Members: s.RequestSet(id), Served: s.Served(id)}
}

// MemberIndex returns the position of a member in S_ID, or −1.
func (n *Site) MemberIndex(id dme.NodeID) int { return position(n.Members, id) }

// Serves reports whether this node is in the request set of id.
func (n *Site) Serves(id dme.NodeID) bool { return position(n.Served, id) >= 0 }

// position returns where id is among nodes in ascending order, or −1. It stands
// on the way of every message, where slices.BinarySearch takes twice the time.
func position(ascending []dme.NodeID, id dme.NodeID) int {
	low, high := 0, len(ascending)
	for low < high {
		if middle := int(uint(low+high) / 2); ascending[middle] < id {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(ascending) && ascending[low] == id {
		return low
	}
	return -1
}

// TellSelf keeps what the node says to itself until the handler has ended.
func (n *Site) TellSelf(m *dme.Message) { n.local = append(n.local, *m) }

// HandleLocal handles what the node has said to itself, in order, until it has
// nothing more to say.
func (n *Site) HandleLocal(handle func(dme.NodeID, dme.Message, *dme.Outbox), out *dme.Outbox) {
	for i := 0; i < len(n.local); i++ {
		handle(n.ID, n.local[i], out)
	}
	n.local = n.local[:0]
}

// Believable reports whether a message's clock can be one: it is bounded so that a
// garbled message cannot make a clock overflow.
func Believable(clock uint64) bool { return clock > 0 && clock <= 1<<62 }
