package commandline

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"dmebench/internal/control"
	"dmebench/internal/coordinator"
	"dmebench/internal/environment"
	"dmebench/internal/exit"
	"dmebench/internal/interrupt"
	"dmebench/internal/live"
	"dmebench/internal/run"
	"dmebench/internal/sim"
	"dmebench/result"
	"dmebench/transport/nats"
)

// execute carries out a job on its network.
func (p *program) execute(ctx context.Context, job *run.Job, opt coordinator.Options) (*result.Result, error) {
	return p.executeShown(ctx, job, opt, nil)
}

// executeShown is execute with a line that shows how far the run is; nil for none.
func (p *program) executeShown(ctx context.Context, job *run.Job, opt coordinator.Options, line *live.Line) (*result.Result, error) {
	defer context.AfterFunc(ctx, func() { line.Say("ending and adding up; Ctrl-C again ends at once") })()
	if !job.Network.Real() {
		result, err := simulate(ctx, job, opt, line)
		if err == nil && opt.Save != nil {
			err = opt.Save(result)
		}
		return result, err
	}
	opt.Environment = environment.Describe()
	if line != nil {
		opt.Progress = line.Show
	}
	result, err := coordinator.Run(ctx, job, opt)
	if errors.Is(err, control.ErrListen) || errors.Is(err, nats.ErrBroker) {
		err = failWith(exit.Unavailable, err)
	}
	return result, err
}

// summing is how long an interrupted simulation may take to sum up what there is.
const summing = 20 * time.Second

// simulate carries out a simulation. Before its workload has begun it is given up at
// once where ctx ends: an algorithm may take for ever to make its nodes.
func simulate(ctx context.Context, job *run.Job, o coordinator.Options, line *live.Line) (*result.Result, error) {
	opt := sim.Options{Partial: o.Partial, Record: o.Record * job.Spec.Nodes, Recorded: o.Recorded, Entries: o.Entries}
	patient := ctx
	if o.Partial || line != nil {
		var begun atomic.Bool
		opt.Progress = func(look func() live.State) {
			begun.Store(true)
			line.Look(look)
		}
		grace, cancel := interrupt.Grace(ctx, summing)
		defer cancel()
		patient = grace
		defer context.AfterFunc(ctx, func() {
			if !begun.Load() {
				cancel()
			}
		})()
	}
	return interrupt.Do(patient, func() (*result.Result, error) { return sim.RunWith(ctx, job, opt) })
}
