package check

// worker is one goroutine's part of an exhaustive search.
type worker struct {
	*expander
	search *exhaustive
	out    []*batch // the states it has reached, for the next layer
}

// expandBatch takes every move from every state of a batch.
func (w *worker) expandBatch(b *batch) {
	var isNew, taken uint64
	width := w.width
	for i := range b.hashes {
		v, h := b.vectors[i*width:(i+1)*width], b.hashes[i]
		moves, stuck := w.possible(v)
		if stuck {
			w.search.find(w.standstill(v), b.first+uint64(i), -1)
			break
		}
		for k, m := range moves {
			taken++
			if bad := w.take(v, h, m); bad != nil {
				w.search.find(bad, b.first+uint64(i), k)
				break
			}
			if w.seen.add(w.hash) {
				isNew++
				w.push(w.next, w.hash, originOf(b.first+uint64(i), k))
			}
		}
	}
	w.search.taken.Add(taken)
	if w.search.count.Add(isNew) >= w.States {
		w.search.halt.Store(true)
	}
	if w.Progress != nil && w.search.progress.TryLock() {
		w.Progress(w.search.count.Load())
		w.search.progress.Unlock()
	}
}

// push keeps a state for the next layer.
func (w *worker) push(v []uint32, h hash, from origin) {
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
