package vnet

import (
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/algorithms/lamport"
	"dmebench/dme"
)

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

// A state with a clock raised is covered by the one where it is not, and not the other way
// round: clocks of nodes and of messages.
func TestLowClocksCoverHighOnes(t *testing.T) {
	m, err := NewModel(Config{Algorithm: lamport.Algorithm(), Nodes: 3, Watch: WatchNothing})
	if err != nil {
		t.Fatal(err)
	}
	space := NewSpace(m)
	classes, walker := space.NewClasses(), space.NewWalker()
	first, _ := space.Of(New(m))
	low := slices.Clone(classes.Of(first))
	rng := rand.New(rand.NewPCG(8, 9))
	seen := map[byte]int{}
	for range 300 {
		for at, id := range low[:len(low)-1] {
			kind := byte(ofLocals)
			if at >= m.Nodes {
				kind = ofQueues
			}
			if kind == ofQueues && id == 0 {
				continue
			}
			high := slices.Clone(low)
			if high[at] = classes.atLeast(kind, id, 7); high[at] == id {
				continue
			}
			var x, y split
			x.rest, x.clocks = classes.split(nil, nil, low)
			y.rest, y.clocks = classes.split(nil, nil, high)
			if !x.covers(&y) || y.covers(&x) {
				t.Fatalf("clocks %v and %v at place %d: the lower covers %v, the higher %v", x.clocks, y.clocks, at, x.covers(&y), y.covers(&x))
			}
			seen[kind]++
		}
		steps, _ := walker.Enabled(low, nil)
		next := slices.Clone(low)
		classes.Step(walker, low, steps[rng.IntN(len(steps))], func(rep []uint32) { copy(next, rep) })
		low = next
	}
	if len(seen) != 2 {
		t.Errorf("raised were %v: that shows little", seen)
	}
}
