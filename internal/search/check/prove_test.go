package check

import (
	"context"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/chaudhurikaraata"
	"dmebench/algorithms/lamport"
	"dmebench/algorithms/lodhakshemkalyani"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
)

func TestProve(t *testing.T) {
	algorithms := []*dme.Algorithm{ricartagrawala.Algorithm(), lodhakshemkalyani.AsPublished(), suzukikasami.Algorithm()}
	done := 0
	results, err := Prove(t.Context(), algorithms, ProofOptions{Nodes: 3, Each: 1, States: 20_000, Workers: 2, Done: func(n int) { done = n }})
	if err != nil || len(results) != 3 || done != 3 {
		t.Fatal(results, done, err)
	}
	sizes := func(r Proven) (nodes []int) {
		for _, p := range r.Proven {
			nodes = append(nodes, p.Nodes)
		}
		return nodes
	}
	if r := results[0]; !slices.Equal(sizes(r), []int{2, 3}) || r.Proven[1].Links != r.Links || r.Refuted != nil || r.Searched != nil {
		t.Errorf("%+v", r)
	}
	if r := results[1]; !slices.Equal(sizes(r), []int{2}) || r.Refuted == nil || r.Refuted.Property != "deadlock" || r.Refuted.Nodes != 3 {
		t.Errorf("%+v", r)
	}
	// Nothing acknowledges a REQUEST: only bounded links have finitely many states.
	if r := results[2]; !slices.Equal(sizes(r), []int{2, 3}) || r.Proven[1].Links != (ProofLinks{Ordered: true, InFlight: crowded}) {
		t.Errorf("%+v", r)
	}
	var b strings.Builder
	if err := ProofTable(results).WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| ricart-agrawala | N = 2, 3 |", "deadlock: N = 3, requests without limit, ", "N = 2, 3 (at most 2 messages on a link)",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in:\n%s", want, b.String())
		}
	}
}

// Where an algorithm names settings that show more than its defaults there is a row for
// each, unless one of their options is set. A row says which messages its proof is not about.
func TestRowsSayWhatWasProven(t *testing.T) {
	algorithms := []*dme.Algorithm{chaudhurikaraata.Algorithm(), lodhakshemkalyani.Algorithm()}
	results, err := Prove(t.Context(), algorithms, ProofOptions{Nodes: 2, States: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := ProofTable(results).WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| chaudhuri-karaata mesh=auto repair=numbered | N = 2 | 13 | – |",
		"| chaudhuri-karaata mesh=1x1xauto | N = 2 | 14 | RELEASE |", // each node is a corner
		"| chaudhuri-karaata mesh=1x2xauto repair=directed | N = 2 | ",
		"| lodha-kshemkalyani | N = 2 | 116 | – |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in:\n%s", want, b.String())
		}
	}
	set := map[string]string{"mesh": "1x1x2"}
	if results, err = Prove(t.Context(), algorithms[:1], ProofOptions{Nodes: 2, Set: set}); err != nil || len(results) != 1 {
		t.Errorf("%+v, %v; want the mesh that was asked for alone", results, err)
	}
}

// Few states are enough for bounded links alone, so that the others are tried again
// with more, unless a link can be made to hold any number of messages.
func TestPatience(t *testing.T) {
	r := proveAlone(t, lamport.Algorithm(), ProofOptions{Nodes: 2, States: 300}) // 279 with 2 messages on a link, 507 with any
	if len(r.Proven) != 1 || r.Proven[0].Links != r.Links || r.Proven[0].States <= 300 {
		t.Errorf("%+v", r)
	}
	r = proveAlone(t, suzukikasami.Algorithm(), ProofOptions{Nodes: 3, States: 2_000})
	if len(r.Proven) != 2 || r.Proven[1].Links != (ProofLinks{Ordered: true, InFlight: 1}) {
		t.Errorf("%+v", r)
	}
}

// Where there is no proof, requests are limited, and as many are searched as can be.
func TestBudgets(t *testing.T) {
	r := proveAlone(t, ricartagrawala.Algorithm(), ProofOptions{Nodes: 4, Each: 2, States: 10_000})
	if len(r.Proven) == 0 || len(r.Searched) == 0 || r.Limit == "" {
		t.Fatalf("%+v", r)
	}
	last := r.Proven[len(r.Proven)-1].Nodes
	for _, b := range r.Searched {
		if b.Nodes <= last || b.States > 10_000 || b.Each < 1 || !b.Reduced {
			t.Errorf("%+v, beyond a proof for %d", b, last)
		}
	}
}

func TestErrorsAndEnds(t *testing.T) {
	of, wrong := []*dme.Algorithm{ricartagrawala.Algorithm()}, ProofOptions{Set: map[string]string{"no": "such"}}
	if _, err := Prove(t.Context(), of, wrong); err == nil || !strings.Contains(err.Error(), "ricart-agrawala: ") {
		t.Errorf("an unknown option: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if results, err := Prove(ctx, of, ProofOptions{}); err != nil || len(results) != 0 {
		t.Errorf("%v, %v", results, err)
	}
}

func proveAlone(t *testing.T, a *dme.Algorithm, o ProofOptions) Proven {
	t.Helper()
	results, err := Prove(t.Context(), []*dme.Algorithm{a}, o)
	if err != nil || len(results) != 1 {
		t.Fatal(results, err)
	}
	return results[0]
}
