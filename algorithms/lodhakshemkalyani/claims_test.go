package lodhakshemkalyani

import (
	"math"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// predict evaluates the one claim about messages under a load.
func predict(t *testing.T, load dme.Load, n int) float64 {
	t.Helper()
	for _, c := range claims() {
		if c.Quantity == dme.MessagesPerCS && c.Load == load {
			value, _ := c.Prediction(dme.Setting{Nodes: n})
			return value
		}
	}
	t.Fatalf("no claim for %s", load)
	return 0
}

// Section 9.6.4, case 2: requests one after the other.
func TestSerialRequests(t *testing.T) {
	for _, n := range []int{1, 2, 5, 8} {
		net := conformance.Make(t, Algorithm(), n, nil)
		for k := range 3 * n {
			messages, err := net.Serve(dme.NodeID(1 + k*3%n))
			if err != nil || float64(messages) != predict(t, dme.Light, n) {
				t.Errorf("n=%d: %d messages, want %v; %v", n, messages, predict(t, dme.Light, n), err)
			}
		}
	}
}

// Section 9.6.4, case 1: "when all the requests are concurrent", N messages for
// each entry but the last, and N−1 for that.
func TestConcurrentRequests(t *testing.T) {
	for _, n := range []int{2, 5, 8} {
		net := conformance.Make(t, Algorithm(), n, nil)
		for round := range 3 {
			before := net.Sent()
			for i := 1; i <= n; i++ {
				net.Request(dme.NodeID(i))
			}
			for range n {
				net.Settle()
				if len(net.Inside()) != 1 {
					t.Fatalf("n=%d, round %d: %v inside\n%s", n, round, net.Inside(), net.States())
				}
				net.Release(net.Inside()[0])
			}
			if got, want := float64(net.Sent()-before)/float64(n), predict(t, dme.Burst, n); math.Abs(got-want) > 1e-9 {
				t.Errorf("n=%d, round %d: %v messages for each entry, want %v", n, round, got, want)
			}
		}
	}
}
