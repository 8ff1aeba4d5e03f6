package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/workload"
)

// resolver looks up everything that a file names, entry by entry and then
// combination by combination.
type resolver struct {
	document
	file     File
	catalog  run.Catalog
	readFile func(string) ([]byte, error)
	fits     func(runs.Spec) error // may be nil
	plan     *Plan
	noRoom   []error // what does not fit

	algorithms, transports, workloads []candidate
	complaints                        complaints
}

// candidate is an entry that has been looked up. Where that failed ok is false,
// and its combinations are not tried.
type candidate struct {
	runs.Entry
	ok       bool
	declared []dme.Option
}

// configurations returns one cell for each combination that is to run, in the
// order in which a repetition runs them.
func (r *resolver) configurations() []Cell {
	for i, e := range r.file.Algorithms {
		a, err := r.catalog.Runnable(e.Name)
		if err != nil {
			a = &dme.Algorithm{Name: e.Name}
		}
		e.Name = a.Name
		r.algorithms = append(r.algorithms, r.candidate("algorithms", i, e, a.Options, err))
	}
	for i, e := range r.file.Transports {
		n, err := run.LookupNetwork(e.Name)
		if err == nil {
			e.Name = n.Name
		}
		r.transports = append(r.transports, r.candidate("transports", i, e, n.Options, err))
	}
	r.file.Workloads = slices.Clone(r.file.Workloads)
	for i, w := range r.file.Workloads {
		kind, err := workload.Lookup(w.Name)
		if err == nil {
			r.file.Workloads[i].Name, r.file.Workloads[i].Set = kind.Name, dme.Canonical(w.Set, kind.Options)
		}
		c := r.candidate("workloads", i, runs.Entry{Name: w.Name, Label: w.Label, Set: w.Set}, kind.Options, err)
		if _, err := workload.ParseDistribution(w.CS); w.CS != "" && err != nil {
			c.ok = false
			r.refuse("workloads", i, fmt.Errorf("cs %q: %w; want a duration such as 100us or exp:100us", w.CS, err))
		}
		r.workloads = append(r.workloads, c)
	}
	r.axes()
	if r.file.tooMany {
		return nil
	}
	var configs []Cell
	for t := range r.transports {
		for w := range r.workloads {
			for n := range r.file.Nodes {
				for a := range r.algorithms {
					if c, ok := r.configuration(combination{a, n, t, w}); ok {
						c.config = len(configs)
						configs = append(configs, c)
					}
				}
			}
		}
	}
	r.complaints.report(r.file, &r.document)
	return configs
}

// candidate checks what can be seen of an entry by itself.
func (r *resolver) candidate(list string, i int, e runs.Entry, declared []dme.Option, err error) candidate {
	e.Set = dme.Canonical(e.Set, declared)
	c := candidate{Entry: e, declared: declared}
	if e.Name == "" {
		return c // of which it has been told that it is missing
	}
	if err == nil {
		_, err = dme.ResolveOptions(declared, e.Set)
	}
	c.ok = err == nil && !r.doubtful[place{list, i}]
	r.refuse(list, i, err)
	return c
}

// refuse notes what is wrong with one entry.
func (r *resolver) refuse(list string, i int, err error) {
	if err == nil {
		return
	}
	for text := range strings.SplitSeq(err.Error(), "\n") {
		r.add(r.line(list, i), "%s%s", where(list, i), text)
	}
}

// axes checks that what figures are to be drawn over is something that varies.
func (r *resolver) axes() {
	// A plan says nothing of hosts: over them nothing varies.
	known := slices.DeleteFunc(runs.Dimensions(), func(name string) bool { return name == "hosts" })
	for _, c := range slices.Concat(r.algorithms, r.transports, r.workloads) {
		for _, o := range c.declared {
			known = append(known, o.Name)
		}
	}
	for i, a := range r.file.Axes {
		if a.Over != "" && !slices.Contains(known, a.Over) {
			r.refuse("axes", i, fmt.Errorf("over %q: no dimension of a run and no option of what is compared", a.Over))
		}
	}
}

// configuration resolves one combination; ok is false where it is not to run,
// or cannot.
func (r *resolver) configuration(at combination) (c Cell, ok bool) {
	alg, net, load := r.algorithms[at[ofAlgorithms]], r.transports[at[ofTransports]], r.workloads[at[ofWorkloads]]
	nodes := r.file.Nodes[at[ofNodes]]
	if nodes < 1 || r.doubtful[place{"nodes", at[ofNodes]}] {
		return c, false
	}
	if !alg.ok || !net.ok || !load.ok || exceeds(nodes, alg.MaxNodes) || exceeds(nodes, net.MaxNodes) {
		return c, false
	}
	c = Cell{
		Spec:  r.file.spec(alg.Entry, nodes, net.Entry, r.file.Workloads[at[ofWorkloads]]),
		Label: alg.Label, Transport: net.Label, Workload: load.Label,
	}
	if r.fits != nil {
		if err := r.fits(c.Spec); err != nil {
			r.noRoom = append(r.noRoom, err)
			return c, false
		}
	}
	r.complaints.try(at)
	err := r.resolve(&c)
	var cannot *run.CannotRun
	switch {
	case err == nil:
		return c, true
	case !errors.As(err, &cannot):
		for text := range strings.SplitSeq(err.Error(), "\n") {
			r.complaints.add(text, at)
		}
	case r.file.SkipInvalid:
		r.leaveOut(c, cannot.Why)
	case cannot.Faults:
		for text := range strings.SplitSeq(cannot.Why.Error(), "\n") {
			r.complaints.add(text+"; choose another algorithm or other faults, or set skip_invalid: true to leave it out", at)
		}
	case cannot.Resource:
		r.complaints.add(fmt.Sprintf("%v; choose a real network, or set skip_invalid: true to leave it out", cannot.Why), at)
	case cannot.Nodes:
		r.complaints.add(fmt.Sprintf("%v; choose another number of nodes or option, or set skip_invalid: true to leave it out", cannot.Why), at)
	default:
		r.complaints.add(fmt.Sprintf("%v; choose another transport or option, set skip_invalid: true to leave it out, "+
			"or allow_mismatch: true to see it fail", cannot.Why), at)
	}
	return c, false
}

func exceeds(nodes, limit int) bool { return limit > 0 && nodes > limit }

// resolve resolves every repetition of a configuration and lets go of the jobs:
// thousands of them, each with its quorums, would not fit into memory.
func (r *resolver) resolve(c *Cell) error {
	spec := c.Spec
	for repetition := range r.file.Repetitions {
		spec.Seed = r.file.Seed + uint64(repetition)
		job, err := run.Resolve(spec, r.catalog, r.readFile)
		if err != nil {
			return err
		}
		c.LinksMet, c.settings = len(job.Missing) == 0, job.Settings()
	}
	return nil
}

func (r *resolver) leaveOut(c Cell, why error) {
	line := fmt.Sprintf("%s, %d nodes, %s: %s", c.Label, c.Spec.Nodes, c.Transport, strings.ReplaceAll(why.Error(), "\n", "; "))
	if !slices.Contains(r.plan.LeftOut, line) { // once, not for every workload
		r.plan.LeftOut = append(r.plan.LeftOut, line)
	}
}
