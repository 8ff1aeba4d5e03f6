package check

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"dmebench/dme/vnet"
)

// digger is one goroutine's part of a search depth first.
type digger struct {
	*vnet.Walker
	search *depthFirst
	before []int // moves that lead to the first frame
	frames []frame
	used   int // of frames, which are kept for their memory

	states, taken uint64 // not yet told
	held          int    // bytes that its walker is known to hold
}

func newDigger(d *depthFirst) *digger {
	g := &digger{search: d, Walker: d.space.NewWalker()}
	g.Reduce(d.reduction)
	return g
}

// run tries what there is to do until there is nothing any more.
func (g *digger) run() {
	for job := g.search.take(); job != nil; job = g.search.take() {
		g.before, g.used = job.before, 0
		if g.push(job.v, job.h) {
			top := &g.frames[0]
			if job.steps != nil {
				top.steps = append(top.steps[:0], job.steps...)
			}
			top.next = job.next
			g.dig()
		}
		g.tell()
	}
}

// tellEvery is after how many moves the others hear of the states of one.
const tellEvery = 4096

// dig tries all moves from the present state on.
func (g *digger) dig() {
	d := g.search
	for g.used > 0 && !d.halt.Load() {
		top := &g.frames[g.used-1]
		if top.next == len(top.steps) {
			g.used--
			continue
		}
		k := top.next
		top.next++
		if g.taken++; g.taken >= tellEvery {
			g.tell()
		}
		bad := g.Do(top.v, top.h, top.steps[k])
		if bad == nil && d.reduction != nil {
			var forced int
			forced, bad = g.Settle(nil)
			g.taken += uint64(forced)
		}
		if bad != nil {
			d.show(bad, g.moves(g.used))
			return
		}
		if d.bits.add(g.Hash) {
			g.states++
			if !g.push(g.Next, g.Hash) {
				return
			}
			if d.wanted.Load() > 0 {
				g.share()
			}
		}
	}
}

// push goes on to a state, and reports false where it breaks a property.
func (g *digger) push(v []uint32, h vnet.Hash) bool {
	d := g.search
	if g.used == len(g.frames) {
		g.frames = append(g.frames, frame{v: make([]uint32, d.width)})
		d.hold(4*d.width + frameBytes)
	}
	top := &g.frames[g.used]
	copy(top.v, v)
	top.h, top.next = h, 0
	room := cap(top.steps)
	var stuck bool
	top.steps, stuck = g.Enabled(top.v, top.steps[:0])
	if grown := cap(top.steps) - room; grown > 0 {
		d.hold(stepBytes * grown)
	}
	g.used++
	bad := g.Broken(top.v)
	if stuck && !d.SafetyOnly {
		bad = stalled(g.Waiting(top.v))
	}
	if bad != nil {
		d.show(bad, g.moves(g.used-1))
	}
	return bad == nil
}

// Bytes that a frame takes beside its vector and its steps, and a step.
const (
	frameBytes = 72
	stepBytes  = 24
)

// moves returns the moves that lead to the state that follows on the last one of
// so many frames.
func (g *digger) moves(frames int) []int {
	all := slices.Clone(g.before)
	for i := range frames {
		all = append(all, g.frames[i].next-1)
	}
	return all
}

// share gives what is to be tried nearest the beginning to another, if there is
// something besides the present state's own moves.
func (g *digger) share() {
	for i := range g.used - 1 {
		f := &g.frames[i]
		if f.next < len(f.steps) {
			g.search.give(&way{g.moves(i), frame{slices.Clone(f.v), f.h, slices.Clone(f.steps), f.next}})
			f.steps = f.steps[:f.next]
			return
		}
	}
}

// tell adds what has been done to what all have done.
func (g *digger) tell() {
	d := g.search
	d.taken.Add(g.taken)
	depth := int64(len(g.before) + g.used)
	for deepest := d.deepest.Load(); depth > deepest && !d.deepest.CompareAndSwap(deepest, depth); {
		deepest = d.deepest.Load()
	}
	own, shared := g.Footprint(), d.sharedFootprint()
	d.hold(own - g.held + shared - int(d.components.Swap(int64(shared))))
	g.held = own
	if d.count.Add(g.states) >= d.most || d.memory.spent.Load() {
		d.stop()
	}
	g.states, g.taken = 0, 0
	d.done.Store(d.count.Load())
	d.say()
}

// Bitstate is how sure a search is that keeps only a few bits of each state. It
// is no proof, whatever it says.
type Bitstate struct {
	Size   Bytes   `json:"bytes"`    // of all bits
	Bits   int     `json:"bits"`     // for each state
	Filled float64 `json:"filled"`   // the part of all bits that are set at the end
	Last   float64 `json:"omission"` // the probability with which a new state is taken for an old one at the end; before, it is less
}

// depthFirst is an exhaustive search that keeps only a few bits of each state. It
// goes depth first: then only the states on the way to the present one are kept
// whole, and the way to a violation is at hand. Who has nothing to do is given
// the part of another's way that is still to be tried nearest the beginning.
type depthFirst struct {
	*exhaustive
	bits    *bitset
	deepest atomic.Int64

	idle   atomic.Int64 // who have nothing to do
	wanted atomic.Int64 // things to do, by them
	mu     sync.Mutex
	change *sync.Cond
	jobs   []*way
	way    []int // to the violation
}

// way is a state, how it is reached, and which moves are to be tried from it.
type way struct {
	before []int // moves, as in [exhaustive.trace]
	frame
}

// frame is a state on the way to the present one.
type frame struct {
	v     []uint32
	h     vnet.Hash
	steps []vnet.Step
	next  int // of steps, from here on they are to be tried
}

// bitstate visits states, with reduction if that is set.
func (s *Search) bitstate(ctx context.Context) (Report, error) {
	x := newExhaustive(s, s.Workers)
	if s.Reduce {
		x.reduction, _ = x.space.NewReduction()
	}
	d := &depthFirst{exhaustive: x}
	for {
		d.bits = newBitset(s.Bitstate)
		d.change = sync.NewCond(&d.mu)
		x.hold(int(s.Bitstate))
		d.search(ctx)
		if x.found != nil || x.halt.Load() || x.reduction == nil || x.reduction.Extend() {
			break
		}
		again := newExhaustive(s, s.Workers)
		again.space, again.reduction = x.space, x.reduction
		d, x = &depthFirst{exhaustive: again}, again
	}
	return d.outcome(ctx)
}

// search has the workers try all there is.
func (d *depthFirst) search(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { d.stop() })
	defer stop()
	initial := vnet.New(d.model)
	if initial.Violation != nil {
		d.found, d.way = &finding{*initial.Violation, 0, -1}, []int{}
		return
	}
	v, h := d.space.Of(initial)
	if d.reduction != nil {
		d.reduction.Begin(v)
	}
	d.bits.add(h)
	d.count.Store(1)
	d.jobs = []*way{{frame: frame{v: v, h: h}}}
	var wg sync.WaitGroup
	diggers := make([]*digger, d.workers)
	for i := range diggers {
		diggers[i] = newDigger(d)
	}
	for _, g := range diggers {
		wg.Go(g.run)
	}
	wg.Wait()
	for _, g := range diggers {
		count, reason := g.Refused()
		d.refused += count
		d.refusal = firstReason(d.refusal, reason)
	}
	d.depth = int(d.deepest.Load())
}

// stop ends the search, and wakes up who waits.
func (d *depthFirst) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.halt.Store(true)
	d.change.Broadcast()
}

// take returns something to do; nil where there will be nothing any more.
func (d *depthFirst) take() *way {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.idle.Add(1) == int64(d.workers) && len(d.jobs) == 0 {
		d.change.Broadcast()
		return nil
	}
	if len(d.jobs) == 0 {
		d.wanted.Add(1)
	}
	for len(d.jobs) == 0 && !d.halt.Load() && d.idle.Load() < int64(d.workers) {
		d.change.Wait()
	}
	if len(d.jobs) == 0 || d.halt.Load() {
		return nil
	}
	d.idle.Add(-1)
	job := d.jobs[len(d.jobs)-1]
	d.jobs = d.jobs[:len(d.jobs)-1]
	return job
}

// give leaves something to do to another.
func (d *depthFirst) give(job *way) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.jobs = append(d.jobs, job)
	d.wanted.Add(-1)
	d.change.Signal()
}

// show notes a violation and the way to it.
func (d *depthFirst) show(bad *vnet.Violation, moves []int) {
	d.mu.Lock()
	if d.found == nil {
		d.found, d.way = &finding{Violation: *bad}, moves
	}
	d.mu.Unlock()
	d.stop()
}

// outcome is the report of a search that has ended.
func (d *depthFirst) outcome(ctx context.Context) (Report, error) {
	r := d.report(ctx)
	r.Bitstate = &Bitstate{Size: d.Bitstate, Bits: bitHashes, Filled: d.bits.filled(), Last: d.bits.omission()}
	if d.found != nil {
		trace, err := d.retrace(d.way)
		if err != nil {
			return r, err
		}
		trace = d.shrink(plan{model: d.model}, trace.Steps(), trace.Violation.Property)
		r.Trace, r.Violation = trace, &trace.Violation
		return r, nil
	}
	if r.Complete {
		r.Complete = false
		r.Stopped = fmt.Sprintf("a new state may have been taken for an old one, at the end with probability %.2g", r.Bitstate.Last)
	}
	return r, nil
}
