package maekawa

import (
	"runtime"
	"testing"

	"dmebench/dme"
)

// TestMemory: a node of a system of about a million takes memory that grows with
// K ≈ √N, not with N: two lists of K nodes, sets of K bits each, and with numbered
// grants K numbers.
func TestMemory(t *testing.T) {
	const nodes = 997*997 + 997 + 1 // a plane
	for _, x := range []struct {
		a   *dme.Algorithm
		set map[string]string
	}{{Algorithm(), nil}, {Algorithm(), map[string]string{"grants": "numbered"}}, {AsPublished(), nil}, {TextbookAsPublished(), nil}} {
		sys, err := x.a.New(nodes, 1, x.set)
		if err != nil {
			t.Fatal(err)
		}
		const k = 998
		if got := len(sys.(dme.Quorate).RequestSet(nodes)); got != k {
			t.Fatalf("K = %d, want %d", got, k)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := sys.Node(nodes)
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 24*k {
			t.Errorf("%s, %v: a node of %d takes %d bytes, more than 24K", x.a.Name, x.set, nodes, bytes)
		}
		var out dme.Outbox
		n.Request(&out)
		if got := len(out.Effects()); got != k-1 {
			t.Errorf("%s: %d REQUESTs, want %d", x.a.Name, got, k-1)
		}
	}
}
