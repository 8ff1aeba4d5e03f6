package vnet

import (
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
)

// A mishap is one that links allow: a loss as long as messages may be lost, a copy of
// what has not been copied, of the two any; and of nothing but an arrival.
func TestMishaps(t *testing.T) {
	for _, x := range []struct {
		duplicate bool
		lose      int
		mishap    float64
		want      []StepKind
	}{
		{false, 0, 1, []StepKind{Deliver}}, {false, 1, 1, []StepKind{Lose}}, {false, 2, 1, []StepKind{Lose}}, {true, 0, 1, []StepKind{Copy}},
		{true, 1, 1, []StepKind{Copy, Lose}}, {true, 1, 0, []StepKind{Deliver}}, {true, 1, 0.5, []StepKind{Deliver, Copy, Lose}},
	} {
		n := newDiaries(t, Config{Nodes: 2, Duplicate: x.duplicate, Lose: x.lose})
		s := &Schedule{Network: n, Rand: rand.New(rand.NewPCG(5, 6)), Mishap: x.mishap}
		do(t, n, Step{Kind: Ask, Node: 1})
		arrival := Step{Kind: Deliver, From: 1, Node: 2}
		drawn := func(x Step) (kinds []StepKind) {
			for range 60 {
				y := s.mishaps(x)
				kinds = append(kinds, y.Kind)
				if y.Kind = x.Kind; y != x {
					t.Errorf("a mishap of %v is one of another step, %v", x, y)
				}
			}
			slices.Sort(kinds)
			return slices.Compact(kinds)
		}
		if got := drawn(arrival); !slices.Equal(got, x.want) {
			t.Errorf("%+v: %v", x, got)
		}
		if got := drawn(Step{Kind: Leave, Node: 1}); !slices.Equal(got, []StepKind{Leave}) {
			t.Errorf("%+v: an exit becomes %v", x, got)
		}
		if x.duplicate {
			n.Do(Step{Kind: Copy, From: 1, Node: 2})
			if got := drawn(arrival); !slices.Equal(got, []StepKind{Deliver}) {
				t.Errorf("%+v: what has arrived once becomes %v", x, got)
			}
		}
	}
}

// Nodes that distinguish readers ask as such as often as the schedule says.
func TestReadersOfASchedule(t *testing.T) {
	for _, shares := range []bool{false, true} {
		for readers, want := range map[float64]StepKind{0: Ask, 1: AskShared} {
			m := openDoors(t, 2, dme.None, Config{})
			m.Shares = shares
			s := &Schedule{Network: New(m), Rand: rand.New(rand.NewPCG(7, 8)), Readers: readers}
			if !shares {
				want = Ask
			}
			for id := range m.IDs() {
				if got := s.ask(id); got != (Step{Kind: want, Node: id}) {
					t.Errorf("readers are told apart: %v, and %v of all: %v", shares, readers, got)
				}
			}
		}
	}
	m := openDoors(t, 2, dme.None, Config{})
	s := &Schedule{Network: New(m), Rand: rand.New(rand.NewPCG(7, 8)), Readers: 0.5}
	kinds := map[StepKind]int{}
	for range 100 {
		kinds[s.ask(1).Kind]++
	}
	if kinds[Ask] < 25 || kinds[AskShared] < 25 {
		t.Errorf("of requests of which half are readers' there are %v", kinds)
	}
}
