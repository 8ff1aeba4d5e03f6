package raimplicit

import (
	"errors"
	"time"

	"dmebench/dme"
)

// anyBound stands in where nobody knows a bound and nothing takes time, as
// under a schedule explorer, which lets a timer fire when the messages before
// it have arrived. A run over a network that takes time needs a bound that
// somebody vouches for.
const anyBound = 500 * time.Millisecond

// maxBound keeps a round trip well within 64 bits of nanoseconds.
const maxBound = time.Hour

// Algorithm describes the implicit reply.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:     "ricart-agrawala-implicit",
		Title:    "Ricart–Agrawala, implicit reply",
		Citation: "G. Ricart, A. K. Agrawala: An Algorithm for Mutual Exclusion in Computer Networks, University of Maryland TR-869, 1980, section 6.1",
		Class:    dme.Permission,
		Needs:    dme.Always(dme.Needs{Reliable: true, BoundedDelay: true}),
		Kinds:    []string{"REQUEST", "DEFERRED", "REPLY"},
		Options: []dme.Option{
			{
				Name: "bound", Default: "auto", Values: "auto|DURATION", Valid: validBound,
				Help: "longest time that a message can take, handling included: you vouch for it; auto is 2T in a simulation, and nothing elsewhere",
			},
			{
				Name: "broadcast", Default: "false", Values: "false|true",
				Help: "whether a REQUEST is one transmission to all (section 6.2)",
			},
		},
		Claims: claims(),
		Prepare: func(c dme.Config) (dme.System, error) {
			return system{nodes: c.Nodes, bound: boundOf(c), broadcast: c.Options.Get("broadcast") == "true"}, nil
		},
	}
}

// boundOf returns the bound that was given, or that the network knows.
func boundOf(c dme.Config) time.Duration {
	if d, err := time.ParseDuration(c.Options.Get("bound")); err == nil {
		return d
	}
	if c.Bound > 0 {
		return c.Bound
	}
	return anyBound
}

func validBound(s string) error {
	if s == "auto" {
		return nil
	}
	if d, err := time.ParseDuration(s); err != nil || d <= 0 || d > maxBound {
		return errors.New("not a duration above 0 and at most 1h")
	}
	return nil
}
