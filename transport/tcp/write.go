package tcp

import "golang.org/x/sys/unix"

const (
	// inlineRounds is how often a goroutine that flushes goes on with frames
	// that others queued while it wrote, before it leaves them to drain: a
	// socket's reader must get back to reading.
	inlineRounds = 4

	// keptQueue is the largest buffer in bytes that a link keeps for reuse.
	keptQueue = 1 << 20
)

// flush writes what is queued. The link has just been taken from the dirty list.
func (l *link) flush() {
	l.mu.Lock()
	l.dirty = false
	l.writeQueue()
}

// writeQueue writes what is queued as far as the socket takes it at once, if
// nobody is writing already. It is called with mu held and releases it.
func (l *link) writeQueue() {
	if l.phase != idle || l.gone || len(l.queue) == 0 {
		l.mu.Unlock()
		return
	}
	l.phase = writing
	for range inlineRounds {
		l.take()
		l.mu.Unlock()
		l.wait = false
		l.seal()
		err := l.raw.Write(l.attempt)
		l.mu.Lock()
		if !l.wrote(err) || len(l.out) > 0 {
			break
		}
		if len(l.queue) == 0 {
			l.phase = idle
			l.mu.Unlock()
			return
		}
	}
	if !l.gone {
		l.drains.Add(1)
		go l.drain()
	}
	l.mu.Unlock()
}

// drain writes what is queued, waits for the socket where it must, and ends
// when nothing is left.
func (l *link) drain() {
	defer l.drains.Done()
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.gone {
		fresh := len(l.out) == 0
		if fresh {
			if len(l.queue) == 0 {
				l.phase = idle
				return
			}
			l.take()
		}
		l.mu.Unlock()
		l.wait = true
		if fresh {
			l.seal()
		}
		err := l.raw.Write(l.attempt)
		l.mu.Lock()
		l.wrote(err)
	}
}

// take makes the queue what is to be written, and the other buffer the queue.
func (l *link) take() {
	l.out, l.outBuf = l.queue, l.queue
	l.queue, l.spare = l.spare[:0], nil
	l.inFlight = len(l.out)
}

// seal makes records of what was taken, where the connection is encrypted. It is
// called without mu: senders do not wait for it.
func (l *link) seal() {
	if l.session.out == nil {
		return
	}
	l.records = l.session.seal(l.records[:0], l.out)
	l.out = l.records
	if cap(l.outBuf) > keptQueue {
		l.outBuf = nil // nor is it needed any more
	}
}

// write is one write call; with wait it is repeated until the socket takes
// something. It is called by RawConn, which waits for the socket when write
// returns false.
func (l *link) write(fd uintptr) bool {
	n, err := l.calls.Write(fd, l.out)
	l.attempts++
	l.written += n
	l.out = l.out[n:]
	if len(l.out) > 0 {
		l.full++
	}
	if err == unix.EAGAIN {
		l.err = nil
		return !l.wait
	}
	l.err = err
	return true
}

// wrote settles the accounts after an attempt; false when the link is gone. It
// is called with mu held.
func (l *link) wrote(err error) bool {
	if err == nil {
		err = l.err
	}
	l.noteBacklog()
	c := &l.counters
	c.Bytes += uint64(l.written)
	c.Writes += l.attempts
	c.StalledWrites += l.full
	l.written, l.attempts, l.full = 0, 0, 0
	l.inFlight = min(l.inFlight, len(l.out)) // records are longer than what was queued
	if len(l.out) == 0 {
		if cap(l.outBuf) <= keptQueue {
			l.spare = l.outBuf[:0]
		}
		if cap(l.records) > keptQueue {
			l.records = nil
		}
		l.out, l.outBuf = nil, nil
	}
	if err != nil {
		l.breakOff(err)
	}
	return !l.gone
}
