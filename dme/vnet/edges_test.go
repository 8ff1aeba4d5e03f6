package vnet

import (
	"math/rand/v2"
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
