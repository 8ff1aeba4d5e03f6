package check

import "dmebench/dme/vnet"

// worker is one goroutine's part of an exhaustive search.
type worker struct {
	*vnet.Walker
	search  *exhaustive
	classes *vnet.Classes // nil: a state counts for itself alone
	steps   []vnet.Step   // scratch
	reached               // and still to be looked up
	moves   int           // from the state that is being expanded
	taken   uint64        // steps, in its batch
	count   uint64        // of its batch, the new ones
	out     []*batch      // the new ones, for the next layer
	held    int           // bytes that its walker is known to hold
	spent   bool          // the memory is
	_       [128]byte     // keeps other workers off its cache lines
}

// reached are states that may have been visited before. They are looked up
// shard by shard and kept in their order: neighbours have much in common, which
// is then still in the processor's cache when they are expanded.
type reached struct {
	vectors []uint32
	hashes  []vnet.Hash
	origins []origin
	isNew   []bool
	shards  [][]int32 // indexes of the states of each
}

// reachedMost is enough that a lock is taken once for dozens of states, and
// little enough that all stay in the processor's cache.
const reachedMost = 1024

func newWorker(x *exhaustive) *worker {
	most := statesIn(1<<17, x.width, reachedMost)
	w := &worker{search: x, Walker: x.space.NewWalker(), reached: reached{
		vectors: make([]uint32, 0, most*x.width), hashes: make([]vnet.Hash, 0, most), origins: make([]origin, 0, most),
		isNew: make([]bool, most), shards: make([][]int32, len(x.seen.shards)),
	}}
	const originBytes = 8
	x.hold(most * (4*x.width + hashBytes + originBytes))
	if x.byClass {
		w.classes = x.space.NewClasses()
	} else if x.reduction != nil {
		w.Reduce(x.reduction)
	}
	return w
}

// expandBatch takes every move from every state of a batch.
func (w *worker) expandBatch(b *batch) {
	w.taken, w.count = 0, 0
	x, width := w.search, w.search.width
	for i := range b.hashes {
		v, h := b.vectors[i*width:(i+1)*width], b.hashes[i]
		steps, stuck := w.Enabled(v, w.steps[:0])
		w.steps = steps
		if w.spent {
			break
		}
		if stuck && !x.SafetyOnly {
			x.find(stalled(w.Waiting(v)), b.first+uint64(i), -1)
			break
		}
		if bad := w.Broken(v); bad != nil {
			x.find(bad, b.first+uint64(i), -1)
			break
		}
		w.moves = 0
		for k, step := range steps {
			if w.spent {
				break
			}
			if bad := w.take(v, h, step, b.first+uint64(i)); bad != nil {
				x.find(bad, b.first+uint64(i), k)
				break
			}
		}
	}
	w.lookUp()
	x.taken.Add(w.taken)
	own, shared := w.Footprint(), x.sharedFootprint()
	if w.classes != nil {
		own += w.classes.Footprint()
	}
	x.hold(own - w.held + shared - int(x.components.Swap(int64(shared))))
	w.held = own
	if x.count.Add(w.count) >= x.most || x.memory.spent.Load() {
		x.halt.Store(true)
	}
	x.done.Add(uint64(len(b.hashes)))
	x.say()
}

// take takes a step from a state, by its number, and offers what it leads to: a
// move for each.
func (w *worker) take(v []uint32, h vnet.Hash, step vnet.Step, state uint64) (bad *vnet.Violation) {
	w.taken++
	if w.classes != nil {
		return w.classes.Step(w.Walker, v, step, func(rep []uint32) {
			w.offer(rep, w.search.space.HashOf(rep), originOf(state, w.moves))
			w.moves++
		})
	}
	bad = w.Do(v, h, step)
	if bad == nil && w.search.reduction != nil {
		var forced int
		forced, bad = w.Settle(nil)
		w.taken += uint64(forced)
	}
	if bad == nil {
		w.offer(w.Next, w.Hash, originOf(state, w.moves))
		w.moves++
	}
	return bad
}

// offer takes a state that may have been visited before.
func (w *worker) offer(v []uint32, h vnet.Hash, from origin) {
	shard := &w.shards[w.search.seen.shardOf(h)]
	*shard = append(*shard, int32(len(w.hashes)))
	w.vectors = append(w.vectors, v...)
	w.hashes = append(w.hashes, h)
	w.origins = append(w.origins, from)
	if len(w.hashes) == cap(w.hashes) {
		w.lookUp()
	}
}

// lookUp looks up the states that were offered, and pushes the new ones.
func (w *worker) lookUp() {
	for i, which := range w.shards {
		if len(which) > 0 {
			w.search.seen.shards[i].add(w.hashes, which, w.isNew)
			w.shards[i] = which[:0]
		}
	}
	width := w.search.width
	for i, h := range w.hashes {
		if w.isNew[i] {
			w.isNew[i] = false
			w.count++
			w.push(w.vectors[i*width:(i+1)*width], h, w.origins[i])
		}
	}
	w.vectors, w.hashes, w.origins = w.vectors[:0], w.hashes[:0], w.origins[:0]
}

// push keeps a state for the next layer.
func (w *worker) push(v []uint32, h vnet.Hash, from origin) {
	var b *batch
	if n := len(w.out); n > 0 && len(w.out[n-1].hashes) < w.search.batch {
		b = w.out[n-1]
	} else {
		b = w.search.newBatch()
		w.out = append(w.out, b)
		w.spent = w.search.memory.spent.Load()
	}
	b.origins[len(b.hashes)] = from
	b.vectors = append(b.vectors, v...)
	b.hashes = append(b.hashes, h)
}

// filled returns the batches that the worker has filled, and forgets them.
func (w *worker) filled() []*batch {
	out := w.out
	w.out = nil
	return out
}
