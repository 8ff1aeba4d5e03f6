package validate

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/search/check"
	"dmebench/runs"
)

// question is a claim, the options under which it is asked, and what answers it.
type question struct {
	claims.Question
	cells     []*cell
	predicted map[*cell]float64
	evidence  []claims.Evidence // of the construction

	// under heavy loads other than the closed loop, if that contradicts the claim
	others []*cell

	again int // how many means were compared a second time
}

// under reports whether a claim is asked under a condition: one that makes its
// load, on links for which it is made, and where times mean something if it
// speaks of times.
func (q *question) under(c *condition) bool {
	return c.Covers(q.Claim) && c.makes(q.Claim.Load) && (c.timed || !q.Claim.Quantity.Timed())
}

func (q *question) gauged() bool {
	return slices.ContainsFunc(q.Algorithm.Gauges, func(g dme.Gauge) bool { return g.Quantity == q.Claim.Quantity.ID })
}

// scatters reports whether the claim is on the mean of a gauge, such as a share of the
// conflicts in a run, of which there are few.
func (q *question) scatters() bool { return q.Claim.Kind == claim.Mean && q.gauged() }

func (q *question) attach(cells *[]*cell, c *cell, predicted float64) {
	if _, ok := q.predicted[c]; !ok {
		*cells = append(*cells, c)
		q.predicted[c] = predicted
	}
}

// compare compares the claim with those cells whose runs have the quantity.
func (q *question) compare(cells []*cell, compared int) (evidence []claims.Evidence, unfinished bool) {
	for _, c := range cells {
		if e, ok := c.usable(compared).Compare(q.Claim, q.predicted[c]); ok {
			evidence = append(evidence, e)
		} else {
			unfinished = unfinished || len(c.Results) == 0 && c.unfinished() // what one run lacks no other has
		}
	}
	return evidence, unfinished
}

func (q *question) means() int {
	switch c := &q.Claim; {
	case c.Kind == claim.Asymptotic, claims.Everywhere(*c), c.Kind != claim.Mean && !c.Quantity.Timed():
		return 0
	}
	return len(q.cells) + len(q.others) + q.again
}

// verdict says what came of the question, with that many means compared for all.
func (q *question) verdict(compared int) claims.Verdict {
	evidence, unfinished := q.compare(q.cells, compared)
	q.Planned = unfinished
	v := q.Judge(append(q.evidence, evidence...))
	again, _ := q.compare(q.others, compared)
	v.Retry(again)
	return v
}

// optionSets returns the options under which a claim may be asked, in the order
// in which they are tried: its own, or the defaults and then every other value
// of one option.
func optionSets(a *dme.Algorithm, c *claim.Claim) []map[string]string {
	if c.Set != nil {
		return []map[string]string{c.Set}
	}
	sets := []map[string]string{nil}
	for _, o := range a.Options {
		for _, value := range o.Examples() {
			if value != o.Default {
				sets = append(sets, map[string]string{o.Name: value})
			}
		}
	}
	return sets
}

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
		if c.Kind != claim.UpperBound || c.Quantity != claim.Bypass && c.Quantity != claim.BypassByOne || q.Unanswerable != "" {
			continue
		}
		for _, x := range searched {
			if c.Quantity == claim.BypassByOne && x.nodes > 2 {
				continue // among two nodes there is one other; among more, searches do not count them apart
			}
			job, err := p.bench.job(q, &p.ways[runs.Sim][0], x.nodes)
			if err != nil {
				continue
			}
			setting := settingOf(job)
			unordered := !c.FIFO && !job.Needs.FIFO
			key := fmt.Sprint(q.Algorithm.Name, runs.Settings(q.Set), x.nodes, unordered)
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

type worst struct {
	most     int
	complete bool
	broken   bool // found something worse, and ended there
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
