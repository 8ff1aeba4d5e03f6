package validate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"dmebench/internal/run"
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
	entries uint64
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
		if len(x.cell.samples) < x.cell.repetitions {
			x.cell.samples = append(x.cell.samples, make([]*sample, x.cell.repetitions-len(x.cell.samples))...)
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

// run carries out one run and keeps of it what claims speak of.
func (w *crew) run(ctx context.Context, p *plan, x work) {
	spec := x.cell.spec
	spec.Seed = p.opt.Seed + uint64(x.repetition)
	s := &sample{status: "failed"}
	job, err := run.Resolve(spec, p.opt.Catalog, nil)
	if err == nil {
		r, runErr := p.opt.Run(ctx, job)
		if err = runErr; err == nil {
			s = newSample(r)
		}
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.problem = err.Error()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	x.cell.samples[x.repetition] = s
	w.done++
	w.entries += s.entries
	if w.opt.Progress != nil {
		w.opt.Progress(w.done, w.planned-w.leftOut, fmt.Sprintf("%s, N = %d, %s", spec.Algorithm, spec.Nodes, x.cell.condition.name))
	}
}
