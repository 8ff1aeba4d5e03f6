package check

import "dmebench/dme/vnet"

// worker is one goroutine's part of an exhaustive search.
type worker struct {
	*vnet.Walker
	search *exhaustive
	steps  []vnet.Step // scratch
	out    []*batch    // the states it has reached, for the next layer
}

// expandBatch takes every move from every state of a batch.
func (w *worker) expandBatch(b *batch) {
	var isNew, taken uint64
	x, width := w.search, w.search.width
	for i := range b.hashes {
		v, h := b.vectors[i*width:(i+1)*width], b.hashes[i]
		steps, stuck := w.Enabled(v, w.steps[:0])
		w.steps = steps
		if stuck {
			x.find(stalled(w.Waiting(v)), b.first+uint64(i), -1)
			break
		}
		for k, step := range steps {
			taken++
			if bad := w.Do(v, h, step); bad != nil {
				x.find(bad, b.first+uint64(i), k)
				break
			}
			if x.seen.add(w.Hash) {
				isNew++
				w.push(w.Next, w.Hash, originOf(b.first+uint64(i), k))
			}
		}
	}
	x.taken.Add(taken)
	if x.count.Add(isNew) >= x.States {
		x.halt.Store(true)
	}
	if x.Progress != nil && x.progress.TryLock() {
		x.Progress(x.count.Load())
		x.progress.Unlock()
	}
}

// push keeps a state for the next layer.
func (w *worker) push(v []uint32, h vnet.Hash, from origin) {
	var b *batch
	if n := len(w.out); n > 0 && len(w.out[n-1].hashes) < blockSize {
		b = w.out[n-1]
	} else {
		b = w.search.newBatch()
		w.out = append(w.out, b)
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
