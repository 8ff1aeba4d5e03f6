package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/claim"
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
	Most      int // ends after that many steps; 0: at rest

	// Look sees each step and what came of it, if it is set. Its error ends the walk.
	Look func(n *Net, e *vnet.Event) error
}

// Each lets every node ask that many times.
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
// none does, than [claim.OvertakingBound] says of messages that took as long as these did.
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

// Turns says how evenly nodes take turns while all of them ask again as soon as they
// leave, and no node's messages are any slower than those of others.
type Turns struct {
	Entries   int     // while every node still asked again
	MaxBypass int     // most entries of others between a request and its entry
	Node      int     // the node that was overtaken so often
	Jain      float64 // Jain's index of the nodes' entries: 1 is even, 1/N if one node had all

	// Allowed says how large MaxBypass may be, with [claim.OrdinaryTrip].
	Allowed claim.Overtaking
}

// starving is how many entries of others, for each node of the system, a node that
// waits may see if no claim promises less (see [claim.OvertakingBound]).
const starving = claim.TurnsOfOthers + claim.OrdinaryTrip

// mostTurns is the largest system in which each node asks so often that a single other
// one can make it starve.
const mostTurns = 8

// manyTurns is a larger system, in which a third of the nodes can make another starve: three planes
// of three lines of three, in which a part of the mesh has two neighbours.
const manyTurns = 27

// requestsEach is how often a node asks in a run of TakeTurns.
func requestsEach(nodes int) int {
	if nodes <= mostTurns {
		return (starving + 5) * nodes
	}
	return 3 * (starving + 5)
}

// TakeTurns runs one schedule of a under saturation, in which each of the steps that
// are possible is as likely as the others, and says how even it was. It is a function
// of its arguments.
func TakeTurns(a *dme.Algorithm, nodes int, set map[string]string, seed uint64) (Turns, error) {
	rng := rand.New(rand.NewPCG(seed, uint64(nodes)))
	c := vnet.Config{Nodes: nodes, Seed: seed, Requests: Each(requestsEach(nodes)), Recover: true}
	net, err := newNet(a, c, set, nil)
	if err != nil {
		return Turns{}, err
	}
	s := net.schedule(vnet.Saturation, rng)
	s.Choose = vnet.Chance{Rand: rng}
	for range maxSteps {
		if !s.step() {
			if err = s.ending(); err == nil {
				err = s.checkClaims()
			}
			break
		}
		if err = s.Err(); err != nil {
			break
		}
	}
	if err != nil {
		return Turns{}, fmt.Errorf("on %d nodes, %v, taking turns, seed %d: %w", nodes, set, seed, err)
	}
	t := s.turns()
	t.Allowed = net.overtaking()
	return t, nil
}

// turns looks at the entries up to the last request of any node: from then on fewer ask. Nodes that
// still wait then have been overtaken as well.
func (n *Net) turns() Turns {
	entries := n.Entries
	count := make([]int, n.Setting.Nodes+1)
	for k, e := range entries {
		if count[e.Node]++; count[e.Node] == requestsEach(n.Setting.Nodes) {
			entries = entries[:k]
			count[e.Node]--
			break
		}
	}
	t := Turns{Entries: len(entries)}
	asked := make([]int, len(count)) // entries there had been when the node last asked
	overtaken := func(id dme.NodeID, bypass int) {
		if bypass > t.MaxBypass {
			t.MaxBypass, t.Node = bypass, int(id)
		}
	}
	for k, e := range entries {
		overtaken(e.Node, e.Bypass)
		asked[e.Node] = k + 1
	}
	for id, since := range asked[1:] {
		overtaken(dme.NodeID(id+1), len(entries)-since)
	}
	sum, squares := 0.0, 0.0
	for _, c := range count[1:] {
		sum += float64(c)
		squares += float64(c) * float64(c)
	}
	if squares > 0 {
		t.Jain = sum * sum / (float64(n.Setting.Nodes) * squares)
	}
	return t
}

// logTurns logs how evenly a lets nodes take turns, and fails t if one starves.
func logTurns(t *testing.T, a *dme.Algorithm, nodes int, set map[string]string) {
	worst, err := turns(a, nodes, set)
	if err != nil {
		t.Fatalf("%s: %v", a.Name, err)
	}
	t.Logf("N=%d, taking turns: node %d is overtaken most, by %d entries of others; Jain's index %.3f",
		nodes, worst.Node, worst.MaxBypass, worst.Jain)
}

// turns says how evenly a lets nodes take turns, the worst of some schedules. It fails if one
// starves.
func turns(a *dme.Algorithm, nodes int, set map[string]string) (worst Turns, err error) {
	worst.Jain = 1
	for seed := range uint64(2) {
		t, err := TakeTurns(a, nodes, set, seed)
		if err != nil {
			return worst, err
		}
		if t.MaxBypass > t.Allowed.Most(claim.OrdinaryTrip) {
			return t, fmt.Errorf("on %d nodes, %v, taking turns, seed %d: node %d starves: %d entries of others since it asked, "+
				"(%s), though it asks all the time and nothing is slower for it; Jain's index of the entries is %.3f",
				nodes, set, seed, t.Node, t.MaxBypass, t.Allowed.Describe(claim.OrdinaryTrip), t.Jain)
		}
		if t.MaxBypass >= worst.MaxBypass {
			worst.MaxBypass, worst.Node, worst.Entries, worst.Allowed = t.MaxBypass, t.Node, t.Entries, t.Allowed
		}
		worst.Jain = min(worst.Jain, t.Jain)
		if nodes > mostTurns {
			break
		}
	}
	return worst, nil
}
