package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dmebench/report/stats"
	"dmebench/result"
)

// collection is everything a report is made of, in order.
type collection struct {
	in       Input
	theory   *theory
	runs     []Run    // with complete specifications and unambiguous labels; no Result is nil
	labels   []string // of all series, in order of appearance: a label's place is its look
	sets     []*set
	families []family
	warnings []string // found while collecting
}

// set is a figure set: what was measured over one network under one workload.
type set struct {
	transport, workload string
	about               []string    // what else tells it from other sets
	first               result.Spec // of its first run
	calledNetwork       string      // what the experiment calls it in that run; may be ""
	calledWorkload      string
	requests            string // how many there were, the last of about; "" where runs have no number in common
	slug                string // begins the names of its files; unique
	labels              []string
	sizes               []int // ascending
	cells               map[place]*cell
}

// place is where a cell stands in its set.
type place struct {
	label string
	nodes int
}

// cell is the repetitions of one point of the experiment.
type cell struct {
	place
	spec      result.Spec // of the first repetition
	good, bad []*result.Result
	estimates map[string]stats.Estimate // by name of the metric, over the good ones
}

// good reports whether a run's numbers may be used.
func good(r *result.Result) bool { return r.Status == result.OK && r.Safety.Violations == 0 }

func collect(in Input) *collection {
	c := &collection{in: in, theory: newTheory(in)}
	for _, r := range in.Runs {
		c.runs = append(c.runs, complete(r))
	}
	c.disambiguate()
	for _, r := range c.runs {
		if !slices.Contains(c.labels, r.Label) {
			c.labels = append(c.labels, r.Label)
		}
	}
	c.group()
	for _, s := range c.sets {
		for _, cell := range s.cells {
			cell.summarize()
		}
	}
	c.families = c.findFamilies()
	return c
}

// complete makes a run safe to look into.
func complete(r Run) Run {
	var known result.Result
	if r.Result != nil {
		known = *r.Result
	} else {
		known = result.Result{Algorithm: r.Label, Status: result.Failed, Error: "there is no result"}
	}
	s := &known.Spec
	s.Algorithm = cmp.Or(s.Algorithm, known.Algorithm)
	s.Nodes = cmp.Or(s.Nodes, known.Nodes)
	s.Transport = cmp.Or(s.Transport, known.Transport)
	s.Workload = cmp.Or(s.Workload, known.Workload)
	known.Algorithm, known.Nodes = s.Algorithm, s.Nodes
	r.Label = cmp.Or(r.Label, known.Algorithm, "unnamed")
	r.Result = &known
	return r
}

// disambiguate lengthens a label that stands for several algorithms or option
// sets: their runs must never become one sample.
func (c *collection) disambiguate() {
	who := func(r Run) string {
		own, _ := c.divide(r.Result.Spec)
		return strings.TrimSpace(r.Result.Algorithm + " " + join(own))
	}
	meanings := make(map[string]map[string]bool)
	for _, r := range c.runs {
		if meanings[r.Label] == nil {
			meanings[r.Label] = make(map[string]bool)
		}
		meanings[r.Label][who(r)] = true
	}
	for i, r := range c.runs {
		if len(meanings[r.Label]) > 1 {
			c.runs[i].Label = fmt.Sprintf("%s (%s)", r.Label, who(r))
		}
	}
}

// divide tells the algorithm's options from those of workload and network. An
// option of which it is not known whose it is counts as the workload's: a
// figure too many is better than a sample of two things.
func (c *collection) divide(s result.Spec) (own, others map[string]string) {
	own, others = make(map[string]string), make(map[string]string)
	if len(s.Set) == 0 {
		return own, others
	}
	setting, _ := c.theory.setting(s)
	for k, v := range s.Set {
		if _, ok := setting.Options[k]; ok {
			own[k] = v
		} else {
			others[k] = v
		}
	}
	return own, others
}

func join(set map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, k+"="+set[k])
	}
	return strings.Join(parts, " ")
}

// group puts every run into its set and cell.
func (c *collection) group() {
	var keys []string
	byKey := make(map[string][]Run)
	for _, r := range c.runs {
		if r.Result.Nodes == 0 {
			continue // it is not known what this was; the verdict names it
		}
		key := strings.Join(append([]string{r.Result.Spec.Transport, r.Result.Spec.Workload}, c.conditions(r.Result.Spec)...), "\x00")
		if byKey[key] == nil {
			keys = append(keys, key)
		}
		byKey[key] = append(byKey[key], r)
	}
	for _, key := range keys {
		for _, runs := range splitByRequests(byKey[key]) {
			c.sets = append(c.sets, c.newSet(runs))
		}
	}
	name(c.sets)
}

func (c *collection) newSet(runs []Run) *set {
	first := runs[0].Result.Spec
	s := &set{transport: first.Transport, workload: first.Workload, first: first, cells: make(map[place]*cell)}
	s.calledNetwork, s.calledWorkload = runs[0].Network, runs[0].Workload
	s.about = c.conditions(first)
	if s.requests = requestsOf(runs); s.requests != "" {
		s.about = append(s.about, s.requests)
	}
	for _, r := range runs {
		at := place{r.Label, r.Result.Nodes}
		if s.cells[at] == nil {
			s.cells[at] = &cell{place: at, spec: r.Result.Spec}
		}
		if cell := s.cells[at]; good(r.Result) {
			cell.good = append(cell.good, r.Result)
		} else {
			cell.bad = append(cell.bad, r.Result)
		}
		if !slices.Contains(s.sizes, at.nodes) {
			s.sizes = append(s.sizes, at.nodes)
		}
	}
	slices.Sort(s.sizes)
	for _, label := range c.labels {
		if slices.ContainsFunc(runs, func(r Run) bool { return r.Label == label }) {
			s.labels = append(s.labels, label)
		}
	}
	return s
}

// inOrder returns the cells, series by series.
func (s *set) inOrder() []*cell {
	var cells []*cell
	for _, label := range s.labels {
		for _, n := range s.sizes {
			if cell := s.cells[place{label, n}]; cell != nil {
				cells = append(cells, cell)
			}
		}
	}
	return cells
}

func (c *cell) summarize() {
	c.estimates = make(map[string]stats.Estimate)
	for _, m := range metrics() {
		var values []float64
		for _, r := range c.good {
			if x := m.of(r); x != nil {
				values = append(values, *x)
			}
		}
		c.estimates[m.name] = stats.Median(values)
	}
}
