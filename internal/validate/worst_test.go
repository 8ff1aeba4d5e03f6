package validate

import (
	"context"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/claims"
	"dmebench/dme"
	"dmebench/internal/run"
	"dmebench/result"
)

// The bounds on overtaking are reached by some schedule of two nodes, and of three: a
// looser bound would not be, and a tighter one would be broken.
func TestBoundsOnOvertakingAreReached(t *testing.T) {
	bounds := 0
	for _, a := range catalog.All() {
		p := &plan{
			ctx: t.Context(), bench: newBench(&Options{Catalog: run.Catalog{a}, Seed: 1}),
			ways: map[string][]condition{result.Sim: conditions(result.Sim)},
		}
		for _, c := range a.Claims {
			if c.Quantity == dme.Bypass || c.Quantity == dme.BypassByOne {
				p.questions = append(p.questions, &question{Question: claims.Question{Algorithm: a, Claim: c, Set: c.Set}})
			}
		}
		if err := p.worstCases(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, q := range p.questions {
			id := a.ClaimID(q.Claim)
			if len(q.evidence) == 0 && q.Claim.Kind == dme.UpperBound {
				t.Errorf("%s: no search told it", id)
			}
			for _, e := range q.evidence {
				bounds++
				known := q.Claim.KnownFalse != ""
				// The largest search is one of seven requests: more of others cannot come first.
				reachable := e.Predicted < 7
				if e.Agrees == known || !known && reachable && *e.Max != e.Predicted {
					t.Errorf("%s, N=%d: %v, and at most %v is claimed; known to be false: %v", id, e.Nodes, *e.Max, e.Predicted, known)
				}
			}
		}
	}
	if bounds < 12 {
		t.Errorf("%d bounds were tried", bounds)
	}
}

// A search that was told to end tells so.
func TestSearchOfTheWorstEnds(t *testing.T) {
	a, err := run.Catalog(catalog.All()).Lookup("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if w, err := searchWorst(ctx, &question{Question: claims.Question{Algorithm: a}}, 3, 7, true); err == nil && w.complete {
		t.Error("a search that had no time is complete")
	}
}
