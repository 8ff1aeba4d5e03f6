package vnet

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
)

func TestFields(t *testing.T) {
	m := dme.Message{
		Kind: 1, Flags: 5, Node: 3, Clock: 7, Num: 8, Req: dme.Stamp{Clock: 1, Node: 2}, Done: dme.Stamp{Clock: 0, Node: 4}, Vec: []uint64{9, 1},
	}
	const want = " flags=5 node=3 clock=7 num=8 req=(1,2) done=(0,4) vec=[9 1]"
	if got := fields(&m); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := fields(&dme.Message{Kind: 1}); got != "" {
		t.Error(got)
	}
}

func TestStepsInWords(t *testing.T) {
	for want, step := range map[string]Step{
		"ask 2":           {Kind: Ask, Node: 2},
		"ask-shared 2":    {Kind: AskShared, Node: 2},
		"leave 1":         {Kind: Leave, Node: 1},
		"deliver 2->1":    {Kind: Deliver, From: 2, Node: 1},
		"lose 2->1 #3":    {Kind: Lose, From: 2, Node: 1, Index: 3},
		"copy 12->1":      {Kind: Copy, From: 12, Node: 1},
		"fire 4 timer 20": {Kind: Fire, Node: 4, Timer: 20},
		"stop 3":          {Kind: Stop, Node: 3},
	} {
		if got := step.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

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
