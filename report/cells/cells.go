// Package cells says which runs count, what a cell is, and which cells belong side by side: for the
// report, rankings, comparisons, thresholds and exports alike.
//
// A cell is the repetitions of one thing: runs of one label that were asked to do the same
// ([runs.Key]). Those count that ended well and in which mutual exclusion held; of simulations with
// the same seed the first one, as the others are the same bytes again. Cells of one network and one
// load, whatever their algorithms and numbers of nodes, are a [Group].
//
// The package says in words what runs have in common and in what they differ ([Title]). It knows no
// algorithm, and computes no statistic but the medians that it holds against what a user does not
// accept ([Threshold]).
package cells

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dmebench/runs"
)

// Cell is the repetitions of one point of an experiment.
type Cell struct {
	Label   string
	Key     runs.Key
	Nodes   int
	First   runs.Run // the first repetition, for what all have in common
	Options Options

	Runs  []runs.Run     // the runs counted
	Good  []*runs.Result // their results
	Bad   []*runs.Result // of runs that did not end well
	Twins int            // simulations left out because they repeat a seed
}

// Group is the cells that were run over one network under one load.
type Group struct {
	Runs  []runs.Run // all of them, by number of nodes
	Cells []*Cell    // by number of nodes, and then as their labels appear
}

// Table is the runs of a result set in cells and groups, each in the order in which it
// first appears.
type Table struct {
	Runs   []runs.Run                // all of them, complete, each label with one meaning
	Keys   map[*runs.Result]runs.Key // of the results of Runs
	Labels []string
	Groups []*Group // without runs on an unknown number of nodes
}

// Of divides runs into cells. Runs and results are copied if they lack something.
func Of(e *runs.Experiment, list []runs.Run) *Table {
	t := &Table{}
	for _, r := range list {
		t.Runs = append(t.Runs, complete(r))
	}
	disambiguate(e, t.Runs)
	t.Keys = runs.Keys(t.Runs)
	var known []runs.Run
	for _, r := range t.Runs {
		if !slices.Contains(t.Labels, r.Label) {
			t.Labels = append(t.Labels, r.Label)
		}
		if r.Result.Nodes > 0 {
			known = append(known, r)
		}
	}
	for _, same := range Grouped(known, func(r runs.Run) circumstances { return circumstancesOf(e, r, t.Keys[r.Result]) }) {
		slices.SortStableFunc(same, func(a, b runs.Run) int { return a.Result.Nodes - b.Result.Nodes })
		g := &Group{Runs: same}
		for _, size := range Grouped(same, func(r runs.Run) int { return r.Result.Nodes }) {
			for _, repetitions := range Grouped(size, func(r runs.Run) string { return r.Label }) {
				g.Cells = append(g.Cells, newCell(e, t.Keys[repetitions[0].Result], repetitions))
			}
		}
		t.Groups = append(t.Groups, g)
	}
	return t
}

// Cells returns the cells of all groups, in the order of their first runs.
func (t *Table) Cells() []*Cell {
	at := make(map[*runs.Result]int)
	for i, r := range t.Runs {
		at[r.Result] = i
	}
	var all []*Cell
	for _, g := range t.Groups {
		all = append(all, g.Cells...)
	}
	slices.SortFunc(all, func(c, d *Cell) int { return at[c.First.Result] - at[d.First.Result] })
	return all
}

func newCell(e *runs.Experiment, key runs.Key, repetitions []runs.Run) *Cell {
	first := repetitions[0]
	c := &Cell{Label: first.Label, Key: key, Nodes: first.Result.Nodes, First: first, Options: OptionsOf(e, first)}
	ran := make(map[uint64]bool)
	for _, r := range repetitions {
		switch simulated := r.Result.Spec.Transport == runs.Sim; {
		case !runs.Usable(r.Result):
			c.Bad = append(c.Bad, r.Result)
		case simulated && ran[r.Result.Seed]:
			c.Twins++
		default:
			ran[r.Result.Seed] = true
			c.Runs, c.Good = append(c.Runs, r), append(c.Good, r.Result)
		}
	}
	return c
}

// Repetitions counts the runs of the cell, other than twins.
func (c *Cell) Repetitions() int { return len(c.Good) + len(c.Bad) }

// All returns the results of all repetitions, those that count first.
func (c *Cell) All() []*runs.Result { return slices.Concat(c.Good, c.Bad) }

// Ended counts the runs that did not end well by how they ended.
func (c *Cell) Ended() map[runs.Status]int {
	ended := make(map[runs.Status]int)
	for _, r := range c.Bad {
		ended[Outcome(r)]++
	}
	return ended
}

// LeftOut says which runs do not count and why: "1 of 6 runs ended as stalled".
func (c *Cell) LeftOut() []string {
	var parts []string
	ended := c.Ended()
	for _, status := range slices.Sorted(maps.Keys(ended)) {
		parts = append(parts, fmt.Sprintf("%d of %d runs ended as %s", ended[status], c.Repetitions(), status))
	}
	return parts
}

// TooShort counts the runs whose synchronization delay is shorter than clocks of several hosts can
// resolve. If there is one, the median of the others is not the cell's: their delay was long enough.
func (c *Cell) TooShort() (n int) {
	for _, r := range c.Good {
		if r.SyncDelayTooShort() {
			n++
		}
	}
	return n
}

// ClockBound is the largest bound on the error of a delay that crosses hosts, in nanoseconds; 0 if
// none did.
func (c *Cell) ClockBound() (bound float64) {
	for _, r := range c.Good {
		if r.SyncDelayBound != nil {
			bound = max(bound, float64(*r.SyncDelayBound))
		}
	}
	return bound
}

// Outcome is how a run ended, whatever its status says.
func Outcome(r *runs.Result) runs.Status {
	switch {
	case runs.Usable(r):
		return runs.OK
	case r.Safety.Violations > 0:
		return runs.Violated
	case r.Status == runs.Violated || r.Status == runs.Stalled:
		return r.Status
	}
	return runs.Failed
}

// Grouped divides values by their keys, in the order in which these appear.
func Grouped[K comparable, V any](values []V, key func(V) K) [][]V {
	var groups [][]V
	at := make(map[K]int)
	for _, v := range values {
		k := key(v)
		if _, known := at[k]; !known {
			at[k] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[k]] = append(groups[at[k]], v)
	}
	return groups
}

// complete returns the run with a label, a result and a whole specification, even if it lacks them;
// the result is a copy.
func complete(r runs.Run) runs.Run {
	known := runs.Result{Algorithm: r.Label, Status: runs.Failed, Error: "there is no result"}
	if r.Result != nil {
		known = *r.Result
	}
	known.Spec = known.Asked()
	known.Algorithm, known.Nodes = known.Spec.Algorithm, known.Spec.Nodes
	r.Label = cmp.Or(r.Label, known.Algorithm, "unnamed")
	r.Result = &known
	return r
}

// disambiguate lengthens, in place, a label that stands for several algorithms or
// option sets: their runs must never become one sample. The runs are complete.
func disambiguate(e *runs.Experiment, list []runs.Run) {
	who := func(r runs.Run) string {
		return strings.TrimSpace(r.Result.Algorithm + " " + runs.Settings(OptionsOf(e, r).Algorithm))
	}
	meanings := make(map[string]map[string]bool)
	for _, r := range list {
		if meanings[r.Label] == nil {
			meanings[r.Label] = make(map[string]bool)
		}
		meanings[r.Label][who(r)] = true
	}
	for i, r := range list {
		if len(meanings[r.Label]) > 1 {
			list[i].Label = fmt.Sprintf("%s (%s)", r.Label, who(r))
		}
	}
}

// Options are the options of a run by whose they are.
type Options struct{ Algorithm, Network, Workload map[string]string }

// OptionsOf divides a run's options. The experiment says which it gave to the
// network and the workload; what is left is the algorithm's.
func OptionsOf(e *runs.Experiment, r runs.Run) Options {
	o := Options{make(map[string]string), make(map[string]string), make(map[string]string)}
	var network, workload map[string]string
	for _, t := range e.Transports {
		if cmp.Or(t.Label, t.Name) == r.Transport {
			network = t.Set
		}
	}
	for _, w := range e.Workloads {
		if cmp.Or(w.Label, w.Name) == r.Workload {
			workload = w.Set
		}
	}
	for name, value := range r.Result.Spec.Set {
		of := o.Algorithm
		if _, ok := network[name]; ok {
			of = o.Network
		} else if _, ok := workload[name]; ok {
			of = o.Workload
		}
		of[name] = value
	}
	return o
}

// circumstances are what runs have in common that may stand side by side, with any algorithms and
// numbers of nodes.
type circumstances struct{ network, workload, place, options, requests string }

func circumstancesOf(e *runs.Experiment, r runs.Run, key runs.Key) circumstances {
	o := OptionsOf(e, r)
	common := circumstances{
		network: r.Transport, workload: r.Workload, place: key.Place().String(),
		options: runs.Settings(o.Network) + " " + runs.Settings(o.Workload),
	}
	if r.Workload == "" { // a workload of an experiment says how the number depends on N
		common.requests = key.Get("requests")
	}
	return common
}
