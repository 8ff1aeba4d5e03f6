package rapriority

import (
	"fmt"
	"strconv"

	"dmebench/dme"
)

const (
	kindRequest dme.Kind = iota + 1 // Clock: the sequence number
	kindReply                       // Clock: the sequence number that it answers
)

// largestMost bounds D, so that numbers stay far from the end of 64 bits.
const largestMost = 1 << 20

// Algorithm describes both kinds of increments.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:     "ricart-agrawala-priority",
		Title:    "Ricart–Agrawala, random or small increments",
		Citation: "G. Ricart, A. K. Agrawala: An Algorithm for Mutual Exclusion in Computer Networks, University of Maryland TR-869, 1980, section 6.5",
		Class:    dme.Permission,
		Needs:    dme.Always(dme.Needs{Reliable: true}),
		Kinds:    []string{"REQUEST", "REPLY"},
		Options: []dme.Option{
			{
				Name: "increments", Default: "random", Values: "random|priority",
				Help: "random: drawn for each request; priority: 1 at node 1, which goes first, to D at node N",
			},
			{
				Name: "most", Default: "8", Values: "D", Valid: validMost,
				Help: "the largest increment; the smallest is 1",
			},
		},
		Claims: claims(),
		Prepare: func(c dme.Config) (dme.System, error) {
			most, err := strconv.ParseUint(c.Options.Get("most"), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("most=%s: %w", c.Options.Get("most"), err)
			}
			return system{
				nodes: c.Nodes,
				increments: increments{
					most: most, priority: c.Options.Get("increments") == "priority", nodes: c.Nodes, seed: c.Seed,
				},
			}, nil
		},
	}
}

func validMost(s string) error {
	if d, err := strconv.ParseUint(s, 10, 64); err != nil || d < 1 || d > largestMost {
		return fmt.Errorf("not a number from 1 to %d", largestMost)
	}
	return nil
}
