package raring

import "dmebench/algorithms"

const (
	kindRequest algorithms.Kind = iota + 1 // Req: whose it is and its number; Vec: who has noted a deferral
	kindReply                              // Clock: the number that it answers
)

// Algorithm describes both forms.
func Algorithm() *algorithms.Algorithm {
	return &algorithms.Algorithm{
		Name:     "ricart-agrawala-ring",
		Title:    "Ricart–Agrawala, ring",
		Citation: "G. Ricart, A. K. Agrawala: An Algorithm for Mutual Exclusion in Computer Networks, University of Maryland TR-869, 1980, section 6.3",
		Class:    algorithms.Permission,
		Needs:    algorithms.Always(algorithms.Needs{Reliable: true}),
		Kinds:    []string{"REQUEST", "REPLY"},
		Options: []algorithms.Option{{
			Name: "form", Default: "echo", Values: "echo|notes",
			Help: "echo: a deferred REQUEST waits where it is; notes: it goes on with a note, and a REPLY follows",
		}},
		Claims: claims(),
		Prepare: func(c algorithms.Config) (algorithms.System, error) {
			s := system{nodes: c.Nodes}
			if notes(c.Options) {
				return notesSystem{s}, nil
			}
			return echoSystem{s}, nil
		},
	}
}

func notes(o algorithms.Options) bool { return o.Get("form") == "notes" }

type system struct{ nodes int }

// successor is the next node on the ring.
func (s system) successor(id algorithms.NodeID) algorithms.NodeID {
	return id%algorithms.NodeID(s.nodes) + 1
}

// echoSystem is the system of form=echo.
type echoSystem struct{ system }

func (s echoSystem) Node(id algorithms.NodeID) algorithms.Node {
	return &echoNode{node: node{me: id, system: s.system}}
}

// Peers returns the successor: nobody sends to anybody else.
func (s echoSystem) Peers(id algorithms.NodeID) []algorithms.NodeID {
	if s.nodes == 1 {
		return nil
	}
	return []algorithms.NodeID{s.successor(id)}
}

// notesSystem is the system of form=notes.
type notesSystem struct{ system }

func (s notesSystem) Node(id algorithms.NodeID) algorithms.Node {
	return &notesNode{
		node:         node{me: id, system: s.system},
		deferredBy:   algorithms.MakeNodeSet(s.nodes),
		repliedFirst: algorithms.MakeNodeSet(s.nodes),
	}
}
