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
	"dmebench/internal/record"
	"dmebench/internal/record/measure"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/host"
	"dmebench/internal/runtime/noderun"
	"dmebench/workload/fault"
)

const (
	pollFaults = 200 * time.Microsecond // between looks for what a fault waits for
	seekPause  = time.Millisecond       // between questions for a node that waits, or has the token
	idleFaults = 2 * time.Millisecond   // between looks at the clock, while none waits for anything else
)

// injector does what the director of a run's faults says, one after the other. It sees
// the run as the coordinator does: by what its hosts read, and by asking workers.
type injector struct {
	c        *coordinator
	ctx      context.Context // the run's
	director *fault.Director // for the goroutine that carries out faults
	rng      *rand.Rand
	done     chan struct{} // closed when it has ended
	ended    atomic.Bool   // told to end

	holding  []stay  // faults that strike the node inside
	unarmed  bool    // no node has been asked yet to stay inside for the first of them
	seekNext []int64 // by fault: when to look again for a node in its role
	cuts     []int   // partitions that are there

	mu        sync.Mutex
	busy      bool // something takes its time that the run must wait for
	returns   bool // nodes will come back, or go on, at a time that is known
	heals     bool // so will links
	strikes   []measure.Strike
	order     []int // by strike: which fault it was
	abandoned []record.Abandoned
	asked     map[dme.NodeID]asked

	readings  []host.Reading // by node; for the goroutine that carries out faults
	tellings  atomic.Int32   // lost hosts that the others have not been told about yet
	telling   sync.WaitGroup // for the goroutines that do so
	lostHosts                // of these hosts
}

// stay is a fault that strikes the node that makes an entry.
type stay struct {
	order uint64 // its place among all entries
	fault int
}

// injector returns the injector of a run with faults, else nil. It is armed before the
// nodes begin, as some may have entered often before all of them have heard that.
func (c *coordinator) injector(ctx context.Context) (*injector, error) {
	faults, n := c.job.Faults, c.job.Spec.Nodes
	if len(faults) == 0 && !c.tolerant {
		return nil, nil
	}
	i := &injector{
		c: c, ctx: ctx, rng: rand.New(rand.NewPCG(c.job.Spec.Seed, 0xfa17)), done: make(chan struct{}),
		seekNext: make([]int64, len(faults)), asked: make(map[dme.NodeID]asked), readings: make([]host.Reading, n),
		lostHosts: lostHosts{left: make(map[dme.NodeID]control.Left), announced: make(map[int]int64)},
	}
	for k, f := range faults {
		if f.Event == fault.Entry && f.Role == fault.Holder && f.Kind != fault.Restart { // the node it is for is not inside
			i.holding = append(i.holding, stay{f.Count, k})
		}
	}
	deadline := int64(fault.Never)
	if d := c.job.Plan.Duration(); d > 0 {
		deadline = c.start + int64(d)
	}
	i.director = fault.NewDirector(faults, c.job.Algorithm.Root, n, fault.ServersOf(c.job.System), i.rng, i)
	i.director.Begin(c.start, deadline)
	if err := i.arm(); err != nil {
		return nil, asFailure(err)
	}
	return i, nil
}

func (i *injector) begin() {
	if i == nil {
		return
	}
	i.publish()
	i.c.faults = i
	i.c.goesOn.Store(i.c.tolerant)
	go i.run()
}

// arm asks the node that makes the next entry a fault waits for to stay inside. If there are
// several hosts it does so once the entry before was made.
func (i *injector) arm() error {
	if len(i.holding) == 0 {
		return nil
	}
	slices.SortStableFunc(i.holding, func(a, b stay) int { return int(a.order) - int(b.order) })
	next := i.holding[0].order
	if len(i.c.hosts) > 1 {
		if entries, err := i.c.entered(i.ctx); err != nil || entries+1 < next {
			i.unarmed = true
			return err
		}
	}
	i.unarmed = false
	return i.c.hold(i.ctx, next)
}

// run goes on until there is nothing left to do, or the run is over.
func (i *injector) run() {
	defer close(i.done)
	for !i.ended.Load() && i.ctx.Err() == nil {
		if err := i.look(); err != nil {
			i.c.fail(asFailure(err))
			return
		}
		d := i.director
		switch next := d.Next(); {
		case d.Awaits(fault.Entry) || d.Awaits(fault.Request) || d.Waits() || d.AnyLeaves():
			wait(pollFaults)
		case next == fault.Never:
			return
		default:
			wait(max(0, min(idleFaults, time.Duration(next-i.c.clock.Now()))))
		}
	}
}

func (i *injector) look() error {
	defer i.publish()
	if err := i.lookForEvents(); err != nil {
		return err
	}
	if i.unarmed {
		if err := i.arm(); err != nil {
			return err
		}
	}
	for did := true; did; {
		var err error
		if did, err = i.director.Step(i.c.clock.Now()); err != nil {
			return err
		}
	}
	return i.lookForLeavers()
}

func (i *injector) lookForEvents() error {
	if i.director.Awaits(fault.Entry) {
		entries, err := i.c.entered(i.ctx)
		if err != nil {
			return err
		}
		i.director.Happened(fault.Entry, entries, dme.None)
	}
	if i.director.Awaits(fault.Request) {
		if err := i.c.read(i.ctx, i.readings); err != nil {
			return err
		}
		i.director.Happened(fault.Request, sumUp(i.readings).requests, dme.None)
	}
	return nil
}

// publish notes what the goroutine that leads the run wants to know.
func (i *injector) publish() {
	returns := i.director.Lasts(fault.Pause)
	for id := dme.NodeID(1); int(id) <= len(i.readings) && !returns; id++ {
		returns = i.director.ComesBack(id)
	}
	heals := i.director.Lasts(fault.Partition)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.busy, i.returns, i.heals = false, returns, heals
}

// expected is what is to happen yet at a time that is known.
type expected struct {
	keeps    bool // the run is to go on without requests: nodes come back, or go on
	relieves bool // a system that stands still may go on by it
}

func (i *injector) expects() expected {
	if i == nil {
		return expected{}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	keeps := i.busy || i.tellings.Load() > 0 || i.returns
	return expected{keeps, keeps || i.heals}
}

// occupy has the run wait until what is being done is done.
func (i *injector) occupy() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.busy = true
}

func (i *injector) Down(id dme.NodeID) bool {
	if server, ok := i.c.serverOf(id); ok {
		return i.c.servers.Down(server)
	}
	return !i.c.at(i.c.workerOf(id)).state.expected()
}

// Players implements [fault.Runtime]. It finds one at a time and keeps it in the role; a paused
// node keeps it anyway.
func (i *injector) Players(k int, nodes []dme.NodeID) ([]dme.NodeID, error) {
	c, f := i.c, &i.c.job.Faults[k]
	now := c.clock.Now()
	if f.Kind == fault.Restart || f.Role != fault.Holder && now < i.seekNext[k] {
		return nil, nil
	}
	i.seekNext[k] = now + int64(seekPause)
	if f.Role == fault.Leader {
		if s := c.servers.Status(i.ctx); s.Leader >= 0 {
			return []dme.NodeID{dme.NodeID(c.job.Spec.Nodes + 1 + s.Leader)}, nil
		}
		return nil, nil
	}
	if f.Role == fault.Holder {
		if id, err := i.catch(k, nodes); err != nil || id != dme.None {
			return []dme.NodeID{id}, err
		}
	}
	stopped := func(id dme.NodeID) bool { return c.at(c.workerOf(id)).state == paused }
	if f.Role == fault.Waiting || slices.ContainsFunc(nodes, stopped) {
		if err := c.read(i.ctx, i.readings); err != nil {
			return nil, err
		}
	}
	does, as := noderun.Inside, control.HasToken
	switch f.Role {
	case fault.Waiting:
		does, as = noderun.Requesting, control.Waiting
	case fault.Idle:
		does, as = noderun.Idle, control.Idle
	}
	i.rng.Shuffle(len(nodes), func(a, b int) { nodes[a], nodes[b] = nodes[b], nodes[a] })
	for _, id := range nodes {
		is := i.readings[id-1].Activity == does
		switch {
		case stopped(id):
			if is && f.Role != fault.Token {
				return []dme.NodeID{id}, i.letPass(k)
			}
		case f.Role == fault.Holder, f.Role == fault.Waiting && !is:
		default:
			r, err := c.call(i.ctx, c.workerOf(id), control.Command{Op: control.OpSeize, Nodes: []dme.NodeID{id}, As: as})
			if err != nil || r.Seized {
				return []dme.NodeID{id}, err
			}
		}
	}
	return nil, nil
}

// catch returns the node that has entered and stays inside for a fault, if it may hit that one.
func (i *injector) catch(k int, nodes []dme.NodeID) (dme.NodeID, error) {
	c := i.c
	id, err := c.stays(i.ctx)
	if err != nil {
		return dme.None, err
	}
	if !slices.ContainsFunc(i.holding, func(s stay) bool { return s.fault == k }) {
		entries, err := c.entered(i.ctx)
		if err != nil {
			return dme.None, err
		}
		i.holding = append(i.holding, stay{entries + 1, k})
		if id != dme.None {
			return dme.None, nil // stays for another fault, and would be forgotten
		}
		return dme.None, i.arm()
	}
	if id == dme.None || i.unarmed || i.holding[0].fault != k {
		return dme.None, nil
	}
	if err := i.letPass(k); err != nil || slices.Contains(nodes, id) {
		return id, err
	}
	if s := c.at(c.workerOf(id)).state; s == present || s == leaving {
		err = c.instruct(i.ctx, control.OpFree, id)
	}
	return dme.None, err // about to leave already: it gets on with that
}

func (i *injector) letPass(k int) error {
	before := len(i.holding)
	i.holding = slices.DeleteFunc(i.holding, func(s stay) bool { return s.fault == k })
	if len(i.holding) == before {
		return nil
	}
	return errors.Join(i.c.hold(i.ctx, 0), i.arm())
}

func (i *injector) stop() {
	if i == nil {
		return
	}
	i.ended.Store(true)
	<-i.done
	i.telling.Wait()
}

func asFailure(err error) error {
	return fmt.Errorf("faults: %w", err)
}
