package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// Walk is a random schedule that a test looks at from step to step. It is a
// function of its fields, and may be run again.
type Walk struct {
	Algorithm *dme.Algorithm
	Nodes     int
	Set       map[string]string
	Requests  func(id dme.NodeID) int // how often a node asks
	Load      vnet.Load
	Reorder   bool // links need not keep order; else they do, whatever the algorithm needs
	Seed      uint64
	Most      int // ends after so many steps; 0: at rest

	// Look sees each step and what came of it, if it is set. Its error ends the walk.
	Look func(n *Net, e *vnet.Event) error
}

// Each lets every node ask so many times.
func Each(requests int) func(dme.NodeID) int { return func(dme.NodeID) int { return requests } }

// Only lets each of these nodes ask once, and no other.
func Only(ids ...dme.NodeID) func(dme.NodeID) int {
	return func(id dme.NodeID) int {
		if slices.Contains(ids, id) {
			return 1
		}
		return 0
	}
}

// Run takes steps until none is possible, and returns the network as it is then.
// The error says what went wrong, and after which steps: what [Net.Err] or Look
// says, that requests wait and nothing moves or, at rest, that messages were refused or a
// node has starved: its request was overtaken more often than claims promise or, where
// none does, than [dme.OvertakingBound] says of messages that took as long as these did.
func (w Walk) Run() (*Net, error) {
	c := vnet.Config{Nodes: w.Nodes, Seed: w.Seed, Requests: w.Requests, Recover: true}
	a := onLinks(w.Algorithm, !w.Reorder)
	if opt, err := a.Resolve(w.Set); err == nil && w.Reorder && w.Algorithm.Needs(opt).FIFO {
		a.Invariants = nil // its proofs assume order
	}
	net, err := newNet(a, c, w.Set, nil)
	if err != nil {
		return nil, err
	}
	s := net.schedule(w.Load, rand.New(rand.NewPCG(w.Seed, uint64(w.Nodes))))
	var taken []vnet.Step
	for len(taken) < maxSteps && (w.Most == 0 || len(taken) < w.Most) {
		x, ok := s.Next()
		if !ok {
			if err = s.ending(); err == nil {
				err = net.starved()
			}
			break
		}
		taken = append(taken, x)
		e := net.do(x)
		if err = net.Err(); err == nil && w.Look != nil {
			err = w.Look(net, e)
		}
		if err != nil {
			break
		}
	}
	switch {
	case err != nil:
		err = fmt.Errorf("%s on %d nodes, %v, %s, reorder=%t, seed %d: %w\nafter %v",
			w.Algorithm.Name, w.Nodes, w.Set, w.Load, w.Reorder, w.Seed, err, taken)
	case len(taken) == maxSteps:
		err = fmt.Errorf("%s on %d nodes, seed %d: no end after %d steps", w.Algorithm.Name, w.Nodes, w.Seed, maxSteps)
	}
	return net, err
}
