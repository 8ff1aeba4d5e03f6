package experiment

import (
	"fmt"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/internal/run"
	"dmebench/result"
	"dmebench/workload"
)

// resolver looks up everything that a file names, entry by entry and then
// combination by combination.
type resolver struct {
	faults
	file     File
	catalog  run.Catalog
	readFile func(string) ([]byte, error)
	plan     *Plan

	algorithms, transports, workloads []candidate
	wrong                             complaints
}

// candidate is an entry that has been looked up. Where that failed ok is false,
// and its combinations are not tried.
type candidate struct {
	Entry
	ok        bool
	declared  []dme.Option
	algorithm *dme.Algorithm // of an algorithm
	network   run.Network    // of a transport
	workload  Workload       // of a workload
}

// configurations returns one cell for each combination that is to run, in the
// order in which a repetition runs them.
func (r *resolver) configurations() []Cell {
	for i, e := range r.file.Algorithms {
		r.algorithms = append(r.algorithms, r.algorithm(i, e))
	}
	for i, e := range r.file.Transports {
		r.transports = append(r.transports, r.transport(i, e))
	}
	for i, w := range r.file.Workloads {
		r.workloads = append(r.workloads, r.workload(i, w))
	}
	var configs []Cell
	for t := range r.transports {
		for w := range r.workloads {
			for s := range r.file.Nodes {
				for a := range r.algorithms {
					if c, ok := r.configuration(combination{a, s, t, w}); ok {
						c.config = len(configs)
						configs = append(configs, c)
					}
				}
			}
		}
	}
	r.wrong.report(r.file, &r.faults)
	return configs
}

func (r *resolver) algorithm(i int, e Entry) candidate {
	c := candidate{Entry: e}
	var err error
	if c.algorithm, err = r.catalog.Lookup(e.Name); err == nil {
		c.declared = c.algorithm.Options
		_, err = dme.ResolveOptions(c.declared, e.Set)
	}
	c.ok = r.check("algorithms", i, e, err)
	return c
}

func (r *resolver) transport(i int, e Entry) candidate {
	c := candidate{Entry: e}
	var err error
	if c.network, err = run.LookupNetwork(e.Name); err == nil {
		c.declared = c.network.Options
		_, err = dme.ResolveOptions(c.declared, e.Set)
	}
	c.ok = r.check("transports", i, e, err)
	return c
}

func (r *resolver) workload(i int, w Workload) candidate {
	c := candidate{Entry: w.Entry, workload: w}
	kind, err := workload.Lookup(w.Name)
	if err == nil {
		c.declared = kind.Options
		_, err = dme.ResolveOptions(c.declared, w.Set)
	}
	c.ok = r.check("workloads", i, w.Entry, err)
	if _, err := workload.ParseDistribution(w.CS); w.CS != "" && err != nil {
		c.ok = r.check("workloads", i, w.Entry,
			fmt.Errorf("cs %q: %w; want a duration such as 100us or exp:100us", w.CS, err))
	}
	return c
}

// check notes what is wrong with one entry by itself.
func (r *resolver) check(list string, i int, e Entry, err error) bool {
	if err == nil {
		return true
	}
	for text := range strings.SplitSeq(err.Error(), "\n") {
		r.add(e.Line, "%s%s", where(list, i), text)
	}
	return false
}

// configuration resolves one combination; ok is false where it is not to run,
// or cannot.
func (r *resolver) configuration(at combination) (c Cell, ok bool) {
	alg, net, work := r.algorithms[at.algorithm], r.transports[at.transport], r.workloads[at.workload]
	nodes := r.file.Nodes[at.size]
	if !alg.ok || !net.ok || !work.ok || exceeds(nodes, alg.MaxNodes) || exceeds(nodes, net.MaxNodes) {
		return c, false
	}
	if clash := clashes(alg, net, work); clash != "" {
		r.wrong.add(clash, at)
		return c, false
	}
	c = Cell{
		Spec:  r.file.spec(alg.Entry, nodes, net.Entry, work.workload),
		Label: alg.Label, Transport: net.Label, Workload: work.Label,
	}
	if advice, why := cannotRun(alg, net, nodes, r.file.AllowMismatch); why != nil {
		if r.file.SkipInvalid {
			r.leaveOut(c, why)
		} else {
			r.wrong.add(why.Error()+"; "+advice, at)
		}
		return c, false
	}
	var err error
	if c.LinksMet, err = r.resolve(c.Spec); err != nil {
		for text := range strings.SplitSeq(err.Error(), "\n") {
			r.wrong.add(text, at)
		}
		return c, false
	}
	return c, true
}

// resolve resolves every repetition of a configuration and lets go of the jobs:
// thousands of them, each with its quorums, would not fit into memory.
func (r *resolver) resolve(spec result.Spec) (linksMet bool, err error) {
	for repetition := range r.file.Repetitions {
		spec.Seed = r.file.Seed + uint64(repetition)
		job, err := run.Resolve(spec, r.catalog, r.readFile)
		if err != nil {
			return false, err
		}
		linksMet = len(job.Missing) == 0
	}
	return linksMet, nil
}

func exceeds(nodes, limit int) bool { return limit > 0 && nodes > limit }

// clashes finds a setting of one entry that another one of the combination
// declares as well: a run has one name space, and the value would go astray.
func clashes(entries ...candidate) string {
	for i, e := range entries {
		for j, other := range entries {
			for _, o := range other.declared {
				if _, set := e.Set[o.Name]; set && i != j {
					return fmt.Sprintf("option %s of %s is also one of %s; they cannot be combined", o.Name, e.Name, other.Name)
				}
			}
		}
	}
	return ""
}

// cannotRun says why an algorithm cannot run on so many nodes or over a network
// that lacks what it needs, and what to do; everything else that is wrong with
// a specification is a fault of the file, whatever skip_invalid says.
func cannotRun(alg, net candidate, nodes int, allowMismatch bool) (advice string, why error) {
	opt, _ := dme.ResolveOptions(alg.declared, alg.Set)
	if err := alg.algorithm.CheckNodes(nodes, opt); err != nil {
		return "choose another number of nodes or option, or set skip_invalid: true to leave it out", err
	}
	netOpt, _ := dme.ResolveOptions(net.declared, net.Set)
	missing := net.network.Guarantees(netOpt).Lacks(alg.algorithm.Needs(opt))
	if len(missing) == 0 || allowMismatch {
		return "", nil
	}
	return "choose another transport or option, set skip_invalid: true to leave it out, or allow_mismatch: true to see it fail",
		fmt.Errorf("%s needs %s, which %s does not have", alg.Name, strings.Join(missing, " and "), net.network.Describe(netOpt))
}

func (r *resolver) leaveOut(c Cell, why error) {
	line := fmt.Sprintf("%s, %d nodes, %s: %v", c.Label, c.Spec.Nodes, c.Transport, why)
	if !slices.Contains(r.plan.LeftOut, line) { // once, not for every workload
		r.plan.LeftOut = append(r.plan.LeftOut, line)
	}
}
