package maekawa

import (
	"slices"

	"dmebench/algorithms"
	"dmebench/algorithms/quorum"
)

// The kinds of messages, in the order of [algorithms.Algorithm.Kinds].
const (
	kindRequest algorithms.Kind = iota + 1
	kindLocked
	kindFailed
	kindInquire
	kindRelinquish
	kindRelease
)

// Algorithm describes the algorithm.
func Algorithm() *algorithms.Algorithm {
	return &algorithms.Algorithm{
		Name:     "maekawa",
		Title:    "Maekawa",
		Citation: "M. Maekawa, A √N Algorithm for Mutual Exclusion in Decentralized Systems, ACM TOCS 3(2), 1985, section 4",
		Class:    algorithms.Quorum,
		Needs: func(opt algorithms.Options) algorithms.Needs {
			return algorithms.Needs{Reliable: true, FIFO: opt.Get("grants") != "numbered"}
		},
		Kinds: []string{"REQUEST", "LOCKED", "FAILED", "INQUIRE", "RELINQUISH", "RELEASE"},
		Options: append(quorum.Options(),
			algorithms.Option{
				Name: "yield", Default: "failed", Values: "failed|always",
				Help: "when a node that waits answers INQUIRE by RELINQUISH: once it has failed at some member, or at once",
			},
			algorithms.Option{
				Name: "grants", Default: "plain", Values: "plain|numbered",
				Help: "whether messages name the grant or request that they belong to; if so, links need not keep order",
			},
		),
		ValidNodes: quorum.ValidNodes,
		Claims:     claims(),
		Prepare: func(cfg algorithms.Config) (algorithms.System, error) {
			sets, err := quorum.Prepare(cfg)
			if err != nil {
				return nil, err
			}
			return newSystem(sets, cfg.Options), nil
		},
	}
}

// system is what the nodes share.
type system struct {
	sets        *quorum.System
	yieldAlways bool // option yield
	numbered    bool // option grants
}

func newSystem(sets *quorum.System, opt algorithms.Options) *system {
	return &system{
		sets:        sets,
		yieldAlways: opt.Get("yield") == "always",
		numbered:    opt.Get("grants") == "numbered",
	}
}

// RequestSet returns S_id.
func (s *system) RequestSet(id algorithms.NodeID) []algorithms.NodeID { return s.sets.RequestSet(id) }

// Peers returns the nodes that id asks and those that it answers.
func (s *system) Peers(id algorithms.NodeID) []algorithms.NodeID {
	peers := append(s.sets.RequestSet(id), s.sets.Served(id)...)
	slices.Sort(peers)
	peers = slices.Compact(peers)
	return slices.DeleteFunc(peers, func(peer algorithms.NodeID) bool { return peer == id })
}

// Node returns node id, idle and unlocked.
func (s *system) Node(id algorithms.NodeID) algorithms.Node {
	n := &node{
		id: id, system: s,
		members: s.sets.RequestSet(id), served: s.sets.Served(id),
		locked:   algorithms.MakeNodeSet(s.sets.Nodes()),
		failed:   algorithms.MakeNodeSet(s.sets.Nodes()),
		inquired: algorithms.MakeNodeSet(s.sets.Nodes()),
	}
	if s.numbered {
		n.grants = make([]uint64, len(n.members))
	}
	return n
}
