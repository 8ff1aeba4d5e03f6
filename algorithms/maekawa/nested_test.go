package maekawa_test

import (
	"testing"

	"dmebench/algorithms/maekawa"
	"dmebench/internal/check"
)

// Request sets that contain one another meet, as Maekawa's condition (a) asks, and
// nothing else is asked of them: every schedule is safe and comes to an end.
func TestNestedRequestSets(t *testing.T) {
	for _, x := range []struct {
		sets     string
		requests int
	}{
		{"1: 1 2\n2: 2\n3: 2 3\n", 5},
		{"1: 1 2 3\n2: 2 3\n3: 1 3\n", 4},
		{"1: 1 2\n2: 1 2\n3: 1 2 3\n", 4},
	} {
		for _, yield := range []string{"failed", "always"} {
			r, err := check.Exhaustive(t.Context(), maekawa.Algorithm(), check.Options{
				Nodes: 3, Requests: x.requests, Set: map[string]string{"quorum": "file:sets", "yield": yield},
				ReadFile: func(string) ([]byte, error) { return []byte(x.sets), nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Violation != nil || !r.Complete {
				t.Errorf("%q, yield=%s: %+v", x.sets, yield, r)
			}
		}
	}
}
