package vnet

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
)

func liveBytes() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// afterClasses takes steps at random from one representative to the next.
func afterClasses(classes *Classes, walker *Walker, first []uint32, most int) {
	rng := rand.New(rand.NewPCG(1, 2))
	v, next := slices.Clone(first), slices.Clone(first)
	for k := range most {
		if k%300 == 0 {
			copy(v, first)
		}
		steps, _ := walker.Enabled(v, nil)
		ways := 0.0
		classes.Step(walker, v, steps[rng.IntN(len(steps))], func(rep []uint32) {
			if ways++; rng.Float64() < 1/ways {
				copy(next, rep)
			}
		})
		copy(v, next)
	}
}

// afterSettling takes steps at random, and after each those that are forced.
func afterSettling(r *Reduction, walker *Walker, first []uint32, h Hash, most int) {
	rng := rand.New(rand.NewPCG(1, 2))
	r.Begin(first)
	walker.Reduce(r)
	v, at := slices.Clone(first), h
	for k := range most {
		if k%300 == 0 {
			copy(v, first)
			at = h
			r.Extend()
		}
		steps, _ := walker.Enabled(v, nil)
		walker.Do(v, at, steps[rng.IntN(len(steps))])
		walker.Settle(nil)
		copy(v, walker.Next)
		at = walker.Hash
	}
	walker.Reduce(nil)
}

// What tables say they take is about what the heap loses with them: classes with
// timestamps and without, and a reduction.
func TestFootprints(t *testing.T) {
	for _, x := range []struct {
		a         *dme.Algorithm
		unordered bool
		reduced   bool
		steps     int
	}{{lamport.Algorithm(), false, false, 12000}, {suzukikasami.Algorithm(), true, false, 12000}, {lamport.Algorithm(), false, true, 2000}} {
		opt, err := x.a.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewModel(Config{Algorithm: x.a, Nodes: 4, Options: opt, Unordered: x.unordered, Watch: WatchNothing})
		if err != nil {
			t.Fatal(err)
		}
		space := NewSpace(m)
		walker, classes, reduction := space.NewWalker(), space.NewClasses(), (*Reduction)(nil)
		first, h := space.Of(New(m))
		said := []int{0, 0, 0, 0}
		if x.reduced {
			reduction, _ = space.NewReduction(Brief)
			afterSettling(reduction, walker, first, h, x.steps)
			said[1] = reduction.Footprint()
		} else {
			afterClasses(classes, walker, slices.Clone(classes.Of(first)), x.steps)
		}
		said[0], said[2], said[3] = classes.Footprint(), walker.Footprint(), space.Footprint()
		before := liveBytes()
		drops := []func(){func() { classes = nil }, func() { reduction = nil }, func() { walker = nil }, func() { space = nil }}
		for i, drop := range drops {
			drop()
			now := liveBytes()
			held := before - now
			if before = now; held > 1<<14 && (said[i] < held*3/5 || said[i] > 2*held) {
				t.Errorf("%s, reduced %v: table %d holds %d bytes, and says %d", x.a.Name, x.reduced, i, held, said[i])
			}
		}
	}
}

// An invariant that panics is named, and nothing else is.
func TestInvariantsThatPanic(t *testing.T) {
	fine := dme.Invariant{Name: "fine", Holds: func(dme.GlobalView) error { return nil }}
	for name, bad := range map[string]dme.Invariant{
		"whole": {Name: "whole", Holds: func(dme.GlobalView) error { panic("oh") }},
		"pair":  {Name: "pair", Pair: func(_ dme.GlobalView, _, _ dme.NodeID, _, _ dme.Node) error { panic("oh") }},
	} {
		a := suzukikasami.Algorithm()
		a.Invariants = []dme.Invariant{fine, bad}
		opt, err := a.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewModel(Config{Algorithm: a, Nodes: 2, Options: opt})
		if err != nil {
			t.Fatal(err)
		}
		n, s := New(m), NewSpace(m)
		v, _ := s.Of(n)
		for form, got := range map[string]*Violation{"network": n.Violation, "space": s.NewWalker().Broken(v, dme.None)} {
			if got == nil || got.Property != Property(name) || !strings.Contains(got.Verdict, "panics: oh") {
				t.Errorf("%s, %s: %+v", form, name, got)
			}
		}
	}
}

// courier remembers, as a digest, all that has happened to it. It sends and broadcasts
// numbered messages, and sets timers of several lengths again and again.
type courier struct {
	id, n        dme.NodeID
	digest, sent uint64
	asking       bool
}

func couriers() *dme.Algorithm {
	return &dme.Algorithm{
		Name: "courier", Title: "courier", Citation: "none", Class: dme.Permission, Kinds: []string{"ASK", "ANSWER"},
		Needs:   dme.Always(dme.Needs{}),
		Prepare: dme.Unshared(func(n int, id dme.NodeID) dme.Node { return &courier{id: id, n: dme.NodeID(n)} }),
	}
}

func (c *courier) note(what uint64) { c.digest = 31*c.digest + what }

func (c *courier) message(kind dme.Kind) dme.Message {
	c.sent++
	return dme.Message{Kind: kind, Num: 100*uint64(c.id) + c.sent, Vec: []uint64{c.sent}}
}

func (c *courier) tellAll(kind dme.Kind, out *dme.Outbox) {
	m := c.message(kind)
	m.Flags = 1 // a broadcast
	out.Broadcast(m)
}

func (c *courier) Request(out *dme.Outbox) {
	c.asking = true
	c.tellAll(kindAsk, out)
	out.SetTimer(1, time.Second)
	out.SetTimer(2, 5*time.Second/2)
}

func (c *courier) Release(out *dme.Outbox) {
	c.tellAll(kindAnswer, out)
	out.SetTimer(3, time.Second/2)
}

func (c *courier) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	c.note(100*uint64(m.Kind) + m.Num)
	if m.Kind == kindAsk {
		out.Send(from, c.message(kindAnswer))
		out.Send(from, dme.Message{Kind: kindAnswer}) // as often before
	}
	switch {
	case m.Kind == kindAnswer && c.asking:
		c.asking = false
		out.Enter(dme.Stamp{})
	case m.Num%5 == 0:
		out.SetTimer(2, 2*time.Second)
	case m.Num%5 == 1:
		out.CancelTimer(1)
	case m.Num%5 == 2:
		out.Send(c.id%c.n+1, c.message(kindAnswer))
	}
}

func (c *courier) Timeout(id dme.TimerID, out *dme.Outbox) {
	c.note(uint64(id))
	if c.sent < 6 {
		out.Send(c.id%c.n+1, c.message(kindAnswer))
		out.SetTimer(id%3+1, time.Duration(id)*time.Second)
	}
}

func (c *courier) State(v *dme.Visitor) {
	v.Uint("digest", &c.digest)
	v.Uint("sent", &c.sent)
	v.Bool("asking", &c.asking)
}
