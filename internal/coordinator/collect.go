package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"dmebench/internal/control"
	"dmebench/internal/entrylog"
	"dmebench/internal/measure"
	"dmebench/result"
	"dmebench/transport"
)

// maxStates bounds how many decoded states a stalled run reports.
const maxStates = 64

// observe gathers what this host knows without its workers: what lies in the
// shared page outlives them.
func (c *coordinator) observe() measure.Observation {
	o := measure.Observation{
		Job: c.job, Status: result.OK, Nodes: counts(c.page), Delays: c.delays,
		Start: c.start, Stop: c.stop, PerEntry: c.perEntry,
		Method: "shared-page", Workers: len(c.procs), Environment: c.opt.Environment,
	}
	var first string
	if o.WitnessViolations, first = c.page.Violations(); first != "" {
		o.Warnings = append(o.Warnings, "the witness saw it happen: "+first)
	}
	return o
}

// collect asks the workers for their records and counts.
func (c *coordinator) collect(ctx context.Context, o *measure.Observation) error {
	reports, err := c.all(ctx, control.Command{Op: control.OpReport})
	if err != nil {
		return err
	}
	var wire transport.Counters
	for _, r := range reports {
		if r.Wire != nil {
			wire = wire.Plus(*r.Wire)
		}
		for _, w := range r.Warnings { // most often all say the same
			if !slices.Contains(o.Warnings, w) {
				o.Warnings = append(o.Warnings, w)
			}
		}
		if r.Clocks != nil {
			o.Clocks = append(o.Clocks, *r.Clocks)
		}
		o.Unserved += r.Unserved
		o.Dropped += r.Dropped
		for _, refusal := range r.Refusals {
			o.Warnings = append(o.Warnings, "a message was refused: "+refusal)
		}
	}
	wire.RefusedFrames += c.data.refused()
	o.Wire = measure.Wire(wire)
	if err := c.entries(ctx, reports, o); err != nil {
		return err
	}
	if o.Status == result.OK {
		if err := c.ping(ctx); err != nil {
			return err
		}
		o.Delays = c.delays
	}
	return nil
}

// entries fetches the records, chunk by chunk, from all workers at once.
func (c *coordinator) entries(ctx context.Context, reports []control.Reply, o *measure.Observation) error {
	var mu sync.Mutex
	var errs []error
	var wg sync.WaitGroup
	for w, report := range reports {
		wg.Go(func() {
			for k := range report.Chunks {
				r, err := c.call(ctx, w, control.Command{Op: control.OpEntries, Chunk: k})
				mu.Lock()
				if err == nil {
					o.Entries, err = entrylog.Decode(o.Entries, r.Entries)
				}
				if err != nil {
					errs = append(errs, fmt.Errorf("records of %s: %w", c.name(w), err))
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// answerTime bounds how long the workers of a stalled run may take to describe
// their nodes: all they have to do is to take a lock.
const answerTime = 5 * time.Second

// states asks all nodes where they stand. An error names the workers that do
// not even answer that: not the algorithm stalls then, but they.
func (c *coordinator) states(ctx context.Context) ([]string, error) {
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	replies, err := c.leader.Call(limited, c.workers, control.Same(control.Command{Op: control.OpStates, Limit: maxStates}))
	var states []string
	for _, r := range replies {
		states = append(states, r.States...)
	}
	return states[:min(len(states), maxStates)], c.blame(ctx, err)
}

// result turns the observation into the run's result. err is what ended the run
// before its time, if anything did; the cause of life's end says who failed.
func (c *coordinator) result(life context.Context, o measure.Observation, err error) *result.Result {
	var f *failure
	if errors.As(context.Cause(life), &f) {
		err = f
	}
	if errors.As(err, &f) {
		for _, id := range f.nodes {
			o.FailedNodes = append(o.FailedNodes, int(id))
		}
	}
	if err != nil {
		o.Status, o.Error = result.Failed, err.Error()
	}
	r := measure.Result(o)
	if f != nil {
		r.FailedStderr = f.stderr
	}
	return r
}
