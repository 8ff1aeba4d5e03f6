package conformance

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/raymond"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
	"dmebench/dme/vnet"
)

// partial is node 1 of the centralized algorithm, but for the order in which it serves:
// whoever waits with the lowest number is next.
type partial struct {
	holder  dme.NodeID
	waiting collections.NodeSet
}

func (p *partial) Request(out *dme.Outbox) { p.enqueue(1, out) }

func (p *partial) Release(out *dme.Outbox) {
	p.holder = dme.None
	p.grant(out)
}

func (p *partial) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case request:
		p.enqueue(from, out)
	case release:
		p.Release(out)
	}
}

func (p *partial) enqueue(id dme.NodeID, out *dme.Outbox) {
	p.waiting.Add(id)
	if p.holder == dme.None {
		p.grant(out)
	}
}

func (p *partial) grant(out *dme.Outbox) {
	for id := range p.waiting.All() {
		p.waiting.Remove(id)
		if p.holder = id; id == 1 {
			out.Enter(dme.Stamp{})
		} else {
			out.Send(id, dme.Message{Kind: grant})
		}
		return
	}
}

func (p *partial) State(v *dme.Visitor) {
	v.Node("holder", &p.holder)
	p.waiting.Show(v, "waiting")
}

type partialSystem struct {
	dme.System
	nodes int
}

func (s partialSystem) Node(id dme.NodeID) dme.Node {
	if id == 1 {
		return &partial{waiting: collections.MakeNodeSet(s.nodes)}
	}
	return s.System.Node(id)
}

func preferringLow() *dme.Algorithm {
	a := centralized.Algorithm()
	a.Claims = nil
	a.Invariants = nil // they read the nodes themselves
	prepare := a.Prepare
	a.Prepare = func(c dme.Config) (dme.System, error) {
		sys, err := prepare(c)
		return partialSystem{sys, c.Nodes}, err
	}
	return a
}

// Who serves the lowest number first is safe, and serves everybody in the end: only
// who looks at turns finds out that somebody starves meanwhile.
func TestStarvationIsFound(t *testing.T) {
	a := preferringLow()
	if err := Search(a, 5, nil, 50); err != nil {
		t.Fatalf("it is wrong in another way: %v", err)
	}
	for _, nodes := range []int{5, 8} {
		worst, err := turns(a, nodes, nil)
		if err == nil || !strings.Contains(err.Error(), "starves") {
			t.Errorf("%d nodes: %+v, %v", nodes, worst, err)
		}
		if worst.Node < 3 || worst.Jain > 0.95 {
			t.Errorf("%d nodes: %+v", nodes, worst)
		}
	}
}

// A walk finds it too, whatever it favours: it knows for how many entries each message
// was on its way. Who serves in some order is far below what that allows.
func TestWalksFindStarvation(t *testing.T) {
	const seeds = 10
	for _, a := range []*dme.Algorithm{preferringLow(), centralized.Algorithm(), raymond.Algorithm(), maekawa.Algorithm()} {
		found := 0
		for seed := range uint64(seeds) {
			net, err := Walk{Algorithm: a, Nodes: 5, Requests: Each(150), Load: vnet.Saturation, Seed: seed}.Run()
			switch {
			case err != nil && strings.Contains(err.Error(), "starves: "):
				found++
			case err != nil:
				t.Fatal(err)
			}
			for _, e := range net.Entries {
				if claim.Of(a) != nil && e.Bypass > net.overtaking().Most(net.trip)/2 {
					t.Errorf("%s, seed %d: node %d is overtaken %d times, and %d are not starving", a.Name, seed, e.Node, e.Bypass,
						net.overtaking().Most(net.trip))
				}
			}
		}
		if want := claim.Of(a) == nil; want && found < seeds/2 || !want && found > 0 {
			t.Errorf("%s: starves in %d of %d walks", a.Name, found, seeds)
		}
	}
}

func TestTurns(t *testing.T) {
	net := &Net{Setting: dme.Setting{Nodes: 3}}
	add := func(id dme.NodeID, bypass, times int) {
		for range times {
			net.Entries = append(net.Entries, Entry{Node: id, Bypass: bypass})
		}
	}
	add(1, 0, 10)
	add(2, 7, 1)
	add(1, 1, 65)   // and has made 75 then, all that it makes
	add(3, 1000, 5) // after node 1 has made all its requests
	got := net.turns()
	// Node 3 has waited for all 75 entries: 74 of node 1, one of node 2.
	jain := 75.0 * 75 / (3 * (74*74 + 1))
	if got.Entries != 75 || got.Node != 3 || got.MaxBypass != 75 || math.Abs(got.Jain-jain) > 1e-9 {
		t.Errorf("%+v, Jain %v", got, jain)
	}
}

// A walk says what is wrong with an algorithm, and with which steps it came about.
func TestWalkFindsFaults(t *testing.T) {
	for fault, want := range map[string]string{
		"enters at once":         Unsafe,
		"never releases":         Stalled,
		"talks to strangers":     "not among its peers",
		"believes what it reads": "", // only garbage shows it
		"enters unasked":         "without a request",
		"never rests":            "no end after",
		"refuses":                "refused",
	} {
		for load := range vnet.Loads {
			_, err := Walk{Algorithm: withFault(fault), Nodes: 5, Requests: Each(3), Load: load, Seed: 1}.Run()
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s, %s: %v", fault, load, err)
			}
			if want == Unsafe && !strings.Contains(err.Error(), "after [ask ") {
				t.Errorf("%s, %s: no steps in %v", fault, load, err)
			}
		}
	}
}

// The same walk comes to the same end, after its steps or those that it is given;
// nobody asks who is not to; and messages overtake others only where they may.
func TestWalkDoesAsItIsTold(t *testing.T) {
	var taken []vnet.Step
	overtakes := false
	w := Walk{Algorithm: centralized.Algorithm(), Nodes: 6, Requests: Only(2, 5), Load: vnet.Churn, Seed: 7}
	w.Look = func(_ *Net, e *vnet.Event) error {
		taken = append(taken, e.Step)
		overtakes = overtakes || e.Index > 0
		return nil
	}
	net, err := w.Run()
	if err != nil || len(net.Entries) != 2 || net.Sent() != 6 {
		t.Fatalf("%d entries, %d messages, %v", len(net.Entries), net.Sent(), err)
	}
	first := slices.Clone(taken)
	taken = nil
	if _, err := w.Run(); err != nil || !slices.Equal(taken, first) {
		t.Errorf("%v and %v are the same walk; %v", first, taken, err)
	}
	taken, w.Most = nil, 3
	if _, err := w.Run(); err != nil || !slices.Equal(taken, first[:3]) {
		t.Errorf("after 3 steps of %v: %v, %v", first, taken, err)
	}
	w.Requests, w.Most = Each(8), 0
	for w.Seed = range uint64(50) {
		if _, err := w.Run(); err != nil || overtakes {
			t.Fatalf("a message has overtaken another: %t; %v", overtakes, err)
		}
	}
	w.Reorder = true
	for w.Seed = range uint64(50) {
		if _, err := w.Run(); err != nil {
			t.Fatal(err)
		}
	}
	if !overtakes {
		t.Error("no message has overtaken another")
	}
	seen := errors.New("seen enough")
	w.Look = func(*Net, *vnet.Event) error { return seen }
	if _, err := w.Run(); !errors.Is(err, seen) {
		t.Errorf("Look says %v, Run %v", seen, err)
	}
}

// What must be refused and is not, or changes a node, fails a test.
func TestRefusingLooksAtTheNodes(t *testing.T) {
	refuses := func(a *dme.Algorithm) bool {
		inner := new(testing.T)
		TestRefusals(inner, 1, 2, func() *Net { return Make(t, a, 3, nil) }, map[string][]dme.Message{"GRANT without a request": {{Kind: grant}}})
		return !inner.Failed()
	}
	if !refuses(centralized.Algorithm()) || refuses(withFault("never rests")) {
		t.Error("it fails where a message is refused, or not where it is accepted")
	}
}
