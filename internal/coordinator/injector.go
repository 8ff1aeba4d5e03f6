package coordinator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/dme"
	"dmebench/internal/control"
	"dmebench/internal/entrylog"
	"dmebench/internal/host"
	"dmebench/internal/measure"
	"dmebench/workload/fault"
)

const (
	pollFaults = 200 * time.Microsecond // between looks for what a fault waits for
	seekPause  = time.Millisecond       // between questions for a node that waits, or has the token
	idleFaults = 2 * time.Millisecond   // between looks at the clock, while none waits for anything else
)

// injector carries out the faults of a run, one after the other. It sees the run
// as the coordinator does: by what its hosts read, and by asking workers.
type injector struct {
	c     *coordinator
	rng   *rand.Rand
	done  chan struct{} // closed when it has ended
	ended atomic.Bool   // it is to end

	events   []int          // faults that wait for one
	holding  []stay         // faults that strike whoever is inside
	unarmed  bool           // nobody was asked yet to stay inside for the first of them
	seekNext int64          // when they do so again
	seeking  []int          // faults that look for a node in some state
	leaving  []int          // faults whose nodes are about to leave
	cuts     []int          // partitions that are there
	begun    []bool         // by fault
	struck   [][]dme.NodeID // by fault: whom it hit
	restart  map[int][]int  // by kill: the restarts that count from it

	mu        sync.Mutex
	timed     []moment
	busy      bool // something takes its time that the run must wait for
	strikes   []measure.Strike
	order     []int // by strike: which fault it was
	abandoned []entrylog.Abandoned
	asked     map[dme.NodeID]asked

	readings []host.Reading // by node; for the goroutine that carries out faults
	tellings int            // hosts that are lost, and of which the others are not told yet
	telling  sync.WaitGroup // for who tells them
	legacy                  // of these hosts
	life     context.Context
}

// moment is when a fault begins or ends.
type moment struct {
	at    int64
	fault int
	end   bool
}

// stay is a fault that strikes whoever makes an entry.
type stay struct {
	order uint64 // its place among all entries
	fault int
}

// inject begins to carry out the job's faults. The run has begun.
func (c *coordinator) inject(ctx context.Context) {
	faults := c.job.Faults
	if len(faults) == 0 && !c.tolerant {
		return
	}
	i := &injector{
		c: c, rng: rand.New(rand.NewPCG(c.job.Spec.Seed, 0xfa17)), done: make(chan struct{}),
		begun: make([]bool, len(faults)), struck: make([][]dme.NodeID, len(faults)), restart: make(map[int][]int),
		asked: make(map[dme.NodeID]asked), readings: make([]host.Reading, c.job.Spec.Nodes),
		legacy: legacy{left: make(map[dme.NodeID]control.Left), told: make(map[int]int64)}, life: ctx,
	}
	for k, f := range faults {
		switch {
		case f.AfterKill:
			kill := faults.Kill(k)
			i.restart[kill] = append(i.restart[kill], k)
		case f.Event == fault.Entry && f.Role == fault.Holder && f.What != fault.Restart: // whom that is for is not inside
			i.holding = append(i.holding, stay{f.Count, k})
		case f.Event != "":
			i.events = append(i.events, k)
		default:
			i.timed = append(i.timed, moment{at: c.start + int64(f.At), fault: k})
		}
	}
	c.faults = i
	c.goesOn.Store(c.tolerant)
	if err := i.arm(ctx); err != nil {
		c.fail(asFailure(err))
	}
	go i.run(ctx)
}

// arm asks whoever makes the next entry that a fault waits for to stay inside. Where
// there are several hosts it does so once the entry before was made.
func (i *injector) arm(ctx context.Context) error {
	if len(i.holding) == 0 {
		return nil
	}
	slices.SortStableFunc(i.holding, func(a, b stay) int { return int(a.order) - int(b.order) })
	next := i.holding[0].order
	if len(i.c.hosts) > 1 {
		if entries, err := i.c.entered(ctx); err != nil || entries+1 < next {
			i.unarmed = true
			return err
		}
	}
	i.unarmed = false
	return i.c.hold(ctx, next)
}

// run goes on until there is nothing left to do, or the run is over.
func (i *injector) run(ctx context.Context) {
	defer close(i.done)
	for !i.ended.Load() && ctx.Err() == nil {
		if err := i.look(ctx); err != nil {
			i.c.fail(asFailure(err))
			return
		}
		switch next, waits := i.next(); {
		case len(i.events)+len(i.holding)+len(i.seeking)+len(i.leaving) > 0:
			wait(pollFaults)
		case !waits:
			return
		default:
			wait(max(0, min(idleFaults, time.Duration(next-i.c.clock.Now()))))
		}
	}
}

// next returns when something is to happen of which the time is known.
func (i *injector) next() (at int64, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for k, m := range i.timed {
		if k == 0 || m.at < at {
			at, ok = m.at, true
		}
	}
	return at, ok
}

// due takes out the earliest moment that has come.
func (i *injector) due(now int64) (m moment, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	best := -1
	for k, m := range i.timed {
		if m.at <= now && (best < 0 || m.at < i.timed[best].at) {
			best = k
		}
	}
	if best < 0 {
		return m, false
	}
	m = i.timed[best]
	i.timed = slices.Delete(i.timed, best, best+1)
	i.busy = i.sustains(m)
	return m, true
}

// sustains reports whether the run must not end before the moment: nodes come
// back, or go on.
func (i *injector) sustains(m moment) bool {
	f := &i.c.job.Faults[m.fault]
	d := i.c.job.Plan.Duration()
	switch f.What {
	case fault.Restart, fault.Join:
		return d == 0 || m.at < i.c.start+int64(d)
	case fault.Pause:
		return m.end
	}
	return false
}

// keeps reports whether the run is to go on although nobody asks: nodes are to come
// back at a time that is known, or to go on.
func (i *injector) keeps() bool {
	if i == nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.busy || i.tellings > 0 || slices.ContainsFunc(i.timed, i.sustains)
}

// relieves reports whether something is to happen at a time that is known by which
// a system that stands still may go on.
func (i *injector) relieves() bool {
	if i == nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.busy || i.tellings > 0 || slices.ContainsFunc(i.timed, func(m moment) bool {
		return m.end || i.c.job.Faults[m.fault].What == fault.Restart || i.c.job.Faults[m.fault].What == fault.Join
	})
}

// occupy notes whether something takes its time that the run must wait for.
func (i *injector) occupy(busy bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.busy = busy
}

// look does whatever is to be done now.
func (i *injector) look(ctx context.Context) error {
	defer i.occupy(false)
	for {
		m, ok := i.due(i.c.clock.Now())
		if !ok {
			break
		}
		do := i.begin
		if m.end {
			do = i.finish
		}
		if err := do(ctx, m.fault); err != nil {
			return err
		}
	}
	if err := i.lookForEvents(ctx); err != nil {
		return err
	}
	if i.unarmed {
		if err := i.arm(ctx); err != nil {
			return err
		}
	}
	if len(i.holding) > 0 && !i.unarmed {
		id, err := i.c.stays(ctx)
		if err != nil {
			return err
		}
		if id != dme.None {
			k := i.holding[0].fault
			i.holding = i.holding[1:]
			if err := errors.Join(i.c.hold(ctx, 0), i.arm(ctx)); err != nil {
				return err
			}
			if err := i.strike(ctx, k, []dme.NodeID{id}); err != nil {
				return err
			}
			if i.struck[k] == nil { // it is about to leave already: let it get on with that
				if _, err := i.c.call(ctx, i.c.workerOf(id), control.Command{Op: control.OpFree, Nodes: []dme.NodeID{id}}); err != nil {
					return err
				}
			}
		}
	}
	if now := i.c.clock.Now(); len(i.seeking) > 0 && now >= i.seekNext {
		seeking := i.seeking
		i.seeking, i.seekNext = nil, now+int64(seekPause)
		for _, k := range seeking {
			if err := i.seek(ctx, k); err != nil {
				return err
			}
		}
	}
	return i.lookForLeavers(ctx)
}

func (i *injector) lookForEvents(ctx context.Context) error {
	if len(i.events) == 0 {
		return nil
	}
	entries, err := i.c.entered(ctx)
	if err == nil {
		err = i.c.read(ctx, i.readings)
	}
	if err != nil {
		return err
	}
	requests := sumUp(i.readings).requests
	events := i.events
	i.events = nil
	for n, k := range events {
		f := i.c.job.Faults[k]
		if f.Event == fault.Entry && entries < f.Count || f.Event == fault.Request && requests < f.Count {
			i.events = append(i.events, k)
			continue
		}
		i.occupy(f.What == fault.Restart || f.What == fault.Join)
		if err := i.begin(ctx, k); err != nil {
			i.events = append(i.events, events[n+1:]...)
			return err
		}
	}
	return nil
}

// begin carries out a fault whose time has come, or looks for whom it is to hit.
func (i *injector) begin(ctx context.Context, k int) error {
	f := i.c.job.Faults[k]
	up := i.c.nodes(func(p presence) bool { return p == present })
	switch {
	case f.What == fault.Restart && f.Role != "":
		return i.strike(ctx, k, i.lastKilled(k))
	case f.Role == fault.Root:
		root := i.c.job.System.(dme.Rooted).Root() // the schedule was checked
		return i.strike(ctx, k, []dme.NodeID{root})
	case f.Role == fault.Random:
		if len(up) == 0 {
			return i.strike(ctx, k, nil)
		}
		return i.strike(ctx, k, []dme.NodeID{up[i.rng.IntN(len(up))]})
	case f.Role == fault.Holder:
		entries, err := i.c.entered(ctx)
		if err != nil {
			return err
		}
		i.holding = append(i.holding, stay{entries + 1, k})
		return i.arm(ctx)
	case f.Role != "":
		return i.seek(ctx, k)
	}
	return i.strike(ctx, k, f.Nodes)
}

// lastKilled returns whom the latest kill has hit that a restart by role speaks of.
func (i *injector) lastKilled(k int) []dme.NodeID {
	faults := i.c.job.Faults
	if faults[k].AfterKill {
		return i.struck[faults.Kill(k)]
	}
	for b := k - 1; b >= 0; b-- {
		if faults[b].What == fault.Kill && faults[b].Role == faults[k].Role && i.struck[b] != nil {
			return i.struck[b]
		}
	}
	return nil
}

// stop ends the carrying out of faults, and says which have not come to pass.
func (i *injector) stop() {
	if i == nil {
		return
	}
	i.ended.Store(true)
	<-i.done
	i.telling.Wait()
	for k, f := range i.c.job.Faults {
		if !i.begun[k] {
			i.c.warn("fault %q did not come to pass: the run ended before", f)
		}
	}
	for _, k := range i.leaving {
		i.c.warn("fault %q: nodes %s had not left when the run ended", i.c.job.Faults[k], dme.FormatNodes(i.struck[k]))
	}
}

// asFailure makes a failure of the run of an error.
func asFailure(err error) error {
	return fmt.Errorf("faults: %w", err)
}
