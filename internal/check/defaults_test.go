package check

import (
	"fmt"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/algorithms/lamport"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
)

// smallest is the least number of nodes on which a literal text fails: exhaustive
// searches of fewer find nothing.
var smallest = map[string]int{
	"maekawa-as-published":           4,
	"chaudhuri-karaata-as-published": 3, "lodha-kshemkalyani-as-published": 3,
}

// The literal texts, which are all wrong, are found to be so without a word of advice,
// from the least number of nodes on.
func TestLiteralTextsAreFound(t *testing.T) {
	seeds, most := uint64(1), 7
	switch {
	case *full:
		seeds = 5
	case testing.Short():
		most = 4
	}
	for _, a := range catalog.All() {
		if !a.AsPublished {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			for n := max(2, smallest[a.Name]); n <= most; n++ {
				for k := range seeds {
					o := Defaults(a, n, nil)
					o.Seed = 1 + 1_000_000*k
					s, err := New(a, o)
					if err != nil {
						t.Fatal(err)
					}
					// Without a trace, which would have to be shortened.
					p := s.Part(t.Context(), 0, s.Schedules)
					if !p.Broken {
						t.Errorf("N=%d, seed %d: nothing in %d schedules", n, o.Seed, p.Done)
					}
					t.Logf("N=%d, seed %d: %d schedules", n, o.Seed, p.Done)
				}
			}
		})
	}
}

// Links are as bad as an algorithm says that it bears them.
func TestWeakestLinks(t *testing.T) {
	for want, got := range map[string]Options{
		"true false 0":  Defaults(raymond.Algorithm(), 3, nil),
		"false false 0": Defaults(lamport.Algorithm(), 3, nil),
		"true true 2":   Defaults(indifferent(), 3, nil),
	} {
		if got := fmt.Sprint(got.Unordered, got.Duplicate, got.Lose); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	// What gives broadcasts one order keeps the order of messages.
	if l := Weakest(dme.Needs{SequencedBroadcast: true}); l != (Links{}) {
		t.Errorf("%+v", l)
	}
	o := Defaults(ricartagrawala.Broadcast(), 3, map[string]string{"form": "sequenced"})
	if s, err := New(ricartagrawala.Broadcast(), o); err != nil || !s.Sequenced() {
		t.Errorf("%v", err)
	}
}

// indifferent declares that it needs nothing of links.
func indifferent() *dme.Algorithm {
	a := anarchy()
	a.Needs = dme.Always(dme.Needs{})
	return a
}

// Schedules whose requests vary make at most so many, and some each number of nodes ask.
func TestVariedRequests(t *testing.T) {
	s, err := New(raymond.Algorithm(), Options{Nodes: 5, Requests: 12, Vary: true})
	if err != nil {
		t.Fatal(err)
	}
	asked, least, most := map[int]bool{}, 12, 0
	for seed := range uint64(300) {
		p, err := s.plan(seed)
		if err != nil {
			t.Fatal(err)
		}
		asking, sum := 0, 0
		for id := range p.model.IDs() {
			if n := p.model.Requests(id); n > 0 {
				asking, sum = asking+1, sum+n
			}
		}
		asked[asking], least, most = true, min(least, sum), max(most, sum)
		if r := s.draw(p, nil); r.Entries != uint64(sum) {
			t.Errorf("seed %d: %d entries of %d requests", seed, r.Entries, sum)
		}
	}
	if len(asked) != 5 || asked[0] || least != 1 || most != 12 {
		t.Errorf("%v nodes ask, %d to %d times", asked, least, most)
	}
}
