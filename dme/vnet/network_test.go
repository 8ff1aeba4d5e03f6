package vnet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
)

// A network that is loaded goes on as the one that was saved.
func TestLoadedNetworksGoOn(t *testing.T) {
	for _, c := range []struct {
		alg *dme.Algorithm
		set map[string]string
	}{
		{suzukikasami.Algorithm(), nil}, {ricartagrawala.ReadersWriters(), nil}, {ricartagrawala.Implicit(), nil},
		{ricartagrawala.Broadcast(), map[string]string{"form": "sequenced"}},
	} {
		opt, err := c.alg.Resolve(c.set)
		if err != nil {
			t.Fatal(err)
		}
		needs := c.alg.Needs(opt)
		m, err := NewModel(Config{
			Algorithm: c.alg, Nodes: 3, Options: opt, Bounded: needs.BoundedDelay, Sequenced: needs.SequencedBroadcast,
			Requests: func(dme.NodeID) int { return 3 },
		})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		s := &Schedule{Network: New(m), Rand: rng, Load: Churn, Readers: 0.5, Choose: Chance{rng}}
		unread := New(m) // takes the same steps without noting them down
		saved := [][]byte{s.Save(nil)}
		var steps []Step
		for x, ok := s.Next(); ok; x, ok = s.Next() {
			s.Do(x)
			steps = append(steps, x)
			saved = append(saved, s.Save(nil))
			if unread.Take(x); !bytes.Equal(unread.Save(nil), s.Save(nil)) {
				t.Fatalf("%s: %v leads elsewhere where nobody reads what came of it", c.alg.Name, x)
			}
		}
		if len(steps) < 30 || s.Violation != nil {
			t.Fatalf("%s: %d steps, %v", c.alg.Name, len(steps), s.Violation)
		}
		n := New(m)
		for _, k := range rng.Perm(len(steps)) {
			if err := n.Load(saved[k]); err != nil {
				t.Fatalf("%s: %v", c.alg.Name, err)
			}
			if again := n.Save(nil); !bytes.Equal(again, saved[k]) {
				t.Fatalf("%s, step %d: loaded and saved again, %x is %x", c.alg.Name, k, saved[k], again)
			}
			if !n.Possible(steps[k]) {
				t.Fatalf("%s: %v is not possible", c.alg.Name, steps[k])
			}
			if n.Do(steps[k]); !bytes.Equal(n.Save(nil), saved[k+1]) {
				t.Fatalf("%s, step %d: %v leads elsewhere from a loaded state", c.alg.Name, k, steps[k])
			}
		}
		if n.Load(append(saved[0], 1)) == nil || n.Load(saved[len(saved)-1][:1]) == nil {
			t.Errorf("%s: what is no state is loaded", c.alg.Name)
		}
	}
}

func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table table
		twin := map[uint64]uint32{}
		for range rapid.IntRange(0, 3000).Draw(t, "puts") {
			key := rapid.Uint64Range(0, 1<<62).Draw(t, "key")
			if value, ok := table.get(key); ok != (twin[key] != 0) || value != twin[key] {
				t.Fatalf("%d: %d, %v; want %d", key, value, ok, twin[key])
			}
			if twin[key] == 0 {
				twin[key] = uint32(len(twin) + 1)
				table.put(key, twin[key])
			}
		}
		for key, want := range twin {
			if value, ok := table.get(key); !ok || value != want {
				t.Fatalf("%d: %d, %v; want %d", key, value, ok, want)
			}
		}
	})
}

// Equal bytes get equal numbers, whoever brings them.
func TestPool(t *testing.T) {
	var p pool[string]
	const workers, most = 4, 3000
	var ids [workers][most]uint32
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range most {
				k := (i*7 + w*1000) % most
				key := binary.AppendUvarint(nil, uint64(k))
				ids[w][k] = p.id(key, func(x *string, _ uint32, key string) { *x = fmt.Sprint(k, len(key)) })
				if got := *p.at(ids[w][k]); got != fmt.Sprint(k, len(key)) {
					t.Errorf("component %d is %s", k, got)
				}
			}
		})
	}
	wg.Wait()
	if p.count != most {
		t.Errorf("%d components, want %d", p.count, most)
	}
	for w := range workers {
		if ids[w] != ids[0] {
			t.Errorf("worker %d has other numbers than worker 0", w)
		}
	}
}

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

// Steps are told in words, those too that no search of the tests finds, and messages with
// all their fields.
func TestEventsInWords(t *testing.T) {
	n := small(t, suzukikasami.Algorithm(), false, 1)
	m := dme.Message{
		Kind: 1, Flags: 2, Node: 3, Clock: 4, Num: 5, Req: dme.Stamp{Clock: 6, Node: 1}, Done: dme.Stamp{Clock: 7, Node: 2}, Vec: []uint64{8, 9},
	}
	for want, x := range map[string]Event{
		"node 2 is told to leave the system": {Step: Step{Kind: dme.Depart, Node: 2}},
		"node 2 hears that node 1 is up":     {Step: Step{Kind: dme.PeerUp, From: 1, Node: 2}},
		"REQUEST 1→2 flags=2 node=3 clock=4 num=5 req=(6,1) done=(7,2) vec=[8 9] arrives": {
			Step: Step{Kind: dme.Receive, From: 1, Node: 2}, Msg: m,
		},
	} {
		if got := x.Describe(n.Algorithm); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Messages of one kind and one content that a step sends are told together, and others
// apart.
func TestEffectsInWords(t *testing.T) {
	n := small(t, suzukikasami.Algorithm(), false, 1)
	send := func(to dme.NodeID, kind dme.Kind, clock uint64) Effect {
		return Effect{Effect: dme.Effect{Kind: dme.Send, To: to, Msg: dme.Message{Kind: kind, Clock: clock}}}
	}
	enters := Effect{Effect: dme.Effect{Kind: dme.Enter}}
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
		e := &Event{Step: Step{Kind: dme.Request, Node: 2}, Effects: x.effects}
		if got := e.effects(n.Algorithm); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}
