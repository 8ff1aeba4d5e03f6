package check

import "dmebench/dme/vnet"

// worker is one goroutine's part of an exhaustive search.
type worker struct {
	*vnet.Walker
	search *exhaustive
	steps  []vnet.Step // scratch
	boxes  []box       // what it has reached and has still to look up, by shard
	fresh  []int       // scratch
	isNew  uint64      // how many it has found to be new in its batch
	out    []*batch    // the new ones, for the next layer
	held   int         // bytes that its walker is known to hold
	spent  bool        // the memory is
	_      [128]byte   // keeps other workers off its cache lines
}

// box holds states that are to be looked up in a shard of the visited ones.
type box struct {
	vectors []uint32
	hashes  []vnet.Hash
	origins []origin
}

// boxSize is enough that a lock costs little, and little enough that the boxes
// of a worker stay in its cache.
const boxSize = 64

func newWorker(x *exhaustive) *worker {
	w := &worker{search: x, Walker: x.space.NewWalker(), boxes: make([]box, len(x.seen.shards))}
	most := statesIn(1<<16, x.width, boxSize)
	for i := range w.boxes {
		w.boxes[i] = box{make([]uint32, 0, most*x.width), make([]vnet.Hash, 0, most), make([]origin, 0, most)}
	}
	x.hold(len(w.boxes) * most * (4*x.width + hashBytes + 8))
	return w
}

// expandBatch takes every move from every state of a batch.
func (w *worker) expandBatch(b *batch) {
	var taken uint64
	w.isNew = 0
	x, width := w.search, w.search.width
	for i := range b.hashes {
		v, h := b.vectors[i*width:(i+1)*width], b.hashes[i]
		steps, stuck := w.Enabled(v, w.steps[:0])
		w.steps = steps
		if w.spent {
			break
		}
		if stuck {
			x.find(stalled(w.Waiting(v)), b.first+uint64(i), -1)
			break
		}
		for k, step := range steps {
			if w.spent {
				break
			}
			taken++
			if bad := w.Do(v, h, step); bad != nil {
				x.find(bad, b.first+uint64(i), k)
				break
			}
			w.offer(w.Next, w.Hash, originOf(b.first+uint64(i), k))
		}
	}
	for i := range w.boxes {
		w.empty(i)
	}
	x.taken.Add(taken)
	own, shared := w.Footprint(), w.Space.Footprint()
	x.hold(own - w.held + shared - int(x.components.Swap(int64(shared))))
	w.held = own
	if x.count.Add(w.isNew) >= x.States || x.memory.spent.Load() {
		x.halt.Store(true)
	}
	if x.Progress != nil && x.progress.TryLock() {
		x.Progress(x.count.Load())
		x.progress.Unlock()
	}
}

// offer takes a state that may have been visited before.
func (w *worker) offer(v []uint32, h vnet.Hash, from origin) {
	i := w.search.seen.shardOf(h)
	b := &w.boxes[i]
	b.vectors = append(b.vectors, v...)
	b.hashes = append(b.hashes, h)
	b.origins = append(b.origins, from)
	if len(b.hashes) == cap(b.hashes) {
		w.empty(i)
	}
}

// empty looks up what is in a box, and keeps what is new.
func (w *worker) empty(i int) {
	b, width := &w.boxes[i], w.search.width
	w.fresh = w.search.seen.shards[i].add(b.hashes, w.fresh[:0])
	for _, k := range w.fresh {
		w.push(b.vectors[k*width:(k+1)*width], b.hashes[k], b.origins[k])
	}
	w.isNew += uint64(len(w.fresh))
	b.vectors, b.hashes, b.origins = b.vectors[:0], b.hashes[:0], b.origins[:0]
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
