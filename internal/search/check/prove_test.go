package check

import (
	"context"
	"testing"

	"dmebench/algorithms/lodhakshemkalyani"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
)

// Several are proven at a time; the results are in their order. Those that are not begun
// when the context ends are left out.
func TestProveSeveral(t *testing.T) {
	algorithms := []*dme.Algorithm{ricartagrawala.Algorithm(), lodhakshemkalyani.Algorithm(), suzukikasami.Algorithm()}
	done := 0
	o := ProofOptions{Nodes: 2, Each: 1, States: 20_000, Workers: 2, Done: func(n int) { done = n }}
	results, err := Prove(t.Context(), algorithms, o)
	if err != nil || len(results) != 3 || done != 3 {
		t.Fatal(results, done, err)
	}
	for i, a := range algorithms {
		if results[i].Algorithm != a.Name {
			t.Errorf("result %d is of %s, not of %s", i, results[i].Algorithm, a.Name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if results, err := Prove(ctx, algorithms, o); err != nil || len(results) != 0 {
		t.Errorf("%v, %v", results, err)
	}
}
