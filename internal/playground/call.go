package playground

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/search/check"
	"dmebench/internal/search/trace"
	"dmebench/units"
)

// request is what the page asks for. Do says what, the other fields with what.
type request struct {
	Do    string     `json:"do"`
	Text  string     `json:"text"` // a scenario, or the title of one
	Step  *stepView  `json:"step"`
	Steps []stepView `json:"steps"`
	Count int        `json:"count"`
	Seed  uint64     `json:"seed"`

	Algorithm string            `json:"algorithm"`
	Nodes     int               `json:"nodes"`
	Set       map[string]string `json:"set"`
	For       string            `json:"for"` // what a search looks for
	States    uint64            `json:"states"`
}

// answer has what was asked for, or an error in words.
type answer struct {
	Error string `json:"error,omitempty"`

	Algorithms []algorithmView `json:"algorithms,omitempty"`
	Scenarios  []textView      `json:"scenarios,omitempty"`

	Algorithm string       `json:"algorithm,omitempty"`
	Title     string       `json:"title,omitempty"`
	Nodes     int          `json:"nodes,omitempty"`
	Kinds     []string     `json:"kinds,omitempty"`
	Lines     []scriptLine `json:"lines,omitempty"`
	Shape     *shape       `json:"shape,omitempty"`
	Taken     []takenView  `json:"taken"` // those that are new
	State     *stateView   `json:"state,omitempty"`

	Text  string `json:"text,omitempty"`  // a scenario
	Found string `json:"found,omitempty"` // what a search has to say
	Holds bool   `json:"holds,omitempty"` // it is a proof
}

// Call answers a request in JSON. If progress is not nil, it is called now and then with the number
// of schedules or states a search has seen.
func (s *Session) Call(text []byte, progress func(done uint64)) []byte {
	var q request
	err := json.Unmarshal(text, &q)
	var a answer
	if err == nil {
		a, err = s.answer(&q, progress)
	}
	if err != nil {
		a = answer{Error: err.Error()}
	}
	out, err := json.Marshal(a)
	if err != nil {
		panic(err) // of types that all have a form
	}
	return out
}

func (s *Session) answer(q *request, progress func(uint64)) (a answer, err error) {
	switch q.Do {
	case "catalog":
		return answer{Algorithms: s.Catalog.view(), Scenarios: s.Catalog.texts()}, nil
	case "open":
		if err := s.open(q.Text); err != nil {
			return a, err
		}
		x := s.model.Algorithm
		return answer{
			Algorithm: x.Name, Title: x.Title, Nodes: s.model.Nodes, Kinds: x.Kinds, Lines: s.lines, Shape: s.shape(),
			Taken: s.started, State: s.state(),
		}, nil
	case "search":
		return s.search(q, progress)
	}
	if s.network == nil {
		return a, errors.New("nothing is open yet")
	}
	switch q.Do {
	case "state":
	case "step":
		var x vnet.Step
		if q.Step == nil {
			return a, errors.New("which step?")
		}
		if x, err = q.Step.step(); err == nil {
			err = s.do(x)
		}
		a.Taken = s.taken[max(0, len(s.taken)-1):]
	case "steps": // as many as are possible, for plays that are shared or tried at random
		before := len(s.taken)
		for _, v := range q.Steps {
			var x vnet.Step
			if x, err = v.step(); err == nil {
				err = s.do(x)
			}
			if err != nil {
				break
			}
		}
		a.Taken = s.taken[before:]
	case "go":
		err = s.goTo(q.Count)
	case "play": // the default next step
		before := len(s.taken)
		for range max(1, q.Count) {
			x, ok := s.next()
			if !ok || s.do(x) != nil {
				break
			}
		}
		a.Taken = s.taken[before:]
	case "random":
		before := len(s.taken)
		s.random(q.Seed, q.Count)
		a.Taken = s.taken[before:]
	case "scenario":
		a.Text = s.scenario(q.Text)
	case "shorter":
		return s.shorter(q, progress)
	default:
		err = fmt.Errorf("unknown request %q", q.Do)
	}
	a.State = s.state()
	return a, err
}

// textView is a scenario as it stands in its file.
type textView struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func (c *Catalog) texts() (all []textView) {
	for _, x := range c.Scenarios {
		all = append(all, textView{x.Name, string(x.Text())})
	}
	return all
}

// What a search may cost, in a page that a person waits for.
const (
	searchTime   = 20 * time.Second
	searchStates = 2_000_000
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
	if q.For == "starvation" || q.For == "proof" {
		o.Requests, o.Vary, o.Watch, o.Unlimited, o.Duplicate, o.Lose, o.States = 0, false, false, true, false, 0, searchStates
		if q.For == "proof" {
			o.Time = 0
		}
		search, err := check.New(a, o)
		if err != nil {
			return found, err
		}
		r, err := search.Liveness(context.Background())
		if err != nil {
			return found, err
		}
		switch {
		case r.Verdict == check.Holds:
			found.Holds = true
			found.Found = fmt.Sprintf("Proven for %d nodes: in all %d states every property holds, and every request is served in every "+
				"fair schedule.", q.Nodes, r.States)
			return found, nil
		case r.Trace == nil:
			found.Found = fmt.Sprintf("Nothing was found in %d states; the search is not complete: %s.", r.States, r.Stopped)
			return found, nil
		}
		return counterexample(a, search, r.Trace, 1)
	}
	search, err := check.New(a, o)
	if err != nil {
		return found, err
	}
	r := search.Random(context.Background())
	if r.Trace == nil {
		found.Found = fmt.Sprintf("Nothing was found in %d schedules, which proves nothing.", r.Schedules)
		return found, nil
	}
	return counterexample(a, search, r.Trace, r.Seed)
}

// counterexample makes a scenario of what a search has found.
func counterexample(a *dme.Algorithm, search *check.Search, t *check.Trace, seed uint64) (found answer, err error) {
	x := trace.Of(a, search.Options, search.Sequenced(), t, seed)
	text, err := trace.Save("found", x)
	return answer{Text: string(text), Found: x.Verdict}, err
}

// shorterStates is how many states are visited for a shorter way.
const shorterStates = 200_000

// shorter looks for the fewest steps that lead to the present state, of the kinds that
// have been taken, with as many requests of each node.
func (s *Session) shorter(q *request, progress func(uint64)) (found answer, err error) {
	asked := make(map[dme.NodeID]int)
	kinds := make(map[dme.EventKind]bool)
	for _, x := range s.steps {
		kinds[x.Kind] = true
		if x.Kind == dme.Request || x.Kind == dme.RequestShared {
			asked[x.Node]++
		}
	}
	target := string(s.network.Save(nil))
	type visit struct {
		state string
		from  int
		step  vnet.Step
		made  map[dme.NodeID]int
	}
	n := vnet.New(s.model)
	visits := []visit{{state: string(n.Save(nil)), from: -1, made: map[dme.NodeID]int{}}}
	known := map[string]bool{visits[0].state: true}
	for at := 0; at < len(visits); at++ {
		if visits[at].state == target {
			var steps []stepView
			for i := at; visits[i].from >= 0; i = visits[i].from {
				steps = append(steps, viewOf(visits[i].step))
			}
			slices.Reverse(steps)
			if len(steps) >= len(s.steps) {
				found.Found = fmt.Sprintf("No: it takes at least %s.", units.Counted(len(steps), "step"))
				return found, nil
			}
			found.Found = fmt.Sprintf("Yes: it takes %s, not %d.", units.Counted(len(steps), "step"), len(s.steps))
			if err := s.goTo(0); err != nil {
				return found, err
			}
			for _, v := range steps {
				x, _ := v.step()
				if err := s.do(x); err != nil {
					return found, err
				}
			}
			found.Taken, found.State = s.taken, s.state()
			return found, nil
		}
		if len(visits) > shorterStates {
			found.Found = fmt.Sprintf("Not known: it is not among the %d states that the fewest steps lead to.", shorterStates)
			return found, nil
		}
		if progress != nil && at%1000 == 0 {
			progress(uint64(at))
		}
		if err := n.Load([]byte(visits[at].state)); err != nil {
			return found, err
		}
		for _, x := range n.Enabled(nil) {
			if !kinds[x.Kind] {
				continue
			}
			made := visits[at].made
			if x.Kind == dme.Request || x.Kind == dme.RequestShared {
				if made[x.Node] == asked[x.Node] {
					continue
				}
				made = cloneWith(made, x.Node)
			}
			if err := n.Load([]byte(visits[at].state)); err != nil {
				return found, err
			}
			if n.Take(x); n.Violation != nil && n.Violation.Property == vnet.Sanity {
				continue
			}
			if state := string(n.Save(nil)); !known[state] {
				known[state] = true
				visits = append(visits, visit{state, at, x, made})
			}
		}
	}
	found.Found = "No: no shorter way was found."
	return found, nil
}

func cloneWith(made map[dme.NodeID]int, id dme.NodeID) map[dme.NodeID]int {
	next := map[dme.NodeID]int{id: 1}
	for k, v := range made {
		next[k] += v
	}
	return next
}
