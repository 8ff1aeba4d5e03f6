package raymond

import (
	"math"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// Section 9.12.5: under heavy load 4(N−1)/N messages, whatever the tree. On a
// star that is more than under light load, contrary to what the section says of
// more requesters.
func TestMoreRequesters(t *testing.T) {
	const nodes, rounds = 13, 20
	for _, shape := range []string{"binary", "line", "star", "radiating:4"} {
		net, err := conformance.New(Algorithm(), nodes, map[string]string{optTree: shape})
		if err != nil {
			t.Fatal(err)
		}
		for id := dme.NodeID(1); id <= nodes; id++ {
			net.Request(id)
		}
		var before uint64
		for k := range (2 + rounds) * nodes {
			net.Settle() // critical sections are long
			if k == 2*nodes {
				before = net.Sent()
			}
			id := net.Inside()[0]
			net.Release(id)
			net.Request(id)
		}
		net.Settle()
		got := float64(net.Sent()-before) / (rounds * nodes)
		if want := 4.0 * (nodes - 1) / nodes; math.Abs(got-want) > 0.05 {
			t.Errorf("%s: %.3f messages per entry, want %.3f", shape, got, want)
		}
		for _, c := range net.Algorithm.Claims {
			if c.Load != dme.Saturated || c.Kind != dme.UpperBound || c.Quantity != dme.MessagesPerCS {
				continue
			}
			if light, ok := c.Predict(net.Setting); ok && (got > light) != (c.KnownFalse != "") {
				t.Errorf("%s: %.3f messages per entry, %q says %.3f, known to be false: %q", shape, got, c.Formula, light, c.KnownFalse)
			}
		}
	}
}
