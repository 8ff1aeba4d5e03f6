package vnet

import (
	"math/rand/v2"
	"slices"
	"testing"
)

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
