package raring

import "dmebench/dme"

const (
	kindRequest dme.Kind = iota + 1 // Req: whose it is and its number; Vec: who has noted a deferral
	kindReply                       // Clock: the number that it answers
)

// Algorithm describes both forms.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:     "ricart-agrawala-ring",
		Title:    "Ricart–Agrawala, ring",
		Citation: "G. Ricart, A. K. Agrawala: An Algorithm for Mutual Exclusion in Computer Networks, University of Maryland TR-869, 1980, section 6.3",
		Class:    dme.Permission,
		Needs:    dme.Always(dme.Needs{Reliable: true}),
		Kinds:    []string{"REQUEST", "REPLY"},
		Options: []dme.Option{{
			Name: "form", Default: "echo", Values: "echo|notes",
			Help: "echo: a deferred REQUEST waits where it is; notes: it goes on with a note, and a REPLY follows",
		}},
		Claims: claims(),
		Prepare: func(c dme.Config) (dme.System, error) {
			s := system{nodes: c.Nodes}
			if notes(c.Options) {
				return notesSystem{s}, nil
			}
			return echoSystem{s}, nil
		},
	}
}

func notes(o dme.Options) bool { return o.Get("form") == "notes" }

type system struct{ nodes int }

// successor is the next node on the ring.
func (s system) successor(id dme.NodeID) dme.NodeID {
	return id%dme.NodeID(s.nodes) + 1
}

// echoSystem is the system of form=echo.
type echoSystem struct{ system }

func (s echoSystem) Node(id dme.NodeID) dme.Node {
	return &echoNode{node: node{me: id, system: s.system}}
}

// Peers returns the successor: nobody sends to anybody else.
func (s echoSystem) Peers(id dme.NodeID) []dme.NodeID {
	if s.nodes == 1 {
		return nil
	}
	return []dme.NodeID{s.successor(id)}
}

// notesSystem is the system of form=notes.
type notesSystem struct{ system }

func (s notesSystem) Node(id dme.NodeID) dme.Node {
	return &notesNode{
		node:         node{me: id, system: s.system},
		deferredBy:   dme.MakeNodeSet(s.nodes),
		repliedFirst: dme.MakeNodeSet(s.nodes),
	}
}
