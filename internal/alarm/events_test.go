package alarm

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The heap is compared with sorting.
func TestEventsComeInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var heap, sorted events
		for range 1 + r.IntN(60) {
			e := Event{At: r.Int64N(20), Kind: Kind(r.IntN(3))}
			heap.push(e)
			sorted = append(sorted, e)
			if r.IntN(4) == 0 {
				takeEarliest(t, &heap, &sorted)
			}
		}
		for len(sorted) > 0 {
			takeEarliest(t, &heap, &sorted)
		}
		if len(heap) != 0 {
			t.Fatalf("%d events are left", len(heap))
		}
	}
}

func takeEarliest(t *testing.T, heap, sorted *events) {
	t.Helper()
	slices.SortFunc(*sorted, func(a, b Event) int {
		if a.At != b.At {
			return int(a.At - b.At)
		}
		return int(a.Kind) - int(b.Kind)
	})
	if got, want := heap.pop(), (*sorted)[0]; got != want {
		t.Fatalf("%+v comes first, want %+v", got, want)
	}
	*sorted = (*sorted)[1:]
}

func TestEventsAllocateNothing(t *testing.T) {
	var e events
	if allocs := testing.AllocsPerRun(100, func() {
		for i := range int64(8) {
			e.push(Event{At: 8 - i})
		}
		for len(e) > 0 {
			e.pop()
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
