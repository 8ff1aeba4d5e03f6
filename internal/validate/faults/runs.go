package faults

import (
	"context"
	"maps"
	"runtime"
	"sync"

	"dmebench/dme"
	"dmebench/internal/run"
	"dmebench/result"
)

// ran is a run of an algorithm under a kind of fault: one that is to be made, until
// done is closed.
type ran struct {
	kind   Kind
	light  bool   // the load
	set    string // options of the algorithm that are not the defaults
	job    *run.Job
	alone  bool // the algorithm relies on a bound that other runs could break
	done   chan struct{}
	result *result.Result
	err    error
}

// sideBySide is how many runs there may be at a time. Most of them stand still, and
// wait until it is sure that nothing moves any more: that takes some megabytes for each of
// their processes, and no core.
const sideBySide = 32

// lightAtOnce is how many runs under light load go on at a time for each core.
const lightAtOnce = 4

// crew makes runs side by side. As many run under heavy load as there are cores, lest
// one delay the other; who stands still makes room.
type crew struct {
	*Options
	places       chan struct{}
	heavy, light chan struct{}
	quiet        sync.RWMutex // held for reading by runs that move, for writing by what is to be alone
}

func newCrew(o *Options) *crew {
	cores := runtime.GOMAXPROCS(0)
	return &crew{
		Options: o, places: make(chan struct{}, sideBySide),
		heavy: make(chan struct{}, cores), light: make(chan struct{}, lightAtOnce*cores),
	}
}

// makeAll makes runs, in their order as far as that goes, and returns when the last has
// ended.
func (c *crew) makeAll(ctx context.Context, trials []*trial) {
	var group sync.WaitGroup
	defer group.Wait()
	for _, t := range trials {
		for _, x := range t.runs {
			c.places <- struct{}{}
			group.Go(func() {
				defer func() { <-c.places }()
				defer close(x.done)
				if x.err = ctx.Err(); x.err == nil {
					leave := c.enter(x)
					x.result, x.err = c.Run(ctx, x.job, leave)
					leave()
				}
			})
		}
	}
}

// enter waits until a run may move, and returns what makes room for others.
func (c *crew) enter(x *ran) (leave func()) {
	slots, unlock := c.heavy, c.quiet.RUnlock
	if x.light && x.job.Network.Real() {
		slots = c.light
	}
	slots <- struct{}{}
	if x.alone {
		c.quiet.Lock()
		unlock = c.quiet.Unlock
	} else {
		c.quiet.RLock()
	}
	return sync.OnceFunc(func() {
		unlock()
		<-slots
	})
}

// plan says which runs are to be made: of each kind of fault, under heavy load and light
// load, and what claims on failures need under options of their own.
func (o *trial) plan() error {
	n, err := o.size(o.algorithm)
	if err != nil {
		return err
	}
	sys, err := o.algorithm.New(n, o.Seed, nil)
	if err != nil {
		return err
	}
	for _, k := range Kinds() {
		if why := k.applies(subject{o.algorithm, sys, sys.Node(1)}); why != "" {
			o.whyNot[k.Name] = why
			continue
		}
		for _, network := range o.Networks {
			err := o.repeat(k, network, n, false, nil)
			if err == nil {
				err = o.repeat(k, network, n, true, nil)
			}
			if err != nil {
				return err
			}
		}
	}
	planned := make(map[string]bool)
	for _, c := range o.algorithm.Claims {
		if set := result.Settings(c.Set); c.Load == dme.Faults && set != "" && !planned[set] {
			planned[set] = true
			if err := o.repeat(restart(), result.Sim, n, false, c.Set); err != nil {
				return err
			}
		}
	}
	return nil
}

// repeat plans the repetitions of a run. Under light load on real networks, where it takes
// long, there are half as many. Who is idle is hit under light load alone.
func (o *trial) repeat(k Kind, network string, n int, light bool, set map[string]string) error {
	count := o.Repetitions
	switch {
	case k.idle && !light:
		return nil
	case light && !k.idle && network != result.Sim:
		count = (count + 1) / 2
	}
	for i := range count {
		spec := specOf(o.algorithm, k, network, n, o.Seed+uint64(i), light)
		maps.Copy(spec.Set, set)
		job, err := run.Resolve(spec, o.Catalog, nil)
		if err != nil {
			return err
		}
		o.runs = append(o.runs, &ran{
			kind: k, light: light, set: result.Settings(set), job: job, done: make(chan struct{}),
			alone: job.Network.Real() && o.algorithm.Needs(job.Options).BoundedDelay,
		})
	}
	return nil
}
