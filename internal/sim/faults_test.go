package sim

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/collections"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// watchful is a node of Ricart and Agrawala's algorithm that believes what it is
// told of its peers: it does without the answers of those that are down, and asks
// a newcomer as well. It can restart, join and leave.
type watchful struct {
	id             dme.NodeID
	clock, asked   uint64
	asking, inside bool
	alive          collections.NodeSet // peers
	awaited        collections.NodeSet
	deferred       collections.NodeSet
}

const (
	kindAsk dme.Kind = iota + 1
	kindYes
)

type watchfuls struct{ dme.Config }

func (s watchfuls) Node(id dme.NodeID) dme.Node {
	n := &watchful{
		id: id, alive: collections.MakeNodeSet(s.Nodes), awaited: collections.MakeNodeSet(s.Nodes), deferred: collections.MakeNodeSet(s.Nodes),
	}
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
		Root:    1,
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

func (n *watchful) Depart(out *dme.Outbox) { out.Left() }

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
	n.alive.Show(v, "alive")
	n.awaited.Show(v, "awaited")
	n.deferred.Show(v, "deferred")
}

// Kills, restarts, pauses, joins and leaves at random moments: mutual exclusion
// holds, and everybody who lives is served, because what nodes are told of one
// another can be relied upon.
func TestRandomFaults(t *testing.T) {
	seeds := 200
	if testkit.Long() {
		seeds = 1000
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
		spec := runs.Spec{
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
		if r.Status != runs.OK || r.Safety.Violations > 0 || r.Liveness.Pending > 0 {
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

// Those who live go on once they hear of it, within the bound of 2T.
func TestOthersHearOfIt(t *testing.T) {
	earliest, latest := int64(math.MaxInt64), int64(0)
	for seed := range uint64(50) {
		s := runs.Spec{
			Nodes: 3, Workload: "burst", Requests: 3, CS: "10ms", Seed: seed + 1, Set: map[string]string{"window": "0s"},
			Faults: []string{"kill holder @entry:1"},
		}
		r := simulate(t, s, watchfulAlgorithm())
		// All ask at once: node 1 enters first, then 2, then 3 another 11 ms later.
		f := r.Faults[0]
		if r.Status != runs.OK || r.Entries != 2 || f.RecoveredNS == nil || f.ServedNS == nil || *f.ServedNS != *f.RecoveredNS+11*ms {
			t.Fatalf("%s (%s), %d entries, recovered after %v, served after %v", r.Status, r.Error, r.Entries, f.RecoveredNS, f.ServedNS)
		}
		earliest, latest = min(earliest, *f.RecoveredNS), max(latest, *f.RecoveredNS)
	}
	if latest > 2*ms || latest < 3*ms/2 || earliest > ms/2 {
		t.Errorf("heard after %v to %v; want anything up to 2T", time.Duration(earliest), time.Duration(latest))
	}
}

// wildFaults draws a schedule of all kinds of faults, roles and instants, for six
// nodes: much of it is impossible in the state that it meets.
func wildFaults(rng *rand.Rand) (faults []string) {
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	at := func() time.Duration { return time.Duration(rng.IntN(40_000)) * time.Microsecond }
	node := func() string { return fmt.Sprint(2 + rng.IntN(5)) }
	for range 1 + rng.IntN(7) {
		whom := pick(node(), node(), node()+","+node(), "holder", "waiting", "idle", "root", "random")
		when := pick(at().String(), at().String(), fmt.Sprintf("entry:%d", 1+rng.IntN(40)), fmt.Sprintf("request:%d", 1+rng.IntN(40)))
		from := at()
		switch span := fmt.Sprintf("%v-%v", from, from+at()+1); rng.IntN(7) {
		case 0, 1:
			faults = append(faults, "kill "+whom+" @"+when, "restart "+whom+" @+"+at().String())
		case 2:
			faults = append(faults, "pause "+whom+" @"+span)
		case 3:
			faults = append(faults, "leave "+whom+" @"+when)
		case 4:
			faults = append(faults, "join "+node()+" @"+when)
		case 5:
			faults = append(faults, pick("restart "+node()+" @"+when, "kill "+whom+" @"+when))
		case 6:
			faults = append(faults, fmt.Sprintf("partition %s|1 @%v-%v", node(), from, from+at()/8+1))
		}
	}
	return faults
}

// What becomes of a run with faults for a seed does not change: neither whom they hit
// and when, nor what the run counts and measures.
func TestFiguresUnderFaults(t *testing.T) {
	var b bytes.Buffer
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		spec := runs.Spec{
			Nodes: 6, Requests: 120, CS: "exp:300us", Seed: seed + 1, Faults: wildFaults(rng), AllowMismatch: true,
			Set: map[string]string{"delay": []string{"constant", "uniform"}[rng.IntN(2)]},
		}
		r := simulate(t, spec, watchfulAlgorithm())
		fmt.Fprintf(&b, "%d %q\n  %s, %d requests, %d entries, %d messages",
			spec.Seed, spec.Faults, r.Status, r.Requests, r.Entries, r.Messages.Total)
		if r.WaitingTime != nil {
			fmt.Fprintf(&b, ", waited %.0f ns", r.WaitingTime.Mean)
		}
		b.WriteByte('\n')
		for _, f := range r.Faults {
			fmt.Fprintf(&b, "  %s %v at %d", f.What, f.Nodes, f.AtNS)
			for _, x := range []*int64{f.EndedNS, f.RecoveredNS, f.ServedNS} {
				if x != nil {
					fmt.Fprintf(&b, " %d", *x)
				} else {
					b.WriteString(" -")
				}
			}
			fmt.Fprintf(&b, " %d %d\n", f.Waiting, f.Lost)
		}
	}
	testkit.FileMustBe(t, "testdata/faults.txt", b.Bytes())
}
