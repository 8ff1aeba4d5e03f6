package agrawalelabbadi

import (
	"math/bits"
	"math/rand/v2"
	"slices"

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
)

const citation = "D. Agrawal and A. El Abbadi, An Efficient and Fault-Tolerant Solution for Distributed Mutual Exclusion, ACM TOCS 9(1), 1991; textbook, section 9.9"

const optPath = "path"

// Algorithm describes the repaired algorithm.
func Algorithm() *dme.Algorithm {
	a := describe(func(s *system, id dme.NodeID) dme.Node {
		return &node{requester: newRequester(s, id)}
	})
	a.Name, a.Title = "agrawal-el-abbadi", "Agrawal–El Abbadi"
	a.Citation = citation
	a.Claims = claims()
	return a
}

// Published describes the protocol as section 9.9.5 prints it, which is known to
// be wrong.
func Published() *dme.Algorithm {
	a := describe(func(s *system, id dme.NodeID) dme.Node {
		return &publishedNode{requester: newRequester(s, id)}
	})
	a.Name, a.Title = "agrawal-el-abbadi-as-published", "Agrawal–El Abbadi, as published"
	a.Citation = citation + ", read literally"
	a.AsPublished = true
	return a
}

// describe returns what the two have in common.
func describe(newNode func(*system, dme.NodeID) dme.Node) *dme.Algorithm {
	return &dme.Algorithm{
		Class: dme.Quorum,
		Needs: dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds: []string{"Request", "Reply", "Inquire", "Yield", "Relinquish"},
		Options: []dme.Option{{
			Name: optPath, Default: "self", Values: "self|random",
			Help: "which path from the root to a leaf a node asks: the one through itself, or one to a leaf drawn for each request",
		}},
		Prepare: func(cfg dme.Config) (dme.System, error) {
			s := &system{nodes: cfg.Nodes, seed: cfg.Seed, newNode: newNode}
			if cfg.Options.Get(optPath) == "random" {
				return s, nil
			}
			paths, err := quorum.New("tree", quorum.Config{Nodes: cfg.Nodes})
			if err != nil {
				return nil, err
			}
			s.sets = paths
			return fixedSystem{s}, nil
		},
	}
}

// system is what the nodes share.
type system struct {
	nodes   int
	sets    *quorum.System // the quorum of each node; nil where one is drawn for each request
	seed    uint64
	newNode func(*system, dme.NodeID) dme.Node
}

// Node returns node id, idle and with its permission to give.
func (s *system) Node(id dme.NodeID) dme.Node { return s.newNode(s, id) }

// drawLeaf draws a leaf for the request of that number of node id. It depends on
// nothing but these and the seed, so that no generator is part of a node's
// state.
func (s *system) drawLeaf(id dme.NodeID, request uint64) dme.NodeID {
	first, last := quorum.TreeLeaves(s.nodes)
	draw := rand.NewPCG(s.seed, uint64(id)<<40^request).Uint64()
	k, _ := bits.Mul64(draw, uint64(last-first+1)) // draw as a fraction of 2^64
	return first + dme.NodeID(k)
}

// fixedSystem is a system in which the quorum of a node is always the same.
type fixedSystem struct{ *system }

// RequestSet returns the quorum of id.
func (s fixedSystem) RequestSet(id dme.NodeID) []dme.NodeID {
	return s.sets.RequestSet(id)
}

// Peers returns the nodes that id asks and those that it answers.
func (s fixedSystem) Peers(id dme.NodeID) []dme.NodeID {
	peers := append(s.sets.RequestSet(id), s.sets.Served(id)...)
	slices.Sort(peers)
	peers = slices.Compact(peers)
	return slices.DeleteFunc(peers, func(peer dme.NodeID) bool { return peer == id })
}
