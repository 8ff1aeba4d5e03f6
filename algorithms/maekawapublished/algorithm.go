package maekawapublished

import (
	"slices"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

// Paper describes section 4 of Maekawa 1985, read literally.
func Paper() *dme.Algorithm {
	return &dme.Algorithm{
		Name:        "maekawa-as-published",
		Title:       "Maekawa, as published",
		Citation:    "M. Maekawa, A √N Algorithm for Mutual Exclusion in Decentralized Systems, ACM TOCS 3(2), 1985, section 4, read literally",
		Class:       dme.Quorum,
		AsPublished: true,
		Needs:       dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds:       []string{"REQUEST", "LOCKED", "FAILED", "INQUIRE", "RELINQUISH", "RELEASE"},
		Options:     quorum.Options(),
		ValidNodes:  quorum.ValidNodes,
		Prepare: func(cfg dme.Config) (dme.System, error) {
			return prepare(cfg, func(s site) dme.Node {
				return &paperNode{site: s, deferred: dme.MakeNodeSet(cfg.Nodes)}
			})
		},
	}
}

// Textbook describes algorithm 9.5 and section 9.8.1 of the textbook, read
// literally.
func Textbook() *dme.Algorithm {
	return &dme.Algorithm{
		Name:        "maekawa-textbook-as-published",
		Title:       "Maekawa, as in the textbook",
		Citation:    "A. Kshemkalyani and M. Singhal, Distributed Computing, Cambridge University Press, 2008, sections 9.8 and 9.8.1, read literally",
		Class:       dme.Quorum,
		AsPublished: true,
		Needs:       dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds:       []string{"REQUEST", "REPLY", "FAILED", "INQUIRE", "YIELD", "RELEASE"},
		Options: append(quorum.Options(), dme.Option{
			Name: "yield", Default: "and", Values: "and|or",
			Help: "whether a site that is inquired of needs a FAILED and an earlier YIELD to yield, as printed, or one of them",
		}),
		ValidNodes: quorum.ValidNodes,
		Prepare: func(cfg dme.Config) (dme.System, error) {
			either := cfg.Options.Get("yield") == "or"
			return prepare(cfg, func(s site) dme.Node {
				return &textbookNode{
					site: s, either: either,
					failed: dme.MakeNodeSet(cfg.Nodes), yielded: dme.MakeNodeSet(cfg.Nodes),
				}
			})
		},
	}
}

func prepare(cfg dme.Config, newNode func(site) dme.Node) (dme.System, error) {
	sets, err := quorum.Prepare(cfg)
	if err != nil {
		return nil, err
	}
	return &system{sets: sets, newNode: newNode}, nil
}

// system is what the nodes share.
type system struct {
	sets    *quorum.System
	newNode func(site) dme.Node
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
	return s.newNode(site{
		id: id, members: s.sets.RequestSet(id), served: s.sets.Served(id),
		locked: dme.MakeNodeSet(s.sets.Nodes()),
	})
}
