package faults

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/runtime/run"
	"dmebench/report/survival"
	"dmebench/runs"
	"dmebench/stats"
)

// Options says what is tried.
type Options struct {
	Catalog     run.Catalog
	Algorithms  []*dme.Algorithm
	Networks    []string // on which runs are made
	Nodes       int      // of a run; algorithms that do not exist for that number get the next one
	Repetitions int      // of each run
	Seed        uint64   // of the first repetition
	Schedules   int      // random schedules of a search
	States      uint64   // at which an exhaustive search ends

	// Run carries out a run. It may be called from several goroutines; idle, which may be
	// called any number of times, says that nothing has moved for a while.
	Run func(ctx context.Context, job *run.Job, idle func()) (*runs.Result, error)
	// Progress is called with how many cells are done, of how many, and what comes next.
	Progress func(done, planned int, what string)
}

// Run fills the table. It ends early, with what there is, when the context does. Runs are
// made side by side; what comes out is in the order of the algorithms and faults.
func Run(ctx context.Context, o Options) (*survival.Document, error) {
	d := &survival.Document{
		SchemaVersion: runs.SchemaVersion, Nodes: o.Nodes, Networks: o.Networks, Repetitions: o.Repetitions, Seed: o.Seed,
	}
	ctx, cancel := context.WithCancel(ctx)
	scheduler := newScheduler(&o)
	var trials []*trial
	for _, a := range o.Algorithms {
		for _, with := range []map[string]string{nil, {"fencing": "false"}} { // algorithms with tokens are tried without, too
			if opt, err := a.Resolve(with); with != nil && (a.Fencing == nil || err != nil || a.Fencing(opt)) {
				continue
			}
			t := &trial{
				scheduler: scheduler, algorithm: a, with: with, whyNot: make(map[string]string), searches: make(map[string]*survival.Search),
			}
			if err := t.plan(); err != nil {
				cancel()
				return d, err
			}
			trials = append(trials, t)
		}
	}
	var runs sync.WaitGroup
	defer runs.Wait()
	defer cancel()
	runs.Go(func() { scheduler.makeAll(ctx, trials) })
	for _, t := range trials {
		if err := t.fill(ctx, d, len(trials)); err != nil {
			return d, err
		}
	}
	if o.Progress != nil {
		o.Progress(len(d.Cells), len(d.Cells), "")
	}
	return d, nil
}

type trial struct {
	*scheduler
	algorithm *dme.Algorithm
	with      map[string]string // options that differ from the defaults
	set       dme.Options       // all of them
	runs      []*ran
	whyNot    map[string]string           // by kind of fault
	searches  map[string]*survival.Search // several kinds of fault search the same
}

func (o *trial) fill(ctx context.Context, d *survival.Document, trials int) error {
	for _, x := range o.runs {
		if <-x.done; x.err != nil {
			return x.err
		}
	}
	release, err := o.alone(ctx) // searches take all cores: what moves meanwhile would be late
	if err != nil {
		return err
	}
	defer release()
	kinds := Kinds()
	for _, k := range kinds {
		if o.Progress != nil {
			o.Progress(len(d.Cells), len(kinds)*trials, o.algorithm.Name+", "+k.Title)
		}
		c, err := o.cell(ctx, k)
		if err != nil {
			return err
		}
		d.Cells = append(d.Cells, *c)
	}
	if o.with == nil {
		d.Claims = append(d.Claims, judgeClaims(o.algorithm, o.runs)...)
	}
	return nil
}

func (o *trial) cell(ctx context.Context, k Kind) (*survival.Cell, error) {
	a := o.algorithm
	c := &survival.Cell{
		Algorithm: strings.TrimSpace(a.Name + " " + runs.Settings(o.with)), Fault: k.Name, Title: k.Title,
		Safe: survival.Unknown, Live: survival.Unknown,
	}
	if c.WhyNot = o.whyNot[k.Name]; c.WhyNot != "" {
		return c, nil
	}
	tally := tally{safe: survival.Yes, live: survival.Yes, updates: survival.Yes}
	var recovery, served, messages []float64
	for _, x := range o.runs {
		if x.kind.Name != k.Name || x.set != runs.Settings(o.with) {
			continue
		}
		tally.add(c, x)
		if x.light && !k.idle {
			continue // what recovery takes depends on the load
		}
		for _, f := range x.result.Faults {
			recovery = appendIf(recovery, f.RecoveredNS)
			served = appendIf(served, f.ServedNS)
			messages = appendIf(messages, f.Messages)
		}
	}
	c.Recovery, c.Served, c.Messages = measure(recovery), measure(served), measure(messages)
	bounded := a.Needs(o.set).BoundedDelay
	if k.search != nil && !(k.unbounded && bounded) {
		var err error
		if c.Search, err = o.search(ctx, k.search); err != nil {
			return nil, err
		}
		if k.wider {
			c.Search = absence(c.Search)
		}
	}
	tally.conclude(c, a.Fences(o.set))
	if c.Safe == survival.Yes && bounded && !k.unbounded {
		c.Only = append(c.Only, "messages arrive within the bound on delays")
	}
	if c.Safe == survival.Yes && k.link {
		s, err := o.search(ctx, k.search, crashes)
		if err != nil {
			return nil, err
		}
		if s.Safe == survival.No {
			c.Only = append(c.Only, "no node crashes as well: `"+s.Witness+"`")
		}
	}
	return c, nil
}

// specOf is a run in which the fault strikes, under heavy load or light load.
func specOf(a *dme.Algorithm, k Kind, network string, n int, seed uint64, light bool) runs.Spec {
	s := runs.Spec{
		Algorithm: a.Name, Nodes: n, Transport: network, Workload: "saturate", CS: "100us", Requests: 60 * n, Seed: seed,
		StallAfter: runs.Duration(4 * time.Second), Set: maps.Clone(k.set), AllowMismatch: true,
	}
	if s.Set == nil {
		s.Set = make(map[string]string)
	}
	long, rate, few := "400ms", 600.0, 40 // requests of a node: so many that some come after the fault
	if network == runs.Sim {
		s.CS, long, rate, few = "1ms", "60ms", 100, 60
	} else if slices.ContainsFunc(a.Options, func(o dme.Option) bool { return o.Name == "bound" }) {
		s.Set["bound"] = "50ms"
		s.Requests, rate, few = 15*n, 10, 4 // an entry takes twice the bound, and light load lets it end before the next
	}
	if len(k.set) > 0 {
		s.Set["link-seed"] = fmt.Sprint(seed) // each repetition loses other messages
	}
	if network == runs.Sim && slices.ContainsFunc(a.Gauges, func(g dme.Gauge) bool { return claimed(a, g.Quantity) }) {
		s.Set[gauges] = "on"
	}
	if light {
		s.Workload, s.TotalRate, s.Requests = "poisson", rate, few*n
	}
	if k.faults != nil {
		s.Faults = k.faults(n, long)
	}
	return s
}

// gauges is the option of the simulated network by which gauges are read.
const gauges = "gauges"

// claimed reports whether there is a claim about the quantity with this ID under faults.
func claimed(a *dme.Algorithm, quantity string) bool {
	return slices.ContainsFunc(claim.Of(a), func(c claim.Claim) bool { return c.Load == claim.Faults && c.Quantity.ID == quantity })
}

type tally struct {
	safe, live, updates survival.Answer
	resource            bool // runs have one, so that updates are checked
}

func (t *tally) add(c *survival.Cell, x *ran) {
	s, r := x.job.Spec, x.result
	c.Runs++
	if len(r.Faults) > 0 || len(s.Faults) == 0 {
		c.Struck++
	}
	safe, live := survival.Yes, survival.Yes
	if r.Safety.Violations > 0 {
		safe = survival.No
		c.Unsafe++
	}
	if resource := r.Safety.Resource; resource != nil {
		t.resource = true
		if resource.LostUpdates > 0 {
			c.Lost++
			t.updates = survival.No
		}
	}
	switch r.Status {
	case runs.Stalled:
		live = survival.No
		c.Stopped++
	case runs.Failed:
		// On links that repeat or lose messages the counts of a run never add up, even if all were
		// served.
		if len(s.Faults) > 0 || r.Entries < uint64(s.Requests) {
			live = survival.Unknown
		}
	}
	// A schedule that is unsafe is shown rather than one that stops.
	if worse := safe == survival.No && t.safe != survival.No; worse || live == survival.No && c.Witness == "" {
		again := s
		again.Set = maps.Clone(s.Set)
		delete(again.Set, gauges) // gauges change nothing in the run
		c.Witness = again.Command()
		c.Why = r.Liveness.Why
		if safe == survival.Yes && len(c.Why) == 0 && r.Error != "" {
			c.Why = []string{r.Error}
		}
	}
	t.safe, t.live = and(t.safe, safe), and(t.live, live)
}

// conclude judges runs and search together. If no fault struck, nothing was tested.
func (t *tally) conclude(c *survival.Cell, fenced bool) {
	if c.Struck == 0 {
		t.safe, t.live = and(t.safe, survival.Unknown), and(t.live, survival.Unknown)
	}
	s := c.Search
	if s == nil {
		s = &survival.Search{Safe: survival.Unknown, Live: survival.Unknown}
	}
	if t.resource { // without tokens an update is kept if no other node is inside
		c.Updates, _ = decide(s, t.updates, s.Safe)
	}
	apart := s.Safe
	if fenced { // the search lets two nodes in, and says whether their tokens differ
		apart = survival.Unknown
	}
	c.Safe, c.SafeBy = decide(s, t.safe, apart)
	c.Live, c.LiveBy = decide(s, t.live, s.Live)
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
	return &survival.Measure{Median: e.Median, Low: stats.Known(e.Lo), High: stats.Known(e.Hi), Count: e.N}
}

// judgeClaims judges what an algorithm's texts claim of failures by its runs: of those
// under crashes, and under restarts. Pauses, partitions and links that lose
// messages are no failures of nodes.
func judgeClaims(a *dme.Algorithm, list []*ran) []claims.Verdict {
	var all []claims.Verdict
	for _, c := range claim.Of(a) {
		if c.Load != claim.Faults {
			continue
		}
		q := claims.Question{Algorithm: a, Claim: c, Set: c.Set}
		runs := under(runs.Settings(c.Set), list)
		switch c.Quantity {
		case claim.Violations, claim.Unserved:
			var t claims.Tally
			for _, x := range runs {
				if x.failure(c.Quantity == claim.Unserved) {
					t.Add(x.kind.Title, x.result)
				}
			}
			all = append(all, q.JudgeAll(t))
		default:
			all = append(all, q.Judge(evidence(&q, runs)))
		}
	}
	return all
}

func under(set string, runs []*ran) []*ran {
	return slices.DeleteFunc(slices.Clone(runs), func(x *ran) bool { return x.set != set })
}

// failure reports whether a run is one of the failures that the texts speak of. If the algorithm
// does not go on without a node, its requests are served once the node is back.
func (x *ran) failure(served bool) bool {
	if x.kind.Name == "restart" {
		return true
	}
	return strings.HasPrefix(x.kind.Name, "crash") && (!served || x.job.Algorithm.Survives != nil)
}

// evidence compares a claim about another quantity with the runs that have it.
func evidence(q *claims.Question, list []*ran) []claims.Evidence {
	var all []claims.Evidence
	for len(list) > 0 {
		first, same := list[0], 0
		for same < len(list) && list[same].kind.Name == first.kind.Name && list[same].light == first.light &&
			list[same].job.Spec.Transport == first.job.Spec.Transport {
			same++
		}
		cell := claims.Cell{Condition: first.kind.Title, Spec: first.job.Spec, Setting: first.job.Setting()}
		for _, x := range list[:same] {
			if x.failure(false) && x.result.Status == runs.OK {
				cell.Results = append(cell.Results, x.result)
			}
		}
		list = list[same:]
		predicted, ok := q.Claim.Prediction(cell.Setting)
		if !ok || len(cell.Results) == 0 {
			continue
		}
		if e, ok := cell.Compare(q.Claim, predicted); ok {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		q.Unanswerable = "results do not have it"
		if q.Claim.Test != "" {
			q.Unanswerable += "; " + q.Claim.Test + " of its package measures it"
		}
	}
	return all
}
