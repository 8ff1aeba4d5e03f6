package check

import (
	"testing"

	"dmebench/dme/vnet"
)

// Of the random schedules a fifth has readers only, a fifth has none, and a fifth each has
// as many as a quarter, a half and three quarters of all requests.
func TestHowManyRead(t *testing.T) {
	const schedules, requests = 300, 60
	s := searchOf(t, readersFirst(), Options{Nodes: 3, Requests: requests, Adversary: Chance})
	var count [5]int // by the nearest quarter
	for seed := range uint64(schedules) {
		m, err := s.model.WithSeed(1 + seed)
		if err != nil {
			t.Fatal(err)
		}
		readers, all := 0, 0
		for _, x := range s.random(m, nil).taken {
			if asks(x) {
				all++
			}
			if x.Kind == vnet.AskShared {
				readers++
			}
		}
		if all != requests {
			t.Fatalf("seed %d: %d requests of %d", 1+seed, all, requests)
		}
		switch {
		case readers == all:
			count[4]++
		case readers > 0:
			count[min(max(1, (4*readers+all/2)/all), 3)]++
		default:
			count[0]++
		}
	}
	for quarters, n := range count {
		if n < schedules/5-25 || n > schedules/5+25 { // a standard deviation is 7
			t.Errorf("%d of %d schedules have %d quarters of readers; in all: %v", n, schedules, quarters, count)
		}
	}
}
