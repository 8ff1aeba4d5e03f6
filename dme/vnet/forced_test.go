package vnet

import (
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/algorithms/ricartagrawala"
)

// All walkers of a reduction are told the same.
func TestWalkersAreForcedAlike(t *testing.T) {
	m, err := NewModel(Config{Algorithm: ricartagrawala.Algorithm(), Nodes: 3, Watch: WatchNothing})
	if err != nil {
		t.Fatal(err)
	}
	space := NewSpace(m)
	r, why := space.NewReduction()
	if why != "" {
		t.Fatal(why)
	}
	first, h := space.Of(New(m))
	r.Begin(first)
	rng := rand.New(rand.NewPCG(8, 9))
	v, free := slices.Clone(first), 0
	for k := range 600 {
		if k%40 == 0 {
			copy(v, first)
			_, h = space.Of(New(m))
		}
		one, other := space.NewWalker(), space.NewWalker()
		one.Reduce(r)
		other.Reduce(r)
		steps, _ := one.Enabled(v, nil)
		x := steps[rng.IntN(len(steps))]
		one.Do(v, h, x)
		other.Do(v, h, x)
		taken, _ := one.Settle(nil)
		if again, _ := other.Settle(nil); again != taken || one.Hash != other.Hash {
			t.Fatalf("after %v one walker takes %d forced steps, another %d", x, taken, again)
		}
		if len(one.arriving()) > 0 {
			free++
		}
		copy(v, one.Next)
		h = one.Hash
	}
	if free == 0 {
		t.Error("all arrivals are forced: that shows little")
	}
}
