package faults

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/internal/run"
	"dmebench/report/stats"
	"dmebench/report/survival"
	"dmebench/result"
)

// Options says what is tried.
type Options struct {
	Catalog     run.Catalog
	Algorithms  []*dme.Algorithm
	Networks    []string // on which runs are made
	Nodes       int      // of a run; algorithms that do not exist for so many get the next number
	Repetitions int      // of each run
	Seed        uint64   // of the first repetition
	Schedules   int      // random schedules of a search
	States      uint64   // at which an exhaustive search ends

	// Run carries out a run.
	Run func(context.Context, *run.Job) (*result.Result, error)
	// Progress is told how many cells are done, of how many, and what comes next.
	Progress func(done, planned int, what string)
}

// Run fills the table. It ends early, with what there is, when the context does.
func Run(ctx context.Context, o Options) (*survival.Document, error) {
	d := &survival.Document{
		SchemaVersion: result.SchemaVersion, Nodes: o.Nodes, Networks: o.Networks, Repetitions: o.Repetitions, Seed: o.Seed,
	}
	kinds := Kinds()
	planned := len(kinds) * len(o.Algorithms)
	for _, a := range o.Algorithms {
		t := &trial{Options: &o, algorithm: a, searches: make(map[string]*survival.Search)}
		for _, k := range kinds {
			if ctx.Err() != nil {
				return d, ctx.Err()
			}
			if o.Progress != nil {
				o.Progress(len(d.Cells), planned, a.Name+", "+k.Title)
			}
			c, err := t.cell(ctx, k)
			if err != nil {
				return d, err
			}
			d.Cells = append(d.Cells, *c)
		}
		for _, c := range a.Claims {
			if err := t.special(ctx, c); err != nil {
				return d, err
			}
		}
		d.Claims = append(d.Claims, judgeClaims(a, t.runs)...)
	}
	if o.Progress != nil {
		o.Progress(planned, planned, "")
	}
	return d, nil
}

// trial is what is tried with one algorithm.
type trial struct {
	*Options
	algorithm *dme.Algorithm
	runs      []ran
	searches  map[string]*survival.Search // several kinds of fault search the same
}

func (o *trial) cell(ctx context.Context, k Kind) (*survival.Cell, error) {
	a := o.algorithm
	c := &survival.Cell{Algorithm: a.Name, Fault: k.Name, Title: k.Title, Safe: survival.Yes, Live: survival.Yes}
	n, err := o.size(a)
	if err != nil {
		return nil, err
	}
	sys, err := a.New(n, o.Seed, nil)
	if err != nil {
		return nil, err
	}
	if c.WhyNot = k.applies(subject{a, sys, sys.Node(1)}); c.WhyNot != "" {
		c.Safe, c.Live = survival.Unknown, survival.Unknown
		return c, nil
	}
	var recovery, served, messages []float64
	for _, network := range o.Networks {
		for i := range o.Repetitions {
			spec := specOf(a, k, network, n, o.Seed+uint64(i))
			job, err := run.Resolve(spec, o.Catalog, nil)
			if err != nil {
				return nil, err
			}
			r, err := o.Run(ctx, job)
			if err != nil {
				return nil, err
			}
			o.runs = append(o.runs, ran{kind: k, job: job, result: r})
			add(c, spec, r)
			for _, f := range r.Faults {
				recovery = appendIf(recovery, f.RecoveredNS)
				served = appendIf(served, f.ServedNS)
				messages = appendIf(messages, f.Messages)
			}
		}
	}
	c.Recovery, c.Served, c.Messages = measure(recovery), measure(served), measure(messages)
	if k.search != nil {
		if c.Search, err = o.search(ctx, a, k, o.searches); err != nil {
			return nil, err
		}
		c.Safe, c.Live = c.Safe.Unless(c.Search.Safe), c.Live.Unless(c.Search.Live)
	}
	return c, nil
}

// special makes the runs for a claim on failures under options of its own, which
// the table has no line for: a node crashes and comes back.
func (o *trial) special(ctx context.Context, c dme.Claim) error {
	set := result.Settings(c.Set)
	if c.Load != dme.Faults || set == "" || len(under(set, o.runs)) > 0 {
		return nil
	}
	n, err := o.size(o.algorithm)
	if err != nil {
		return err
	}
	for _, k := range Kinds() {
		if k.Name != "restart" {
			continue
		}
		for i := range o.Repetitions {
			spec := specOf(o.algorithm, k, result.Sim, n, o.Seed+uint64(i))
			maps.Copy(spec.Set, c.Set)
			job, err := run.Resolve(spec, o.Catalog, nil)
			if err != nil {
				return err
			}
			r, err := o.Run(ctx, job)
			if err != nil {
				return err
			}
			o.runs = append(o.runs, ran{kind: k, set: set, job: job, result: r})
		}
	}
	return nil
}

// size returns the number of nodes of a run of a.
func (o *Options) size(a *dme.Algorithm) (int, error) {
	opt, err := a.Resolve(nil)
	if err != nil {
		return 0, err
	}
	for n := o.Nodes; n < 2*o.Nodes+8; n++ {
		if err = a.CheckNodes(n, opt); err == nil {
			return n, nil
		}
	}
	return 0, err
}

// specOf is a run in which the fault strikes.
func specOf(a *dme.Algorithm, k Kind, network string, n int, seed uint64) result.Spec {
	s := result.Spec{
		Algorithm: a.Name, Nodes: n, Transport: network, Workload: "saturate", CS: "100us", Requests: 60 * n, Seed: seed,
		StallAfter: result.Duration(4 * time.Second), Set: maps.Clone(k.set), AllowMismatch: true,
	}
	if s.Set == nil {
		s.Set = make(map[string]string)
	}
	long, rate := "400ms", 400.0
	if network == result.Sim {
		s.CS, long, rate = "1ms", "60ms", 100
	} else if slices.ContainsFunc(a.Options, func(o dme.Option) bool { return o.Name == "bound" }) {
		s.Set["bound"] = "50ms"
	}
	if len(k.set) > 0 {
		s.Set["link-seed"] = fmt.Sprint(seed) // each repetition loses other messages
	}
	if network == result.Sim && slices.ContainsFunc(a.Gauges, func(g dme.Gauge) bool { return claimed(a, g.Quantity) }) {
		s.Set[gauges] = "on"
	}
	if k.poisson {
		s.Workload, s.TotalRate = "poisson", rate
	}
	if k.faults != nil {
		s.Faults = k.faults(n, long)
	}
	return s
}

// gauges is the option of the simulated network by which gauges are read.
const gauges = "gauges"

// claimed reports whether there is a claim about the quantity under faults.
func claimed(a *dme.Algorithm, q dme.Quantity) bool {
	return slices.ContainsFunc(a.Claims, func(c dme.Claim) bool { return c.Load == dme.Faults && c.Quantity == q })
}

// add counts a run.
func add(c *survival.Cell, s result.Spec, r *result.Result) {
	c.Runs++
	if len(r.Faults) > 0 || len(s.Faults) == 0 {
		c.Struck++
	}
	safe, live := survival.Yes, survival.Yes
	if r.Safety.Violations > 0 {
		safe = survival.No
	}
	switch r.Status {
	case result.Stalled:
		live = survival.No
	case result.Failed:
		live = survival.Unknown
	}
	if safe == survival.No {
		c.Unsafe++
	}
	if live == survival.No {
		c.Stopped++
	}
	if (safe != survival.Yes || live == survival.No) && c.Witness == "" {
		c.Witness = Command(s)
		c.Why = r.Liveness.Why
		if safe == survival.Yes && len(c.Why) == 0 && r.Error != "" {
			c.Why = []string{r.Error}
		}
	}
	c.Safe, c.Live = c.Safe.And(safe), c.Live.And(live)
}

// Command is the command line of a run.
func Command(s result.Spec) string {
	b := []string{
		"dmebench run -a", s.Algorithm, "-n", fmt.Sprint(s.Nodes), "--transport", s.Transport, "--workload", s.Workload, "--cs", s.CS,
	}
	if s.TotalRate > 0 {
		b = append(b, "--total-rate", fmt.Sprint(s.TotalRate))
	}
	b = append(b, "--requests", fmt.Sprint(s.Requests), "--stall-after", s.StallAfter.String(), "--allow-mismatch")
	for _, name := range slices.Sorted(maps.Keys(s.Set)) {
		if name == gauges {
			continue // they change nothing in the run
		}
		b = append(b, "--set "+name+"="+s.Set[name])
	}
	for _, f := range s.Faults {
		b = append(b, "--fault '"+f+"'")
	}
	return strings.Join(append(b, "--seed", fmt.Sprint(s.Seed)), " ")
}

func appendIf[T int64 | uint64](all []float64, x *T) []float64 {
	if x == nil {
		return all
	}
	return append(all, float64(*x))
}

// measure returns the median of a sample, nil of none.
func measure(sample []float64) *survival.Measure {
	if len(sample) == 0 {
		return nil
	}
	e := stats.Median(sample)
	m := &survival.Measure{Median: e.Median, Count: e.N}
	if e.Bounded() {
		m.Low, m.High = &e.Lo, &e.Hi
	}
	return m
}
