package sim

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/result"
)

// watchful is a node of Ricart and Agrawala's algorithm that believes what it is
// told of its peers: it does without the answers of those that are down, and asks
// a newcomer as well. It can restart, join and leave.
type watchful struct {
	id             dme.NodeID
	clock, asked   uint64
	asking, inside bool
	alive          dme.NodeSet // peers
	awaited        dme.NodeSet
	deferred       dme.NodeSet
}

const (
	kindAsk dme.Kind = iota + 1
	kindYes
)

type watchfuls struct{ dme.Config }

func (s watchfuls) Root() dme.NodeID { return 1 }

func (s watchfuls) Node(id dme.NodeID) dme.Node {
	n := &watchful{id: id, alive: dme.MakeNodeSet(s.Nodes), awaited: dme.MakeNodeSet(s.Nodes), deferred: dme.MakeNodeSet(s.Nodes)}
	for other := range dme.Others(s.Nodes, id) {
		if !slices.Contains(s.Absent, other) {
			n.alive.Add(other)
		}
	}
	return n
}

func watchfulAlgorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name: "watchful", Class: dme.Permission, Kinds: []string{"ASK", "YES"}, Needs: dme.Always(dme.Needs{Reliable: true}),
		Prepare: func(c dme.Config) (dme.System, error) { return watchfuls{c}, nil },
	}
}

func (n *watchful) Request(out *dme.Outbox) {
	n.clock++
	n.asking, n.asked = true, n.clock
	for id := range n.alive.All() {
		n.awaited.Add(id)
		n.ask(id, out)
	}
	n.enter(out)
}

func (n *watchful) ask(id dme.NodeID, out *dme.Outbox) {
	out.Send(id, dme.Message{Kind: kindAsk, Clock: n.asked})
}

func (n *watchful) enter(out *dme.Outbox) {
	if n.asking && !n.inside && n.awaited.Empty() {
		n.inside = true
		out.Enter(dme.Stamp{Clock: n.asked, Node: n.id})
	}
}

func (n *watchful) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	n.clock = max(n.clock, m.Clock)
	first := dme.Stamp{Clock: n.asked, Node: n.id}.Precedes(dme.Stamp{Clock: m.Clock, Node: from})
	switch {
	case !n.alive.Has(from):
		panic(fmt.Sprintf("node %d receives from %d, which is down", n.id, from))
	case m.Kind == kindYes:
		n.awaited.Remove(from)
		n.enter(out)
	case n.inside || n.asking && first: // one that has come back may ask with an early stamp
		n.deferred.Add(from)
	default:
		out.Send(from, dme.Message{Kind: kindYes})
	}
}

func (n *watchful) Release(out *dme.Outbox) {
	n.asking, n.inside = false, false
	for id := range n.deferred.All() {
		out.Send(id, dme.Message{Kind: kindYes})
	}
	n.deferred.Clear()
}

func (n *watchful) Restart(*dme.Outbox) {}
func (n *watchful) Join(*dme.Outbox)    {}

func (n *watchful) Leave(out *dme.Outbox) { out.Left() }

func (n *watchful) Down(peer dme.NodeID, out *dme.Outbox) {
	n.alive.Remove(peer)
	n.deferred.Remove(peer)
	n.awaited.Remove(peer)
	n.enter(out)
}

func (n *watchful) Up(peer dme.NodeID, out *dme.Outbox) {
	n.alive.Add(peer)
	if n.asking && !n.inside {
		n.awaited.Add(peer)
		n.ask(peer, out)
	}
}

func (n *watchful) State(v *dme.Visitor) {
	v.Uint("clock", &n.clock)
	v.Uint("asked", &n.asked)
	v.Bool("asking", &n.asking)
	v.Bool("inside", &n.inside)
	v.Set("alive", &n.alive)
	v.Set("awaited", &n.awaited)
	v.Set("deferred", &n.deferred)
}

// Kills, restarts, pauses, joins and leaves at random moments: mutual exclusion
// holds, and everybody who lives is served, because what nodes are told of one
// another can be relied upon.
func TestRandomFaults(t *testing.T) {
	seeds := 1000
	if testing.Short() {
		seeds = 200
	}
	struck := 0
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 1))
		nodes := 3 + rng.IntN(4)
		at := func() time.Duration { return time.Duration(rng.IntN(60_000)) * time.Microsecond }
		// Node 1 stays, nodes 2 and 3 come back, the others may go for good.
		faults := []string{fmt.Sprintf("kill 2 @%v", at()), fmt.Sprintf("restart 2 @+%v", at()/10)}
		for range rng.IntN(3) {
			faults = append(faults, fmt.Sprintf("kill 3 @entry:%d", 1+rng.IntN(40)), fmt.Sprintf("restart 3 @+%v", at()/10))
		}
		if from := at(); rng.IntN(2) == 0 {
			faults = append(faults, fmt.Sprintf("pause random @%v-%v", from, from+at()/4+1))
		}
		if nodes > 4 {
			faults = append(faults, fmt.Sprintf("%s 5 @%v", []string{"kill", "leave", "join"}[rng.IntN(3)], at()))
		}
		spec := result.Spec{
			Nodes: nodes, Requests: 20 * nodes, CS: "exp:300us", Seed: seed + 1, Faults: faults, AllowMismatch: true,
			Workload: []string{"saturate", "poisson"}[rng.IntN(2)],
			Set: map[string]string{
				"delay": []string{"constant", "uniform", "exponential"}[rng.IntN(3)], "fifo": []string{"true", "false"}[rng.IntN(2)],
			},
		}
		if spec.Workload == "poisson" {
			spec.TotalRate = 700
		}
		r := simulate(t, spec, watchfulAlgorithm())
		if r.Status != result.OK || r.Safety.Violations > 0 || r.Liveness.Pending > 0 {
			t.Fatalf("seed %d: %v %v\n%s: %s, %d violations, %d pending\n%s", seed, spec, faults,
				r.Status, r.Error, r.Safety.Violations, r.Liveness.Pending, strings.Join(r.Liveness.States, "\n"))
		}
		struck += len(r.Faults)
		lost := uint64(0)
		for _, f := range r.Faults {
			lost += f.Lost
		}
		if r.Requests < r.Entries || r.Requests-r.Entries > lost {
			t.Fatalf("seed %d: %d requests, %d entries, %d lost", seed, r.Requests, r.Entries, lost)
		}
	}
	if struck < 3*seeds {
		t.Errorf("only %d faults in %d runs", struck, seeds)
	}
}

// Faults are drawn from the seed: the same again is the same, byte for byte.
func TestFaultsAreDeterministic(t *testing.T) {
	once := func(seed uint64) string {
		spec := result.Spec{Nodes: 6, Requests: 300, Seed: seed, Set: map[string]string{"delay": "uniform"}}
		spec.Faults = []string{
			"kill random @20ms", "restart random @+10ms", "kill holder @entry:50", "pause waiting @30ms-60ms", "partition 1-2|3-6 @100ms-101ms",
		}
		b, err := json.Marshal(simulate(t, spec, watchfulAlgorithm()))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := once(1)
	if once(1) != first {
		t.Error("the same seed, and another outcome")
	}
	if once(2) == first {
		t.Error("another seed, and the same outcome")
	}
}
