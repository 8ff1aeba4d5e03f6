// Package coordinator leads a run over a real network through its life: start the workers, have
// them join, hand out the address book, wait for all at a barrier, run the workload, drain to
// quiescence, collect, and end everything.
//
// It draws nothing itself at run time: seeds and steps come from the workload's plan, which it and
// the workers derive from the same specification. Every phase is bounded in time, and a phase that
// does not end names what is missing.
package coordinator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/internal/platform"
	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/launch"
	"dmebench/internal/record"
	"dmebench/internal/record/recording"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/host"
	"dmebench/internal/runtime/run"
	"dmebench/lock"
	"dmebench/runs"
	"dmebench/transport"
	"dmebench/transport/nats"
)

// Options is what a run needs beside its job.
type Options struct {
	Files       map[string][]byte // files that the specification names, for the workers
	Environment map[string]string

	// Hosts are where the nodes live; nil for this host alone. The run opens and
	// closes them. Place says on which of them each worker is, by its number; nil
	// for one after the other in turn.
	Hosts []host.Host
	Place []int

	// Control is the broker of the control plane where hosts other than this one take
	// part; nil for a server of the run's own, which listens on this host's loopback.
	Control *nats.Broker

	// Broker is what the frames of a brokered network pass; nil for that of the
	// control plane where hosts other than this one take part, and else for a
	// server of the run's own.
	Broker *nats.Broker

	// Started is called with each worker process.
	Started func(launch.Process)

	// Progress is called about ten times a second while the workload goes on, unless it is nil.
	Progress func(*run.State)

	// Idle is called, again and again, while nothing has moved for a while, unless it is nil.
	Idle func()

	// Partial asks for a result even if the context ends while the workload goes on: of what was
	// measured until then, and marked so. Else there is none.
	Partial bool

	// Record is how many events of each node are recorded; 0 for none. Recorded is called with them
	// if the run ended so that its workers could tell.
	Record   int
	Recorded func(recording.Kept)

	// Entries keeps the record of each critical section beside the result.
	Entries bool

	// Save is called with the result before the workers are ended, so that
	// nothing that goes wrong then can lose it.
	Save func(*runs.Result) error
}

// Run carries out the job. It returns an error, and no result, if the run could not begin or was
// interrupted ([Options.Partial] says more); a run that began and failed has a result that says so.
func Run(ctx context.Context, job *run.Job, opt Options) (*runs.Result, error) {
	if !job.Network.Real() {
		return nil, fmt.Errorf("coordinator: %s has no worker processes", job.Network.Name)
	}
	c, err := start(ctx, job, opt)
	if err != nil {
		return nil, err
	}
	defer c.end()
	return c.live(ctx)
}

// coordinator is one run.
type coordinator struct {
	job     *run.Job
	opt     Options
	places  []*place // by worker
	clock   *clock.Clock
	broker  *nats.Server // of the control plane; nil if it is elsewhere
	leader  *control.Leader
	run     string                  // names it on the control plane
	key     [transport.KeySize]byte // of the run
	data    dataPlane
	shared  sharedResource
	servers lock.Cluster // of the lock service that the run measures; nil if it has none of its own
	hosts   []host.Host
	about   []host.About // the hosts

	tolerant bool          // the run can go on if a host is lost
	goesOn   atomic.Bool   // it does so from now on
	lost     []atomic.Bool // by host: its nodes were taken for crashed

	looked   []host.Reading // by node, of the latest look by until
	unproven time.Time      // when anything last moved as a standstill was not proven
	shown    time.Time      // when Options.Progress was last called
	survey   *survey        // of the ways between hosts; nil if they cannot measure them
	fail     context.CancelCauseFunc
	failed   atomic.Bool // something has gone wrong with a worker or the control plane
	ending   atomic.Bool // workers may go: their end is no failure any more

	edges     [][2]uint32
	delays    []int64 // one-way, of the pings that were answered
	spaced    []int64 // the same, of pings as far apart as handovers
	lostPings int     // not answered
	doubted   int     // see confirm
	perEntry  map[int]uint64
	start     int64
	stop      int64
	cut       int64 // when the run was interrupted: what came later is left out; 0 if it was not

	lapses *clock.Lapses
	missed uint64    // messages that are missing since the system was last quiescent
	faults *injector // nil in a run without faults
	held   []held    // processes that did not run for a while

	mu       sync.Mutex
	warnings []string
}

func (c *coordinator) warn(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

func start(ctx context.Context, job *run.Job, opt Options) (_ *coordinator, err error) {
	c := &coordinator{job: job, opt: opt, clock: clock.New()}
	c.lapses = clock.WatchLapses(c.clock.Now, lapseEvery)
	rand.Read(c.key[:]) // never fails: it ends the program if there is no randomness
	c.places = divide(job.Spec.Nodes, job.Spec.NodesPerWorker)
	defer func() {
		if err != nil {
			c.end()
		}
	}()
	for _, open := range []func(context.Context) error{c.openControl, c.openData, c.openResource, c.openLocks, c.openHosts, c.startSurvey} {
		if err = open(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *coordinator) live(ctx context.Context) (*runs.Result, error) {
	after := ctx // what gathers the result
	if c.opt.Partial {
		var cancel context.CancelFunc
		after, cancel = platform.Grace(ctx, gathering)
		defer cancel()
	}
	after, abandon := context.WithCancelCause(after)
	defer abandon(nil)
	life, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	c.fail = func(cause error) {
		c.failed.Store(true)
		fail(cause)
		abandon(cause)
	}
	err := c.phases(life)
	var stall *stall
	var failed *failure // a failure before the interruption
	partial := ctx.Err() != nil && err != nil && !errors.As(err, &stall) && !errors.As(context.Cause(life), &failed)
	if ctx.Err() != nil && !c.opt.Partial || partial && c.start == 0 {
		return nil, ctx.Err()
	}
	if partial {
		c.cut, err = c.clock.Now(), nil
		c.stop = c.cut
	}
	o, seen := c.observe(after)
	if err == nil {
		err = seen
	}
	switch {
	case err == nil && partial:
		o.Status, o.Error, o.Partial = runs.Failed, "interrupted", true
		err = c.collect(after, &o)
	case err == nil:
		err = c.collect(after, &o)
	case errors.As(err, &stall):
		o.Status, o.Error, o.States, o.Standstill = stall.status(), err.Error(), stall.states, stall.waits
		err = c.collect(after, &o) // the records of a stalled run say how far it came
	}
	if ctx.Err() != nil && (!c.opt.Partial || platform.Insisted(ctx)) {
		c.failed.Store(true) // an insisting user does not wait for workers to end in order
		return nil, ctx.Err()
	}
	o.Delays, o.HandoverDelays = c.measured()
	c.warnOfLapses()
	if err := c.shared.remove(); err != nil {
		c.warn("%v", err)
	}
	o.Warnings = append(o.Warnings, c.warnings...)
	result := c.result(after, o, err)
	if c.opt.Entries {
		var failed error
		if result.Sections, failed = record.Pack(o.Entries, o.Start, o.Dropped); failed != nil {
			return result, failed
		}
	}
	if c.opt.Save != nil {
		if err := c.opt.Save(result); err != nil {
			return result, err
		}
	}
	return result, nil
}

const gathering = 20 * time.Second

func (c *coordinator) phases(ctx context.Context) error {
	for _, phase := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"start workers", c.launch},
		{"join", c.join},
		{"assign", c.assign},
		{"connect", c.connect},
		{"measure T", c.ping},
		{"run", c.drive},
		{"drain", c.drain},
	} {
		if err := phase.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", phase.name, err)
		}
	}
	return nil
}
