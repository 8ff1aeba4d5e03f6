package check

import (
	"slices"

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
