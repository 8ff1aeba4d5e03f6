package ricartagrawala

import (
	"fmt"
	"slices"
	"testing"

	"dmebench/dme"
)

// world is a state of a sequenced medium and its nodes. What is on the medium is
// one list of broadcasts, of which each node has heard some first part; so a
// state is small, and all of them can be visited.
type world struct {
	nodes  []string // saved, of node i+1
	medium []broadcast
	heard  []int // by node: how many of them
	left   []int // by node: requests still to make
	doing  []doing
}

type broadcast struct {
	from dme.NodeID
	kind dme.Kind
}

type doing int

const (
	idle doing = iota
	waiting
	inside
)

// explorer visits every state.
type explorer struct {
	nodes   int
	seen    map[string]bool
	entries int
}

// step returns the world after an event at node i+1.
func (e *explorer) step(w world, i int, event func(*listener, *dme.Outbox)) (world, error) {
	n := newListener(e.nodes, dme.NodeID(i+1)).(*listener)
	if _, err := dme.LoadState([]byte(w.nodes[i]), n); err != nil {
		return w, err
	}
	var out dme.Outbox
	event(n, &out)
	next := world{
		nodes: slices.Clone(w.nodes), medium: slices.Clone(w.medium),
		heard: slices.Clone(w.heard), left: slices.Clone(w.left), doing: slices.Clone(w.doing),
	}
	next.nodes[i] = string(dme.SaveState(nil, n))
	for _, x := range out.Effects() {
		switch x.Kind {
		case dme.EffectBroadcast:
			next.medium = append(next.medium, broadcast{n.me, x.Msg.Kind})
		case dme.EffectEnter:
			e.entries++
			if next.doing[i] != waiting {
				return next, fmt.Errorf("node %d enters unasked", n.me)
			}
			next.doing[i] = inside
			for j, d := range next.doing {
				if j != i && d == inside {
					return next, fmt.Errorf("nodes %d and %d are in the critical section", j+1, n.me)
				}
			}
		default:
			return next, fmt.Errorf("node %d: %+v", n.me, x)
		}
	}
	return next, nil
}

// visit visits w and all that follows.
func (e *explorer) visit(w world) error {
	key := fmt.Sprint(w)
	if e.seen[key] {
		return nil
	}
	e.seen[key] = true
	moves := 0
	try := func(i int, event func(*listener, *dme.Outbox), change func(*world)) error {
		moves++
		before := w
		before.heard, before.left, before.doing = slices.Clone(w.heard), slices.Clone(w.left), slices.Clone(w.doing)
		change(&before)
		next, err := e.step(before, i, event)
		if err == nil {
			err = e.visit(next)
		}
		return err
	}
	for i := range w.nodes {
		var err error
		if w.heard[i] < len(w.medium) {
			b := w.medium[w.heard[i]]
			err = try(i, func(n *listener, out *dme.Outbox) {
				if m := (dme.Message{Kind: b.kind}); b.from == n.me {
					n.Transmitted(m, out)
				} else {
					n.Receive(b.from, m, out)
				}
			}, func(w *world) { w.heard[i]++ })
		}
		if err == nil && w.doing[i] == idle && w.left[i] > 0 {
			err = try(i, (*listener).Request, func(w *world) { w.left[i]--; w.doing[i] = waiting })
		}
		if err == nil && w.doing[i] == inside {
			err = try(i, (*listener).Release, func(w *world) { w.doing[i] = idle })
		}
		if err != nil {
			return err
		}
	}
	if moves == 0 {
		for i, d := range w.doing {
			if d != idle {
				return fmt.Errorf("node %d waits and nothing moves", i+1)
			}
		}
	}
	return nil
}

// TestEveryScheduleOfASequencedMedium visits every state of small systems.
func TestEveryScheduleOfASequencedMedium(t *testing.T) {
	for _, x := range []struct{ nodes, requests int }{{1, 3}, {2, 3}, {3, 1}} { // of each node
		e := explorer{nodes: x.nodes, seen: map[string]bool{}}
		w := world{heard: make([]int, x.nodes), doing: make([]doing, x.nodes)}
		for i := range x.nodes {
			w.nodes = append(w.nodes, string(dme.SaveState(nil, newListener(x.nodes, dme.NodeID(i+1)))))
			w.left = append(w.left, x.requests)
		}
		if err := e.visit(w); err != nil {
			t.Errorf("%+v: %v", x, err)
		}
		if e.entries == 0 || len(e.seen) < 10 {
			t.Errorf("%+v: %d states, %d entries", x, len(e.seen), e.entries)
		}
		t.Logf("%d nodes, %d requests each: %d states", x.nodes, x.requests, len(e.seen))
	}
}
