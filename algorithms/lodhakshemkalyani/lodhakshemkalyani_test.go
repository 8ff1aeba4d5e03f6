package lodhakshemkalyani

import (
	"flag"
	"testing"

	"dmebench/dme/conformance"
	"dmebench/internal/testkit"
)

var (
	fault = flag.String("fault", "", "search for this fault only")
)

// TestRandomSchedules searches for two processes in the critical section, for
// requests that are never served, and for entries out of order, refused
// messages and message counts that contradict section 9.6.4.
func TestRandomSchedules(t *testing.T) {
	seeds := uint64(1200)
	if testkit.Full() {
		seeds *= 20
	}
	if err := search(Algorithm(), 2, 5, 3, false, seeds, *fault); err != nil {
		t.Fatal(err)
	}
}

// Why the algorithm declares that it needs links in order.
func TestNeedsFIFO(t *testing.T) {
	for _, fault := range []string{conformance.Unsafe, conformance.Stalled} {
		err := search(Algorithm(), 2, 4, 3, true, 1000, fault)
		if err == nil {
			t.Errorf("no schedule without order shows %s", fault)
			continue
		}
		t.Log(err)
	}
}

// The literal text stops with one request of each of three processes, and lets
// two in with two requests each, on links in order.
func TestAsPublishedIsCaught(t *testing.T) {
	for _, c := range []struct {
		rounds int
		fault  string
	}{{1, conformance.Stalled}, {2, conformance.Unsafe}} {
		caught := search(AsPublished(), 3, 3, c.rounds, false, 10_000, c.fault)
		if caught == nil {
			t.Errorf("no schedule with %d requests of each of 3 processes shows %s", c.rounds, c.fault)
			continue
		}
		t.Log(caught)
	}
}
