package vnet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// media are what links may do to messages, in all ways in which searches let them.
var media = []medium{
	{}, {Unordered: true}, {Duplicate: true}, {Lose: 2}, {Unordered: true, Duplicate: true, Lose: 1}, {Bounded: true},
	{Bounded: true, Unordered: true}, {Bounded: true, Duplicate: true, Lose: 1}, {Sequenced: true},
}

type medium Config

// withCouriers is a system of three couriers, which ask twice, on a medium.
func (c medium) withCouriers(t *testing.T) *Model {
	t.Helper()
	c.Algorithm, c.Nodes, c.Options = couriers(), 3, dme.Options{"bound": "1s"}
	c.Requests = func(dme.NodeID) int { return 2 }
	m, err := NewModel(Config(c))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (c medium) String() string {
	return fmt.Sprintf("unordered %v, duplicate %v, lose %d, bounded %v, sequenced %v",
		c.Unordered, c.Duplicate, c.Lose, c.Bounded, c.Sequenced)
}

// contents says what the steps are, by the content of the messages and not by their
// places, each once.
func contents(steps []Step, message func(Step) (*passage, []byte)) (all []string) {
	for _, x := range steps {
		words := x.String()
		if x.ofMessage() {
			p, body := message(x)
			x.Index = 0
			words = fmt.Sprintf("%v %v %d %v %x", x, p.copied, p.place, p.marks, body)
		}
		all = append(all, words)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// all tells everything that the way of a network depends on.
func all(n *Network) string {
	var b bytes.Buffer
	for id := range n.IDs() {
		fmt.Fprintf(&b, "%+v %s\n", n.processes[id], dme.DescribeState(n.runners[id].Node()))
	}
	for link := range n.links {
		var messages []string
		for _, x := range n.links[link].messages {
			messages = append(messages, fmt.Sprintf("%+v %+v", x.msg, x.passage))
		}
		if n.Unordered {
			slices.Sort(messages)
		}
		fmt.Fprintln(&b, link, messages)
	}
	fmt.Fprintln(&b, n.common.lose, n.common.timers)
	return b.String()
}

// outline says who waits, who is inside, and which links hold how much.
func outline(n *Network) string {
	waiting, inside, longest := 0, 0, 0
	for id := range n.IDs() {
		switch n.Activity(id) {
		case noderun.Requesting:
			waiting |= 1 << (id - 1)
		case noderun.Inside:
			inside |= 1 << (id - 1)
		}
	}
	var occupied []int
	for from := range n.IDs() {
		for to := range n.IDs() {
			if held := len(n.OnTheWay(from, to)); held > 0 {
				occupied = append(occupied, int(from-1)*n.Nodes+int(to-1))
				longest = max(longest, held)
			}
		}
	}
	return fmt.Sprintf("%v wait: %b, inside %b, occupied %v, at most %d", n.Waiting(), waiting, inside, occupied, longest)
}

func outlineOfVector(w *Walker, v []uint32) string {
	waiting, inside := w.Is(v)
	var occupied []int
	w.Occupied(v, func(link int) { occupied = append(occupied, link) })
	return fmt.Sprintf("%v wait: %b, inside %b, occupied %v, at most %d", w.Waiting(v), waiting, inside, occupied, w.Longest(v))
}

// Vectors and their hashes tell the same states apart as what nodes, links and timers
// hold, and the same steps lead from one to the next.
func TestMediaInBothForms(t *testing.T) {
	for _, c := range append(media, medium{Sequenced: true, Duplicate: true}) {
		m := c.withCouriers(t)
		space := NewSpace(m)
		walker := space.NewWalker()
		seen := make(map[Hash]string)
		for seed := range uint64(8) {
			rng := rand.New(rand.NewPCG(seed, 1))
			n := New(m)
			v, h := space.Of(n)
			for {
				steps, stuck := walker.Enabled(v, nil)
				inVector := contents(steps, func(x Step) (*passage, []byte) {
					p := walker.messages.at(walker.held(walker.link(x.From, x.Node))[x.Index])
					return &p.passage, []byte(p.body)
				})
				inNetwork := contents(n.Enabled(nil), func(x Step) (*passage, []byte) {
					p := &n.links[n.link(x.From, x.Node)].messages[x.Index]
					return &p.passage, dme.AppendMessage(nil, &p.msg)
				})
				if !slices.Equal(inVector, inNetwork) || stuck != n.Stuck() {
					t.Fatalf("%v, seed %d: %q are possible, the vector says %q", c, seed, inNetwork, inVector)
				}
				if got, want := outlineOfVector(walker, v), outline(n); got != want {
					t.Fatalf("%v, seed %d: %s, the vector says %s", c, seed, want, got)
				}
				if len(steps) == 0 {
					break
				}
				x := steps[rng.IntN(len(steps))]
				real, ok := walker.In(n, v, x)
				if !ok || !n.Possible(real) {
					t.Fatalf("%v, seed %d: %v is %v in the network, which is not possible there", c, seed, x, real)
				}
				walker.Do(v, h, x)
				n.Take(real)
				if v, h = space.Of(n); walker.Hash != h || !slices.Equal(walker.Next, v) {
					t.Fatalf("%v, seed %d: after %v the vector is of another state", c, seed, real)
				}
				if text, ok := seen[h]; ok && text != all(n) {
					t.Fatalf("%v, seed %d: one hash is of\n%sand of\n%s", c, seed, text, all(n))
				}
				seen[h] = all(n)
			}
		}
	}
}

// Between clocks of 2, 4 and 9 there are 2 and 5, also where they were counted up by
// different nodes; equal ones count once.
func TestDifferences(t *testing.T) {
	space, state := counters(t)
	classes := space.NewClasses()
	for _, x := range []struct {
		entries [3]int
		want    []uint64
	}{
		{[3]int{2, 4, 9}, []uint64{2, 5}}, {[3]int{9, 2, 4}, []uint64{2, 5}}, {[3]int{3, 3, 4}, []uint64{1}}, {[3]int{5, 5, 5}, nil},
	} {
		if got := classes.Differences(state(x.entries, dme.None)); !slices.Equal(got, x.want) {
			t.Errorf("%v: %v, want %v", x.entries, got, x.want)
		}
	}
}

// A representative covers the states with its differences, and no others.
func TestWhatARepresentativeCovers(t *testing.T) {
	space, state := counters(t)
	classes := space.NewClasses()
	rep := slices.Clone(classes.Of(state([3]int{1, 2, 5}, dme.None)))
	for _, x := range []struct {
		entries [3]int
		want    bool
	}{{[3]int{1, 2, 5}, true}, {[3]int{3, 4, 6}, true}, {[3]int{3, 4, 5}, false}, {[3]int{3, 3, 6}, false}, {[3]int{2, 1, 5}, false}} {
		if got := classes.Covers(rep, state(x.entries, dme.None)); got != x.want {
			t.Errorf("1, 2, 5 covers %v: %v", x.entries, got)
		}
	}
}
