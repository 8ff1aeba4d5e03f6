package validate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"dmebench/internal/run"
	"dmebench/result"
)

// crew carries out runs while there is time.
type crew struct {
	opt     *Options
	started time.Time
	now     func() time.Time

	mu      sync.Mutex
	done    int
	planned int
	leftOut int
}

func newCrew(o *Options) *crew {
	now := o.Now
	if now == nil {
		now = time.Now
	}
	return &crew{opt: o, now: now, started: now()}
}

// carryOut runs what is pending until the deadline, which is a time since the
// start: several simulations at a time, or real runs one by one. Runs that have
// begun are finished. Only the context ends it with an error.
func (w *crew) carryOut(ctx context.Context, p *plan, pending []work, parallel int, deadline time.Duration) error {
	w.mu.Lock()
	w.planned += len(pending)
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
		if ctx.Err() != nil {
			break
		}
		if w.now().Sub(w.started) > deadline {
			w.mu.Lock()
			w.leftOut += len(pending) - i
			w.mu.Unlock()
			break
		}
		queue <- x
	}
	close(queue)
	group.Wait()
	return ctx.Err()
}

// run carries out one run and keeps its result.
func (w *crew) run(ctx context.Context, p *plan, x work) {
	spec := x.cell.Spec
	spec.Seed = p.opt.Seed + uint64(x.repetition)
	var r *result.Result
	job, err := run.Resolve(spec, p.opt.Catalog, nil)
	if err == nil {
		r, err = p.opt.Run(ctx, job)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		r = &result.Result{Status: result.Failed, Error: err.Error(), Spec: spec}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	x.cell.keep(x.repetition, r)
	w.done++
	if w.opt.Progress != nil {
		w.opt.Progress(w.done, w.planned-w.leftOut, fmt.Sprintf("%s, N = %d, %s", spec.Algorithm, spec.Nodes, x.cell.Condition))
	}
}
