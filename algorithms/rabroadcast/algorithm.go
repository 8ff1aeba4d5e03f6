package rabroadcast

import (
	"fmt"

	"dmebench/dme"
)

const (
	kindRequest dme.Kind = iota + 1 // Clock: the sequence number, where requests have one
	kindReply                       // Clock: the number that it answers; broadcast, Vec: node, number, node, number, …
)

// Algorithm describes both forms.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:     "ricart-agrawala-broadcast",
		Title:    "Ricart–Agrawala, broadcast",
		Citation: "G. Ricart, A. K. Agrawala: An Algorithm for Mutual Exclusion in Computer Networks, University of Maryland TR-869, 1980, section 6.2",
		Class:    dme.Permission,
		Needs: func(o dme.Options) dme.Needs {
			if sequenced(o) {
				return dme.Needs{Reliable: true, FIFO: true, SequencedBroadcast: true}
			}
			return dme.Needs{Reliable: true}
		},
		Kinds: []string{"REQUEST", "REPLY"},
		Options: []dme.Option{{
			Name: "form", Default: "listed", Values: "listed|sequenced",
			Help: "listed: requests are numbered, a broadcast REPLY lists whom it is for; sequenced: the medium's order takes the place of numbers",
		}},
		ValidNodes: func(n int, o dme.Options) error {
			if most := dme.MaxVec/2 + 1; n > most && !sequenced(o) {
				return fmt.Errorf("%d nodes: the list of recipients in a REPLY has room for %d; want at most %d nodes", n, most-1, most)
			}
			return nil
		},
		Claims: claims(),
		Prepare: func(c dme.Config) (dme.System, error) {
			if sequenced(c.Options) {
				return medium{nodes: c.Nodes}, nil
			}
			return system{nodes: c.Nodes}, nil
		},
	}
}

func sequenced(o dme.Options) bool { return o.Get("form") == "sequenced" }
