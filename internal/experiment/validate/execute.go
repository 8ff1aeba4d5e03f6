package validate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"dmebench/claims"
	"dmebench/dme/claim"
	"dmebench/internal/platform"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/units"
)

type executor struct {
	opt     *Options
	started time.Time
	now     func() time.Time

	mu      sync.Mutex
	done    int
	planned int
	leftOut map[bool]int // simulations, and runs over a real network
	err     error        // of the store
}

func newExecutor(o *Options) *executor {
	now := o.Now
	if now == nil {
		now = time.Now
	}
	return &executor{opt: o, now: now, started: now(), leftOut: make(map[bool]int)}
}

// carryOut runs what is pending until the deadline, which is a time since the
// start: several simulations at a time, or real runs one by one, never both. Runs that have
// begun are finished. Only the context ends it with an error.
func (w *executor) carryOut(ctx context.Context, p *plan, pending []work, parallel int, deadline time.Duration) error {
	if len(pending) == 0 {
		return nil
	}
	real := pending[0].cell.Real()
	w.mu.Lock()
	w.planned += len(pending) - w.leftOut[real] // what an earlier phase left out is pending again
	w.leftOut[real] = 0
	for _, x := range pending {
		if missing := x.cell.repetitions - len(x.cell.runs); missing > 0 {
			x.cell.runs = append(x.cell.runs, make([]*runs.Result, missing)...)
		}
	}
	w.mu.Unlock()

	queue := make(chan work)
	var group sync.WaitGroup
	for range max(1, parallel) {
		group.Go(func() {
			for x := range queue {
				w.run(ctx, p, x)
			}
		})
	}
	for i, x := range pending {
		w.mu.Lock()
		late := w.now().Sub(w.started) > deadline
		if late {
			w.leftOut[real] = len(pending) - i
		}
		failed := w.err != nil
		w.mu.Unlock()
		if late || failed || ctx.Err() != nil {
			break
		}
		queue <- x
	}
	close(queue)
	group.Wait()
	return cmp.Or(w.err, ctx.Err())
}

// left returns how many runs were left out because the time was over.
func (w *executor) left() int { return w.leftOut[false] + w.leftOut[true] }

// run carries out one run, unless the store has it, and keeps its result.
func (w *executor) run(ctx context.Context, p *plan, x work) {
	spec := x.cell.Spec
	spec.Seed = p.opt.Seed + uint64(x.repetition)
	r := w.found(x)
	known := r != nil
	if !known {
		r = carryOut(ctx, spec, p.opt)
	}
	if ctx.Err() != nil {
		return
	}
	r = withoutBulk(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	if store := w.opt.Store; store != nil && !known && w.err == nil {
		w.err = store.Append(runs.Run{Label: spec.Algorithm, Workload: x.cell.Condition, Repetition: x.repetition + 1, Result: r})
	}
	x.cell.runs[x.repetition] = r
	w.done++
	if w.opt.Progress != nil {
		w.opt.Progress(w.done, w.planned-w.left(), fmt.Sprintf("%s, N = %d, %s", spec.Algorithm, spec.Nodes, x.cell.Condition))
	}
}

// found returns what the store has of a run, if that stands.
func (w *executor) found(x work) *runs.Result {
	if w.opt.Store == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.opt.Store.Find(runs.RunKey{
		Label: x.cell.Spec.Algorithm, Workload: x.cell.Condition, Cell: runs.KeyOf(x.cell.Spec), Repetition: x.repetition + 1,
	})
	if r == nil || r.Status == runs.Failed {
		return nil
	}
	return r
}

// carryOut makes a failed result of an error.
func carryOut(ctx context.Context, spec runs.Spec, o *Options) *runs.Result {
	var r *runs.Result
	var err error
	if o.Elsewhere != nil && spec.Transport == runs.Sim {
		r, err = o.Elsewhere(ctx, spec)
	} else {
		var job *run.Job
		job, err = platform.Interruptible(ctx, func() (*run.Job, error) { return run.Resolve(spec, o.Catalog, nil) })
		if err == nil {
			r, err = o.Run(ctx, job)
		}
	}
	if err != nil {
		r = runs.Failure(spec, err)
	}
	r.Spec = spec
	return r
}

// withoutBulk leaves out what no claim speaks of: there are thousands of results.
func withoutBulk(r *runs.Result) *runs.Result {
	small := *r
	small.Work.SentByNode, small.Work.HandledByNode, small.Work.EntriesByNode = nil, nil, nil
	small.Histograms, small.Environment, small.Liveness.States, small.Warnings = runs.Histograms{}, nil, nil, nil
	return &small
}

// If as many runs as planned leave it open whether a mean is right, or refute it by little, there
// are more: patience times as many, while all that are added cost no more than that many of the most
// expensive runs.
const (
	patience = 4
	costly   = 8
	little   = 0.1 // relative to the prediction
)

// doubtful plans more runs if intervals are too wide to decide, and if a mean that is nearly
// right is refuted: what still differs then was not chance. With four times as many runs intervals
// are half as wide, or less than a third with a few runs. Looking twice is comparing twice, and
// counted so.
func (p *plan) doubtful() {
	compared := p.means()
	var cells []*cell
	for _, q := range p.questions {
		if q.Unanswerable != "" || q.means() == 0 || q.Claim.KnownFalse != "" {
			continue
		}
		for _, c := range slices.Concat(q.cells, q.others) {
			if c.Real() || c.doubted {
				continue
			}
			e, ok := c.usable(compared).Compare(q.Claim, q.predicted[c])
			if ok && (e.Standing == claims.Open && e.Tolerance == 0 || e.Standing == claims.Differs && e.Scatters() && e.Off < little) {
				q.again++
				cells = append(cells, c)
			}
		}
	}
	for _, c := range cells { // a cell may leave several claims open
		if !c.doubted {
			c.doubted = true
			affordable := costly * p.effort.messages / max(1, c.cost)
			c.repetitions = max(c.repetitions, min(patience*p.effort.repetitions, c.repetitions+int(affordable)))
		}
	}
}

// heavy are the offered rates, in parts of what the system can serve, at which a formula for heavy
// load is tried if the closed loop contradicts it.
var heavy = []float64{0.5, 0.7, 0.85, 0.95}

// longHold is a critical section so long that everything sent meanwhile arrives
// before it ends: then every request is known to all when the next one enters.
const longHold = 10 * messageDelay

// heavier plans runs under other heavy loads for every claim about heavy load that the closed loop
// contradicts, with any delays: "heavy" may have meant another one.
func (p *plan) heavier() {
	if p.opt.Transport != runs.Sim {
		return
	}
	compared := p.means()
	for _, q := range p.questions {
		if q.Claim.Load != claim.Saturated || q.Claim.Kind != claim.Mean && q.Claim.Kind != claim.Exact ||
			q.Claim.Quantity.Timed() || q.Unanswerable != "" {
			continue
		}
		retried := make(map[int]bool)
		for _, c := range q.cells {
			if c.Spec.Workload != closedLoop || c.Real() || c.Spec.Nodes > p.effort.others || retried[c.Spec.Nodes] {
				continue
			}
			e, ok := c.usable(compared).Compare(q.Claim, q.predicted[c])
			if !ok || e.Agrees || e.Tolerance > 0 {
				continue
			}
			retried[c.Spec.Nodes] = true
			for _, h := range otherHeavyLoads(c) {
				p.plan(q, &q.others, &h, c.Spec.Nodes, false)
			}
		}
	}
	p.bench.forget()
}

// otherHeavyLoads returns bursts, and rates up to nearly what the closed loop reached.
func otherHeavyLoads(c *cell) []condition {
	var loads []condition
	for _, b := range conditions(runs.Sim) {
		if b.workload == "burst" {
			loads = append(loads, b)
		}
	}
	loads = append(loads, condition{
		name: "closed loop with critical sections of 10 T, exponential delays", workload: closedLoop, network: runs.Sim,
		set: map[string]string{"delay": "exponential"}, hold: longHold,
	})
	capacity, made := 0.0, 0.0
	for _, r := range c.Results {
		if r.Throughput != nil {
			capacity, made = capacity+*r.Throughput, made+1
		}
	}
	if made == 0 {
		return loads
	}
	for _, part := range heavy {
		loads = append(loads, condition{
			name:     fmt.Sprintf("poisson at %s%% of the closed loop's throughput", units.Number(100*part)),
			workload: "poisson", network: runs.Sim, set: map[string]string{"delay": "uniform"}, rate: part * capacity / made,
		})
	}
	return loads
}
