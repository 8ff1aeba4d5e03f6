package singhal

import (
	"flag"
	"strings"
	"testing"

	"dmebench/dme/conformance"
)

var (
	full  = flag.Bool("full", false, "run twenty times as many schedules")
	fault = flag.String("fault", "", "search for this fault only")
)

// TestRandomSchedules searches for two sites in the critical section, for
// requests that are never served, for refused messages and for a system at rest
// that is not a staircase, on links that do not keep order and on links that do.
func TestRandomSchedules(t *testing.T) {
	seeds := uint64(500)
	if *full {
		seeds *= 20
	}
	for _, reorder := range []bool{true, false} {
		if err := search(Algorithm(), 5, reorder, seeds, *fault); err != nil {
			t.Fatal(err)
		}
	}
}

// The literal text lets two sites in, on links in order.
func TestAsPublishedIsUnsafe(t *testing.T) {
	err := search(AsPublished(), 3, false, 1000, unsafe)
	if err == nil {
		t.Fatal("no schedule broke it")
	}
	t.Log(err)
}

// With the request sets as initialized in the text, one request is enough.
func TestAsPublishedWaitsForItself(t *testing.T) {
	for n := 1; n <= 3; n++ {
		net, err := conformance.New(AsPublished(), n, map[string]string{"initial": "printed"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := net.Serve(1); err == nil || !strings.Contains(err.Error(), "R={1}") {
			t.Errorf("on %d sites, site 1 has asked: %v", n, err)
		}
	}
}
