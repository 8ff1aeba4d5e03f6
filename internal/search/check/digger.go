package check

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/platform/hugepages"
)

// digger is one goroutine's part of a search depth first.
type digger struct {
	*vnet.Walker
	search *depthFirst
	frames []frame // the way to the present state
	used   int     // of frames, which are kept for their memory

	backwards bool // tries the last move first, and so stays out of another's way

	states, taken uint64 // not yet reported
	held          int    // bytes that its walker is known to hold
}

// run tries all there is from the initial state on, as far as the others have not.
func (g *digger) run(v []uint32, h vnet.Hash) {
	if g.push(v, h, dme.None) {
		g.dig()
	}
	g.report()
}

// reportEvery is after how many moves the states of one are added to those of all.
const reportEvery = 4096

func (g *digger) dig() {
	d := g.search
	for g.used > 0 && !d.halt.Load() {
		top := &g.frames[g.used-1]
		if top.next == len(top.steps) {
			g.used--
			continue
		}
		k := top.move(g.backwards)
		top.next++
		if g.taken++; g.taken >= reportEvery {
			g.report()
		}
		bad := g.Do(top.v, top.h, top.steps[k])
		if bad == nil && d.reduction != nil {
			var forced int
			forced, bad = g.Settle(nil)
			g.taken += uint64(forced)
		}
		if bad != nil {
			d.find(&finding{Violation: *bad, way: g.moves(g.used)})
			return
		}
		if d.bits.add(g.Hash) {
			g.states++
			if !g.push(g.Next, g.Hash, top.steps[k].Node) {
				return
			}
		}
	}
}

// push goes on to a state, and reports false if it breaks a property; see [vnet.Walker.Broken].
func (g *digger) push(v []uint32, h vnet.Hash, changed dme.NodeID) bool {
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
	bad := g.Broken(top.v, changed)
	if stuck && !d.SafetyOnly {
		bad = stalled(g.Waiting(top.v))
	}
	if bad != nil {
		d.find(&finding{Violation: *bad, way: g.moves(g.used - 1)})
	}
	return bad == nil
}

// Bytes that a frame takes beside its vector and its steps, and a step.
const (
	frameBytes = 72
	stepBytes  = 24
)

// moves returns the moves that lead to the state after the last of that many frames.
func (g *digger) moves(frames int) []int {
	all := make([]int, 0, frames)
	for i := range g.frames[:frames] {
		f := g.frames[i]
		f.next--
		all = append(all, f.move(g.backwards))
	}
	return all
}

func (g *digger) report() {
	d := g.search
	depth := int64(len(g.frames) - 1) // frames are kept, and the first is the initial state
	for deepest := d.deepest.Load(); depth > deepest && !d.deepest.CompareAndSwap(deepest, depth); {
		deepest = d.deepest.Load()
	}
	d.progressed(g.Footprint(), &g.held, g.taken, g.states, g.states)
	g.states, g.taken = 0, 0
}

// Bitstate is how sure a search is that keeps a few bits of each state. It proves nothing.
type Bitstate struct {
	Size   Bytes   `json:"bytes"`    // of all bits
	Bits   int     `json:"bits"`     // for each state
	Filled float64 `json:"filled"`   // the part of all bits that are set at the end
	Last   float64 `json:"omission"` // the probability with which a new state is taken for an old one at the end; before, it is less
}

// depthFirst is an exhaustive search that keeps only a few bits of each state. It goes depth first:
// then only the states on the way to the present one are kept whole, and the way to a violation is
// at hand. All workers begin at the initial state, every other one with the last of the moves, and
// none goes on if another has been.
type depthFirst struct {
	*exhaustive
	bits    *bitset
	deepest atomic.Int64
}

type frame struct {
	v     []uint32
	h     vnet.Hash
	steps []vnet.Step
	next  int // of steps, how many have been tried
}

// move is the index of the step that is tried next.
func (f *frame) move(backwards bool) int {
	if backwards {
		return len(f.steps) - 1 - f.next
	}
	return f.next
}

func (s *Search) bitstate(ctx context.Context) (Report, error) {
	x := newExhaustive(s, s.Workers)
	if s.Reduce {
		x.reduction, _ = x.space.NewReduction(vnet.Brief)
	}
	for {
		d := &depthFirst{exhaustive: x, bits: &bitset{words: hugepages.Make[atomic.Uint64](max(1, int(s.Bitstate/8)))}}
		x.hold(int(s.Bitstate))
		d.search(ctx)
		if x.found != nil || x.halt.Load() || x.reduction == nil || x.reduction.Extend() {
			return d.outcome(ctx)
		}
		x = x.again(0)
	}
}

func (d *depthFirst) search(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { d.halt.Store(true) })
	defer stop()
	v, h, ok := d.begin()
	if !ok {
		return
	}
	d.bits.add(h)
	d.done.Store(1)
	var wg sync.WaitGroup
	diggers := make([]*digger, d.workers)
	for i := range diggers {
		diggers[i] = &digger{search: d, Walker: d.space.NewWalker(), backwards: i%2 == 1}
		diggers[i].Reduce(d.reduction)
	}
	for _, g := range diggers {
		wg.Go(func() { g.run(v, h) })
	}
	wg.Wait()
	for _, g := range diggers {
		d.end(g.Walker)
	}
	d.layer.Store(d.deepest.Load())
}

func (d *depthFirst) outcome(ctx context.Context) (Report, error) {
	r, err := d.exhaustive.outcome(ctx)
	r.Bitstate = &Bitstate{Size: d.Bitstate, Bits: bitHashes, Filled: d.bits.filled(), Last: d.bits.omission()}
	if r.Complete {
		r.Complete = false
		r.Stopped = fmt.Sprintf("a new state may have been taken for an old one, at the end with probability %.2g", r.Bitstate.Last)
	}
	return r, err
}
