package vnet

import (
	"testing"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/naimitrehel"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
)

// explored is what must not depend on reduction: every state in which nothing is
// possible any more, every message that is ever sent, and whether a property is
// broken.
type explored struct {
	ends, sent map[Hash]bool
	broken     bool
	states     int
}

// explore visits all states, with reduction r where it is not nil, and begins again
// until r has known all messages from the beginning.
func (c *system) explore(t *testing.T, reduce bool) explored {
	t.Helper()
	opt, err := c.alg.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewModel(Config{
		Algorithm: c.alg, Nodes: c.nodes, Options: opt, Unordered: c.unordered, Watch: WatchNothing, Recover: true,
		Requests: func(id dme.NodeID) int {
			if c.first && id != 1 {
				return 0
			}
			return c.each
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSpace(m)
	var r *Reduction
	if reduce {
		var why string
		if r, why = s.NewReduction(Brief); why != "" {
			t.Fatal(why)
		}
	}
	for {
		e := visit(s, r)
		if r == nil || r.Extend() {
			return e
		}
	}
}

func visit(s *Space, r *Reduction) explored {
	e := explored{ends: map[Hash]bool{}, sent: map[Hash]bool{}}
	w := s.NewWalker()
	v, h := s.Of(New(s.Model))
	if r != nil {
		r.Begin(v)
		w.Reduce(r)
	}
	type state struct {
		v []uint32
		h Hash
	}
	seen := map[Hash]bool{h: true}
	look := func(v []uint32) {
		for _, q := range v[s.Nodes : s.width-1] {
			for _, p := range s.queues.at(q).messages {
				e.sent[s.messages.at(p).Hash] = true
			}
		}
	}
	look(v)
	for todo := []state{{v, h}}; len(todo) > 0; {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		steps, stuck := w.Enabled(x.v, nil)
		e.broken = e.broken || stuck
		if len(steps) == 0 {
			e.ends[x.h] = true
		}
		for _, step := range steps {
			bad := w.Do(x.v, x.h, step)
			look(w.Next)
			if bad == nil && r != nil {
				_, bad = w.Settle(func(v []uint32, _ Hash, _ Step) { look(v) })
				look(w.Next)
			}
			if bad != nil {
				e.broken = true
			} else if !seen[w.Hash] {
				seen[w.Hash] = true
				todo = append(todo, state{append([]uint32(nil), w.Next...), w.Hash})
			}
		}
	}
	e.states = len(seen)
	return e
}

// same reports whether two visits came to the same.
func (e explored) same(x explored) bool {
	equal := func(a, b map[Hash]bool) bool {
		for h := range a {
			if !b[h] {
				return false
			}
		}
		return len(a) == len(b)
	}
	return e.broken == x.broken && equal(e.ends, x.ends) && equal(e.sent, x.sent)
}

type system struct {
	alg         *dme.Algorithm
	nodes, each int
	unordered   bool
	first       bool // node 1 alone asks
}

// systems are small ones, on which each fault of the reduction shows.
var systems = []system{
	{ricartagrawala.Algorithm(), 2, 2, false, false},
	{ricartagrawala.Algorithm(), 3, 1, true, false},
	{suzukikasami.Algorithm(), 3, 1, false, false},
	{suzukikasami.Algorithm(), 2, 2, true, false},
	{raymond.Algorithm(), 3, 1, false, false},
	{naimitrehel.Algorithm(), 3, 1, true, false},
	{lamport.Algorithm(), 2, 2, false, false},
	{chronicle(), 3, 1, false, false},
	{chronicle(), 3, 1, false, true},
}

// chronicle is no mutual exclusion: its nodes write down in which order messages come,
// and one of them only how many had come from a second when the last came from a
// third.
func chronicle() *dme.Algorithm {
	return &dme.Algorithm{
		Name: "chronicle", Kinds: []string{"NOTE"}, Needs: dme.Always(dme.Needs{Reliable: true}),
		Prepare: dme.Unshared(func(_ int, id dme.NodeID) dme.Node { return &chronicler{id: id} }),
	}
}

type chronicler struct {
	id                  dme.NodeID
	order               uint64
	second, third, last uint64
}

func (w *chronicler) Request(out *dme.Outbox) {
	out.Broadcast(dme.Message{Kind: 1})
	out.Broadcast(dme.Message{Kind: 1})
}

func (w *chronicler) Release(*dme.Outbox) {}

func (w *chronicler) Receive(from dme.NodeID, _ dme.Message, out *dme.Outbox) {
	switch {
	case w.id != 1:
		w.order = 4*w.order + uint64(from)
		if from == 1 {
			out.Send(1, dme.Message{Kind: 1})
		}
	case from == 2:
		w.second++
	default:
		if w.third++; w.third == 2 {
			w.last = w.second
		}
	}
}

func (w *chronicler) State(v *dme.Visitor) {
	v.Uint("order", &w.order)
	v.Uint("second", &w.second)
	v.Uint("third", &w.third)
	v.Uint("last", &w.last)
}

// With reduction a search comes to the same ends, by the same messages, as its
// twin without.
func TestReductionLeavesOutNothing(t *testing.T) {
	left := 0
	for _, c := range systems {
		want := c.explore(t, false)
		got := c.explore(t, true)
		if !got.same(want) || got.states > want.states {
			t.Errorf("%s, N=%d, %d each: with reduction %d ends, %d messages, broken %v, in %d states; without %d, %d, %v, in %d", c.alg.Name,
				c.nodes, c.each, len(got.ends), len(got.sent), got.broken, got.states, len(want.ends), len(want.sent), want.broken, want.states)
		}
		if got.states < want.states/2 {
			left++
		}
	}
	if left < 3 {
		t.Errorf("of %d systems %d need half as many states", len(systems), left)
	}
}

// volley is a message that nodes 1 and 2 pass to each other for ever. Its first passes
// are numbered.
type volley struct{ id dme.NodeID }

func (v volley) Request(out *dme.Outbox) { out.Send(3-v.id, dme.Message{Kind: 1, Num: 1}) }
func (volley) Release(*dme.Outbox)       {}
func (volley) State(*dme.Visitor)        {}

func (v volley) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	out.Send(from, dme.Message{Kind: 1, Num: min(m.Num+1, 5)})
}

// Arrivals that are forced for ever come to an end as soon as a state has come back, and
// not only the one after the first.
func TestForcedArrivalsEndInALoop(t *testing.T) {
	m, err := NewModel(Config{
		Algorithm: &dme.Algorithm{
			Name: "volley", Kinds: []string{"BALL"}, Needs: dme.Always(dme.Needs{Reliable: true}),
			Prepare: dme.Unshared(func(_ int, id dme.NodeID) dme.Node { return volley{id} }),
		},
		Nodes: 2, Watch: WatchNothing, Recover: true,
		Requests: func(id dme.NodeID) int { return int(2 - id) },
	})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSpace(m)
	r, why := s.NewReduction(Brief)
	if why != "" {
		t.Fatal(why)
	}
	for {
		w := s.NewWalker()
		v, h := s.Of(New(m))
		r.Begin(v)
		w.Reduce(r)
		w.Do(v, h, Step{Kind: dme.Request, Node: 1})
		taken, bad := w.Settle(nil)
		if r.Extend() {
			// Six arrivals lead to a state that has been met after four.
			if bad != nil || taken < 6 || taken > 3*6 {
				t.Errorf("%d arrivals, %v", taken, bad)
			}
			return
		}
	}
}
