package singhal

import (
	"flag"
	"strings"
	"testing"

	"dmebench/dme/conformance"
)

var full = flag.Bool("full", false, "run twenty times as many schedules")

func TestConformance(t *testing.T) { conformance.Test(t, Algorithm()) }

// The literal text lets two sites in, on links in order.
func TestAsPublishedIsUnsafe(t *testing.T) {
	err := conformance.Search(AsPublished(), 3, nil, 1000)
	if err == nil || !strings.Contains(err.Error(), conformance.Unsafe) {
		t.Fatalf("no schedule broke it; %v", err)
	}
	t.Log(err)
}

// With the request sets as initialized in the text, one request is enough.
func TestAsPublishedWaitsForItself(t *testing.T) {
	for n := 1; n <= 3; n++ {
		net := conformance.Make(t, AsPublished(), n, map[string]string{"initial": "printed"})
		if _, err := net.Serve(1); err == nil || !strings.Contains(err.Error(), "R={1}") {
			t.Errorf("on %d sites, site 1 has asked: %v", n, err)
		}
	}
}
