package faults

import (
	"context"
	"maps"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"dmebench/dme/claim"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// ran is a run under a kind of fault, which is to be made until done is closed.
type ran struct {
	kind   Kind
	light  bool   // the load
	set    string // options of the algorithm that are not the defaults
	job    *run.Job
	done   chan struct{}
	result *runs.Result
	err    error
}

// sideBySide is how many runs there may be at a time. Most stand still, and wait until it is
// sure that nothing moves any more: that takes memory, and no core.
const sideBySide = 32

// The share of a core that a run takes while it moves. Also under heavy load it waits now and then:
// for its processes to start, and until it is sure that it stands still.
const (
	core  = 6
	heavy = 4
	light = 1
)

// scheduler makes runs side by side. Hardly more move under heavy load than there are cores, or one
// would delay another; a run that stands still makes room.
type scheduler struct {
	*Options
	cores  int64
	moving *semaphore.Weighted
}

func newScheduler(o *Options) *scheduler {
	cores := int64(runtime.GOMAXPROCS(0))
	return &scheduler{o, cores, semaphore.NewWeighted(core * cores)}
}

// alone waits until no run moves, and returns what lets them go on.
func (c *scheduler) alone(ctx context.Context) (release func(), err error) {
	return c.take(ctx, core*c.cores)
}

func (c *scheduler) take(ctx context.Context, n int64) (release func(), err error) {
	err = c.moving.Acquire(ctx, n)
	return sync.OnceFunc(func() { c.moving.Release(n) }), err
}

func (c *scheduler) makeAll(ctx context.Context, trials []*trial) {
	var group errgroup.Group
	defer group.Wait()
	group.SetLimit(sideBySide)
	for _, t := range trials {
		for _, x := range t.runs {
			group.Go(func() error {
				defer close(x.done)
				var idle func()
				if idle, x.err = c.take(ctx, c.weight(x)); x.err == nil {
					x.result, x.err = c.Run(ctx, x.job, idle)
					idle()
				}
				return nil
			})
		}
	}
}

// weight is how much of the cores a run may need. An algorithm that relies on a bound on
// delays has all: others could break it.
func (c *scheduler) weight(x *ran) int64 {
	switch {
	case x.job.Network.Real() && x.job.Algorithm.Needs(x.job.Options).BoundedDelay:
		return core * c.cores
	case x.job.Network.Real() && x.light:
		return light
	}
	return heavy
}

// plan says which runs are to be made: of each kind of fault, under heavy load and light
// load, and what claims on failures need under options of their own.
func (o *trial) plan() error {
	var err error
	if o.set, err = o.algorithm.Resolve(o.with); err != nil {
		return err
	}
	n, err := o.admitted(o.Nodes)
	if err != nil {
		return err
	}
	sys, err := o.algorithm.New(n, o.Seed, o.with)
	if err != nil {
		return err
	}
	for _, k := range Kinds() {
		if why := k.applies(subject{o.algorithm, sys, sys.Node(1)}); why != "" {
			o.whyNot[k.Name] = why
			continue
		}
		for _, network := range o.Networks {
			for _, light := range []bool{false, true} {
				if err := o.repeat(k, network, n, light, o.with); err != nil {
					return err
				}
			}
		}
	}
	planned := make(map[string]bool)
	for _, c := range claim.Of(o.algorithm) {
		if set := runs.Settings(c.Set); c.Load == claim.Faults && set != "" && !planned[set] {
			planned[set] = true
			if err := o.repeat(restart(), runs.Sim, n, false, c.Set); err != nil {
				return err
			}
		}
	}
	return nil
}

// repeat plans the repetitions of a run. Under light load on real networks, which takes long, there
// are half as many. Idle nodes are hit under light load alone.
func (o *trial) repeat(k Kind, network string, n int, light bool, set map[string]string) error {
	count := o.Repetitions
	switch {
	case k.idle && !light:
		return nil
	case light && !k.idle && network != runs.Sim:
		count = (count + 1) / 2
	}
	for i := range count {
		spec := specOf(o.algorithm, k, network, n, o.Seed+uint64(i), light)
		maps.Copy(spec.Set, set)
		if o.algorithm.Fencing != nil {
			spec.Resource = "memory"
		}
		job, err := run.Resolve(spec, o.Catalog, nil)
		if err != nil {
			return err
		}
		o.runs = append(o.runs, &ran{kind: k, light: light, set: runs.Settings(set), job: job, done: make(chan struct{})})
	}
	return nil
}
