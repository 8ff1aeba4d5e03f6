package validate

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"dmebench/internal/interrupt"
	"dmebench/internal/run"
	"dmebench/result"
)

// executor carries out runs while there is time.
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
			x.cell.runs = append(x.cell.runs, make([]*result.Result, missing)...)
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
		w.err = store.Append(result.Run{Label: spec.Algorithm, Workload: x.cell.Condition, Repetition: x.repetition + 1, Result: r})
	}
	x.cell.runs[x.repetition] = r
	w.done++
	if w.opt.Progress != nil {
		w.opt.Progress(w.done, w.planned-w.left(), fmt.Sprintf("%s, N = %d, %s", spec.Algorithm, spec.Nodes, x.cell.Condition))
	}
}

// found returns what the store has of a run, nil where it has nothing that
// stands.
func (w *executor) found(x work) *result.Result {
	if w.opt.Store == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.opt.Store.Find(result.RunKey{
		Label: x.cell.Spec.Algorithm, Workload: x.cell.Condition, Cell: result.KeyOf(x.cell.Spec), Repetition: x.repetition + 1,
	})
	if r == nil || r.Status == result.Failed {
		return nil
	}
	return r
}

// carryOut makes a failed result of an error.
func carryOut(ctx context.Context, spec result.Spec, o *Options) *result.Result {
	var r *result.Result
	var err error
	if o.Elsewhere != nil && spec.Transport == result.Sim {
		r, err = o.Elsewhere(ctx, spec)
	} else {
		var job *run.Job
		job, err = interrupt.Do(ctx, func() (*run.Job, error) { return run.Resolve(spec, o.Catalog, nil) })
		if err == nil {
			r, err = o.Run(ctx, job)
		}
	}
	if err != nil {
		r = result.Failure(spec, err)
	}
	r.Spec = spec
	return r
}

// withoutBulk leaves out of a result what no claim speaks of: there are
// thousands.
func withoutBulk(r *result.Result) *result.Result {
	small := *r
	small.Work.SentByNode, small.Work.HandledByNode, small.Work.EntriesByNode = nil, nil, nil
	small.Histograms, small.Environment, small.Liveness.States, small.Warnings = result.Histograms{}, nil, nil, nil
	return &small
}
