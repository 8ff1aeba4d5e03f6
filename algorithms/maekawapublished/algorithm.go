package maekawapublished

import (
	"slices"

	"dmebench/algorithms"
	"dmebench/algorithms/quorum"
)

// Paper describes section 4 of Maekawa 1985, read literally.
func Paper() *algorithms.Algorithm {
	return &algorithms.Algorithm{
		Name:        "maekawa-as-published",
		Title:       "Maekawa, as published",
		Citation:    "M. Maekawa, A √N Algorithm for Mutual Exclusion in Decentralized Systems, ACM TOCS 3(2), 1985, section 4, read literally",
		Class:       algorithms.Quorum,
		AsPublished: true,
		Needs:       algorithms.Always(algorithms.Needs{Reliable: true, FIFO: true}),
		Kinds:       []string{"REQUEST", "LOCKED", "FAILED", "INQUIRE", "RELINQUISH", "RELEASE"},
		Options:     quorum.Options(),
		ValidNodes:  quorum.ValidNodes,
		Prepare: func(cfg algorithms.Config) (algorithms.System, error) {
			return prepare(cfg, func(s site) algorithms.Node {
				return &paperNode{site: s, deferred: algorithms.MakeNodeSet(cfg.Nodes)}
			})
		},
	}
}

// Textbook describes algorithm 9.5 and section 9.8.1 of the textbook, read
// literally.
func Textbook() *algorithms.Algorithm {
	return &algorithms.Algorithm{
		Name:        "maekawa-textbook-as-published",
		Title:       "Maekawa, as in the textbook",
		Citation:    "A. Kshemkalyani and M. Singhal, Distributed Computing, Cambridge University Press, 2008, sections 9.8 and 9.8.1, read literally",
		Class:       algorithms.Quorum,
		AsPublished: true,
		Needs:       algorithms.Always(algorithms.Needs{Reliable: true, FIFO: true}),
		Kinds:       []string{"REQUEST", "REPLY", "FAILED", "INQUIRE", "YIELD", "RELEASE"},
		Options: append(quorum.Options(), algorithms.Option{
			Name: "yield", Default: "and", Values: "and|or",
			Help: "whether a site that is inquired of needs a FAILED and an earlier YIELD to yield, as printed, or one of them",
		}),
		ValidNodes: quorum.ValidNodes,
		Prepare: func(cfg algorithms.Config) (algorithms.System, error) {
			either := cfg.Options.Get("yield") == "or"
			return prepare(cfg, func(s site) algorithms.Node {
				return &textbookNode{
					site: s, either: either,
					failed: algorithms.MakeNodeSet(cfg.Nodes), yielded: algorithms.MakeNodeSet(cfg.Nodes),
				}
			})
		},
	}
}

func prepare(cfg algorithms.Config, newNode func(site) algorithms.Node) (algorithms.System, error) {
	sets, err := quorum.Prepare(cfg)
	if err != nil {
		return nil, err
	}
	return &system{sets: sets, newNode: newNode}, nil
}

// system is what the nodes share.
type system struct {
	sets    *quorum.System
	newNode func(site) algorithms.Node
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
	return s.newNode(site{
		id: id, members: s.sets.RequestSet(id), served: s.sets.Served(id),
		locked: algorithms.MakeNodeSet(s.sets.Nodes()),
	})
}
