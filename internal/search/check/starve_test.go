package check

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/dme/collections"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit"
)

// promising returns a with the claim that it is free of starvation.
func promising(a *dme.Algorithm) *dme.Algorithm {
	a.Claims = dme.SafeAndLive("nowhere")
	return a
}

// readersFirst: node 1 coordinates, and lets readers in as long as there are any: a
// writer waits for the moment at which none is there.
func readersFirst() *dme.Algorithm {
	return toy("readers first", func(id dme.NodeID, n int) dme.Node { return &desk{id: id} }, "READ", "WRITE", "GRANT", "DONE")
}

type desk struct {
	id      dme.NodeID
	inside  uint64 // readers
	writing bool
	writers collections.NodeQueue
	readers collections.NodeQueue // who ask while somebody writes
}

const (
	deskRead dme.Kind = iota + 1
	deskWrite
	deskGrant
	deskDone
)

func (d *desk) Request(out *dme.Outbox)       { d.say(deskWrite, out) }
func (d *desk) RequestShared(out *dme.Outbox) { d.say(deskRead, out) }
func (d *desk) Release(out *dme.Outbox)       { d.say(deskDone, out) }

func (d *desk) say(kind dme.Kind, out *dme.Outbox) {
	if d.id == 1 {
		d.hear(1, kind, out)
	} else {
		out.Send(1, dme.Message{Kind: kind})
	}
}

func (d *desk) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) { d.hear(from, m.Kind, out) }

func (d *desk) hear(from dme.NodeID, kind dme.Kind, out *dme.Outbox) {
	switch kind {
	case deskGrant:
		out.Enter(dme.Stamp{})
		return
	case deskRead:
		d.readers.Push(from)
	case deskWrite:
		d.writers.Push(from)
	case deskDone:
		if d.writing {
			d.writing = false
		} else {
			d.inside--
		}
	}
	for !d.writing && !d.readers.Empty() {
		d.inside++
		d.grant(d.readers.Pop(), out)
	}
	if !d.writing && d.inside == 0 && !d.writers.Empty() {
		d.writing = true
		d.grant(d.writers.Pop(), out)
	}
}

func (d *desk) grant(id dme.NodeID, out *dme.Outbox) {
	if id == d.id {
		out.Enter(dme.Stamp{})
	} else {
		out.Send(id, dme.Message{Kind: deskGrant})
	}
}

func (d *desk) State(v *dme.Visitor) {
	v.Uint("inside", &d.inside)
	v.Bool("writing", &d.writing)
	d.writers.Show(v, "writers")
	d.readers.Show(v, "readers")
}

// What starves is found without a word of advice, in a schedule that holds nothing back
// for long.
func TestStarvationIsFound(t *testing.T) {
	for _, make := range []func() *dme.Algorithm{favouritism, readersFirst} {
		for _, n := range []int{3, 5} {
			a := promising(make())
			o := Defaults(a, n, nil)
			r, err := Random(t.Context(), a, o)
			if err != nil || r.Violation == nil || r.Violation.Property != Starvation {
				t.Fatalf("%s, N=%d: %v, %v in %d schedules", a.Name, n, err, r.Violation, r.Schedules)
			}
			if !strings.Contains(r.Violation.Verdict, "starves: ") || len(r.Trace.Events) == 0 {
				t.Errorf("%s, N=%d: %v", a.Name, n, r.Violation)
			}
			t.Logf("%s, N=%d: %v, in %d steps, schedule %d", a.Name, n, r.Violation, len(r.Trace.Events), r.Schedules)
			fair(t, r.Trace)

			// Nobody promises it: it is told, and breaks nothing.
			a = make()
			o.Schedules = 200
			r, err = Random(t.Context(), a, o)
			if err != nil || r.Violation != nil || r.Starved == 0 || !strings.Contains(r.Starving, "starves: ") {
				t.Errorf("%s, N=%d: %v, %+v", a.Name, n, err, r)
			}
			// Without an adversary nobody tries to.
			o.Adversary = Chance
			s, err := New(a, o)
			if err != nil || s.Watched() != "" {
				t.Errorf("%s: %q is watched, %v", a.Name, s.Watched(), err)
			}
			// Nor is anything said on links that are worse than it needs.
			o.Duplicate, o.Adversary = true, Mixed
			s, err = New(a, o)
			if err != nil || s.Watched() != "" {
				t.Errorf("%s: %q is watched, %v", a.Name, s.Watched(), err)
			}
		}
	}
}

// fair counts again, by the events of a trace alone, how many steps were taken before
// what was possible happened, and how often the node was passed over that is said to starve.
func fair(t *testing.T, trace *Trace) {
	t.Helper()
	victim := trace.Violation.Nodes[0]
	sent, inside := map[uint64]int{}, map[dme.NodeID]int{}
	delay, passed := 0, 0
	for i, e := range trace.Events {
		switch e.Kind {
		case vnet.Deliver:
			delay = max(delay, i-1-sent[e.Number])
			delete(sent, e.Number)
		case vnet.Exit:
			delay = max(delay, i-1-inside[e.Node])
			delete(inside, e.Node)
		case vnet.Ask, vnet.AskShared:
			if e.Node == victim {
				passed = 0
			}
		}
		for _, x := range e.Effects {
			switch x.Kind {
			case dme.EffectSend:
				sent[x.Number] = i
			case dme.EffectEnter:
				inside[e.Node] = i
				if passed++; e.Node == victim {
					passed = 0
				}
			}
		}
	}
	for _, at := range sent {
		delay = max(delay, len(trace.Events)-1-at)
	}
	for _, at := range inside {
		delay = max(delay, len(trace.Events)-1-at)
	}
	said := fmt.Sprintf("%d entries of others since it asked", passed)
	if passed <= tooMany(trace.Nodes, delay) || !strings.Contains(trace.Violation.Verdict, said) {
		t.Errorf("%v: %s, and a delay of %d", &trace.Violation, said, delay)
	}
}

// What is sound is never accused, of starvation or of more overtaking than its paper
// promises.
func TestSoundOnesDoNotStarve(t *testing.T) {
	sizes, schedules, seeds := []int{2, 3, 6}, 160, 1
	switch {
	case testkit.Full():
		sizes, schedules, seeds = []int{2, 3, 4, 5, 6, 7, 8, 9}, 2000, 5
	case testing.Short():
		sizes, schedules = []int{3}, 80
	}
	sound(t, sizes, func(t *testing.T, a *dme.Algorithm, o Options) {
		for k := range seeds {
			o := Defaults(a, o.Nodes, o.Set)
			o.Seed, o.Schedules = 1+1_000_000*uint64(k), schedules
			s, err := New(a, o)
			if err != nil {
				t.Fatal(err)
			}
			if p := s.Part(t.Context(), 0, schedules); p.Broken || p.Starved > 0 {
				_, v := s.schedule(int64(p.Done-1), nil)
				t.Errorf("N=%d, seed %d: %v %s", o.Nodes, o.Seed+uint64(p.Done-1), v, p.Starving)
			}
		}
	})
}

// The bounds of papers are held against, on the links that they speak of.
func TestPromisedBoundsAreWatched(t *testing.T) {
	reversed := ricartagrawala.Algorithm() // the sharpest bound counts, not the last
	reversed.Claims = slices.Clone(reversed.Claims)
	slices.Reverse(reversed.Claims)
	if got := watchedOn(t, reversed, true).Watched(); !strings.HasPrefix(got, "at most 8 entries of others") {
		t.Error(got)
	}
	for want, got := range map[string]*Search{
		"at most 14 entries of others between a request and its entry: N(N+1)/2 − 1, ":    watchedOn(t, ricartagrawala.Algorithm(), false),
		"at most 8 entries of others between a request and its entry: 2(N−1) (links that": watchedOn(t, ricartagrawala.Algorithm(), true),
		"at most 10 entries of others for each step of the longest delay":                 watchedOn(t, centralized.Algorithm(), false),
	} {
		if !strings.HasPrefix(got.Watched(), want) {
			t.Errorf("%q does not begin with %q", got.Watched(), want)
		}
	}
	// A claim that is too sharp is found to be false.
	a := centralized.Algorithm()
	a.Claims = append(a.Claims, dme.Claim{
		Quantity: dme.Bypass, Formula: "N−1", Load: dme.AnyLoad, Kind: dme.UpperBound, Source: "nowhere",
	})
	r, err := Random(t.Context(), a, Defaults(a, 3, nil))
	if err != nil || r.Violation == nil || r.Violation.Property != vnet.Overtaking ||
		!strings.Contains(r.Violation.Verdict, "3 entries of others since it asked, more than 2") {
		t.Errorf("%v, %v", err, r.Violation)
	}
}

func watchedOn(t *testing.T, a *dme.Algorithm, ordered bool) *Search {
	o := Defaults(a, 5, nil)
	o.Unordered = !ordered
	s, err := New(a, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A node whose request is never delivered is overtaken without end, but that is the
// schedule's fault: what waits for ever counts as held back.
func TestUnfairSchedulesAccuseNobody(t *testing.T) {
	s, err := New(centralized.Algorithm(), Options{Nodes: 3, Requests: 3000, Watch: true})
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(s, plan{model: s.model, victim: 2, patience: leastPatience(3)}, nil)
	r.take(vnet.Step{Kind: vnet.Ask, Node: 2})
	for range 900 {
		r.take(vnet.Step{Kind: vnet.Ask, Node: 1})
		r.take(vnet.Step{Kind: vnet.Exit, Node: 1})
	}
	if r.Violation != nil || r.hunger.passed[2] != 900 || r.hunger.most() != 1800 {
		t.Errorf("%v, passed over %d times, %d steps held back", r.Violation, r.hunger.passed[2], r.hunger.most())
	}
}

// Among what concerns others some schedules that starve a node go by chance, and some
// by priorities; nodes leave at any of three times.
func TestStarversDiffer(t *testing.T) {
	s := searchOf(t, centralized.Algorithm(), Options{Nodes: 3, Requests: 9})
	orders, leaving := map[bool]int{}, map[exits]int{}
	for seed := range uint64(60) {
		x := newStarver(plan{model: s.model, victim: 1, patience: 8}, newDelays(vnet.New(s.model)), rand.New(rand.NewPCG(seed, 3)))
		_, chance := x.order.(vnet.Chance)
		orders[chance]++
		leaving[x.exits]++
	}
	if orders[true] < 10 || orders[false] < 10 || len(leaving) != 3 {
		t.Errorf("by chance or not: %v; exits: %v", orders, leaving)
	}
}

// A schedule that starves a node ends when the node has been served for the second
// time: its others have more to ask for, and ask no more.
func TestStarvingEndsWithItsVictim(t *testing.T) {
	a := centralized.Algorithm()
	s := searchOf(t, a, Defaults(a, 4, nil))
	tried := 0
	for seed := uint64(1); tried < 20; seed++ {
		p, err := s.plan(seed)
		if err != nil {
			t.Fatal(err)
		}
		if p.victim == dme.None {
			continue
		}
		tried++
		r := s.draw(p, nil)
		asked := 0
		for _, x := range r.taken {
			if asks(x) && x.Node == p.victim {
				asked++
			}
		}
		if last := r.taken[len(r.taken)-1]; r.Violation != nil || asked != 2 || last.Kind != vnet.Exit || last.Node != p.victim {
			t.Errorf("seed %d: node %v asks %d times, and %v is last, %v", seed, p.victim, asked, last, r.Violation)
		}
	}
}

// Who has not asked does not starve, however often others enter.
func TestWhoHasNotAskedDoesNotStarve(t *testing.T) {
	s := searchOf(t, centralized.Algorithm(), Options{Nodes: 3, Requests: 3000, Watch: true})
	r := newRun(s, plan{model: s.model, victim: 2, patience: leastPatience(3)}, nil)
	for range 900 {
		r.take(vnet.Step{Kind: vnet.Ask, Node: 1})
		r.take(vnet.Step{Kind: vnet.Exit, Node: 1})
	}
	if r.Violation != nil {
		t.Error(r.Violation)
	}
}
