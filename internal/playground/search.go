package playground

import (
	"context"
	"fmt"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/search/check"
	"dmebench/internal/search/trace"
	"dmebench/units"
)

// Limits of a search, in a page that a person waits for.
const (
	searchTime    = 20 * time.Second
	searchStates  = 2_000_000
	shorterStates = 200_000
)

// search looks for a schedule that breaks something, or for a proof that none does.
func (s *Session) search(q *request, progress func(uint64)) (found answer, err error) {
	a, err := s.Catalog.algorithm(q.Algorithm)
	if err != nil {
		return found, err
	}
	o := check.Defaults(a, q.Nodes, q.Set)
	o.ReadFile, o.Seed, o.Workers, o.Time, o.Progress = s.Catalog.readFile, 1, 1, searchTime, progress
	o.SafetyOnly = q.For == "overlap"
	everything := q.For == "starvation" || q.For == "proof"
	if everything {
		o.Requests, o.Vary, o.Watch, o.Unlimited, o.Duplicate, o.Lose, o.States = 0, false, false, true, false, 0, searchStates
	}
	if q.For == "proof" {
		o.Time = 0
	}
	search, err := check.New(a, o)
	if err != nil {
		return found, err
	}
	var counterexample *check.Trace
	seed := uint64(1)
	if everything {
		r, err := search.Liveness(context.Background())
		if err != nil {
			return found, err
		}
		counterexample = r.Trace
		found.Found = fmt.Sprintf("Nothing was found in %d states; the search is not complete: %s.", r.States, r.Stopped)
		if r.Verdict == check.Holds {
			found.Found = fmt.Sprintf("Proven for %d nodes: in all %d states every property holds, and every request is served in every "+
				"fair schedule.", q.Nodes, r.States)
		}
	} else {
		r := search.Random(context.Background())
		counterexample, seed = r.Trace, r.Seed
		found.Found = fmt.Sprintf("Nothing was found in %d schedules, which proves nothing.", r.Schedules)
	}
	if counterexample == nil {
		return found, nil
	}
	x := trace.Of(a, search.Options, search.Sequenced(), counterexample, seed)
	text, err := trace.Save("found", x)
	return answer{Text: string(text), Found: x.Verdict}, err
}

// shorter looks for the fewest steps that lead to the present state, of the kinds that
// have been taken, with at most as many requests of each node.
func (s *Session) shorter(progress func(uint64)) (found answer, err error) {
	isRequest := func(x vnet.Step) bool { return x.Kind == dme.Request || x.Kind == dme.RequestShared }
	asked, kinds := make(map[dme.NodeID]int), make(map[dme.EventKind]bool)
	for _, x := range s.steps {
		kinds[x.Kind] = true
		if isRequest(x) {
			asked[x.Node]++
		}
	}
	type visit struct {
		state string
		steps []vnet.Step // the way there
	}
	n, target := vnet.New(s.model), string(s.network.Save(nil))
	visits := []visit{{state: string(n.Save(nil))}}
	known := map[string]bool{visits[0].state: true}
	at := 0
	for ; at < len(visits) && at < shorterStates; at++ {
		v := visits[at]
		if v.state == target {
			found.Found = fmt.Sprintf("No: it takes at least %s.", units.Counted(len(v.steps), "step"))
			if len(v.steps) < len(s.steps) {
				found.Steps, found.Found = v.steps, fmt.Sprintf("Yes: it takes %s, not %d.", units.Counted(len(v.steps), "step"), len(s.steps))
			}
			return found, nil
		}
		if progress != nil && at%1000 == 0 {
			progress(uint64(at))
		}
		made := make(map[dme.NodeID]int)
		for _, x := range v.steps {
			if isRequest(x) {
				made[x.Node]++
			}
		}
		if err := n.Load([]byte(v.state)); err != nil {
			return found, err
		}
		for _, x := range n.Enabled(nil) {
			if !kinds[x.Kind] || isRequest(x) && made[x.Node] == asked[x.Node] {
				continue
			}
			if err := n.Load([]byte(v.state)); err != nil {
				return found, err
			}
			if n.Take(x); n.Violation != nil && n.Violation.Property == vnet.Sanity {
				continue
			}
			if state := string(n.Save(nil)); !known[state] {
				known[state] = true
				visits = append(visits, visit{state, append(slices.Clip(v.steps), x)})
			}
		}
		visits[at] = visit{}
	}
	found.Found = fmt.Sprintf("Not known: it is not among the %d states that the fewest steps lead to.", at)
	return found, nil
}
