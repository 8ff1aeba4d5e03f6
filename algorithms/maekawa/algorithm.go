package maekawa

import (
	"slices"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

// The kinds of messages, in the order of [dme.Algorithm.Kinds].
const (
	kindRequest dme.Kind = iota + 1
	kindLocked
	kindFailed
	kindInquire
	kindRelinquish
	kindRelease
)

// Algorithm describes the algorithm.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:     "maekawa",
		Title:    "Maekawa",
		Citation: "M. Maekawa, A √N Algorithm for Mutual Exclusion in Decentralized Systems, ACM TOCS 3(2), 1985, section 4",
		Class:    dme.Quorum,
		Needs: func(opt dme.Options) dme.Needs {
			return dme.Needs{Reliable: true, FIFO: opt.Get("grants") != "numbered"}
		},
		Kinds: []string{"REQUEST", "LOCKED", "FAILED", "INQUIRE", "RELINQUISH", "RELEASE"},
		Options: append(quorum.Options(),
			dme.Option{
				Name: "yield", Default: "failed", Values: "failed|always",
				Help: "when a node that waits answers INQUIRE by RELINQUISH: once it has failed at some member, or at once",
			},
			dme.Option{
				Name: "grants", Default: "plain", Values: "plain|numbered",
				Help: "whether messages name the grant or request that they belong to; if so, links need not keep order",
			},
		),
		ValidNodes: quorum.ValidNodes,
		Claims:     claims(),
		Prepare: func(cfg dme.Config) (dme.System, error) {
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

func newSystem(sets *quorum.System, opt dme.Options) *system {
	return &system{
		sets:        sets,
		yieldAlways: opt.Get("yield") == "always",
		numbered:    opt.Get("grants") == "numbered",
	}
}

// RequestSet returns S_id.
func (s *system) RequestSet(id dme.NodeID) []dme.NodeID { return s.sets.RequestSet(id) }

// Peers returns the nodes that id asks and those that it answers.
func (s *system) Peers(id dme.NodeID) []dme.NodeID {
	peers := append(s.sets.RequestSet(id), s.sets.Served(id)...)
	slices.Sort(peers)
	peers = slices.Compact(peers)
	return slices.DeleteFunc(peers, func(peer dme.NodeID) bool { return peer == id })
}

// Node returns node id, idle and unlocked.
func (s *system) Node(id dme.NodeID) dme.Node {
	n := &node{
		id: id, system: s,
		members: s.sets.RequestSet(id), served: s.sets.Served(id),
		locked:   dme.MakeNodeSet(s.sets.Nodes()),
		failed:   dme.MakeNodeSet(s.sets.Nodes()),
		inquired: dme.MakeNodeSet(s.sets.Nodes()),
	}
	if s.numbered {
		n.grants = make([]uint64, len(n.members))
	}
	return n
}
