package link

import (
	"container/heap"
	"time"

	"dmebench/transport"
)

const (
	keptFrames = 1024    // for reuse
	keptBuffer = 4 << 10 // bytes; larger ones are not kept
)

// delayed is a frame that waits.
type delayed struct {
	at      time.Duration
	serial  uint64 // of those that leave at one time, the first comes first
	link    Link
	state   *state
	ordered bool
	frame   []byte
}

// hold makes a copy of a frame wait until the time at. It is called with mu held.
func (t *Transport) hold(s *state, l Link, frame []byte, at time.Duration, ordered bool) {
	var d *delayed
	if last := len(t.free) - 1; last >= 0 {
		d, t.free = t.free[last], t.free[:last]
	} else {
		d = new(delayed)
	}
	t.serial++
	*d = delayed{at: at, serial: t.serial, link: l, state: s, ordered: ordered, frame: append(d.frame[:0], frame...)}
	s.bytes += len(frame) + accountedFrame
	t.most = max(t.most, s.bytes)
	if ordered {
		s.ordered++
	}
	heap.Push(&t.waiting, d)
	if t.waiting[0] == d {
		t.timer.Set(at - t.clock())
	}
}

// watch is the goroutine that lets delayed frames leave, until the timer is closed.
func (t *Transport) watch() {
	for t.timer.Wait() {
		t.release()
	}
}

// release lets what is due leave, and sets the timer for the rest.
func (t *Transport) release() {
	t.leaving.Lock()
	defer t.leaving.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	released := 0 // since the last flush
	for len(t.waiting) > 0 && !t.stopped {
		if wait := t.waiting[0].at - t.clock(); wait > 0 {
			t.timer.Set(wait)
			break
		}
		d := heap.Pop(&t.waiting).(*delayed)
		t.mu.Unlock()
		// What the transport beneath does not take any more is lost: it closes,
		// or its own bound is reached, which is the network's affair.
		_ = t.inner.Send(d.link.From, d.link.To, d.frame)
		if released++; released == transport.MaxBatch {
			_ = t.inner.Flush()
			released = 0
		}
		t.mu.Lock()
		// Only now may a frame behind it go without waiting.
		if d.ordered {
			d.state.ordered--
		}
		d.state.bytes -= len(d.frame) + accountedFrame
		if len(t.free) < keptFrames && cap(d.frame) <= keptBuffer {
			t.free = append(t.free, d)
		}
	}
	if released > 0 {
		t.mu.Unlock()
		_ = t.inner.Flush()
		t.mu.Lock()
	}
	t.nothingWaits()
}

// queue is a heap of delayed frames, the first to leave first.
type queue []*delayed

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].at != q[j].at {
		return q[i].at < q[j].at
	}
	return q[i].serial < q[j].serial
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*delayed)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	d := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return d
}
