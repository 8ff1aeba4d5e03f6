package agrawalelabbadi

import (
	"runtime"
	"testing"

	"dmebench/dme"
)

// TestMemory: a leaf of a tree of a million nodes takes memory for the 20 nodes
// of its path, whichever path it asks. (The root keeps whom it serves, and these
// are all.)
func TestMemory(t *testing.T) {
	const nodes = 1<<20 - 1
	for _, a := range []*dme.Algorithm{Algorithm(), AsPublished()} {
		for _, path := range []string{"self", "random"} {
			sys, err := a.New(nodes, 1, map[string]string{optPath: path})
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n := sys.Node(nodes)
			var out dme.Outbox
			n.Request(&out)
			runtime.ReadMemStats(&after)
			// The outbox takes most of it.
			if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 32<<10 {
				t.Errorf("%s, path=%s: a node of %d and its request take %d bytes", a.Name, path, nodes, bytes)
			}
			if got := len(out.Effects()); got < 19 {
				t.Errorf("%s, path=%s: %d Requests", a.Name, path, got)
			}
		}
	}
}
