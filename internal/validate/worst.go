package validate

import (
	"context"
	"fmt"
	"strconv"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/internal/check"
	"dmebench/result"
)

// Searches of every schedule of a few requests on a few nodes. The bounds of TR-869's
// appendix are reached on two nodes with four requests, and on three with seven.
var searched = []struct{ nodes, requests int }{{2, 6}, {3, 7}}

// A search of larger systems ends before it is complete, and then shows a bound no
// less: what it has found can happen.
const (
	mostStates   = 1_500_000
	mostSearched = 512 << 20 // bytes
	anyBypass    = 1 << 20   // more than can be: it is counted, and never too much
)

// worstCases has every schedule of small systems searched for the overtaking that
// claims bound: runs seldom come near it.
func (p *plan) worstCases(ctx context.Context) error {
	found := make(map[string]*worst)
	for _, q := range p.questions {
		c := &q.Claim
		if c.Kind != dme.UpperBound || c.Quantity != dme.Bypass && c.Quantity != dme.BypassByOne || q.Unanswerable != "" {
			continue
		}
		for _, x := range searched {
			if c.Quantity == dme.BypassByOne && x.nodes > 2 {
				continue // among two nodes there is one other; among more, searches do not count them apart
			}
			job, err := p.bench.job(q, &p.ways[result.Sim][0], x.nodes)
			if err != nil {
				continue
			}
			setting := settingOf(job)
			unordered := !c.FIFO && !job.Needs.FIFO
			key := fmt.Sprint(q.Algorithm.Name, result.Settings(q.Set), x.nodes, unordered)
			w := found[key]
			if w == nil {
				if w, err = searchWorst(ctx, q, x.nodes, x.requests, unordered); err != nil {
					return err
				}
				found[key] = w
			}
			e, ok := claims.Searched(*c, setting, float64(w.most), w.complete)
			if !ok || w.broken {
				continue
			}
			e.Condition += " of " + strconv.Itoa(x.requests) + " requests"
			if unordered {
				e.Condition += ", unordered links"
			}
			q.evidence = append(q.evidence, e)
		}
	}
	return nil
}

// worst is the most overtaking that a search has found.
type worst struct {
	most     int
	complete bool
	broken   bool // it has found something worse, and ended there
}

func searchWorst(ctx context.Context, q *question, nodes, requests int, unordered bool) (*worst, error) {
	r, err := check.Exhaustive(ctx, q.Algorithm, check.Options{
		Nodes: nodes, Requests: requests, Set: q.Set, Unordered: unordered, Bypass: anyBypass, Seed: 1,
		States: mostStates, Memory: mostSearched,
	})
	if err != nil {
		return nil, fmt.Errorf("validate: search of %s on %d nodes: %w", q.Algorithm.Name, nodes, err)
	}
	return &worst{r.MaxBypass, r.Complete, r.Violation != nil}, nil
}
