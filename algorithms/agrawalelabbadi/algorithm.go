package agrawalelabbadi

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

// The kinds of messages, in the order of [dme.Algorithm.Kinds].
const (
	kindRequest dme.Kind = iota + 1
	kindReply
	kindInquire
	kindYield
	kindRelinquish

	// Of failures; not in the printed protocol.
	kindWithdraw
	kindReclaim
)

// substitute is the flag of a Request that the site gets only because others are
// down.
const substitute = 1

const citation = "D. Agrawal and A. El Abbadi, An Efficient and Fault-Tolerant Solution for " +
	"Distributed Mutual Exclusion, ACM TOCS 9(1), 1991; textbook, section 9.9"

const optPath = "path"

// Algorithm describes the repaired algorithm.
func Algorithm() *dme.Algorithm {
	a := describe(func(r requester) dme.Node { return &node{requester: r} })
	a.Name, a.Title = "agrawal-el-abbadi", "Agrawal–El Abbadi"
	a.Description = "Quorums from a binary tree: while all is well a quorum is a path from the root to a leaf, of log2(N+1) nodes; a node " +
		"that has failed is replaced by the paths through both its children. An entry costs about 3 log2 N messages under light " +
		"load. It goes on while any quorum is left, which grows to half of the nodes as failures accumulate. The root takes " +
		"part in nearly every entry. A handover takes up to two delays. Good where messages should be few and failures must be " +
		"survived."
	a.Citation = citation
	a.Kinds = append(a.Kinds, "Withdraw", "Reclaim")
	a.Survives = survives
	a.Claims = claims()
	a.Invariants = invariants()
	a.Gauges = []dme.Gauge{{Quantity: Multicasts, Begin: newMulticasts}}
	return a
}

// survives reports whether there is a tree quorum without these nodes: with
// either path, a node then asks that one.
func survives(s dme.Setting, down []dme.NodeID) bool {
	_, ok := quorum.TreeQuorum(s.Nodes, 1, func(id dme.NodeID) bool { return !slices.Contains(down, id) })
	return ok
}

// AsPublished describes the protocol as section 9.9.5 prints it, which is known
// to be wrong.
func AsPublished() *dme.Algorithm {
	a := describe(func(r requester) dme.Node { return &publishedNode{requester: r} })
	a.Name, a.Title = "agrawal-el-abbadi-as-published", "Agrawal–El Abbadi, as published"
	a.Description = "The textbook's protocol on tree quorums (section 9.9.5) to the letter. The quorums are right, the handling of grants " +
		"is not: a newcomer can be granted while another holds the grant, and two nodes are inside at once. Kept as a negative " +
		"control; use agrawal-el-abbadi."
	a.Citation = citation + ", read literally"
	a.AsPublished = true
	return a
}

// describe returns what the two have in common.
func describe(newNode func(requester) dme.Node) *dme.Algorithm {
	return &dme.Algorithm{
		Class:  dme.Quorum,
		Needs:  dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds:  []string{"Request", "Reply", "Inquire", "Yield", "Relinquish"},
		Clocks: dme.ClockInMessages,
		Options: []dme.Option{{
			Name: optPath, Default: "self", Words: []string{"self", "random"},
			Help: "which path from the root to a leaf a node asks: the one through itself, or one to a leaf drawn for each request",
		}},
		QueueLength: dme.OfNode(voter.QueueLength),
		Waits:       dme.OfNode(voter.Waits),
		RequestSet:  dme.OfSystem(ownPaths.RequestSet),
		Peers:       dme.OfSystem(ownPaths.Peers),
		Prepare: func(cfg dme.Config) (dme.System, error) {
			if cfg.Options.Get(optPath) == "random" {
				return drawnPaths{leaves{cfg.Nodes, cfg.Seed}, newNode}, nil
			}
			paths, err := quorum.New("tree", quorum.Config{Nodes: cfg.Nodes})
			return ownPaths{paths, newNode}, err
		},
	}
}

// voter is a node of either text.
type voter interface {
	QueueLength() int
	Waits() []dme.Wait
}

// ownPaths is a system with path=self: the quorum of a node is always the same.
type ownPaths struct {
	*quorum.System
	newNode func(requester) dme.Node
}

// Node returns node id, idle and with its permission to give.
func (s ownPaths) Node(id dme.NodeID) dme.Node {
	r := requester{Site: s.Site(id), paths: s.System}
	r.own, r.Members = r.Members, nil
	return s.newNode(r)
}

// drawnPaths is a system with path=random: a node asks the path to a leaf that is
// drawn for each request.
type drawnPaths struct {
	leaves
	newNode func(requester) dme.Node
}

// Node returns node id, idle and with its permission to give.
func (s drawnPaths) Node(id dme.NodeID) dme.Node {
	return s.newNode(requester{Site: quorum.Site{ID: id}, leaves: s.leaves})
}

// leaves are the leaves of a tree, to draw from.
type leaves struct {
	nodes int
	seed  uint64
}

// draw draws a leaf for the request of that number of node id. It depends on
// nothing but these and the seed, so that no generator is part of a node's
// state.
func (l leaves) draw(id dme.NodeID, request uint64) dme.NodeID {
	first, last := quorum.TreeLeaves(l.nodes)
	draw := rand.NewPCG(l.seed, uint64(id)<<40^request).Uint64()
	k, _ := bits.Mul64(draw, uint64(last-first+1)) // draw as a fraction of 2^64
	return first + dme.NodeID(k)
}

// turns says for the request of that number of node id at which nodes a path goes
// to the right: towards the leaf that is drawn where that is below, and else as
// chance will have it.
func (l leaves) turns(id dme.NodeID, request uint64) func(dme.NodeID) bool {
	leaf := l.draw(id, request)
	return func(at dme.NodeID) bool {
		if deeper := bits.Len32(uint32(leaf)) - bits.Len32(uint32(at)); deeper > 0 && leaf>>deeper == at {
			return leaf>>(deeper-1)&1 == 1
		}
		return rand.NewPCG(l.seed^uint64(at), uint64(id)<<40^request).Uint64()&1 == 1
	}
}

// largestListed bounds the trees of which all quorums are compared with one
// another: there are 255 of them on 15 nodes, and 65,535 on 31.
const largestListed = 15

// setsIn returns the sets that the text of an example names: "{1,2,3}, {2,4,5}".
func setsIn(text string) (sets [][]dme.NodeID) {
	for part := range strings.SplitSeq(text, "{") {
		if list, _, ok := strings.Cut(part, "}"); ok {
			nodes, err := dme.ParseNodes(list)
			if err != nil {
				panic("agrawalelabbadi: " + err.Error())
			}
			sets = append(sets, nodes)
		}
	}
	return sets
}

// disjoint counts the pairs of quorums without a common node.
func disjoint(all [][]dme.NodeID) (pairs float64) {
	for p := range quorum.Pairs(all) {
		if p.Common == 0 {
			pairs++
		}
	}
	return pairs
}

// superfluous counts the pairs of quorums of which one contains the other.
func superfluous(all [][]dme.NodeID) (pairs float64) {
	for p := range quorum.Pairs(all) {
		if p.Common == min(len(all[p.I]), len(all[p.J])) {
			pairs++
		}
	}
	return pairs
}
