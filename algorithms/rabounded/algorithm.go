package rabounded

import (
	"errors"
	"fmt"
	"strconv"

	"dmebench/dme"
)

const (
	kindRequest dme.Kind = iota + 1 // Clock: the sequence number, modulo M
	kindReply                       // Clock: the number that it answers
)

const citation = "G. Ricart, A. K. Agrawala: An Algorithm for Mutual Exclusion in Computer Networks, University of Maryland TR-869, 1980, section 6.4"

// Algorithm describes the modification, repaired.
func Algorithm() *dme.Algorithm {
	a := describe(false)
	a.Name, a.Title = "ricart-agrawala-bounded", "Ricart–Agrawala, bounded numbers"
	a.Claims = claims()
	return a
}

// AsPublished describes the modification as it is printed: two nodes can enter.
func AsPublished() *dme.Algorithm {
	a := describe(true)
	a.Name, a.Title = "ricart-agrawala-bounded-as-published", "Ricart–Agrawala, bounded numbers, as published"
	a.AsPublished = true
	return a
}

func describe(asPublished bool) *dme.Algorithm {
	return &dme.Algorithm{
		Citation: citation,
		Class:    dme.Permission,
		Needs:    dme.Always(dme.Needs{Reliable: true}),
		Kinds:    []string{"REQUEST", "REPLY"},
		Options: []dme.Option{{
			Name: "modulus", Default: "auto", Values: "auto|M", Valid: validModulus,
			Help: "numbers are kept modulo M ≥ 2N−1; auto is 2N−1",
		}},
		ValidNodes: func(n int, o dme.Options) error {
			if m := modulusOf(n, o); m < smallest(n) {
				return fmt.Errorf("modulus=%d does not tell the numbers of %d nodes apart; want at least 2N−1 = %d", m, n, smallest(n))
			}
			return nil
		},
		Prepare: func(c dme.Config) (dme.System, error) {
			return system{nodes: c.Nodes, modulus: modulusOf(c.Nodes, c.Options), asPublished: asPublished}, nil
		},
	}
}

// smallest is the smallest modulus that is enough.
func smallest(nodes int) uint64 { return 2*uint64(nodes) - 1 }

func modulusOf(nodes int, o dme.Options) uint64 {
	if m, err := strconv.ParseUint(o.Get("modulus"), 10, 63); err == nil {
		return m
	}
	return smallest(nodes)
}

func validModulus(s string) error {
	if s == "auto" {
		return nil
	}
	if m, err := strconv.ParseUint(s, 10, 63); err != nil || m == 0 {
		return errors.New("not a positive number")
	}
	return nil
}
