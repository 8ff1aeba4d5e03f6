package vnet

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/suzukikasami"
	"dmebench/algorithms/tokenring"
	"dmebench/dme"
)

func small(t *testing.T, a *dme.Algorithm, stops bool, requests int) *Network {
	t.Helper()
	opt, err := a.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewModel(Config{Algorithm: a, Nodes: 3, Options: opt, Requests: func(dme.NodeID) int { return requests }})
	if err != nil {
		t.Fatal(err)
	}
	m.Stops = stops
	return New(m)
}

// Nodes are told to stop where they want to be told, and once they have no more requests
// to make.
func TestStopsArePossible(t *testing.T) {
	for _, x := range []struct {
		stops    bool
		requests int
		want     bool
	}{{false, 0, false}, {true, 0, true}, {true, 1, false}, {false, 1, false}} {
		n := small(t, tokenring.Algorithm(), x.stops, x.requests)
		if got := n.Possible(Step{Kind: Stop, Node: 2}); got != x.want {
			t.Errorf("told %v, with %d requests: %v", x.stops, x.requests, got)
		}
	}
}

// A network that was loaded knows who waits as well as the one that was saved.
func TestLoadedNetworksKnowWhoWaits(t *testing.T) {
	n, loaded := small(t, suzukikasami.Algorithm(), false, 3), small(t, suzukikasami.Algorithm(), false, 3)
	rng := rand.New(rand.NewPCG(71, 72))
	s := &Schedule{Network: n, Rand: rng, Load: Churn, Choose: Chance{rng}}
	s.Begin()
	idle, busy := 0, 0
	for {
		x, ok := s.Next()
		if !ok {
			break
		}
		n.Do(x)
		if err := loaded.Load(n.Save(nil)); err != nil {
			t.Fatal(err)
		}
		if loaded.allIdle() != n.allIdle() || loaded.Stuck() != n.Stuck() || loaded.waiting != n.waiting || loaded.Served() != n.Served() {
			t.Fatalf("after %v, %d wait, and %d after loading", x, n.waiting, loaded.waiting)
		}
		if n.allIdle() {
			idle++
		} else {
			busy++
		}
	}
	if idle < 1 || busy < 10 {
		t.Errorf("all were idle %d times, and not %d times: the schedule is too tame", idle, busy)
	}
}

// Messages of one kind and one content that a step sends are told together, and others
// apart.
func TestEffectsInWords(t *testing.T) {
	n := small(t, suzukikasami.Algorithm(), false, 1)
	send := func(to dme.NodeID, kind dme.Kind, clock uint64) Effect {
		return Effect{Effect: dme.Effect{Kind: dme.EffectSend, To: to, Msg: dme.Message{Kind: kind, Clock: clock}}}
	}
	enters := Effect{Effect: dme.Effect{Kind: dme.EffectEnter}}
	lost := send(2, 1, 7)
	lost.Lost = true
	for _, x := range []struct {
		effects []Effect
		want    string
	}{
		{[]Effect{send(1, 1, 7), send(3, 1, 7)}, "REQUEST 2→1 2→3 clock=7"},
		{[]Effect{send(1, 1, 7), send(3, 1, 8)}, "REQUEST 2→1 clock=7, REQUEST 2→3 clock=8"},
		{[]Effect{send(1, 1, 7), send(3, 2, 7)}, "REQUEST 2→1 clock=7, TOKEN 2→3 clock=7"},
		{[]Effect{send(1, 1, 7), enters, send(3, 1, 7)}, "REQUEST 2→1 clock=7, node 2 enters, REQUEST 2→3 clock=7"},
		{[]Effect{send(1, 1, 7), lost}, "REQUEST 2→1 2→2 (lost) clock=7"},
		{nil, ""},
	} {
		e := &Event{Step: Step{Kind: Ask, Node: 2}, Effects: x.effects}
		if got := e.effects(n.Algorithm); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

// Only a node that is down comes back, and only one that may.
func TestWhoReturns(t *testing.T) {
	for _, restarts := range []bool{true, false} {
		n := newDiaries(t, Config{Nodes: 3, Crashes: 2, Restarts: restarts})
		if x, ok := n.Return(); ok {
			t.Errorf("%v, and all nodes are there", x)
		}
		do(t, n, Step{Kind: Crash, Node: 2})
		if x, ok := n.Return(); ok != restarts || ok && x != (Step{Kind: Restart, Node: 2}) {
			t.Errorf("restarts %v: %v, %v", restarts, x, ok)
		}
	}
}

// A message on a link that loses arrives or gets lost; on one that duplicates it may also
// arrive twice; on one that does neither it arrives.
func TestFatesOfAMessage(t *testing.T) {
	opt, err := suzukikasami.Algorithm().Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		duplicate bool
		lose      int
		want      string
	}{
		{false, 0, "deliver 2->1 deliver 2->3"}, {false, 1, "deliver 2->1 lose 2->1 deliver 2->3 lose 2->3"},
		{true, 0, "deliver 2->1 copy 2->1 deliver 2->3 copy 2->3"},
		{true, 1, "deliver 2->1 copy 2->1 lose 2->1 deliver 2->3 copy 2->3 lose 2->3"},
	} {
		m, err := NewModel(Config{
			Algorithm: suzukikasami.Algorithm(), Nodes: 3, Options: opt, Duplicate: x.duplicate, Lose: x.lose,
			Requests: func(id dme.NodeID) int { return int(id) % 3 / 2 }, // node 2 alone
		})
		if err != nil {
			t.Fatal(err)
		}
		n := New(m)
		n.Do(Step{Kind: Ask, Node: 2})
		var all []string
		for _, step := range n.Enabled(nil) {
			all = append(all, step.String())
		}
		if got := strings.Join(all, " "); got != x.want {
			t.Errorf("duplicates %v, loses %d: %s; want %s", x.duplicate, x.lose, got, x.want)
		}
	}
}

// Only in bursts do all ask together: at random, they ask one by one.
func TestWhoAsksTogether(t *testing.T) {
	for load, want := range map[Load]int{Bursts: 2, Churn: 0, Saturation: 2} {
		rng := rand.New(rand.NewPCG(81, 82))
		s := &Schedule{Network: small(t, suzukikasami.Algorithm(), false, 3), Rand: rng, Load: load, Choose: Chance{rng}}
		s.Begin()
		if x, ok := s.Next(); !ok || x.Kind != Ask || len(s.due) != want {
			t.Errorf("%v: first %v, and %d are to ask next; want %d", load, x, len(s.due), want)
		}
	}
}

// Nodes that could crash do so while there is something left to do, if only for those
// who wait in vain; once everything is at rest the schedule ends.
func TestNoFaultAfterTheEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(91, 92))
	n := newDiaries(t, Config{Nodes: 2, Crashes: 2})
	s := &Schedule{Network: n, Rand: rng, Load: Saturation, Choose: Chance{rng}, Fault: 1}
	if x, ok := s.Next(); ok {
		t.Errorf("%v, and everything is at rest", x)
	}
	do(t, n, Step{Kind: Ask, Node: 1})
	if x, ok := s.Next(); !ok || x.Kind != Crash {
		t.Errorf("%v, %v; want a crash", x, ok)
	}
}

// told is a node that wants to be told when no more requests will come.
type told struct{ diary }

func (d *told) Stop(*dme.Outbox) { d.note("stop") }

// A node that is down keeps the others from being told to stop as long as it may come
// back and ask, and is told nothing itself.
func TestStopsWhileANodeIsDown(t *testing.T) {
	for _, x := range []struct {
		restarts bool
		requests int // of the node that is down
		want     bool
	}{{false, 1, true}, {true, 1, false}, {false, 0, true}, {true, 0, true}} {
		a := diaries()
		a.Prepare = dme.Unshared(func(n int, id dme.NodeID) dme.Node { return &told{diary{id: int(id), n: n}} })
		m, err := NewModel(Config{
			Algorithm: a, Nodes: 3, Crashes: 1, Restarts: x.restarts, Requests: func(id dme.NodeID) int { return x.requests * (int(id) % 2) },
		})
		if err != nil {
			t.Fatal(err)
		}
		n := New(m)
		n.processes[3].requests = 0 // node 1 alone asks
		if got := n.Possible(Step{Kind: Stop, Node: 2}); got != (x.requests == 0) {
			t.Errorf("%+v: before the crash %v", x, got)
		}
		n.Do(Step{Kind: Crash, Node: 1})
		for id, want := range map[dme.NodeID]bool{1: false, 2: x.want, 3: x.want} {
			stop := Step{Kind: Stop, Node: id}
			if got := n.Possible(stop); got != want || slices.Contains(n.Enabled(nil), stop) != want {
				t.Errorf("%+v: node %d is told to stop: %v, want %v", x, id, got, want)
			}
		}
	}
}

// Bytes that no node and no message can have made are a fault that does not go unseen.
func TestForeignComponents(t *testing.T) {
	for what, load := range map[string]func(){
		"state":   func() { (&local{state: "\x80"}).load(new(diary)) },
		"message": func() { (&message{body: "\x80"}).decode(new(dme.Message)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a %s of half a number is read", what)
				}
			}()
			load()
		}()
	}
}

// Steps are told in words, each in its own.
func TestEventsInWords(t *testing.T) {
	n := small(t, suzukikasami.Algorithm(), false, 1)
	m := dme.Message{
		Kind: 1, Flags: 2, Node: 3, Clock: 4, Num: 5, Req: dme.Stamp{Clock: 6, Node: 1}, Done: dme.Stamp{Clock: 7, Node: 2}, Vec: []uint64{8, 9},
	}
	enters := Effect{Effect: dme.Effect{Kind: dme.EffectEnter}}
	const fields = " flags=2 node=3 clock=4 num=5 req=(6,1) done=(7,2) vec=[8 9]"
	for want, x := range map[string]Event{
		"node 2 asks":                                         {Step: Step{Kind: Ask, Node: 2}},
		"node 2 asks, as a reader":                            {Step: Step{Kind: AskShared, Node: 2}},
		"node 2 leaves":                                       {Step: Step{Kind: Leave, Node: 2}},
		"node 2 starts: node 2 enters":                        {Step: Step{Node: 2}, Effects: []Effect{enters}},
		"REQUEST 1→2" + fields + " arrives":                   {Step: Step{Kind: Deliver, From: 1, Node: 2}, Msg: m},
		"REQUEST 1→2" + fields + " arrives: refused, it is 3": {Step: Step{Kind: Deliver, From: 1, Node: 2}, Msg: m, Refused: "it is 3"},
		"TOKEN 1→2 arrives, and will again":                   {Step: Step{Kind: Copy, From: 1, Node: 2}, Msg: dme.Message{Kind: 2}},
		"TOKEN 1→2 is lost":                                   {Step: Step{Kind: Lose, From: 1, Node: 2}, Msg: dme.Message{Kind: 2}},
		"timer 4 of node 2 fires":                             {Step: Step{Kind: Fire, Node: 2, Timer: 4}},
		"node 2 is told that no more requests will come":      {Step: Step{Kind: Stop, Node: 2}},
		"node 2 crashes":                                      {Step: Step{Kind: Crash, Node: 2}},
		"node 2 hears that node 1 is down":                    {Step: Step{Kind: Down, From: 1, Node: 2}},
		"node 2 hears that node 1 is up":                      {Step: Step{Kind: Up, From: 1, Node: 2}},
	} {
		if got := x.Describe(n.Algorithm); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
