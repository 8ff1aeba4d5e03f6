package vnet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

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

// Messages have the same number where they say the same on the same way, and so has what
// belongs to the whole network: nothing runs into what is written behind it.
func TestNumbersOfComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c components
		few := func(what string) int { return rapid.IntRange(0, 2).Draw(t, what) }
		messages, rests := map[string]uint32{}, map[string]uint32{}
		numbers := map[uint32]string{}
		restsOf := map[uint32]string{}
		for range 40 {
			p := passage{From: 1, To: dme.NodeID(2 + few("to")), copied: few("copied") == 0}
			if few("broadcast") == 0 {
				p.broadcast, p.place = true, int32(few("place"))
			}
			for range few("marks") {
				p.marks = append(p.marks, mark{dme.NodeID(1 + few("node")), dme.TimerID(few("timer")), 1 + few("hops")})
			}
			body := make([]byte, 1+4*few("length"))
			for i := range body {
				body[i] = byte(few("byte"))
			}
			text := fmt.Sprintf("%+v %x", p, body)
			number, _ := c.messageOf(nil, p, body)
			if before, known := messages[text]; known && before != number {
				t.Fatalf("%s has the numbers %d and %d", text, before, number)
			}
			if before, known := numbers[number]; known && before != text {
				t.Fatalf("%s and %s have one number", before, text)
			}
			messages[text], numbers[number] = number, text
			x := shared{lose: few("lose"), crashes: few("crashes"), departures: few("departures"), overtaken: []int{0, few("overtaken")}}
			for range few("timers") {
				x.timers = append(x.timers, Timer{Node: dme.NodeID(1 + few("node")), ID: dme.TimerID(few("timer")), Delay: 1})
			}
			text = fmt.Sprintf("%+v", x)
			number, _ = c.restOf(nil, &x)
			if before, known := rests[text]; known && before != number {
				t.Fatalf("%s has the numbers %d and %d", text, before, number)
			}
			if before, known := restsOf[number]; known && before != text {
				t.Fatalf("%s and %s have one number", before, text)
			}
			rests[text], restsOf[number] = number, text
		}
	})
}

// Marks are told from what a message says.
func TestMarksAreNoContent(t *testing.T) {
	var c components
	plain := passage{From: 1, To: 2}
	short, _ := c.messageOf(nil, plain, []byte{7})
	marked, _ := c.messageOf(nil, passage{From: 1, To: 2, marks: []mark{{1, 1, 1}}}, []byte{7})
	long, _ := c.messageOf(nil, plain, []byte{1, 1, 1, 7})
	if marked == long || short == long || short == marked {
		t.Errorf("a message, the same with a mark, and one that says what the mark does have the numbers %d, %d and %d", short, marked, long)
	}
}

// On a sequenced medium the places of the broadcasts on their way are 1, 2, and so on:
// the first one is taken away with the last copy of its broadcast.
func TestPlacesOfBroadcasts(t *testing.T) {
	most := int32(0)
	for _, c := range []medium{{Sequenced: true}, {Sequenced: true, Unordered: true}, {Sequenced: true, Duplicate: true}} {
		m := c.withCouriers(t)
		for seed := range uint64(12) {
			n, rng := New(m), rand.New(rand.NewPCG(seed, 5))
			for steps := n.Enabled(nil); len(steps) > 0; steps = n.Enabled(steps[:0]) {
				x := steps[rng.IntN(len(steps))]
				n.Do(x)
				var places []int32
				for link := range n.links {
					for _, l := range n.links[link].messages {
						if l.place > 0 {
							places = append(places, l.place)
						}
					}
				}
				slices.Sort(places)
				for i, place := range slices.Compact(places) {
					if most = max(most, place); place != int32(i)+1 {
						t.Fatalf("%v, seed %d: after %v the places are %v", c, seed, x, places)
					}
				}
			}
		}
	}
	if most < 3 {
		t.Errorf("no more than %d broadcasts have a place at a time: that shows little", most)
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
