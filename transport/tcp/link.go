package tcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"dmebench/dme"
	"dmebench/internal/platform/rawio"
	"dmebench/transport"
	"dmebench/transport/peers"
)

// phase says which goroutine may write to the connection of a link.
type phase uint8

const (
	connecting phase = iota // none: there is no connection yet
	idle                    // one that sets it to writing
	writing                 // the one that set it to writing, or the drain that it started
)

type link struct {
	t       *Transport
	to      *process
	backlog int             // bound on the bytes queued
	ctx     context.Context // of the dialing
	cancel  context.CancelFunc

	listed peers.Entry[link] // in Transport.dirty

	mu       sync.Mutex
	phase    phase
	leaving  bool   // the goodbye is queued: nothing may follow it
	gone     bool   // the connection is no more: everything is dropped
	dirty    bool   // in that list
	queue    []byte // frames that wait
	frames   int    // how many these are
	spare    []byte // the other buffer, if it is not being written
	inFlight int    // bytes being written
	cause    error  // why the connection broke, where a write noticed
	counters transport.Counters
	packets  packets
	drains   sync.WaitGroup // Add under mu, and only while not gone

	conn    *net.TCPConn    // set before phase leaves connecting
	raw     syscall.RawConn // of conn
	session net.Conn        // conn, as it is read
	secure  *session        // the same if it is encrypted

	// Owned by the writer.
	out      []byte       // what is still to be written
	outBuf   []byte       // the buffer that was the queue, for reuse
	records  bytes.Buffer // what out lies in if the connection is encrypted
	written  int          // bytes that the socket took
	wait     bool         // attempt waits for the socket
	err      error        // of the last attempt
	attempts uint64       // write calls, and of these
	full     uint64       // writes that found the socket full
	calls    rawio.Calls
	attempt  func(fd uintptr) bool
}

func newLink(t *Transport, to *process) *link {
	l := &link{t: t, to: to, backlog: t.limits.backlog}
	l.listed.Link = l
	l.ctx, l.cancel = context.WithCancel(t.ctx)
	// Bound once: a method value taken for each write would be an allocation.
	l.attempt = l.write
	return l
}

func (l *link) send(from, to dme.NodeID, body []byte) error {
	l.mu.Lock()
	if l.leaving || l.gone {
		l.counters.Frames++
		l.mu.Unlock()
		if l.t.life.Closing() {
			return l.t.life.Closed()
		}
		return nil // to a process that is no more
	}
	if queued := len(l.queue) + l.inFlight; queued+peers.MaxHeader+len(body) > l.backlog {
		l.mu.Unlock()
		return l.t.life.Top().Full(l.to, queued, l.backlog)
	}
	l.queue = peers.AppendFrame(l.queue, from, to, body)
	l.frames++
	l.counters.Frames++
	if l.phase == idle && !l.dirty {
		// Within the lock, so that a goroutine that sees dirty also finds the link in the list: a
		// flush must not miss a frame whose Send has returned.
		l.dirty = true
		l.t.dirty.Push(&l.listed)
	}
	l.mu.Unlock()
	return nil
}

// noteBacklog is called, with mu held, before what is queued shrinks.
func (l *link) noteBacklog() {
	l.counters.LargestBacklog = max(l.counters.LargestBacklog, uint64(len(l.queue)+l.inFlight))
}

// breakOff drops everything and makes the goroutine of the link end, which
// reports the loss: not from inside Send or Flush. It is called with mu held.
func (l *link) breakOff(cause error) {
	if l.gone {
		return
	}
	l.noteBacklog()
	l.gone = true
	l.cause = cause
	l.queue, l.spare = nil, nil
	l.cancel()
	if l.conn != nil {
		l.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// leave queues the goodbye, also on a connection that is still being made: the peer may know
// of it already.
func (l *link) leave() {
	l.mu.Lock()
	if l.leaving || l.gone {
		l.mu.Unlock()
		return
	}
	l.leaving = true
	l.queue = append(l.queue, peers.Goodbye...)
	l.writeQueue()
}

func (l *link) run(report func(error)) {
	conn, s, err := l.t.connect(l.ctx, l.to)
	if err == nil {
		err = l.open(conn, s)
	}
	if err != nil {
		l.mu.Lock()
		l.breakOff(err)
		l.mu.Unlock()
		report(err)
		return
	}
	report(nil)
	l.watch()
}

func (l *link) open(conn *net.TCPConn, s net.Conn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		abort(conn)
		return err
	}
	l.mu.Lock()
	if l.gone {
		l.mu.Unlock()
		abort(conn)
		return l.cause
	}
	l.conn, l.raw, l.session = conn, raw, s
	l.secure, _ = s.(*session)
	l.phase = idle
	l.writeQueue()
	return nil
}

// watch waits for the end of the connection. The peer says nothing on it but
// goodbye: in answer to this side's, or because it closes.
func (l *link) watch() {
	var word [len(peers.Goodbye)]byte
	_, err := io.ReadFull(l.session, word[:])
	if err == nil && string(word[:]) != peers.Goodbye {
		l.t.refusedFrames.Add(1)
		err = errors.New("the peer sent other than goodbye against the direction of the connection")
	}
	if err != nil {
		l.mu.Lock()
		if l.cause != nil {
			err = l.cause
		}
		l.gone = true
		l.packets.read(l.conn)
		l.mu.Unlock()
		l.conn.Close()
		l.drains.Wait()
		l.t.lostLink(l.to, fmt.Errorf("tcp: %v: connection lost: %w; did its worker end?", l.to, err))
		return
	}
	l.t.hasLeft(l.to)
	if !l.t.life.Closing() {
		// The peer closes: it drops what this side has queued, and waits for
		// the goodbye behind it.
		l.leave()
		l.session.Read(word[:])
	}
	l.mu.Lock()
	l.gone = true
	l.queue, l.spare = nil, nil
	l.packets.read(l.conn)
	l.mu.Unlock()
	abort(l.conn)
	l.drains.Wait()
}

const (
	// inlineRounds is how often a goroutine that flushes goes on with frames that others queued
	// while it wrote: a socket's reader must get back to reading.
	inlineRounds = 4

	// bulk is how many frames a goroutine that flushes does not write itself: more will come, and
	// what it queues while another one writes leaves in larger writes.
	bulk = transport.MaxBatch / 2

	keptQueue = 4 << 20
)

func (l *link) flush() {
	l.mu.Lock()
	l.dirty = false
	if l.frames >= bulk && l.phase == idle && !l.gone {
		l.phase = writing
		l.drains.Add(1)
		go l.drain()
	}
	l.writeQueue()
}

// writeQueue writes what is queued as far as the socket takes it at once, unless it is being
// written already. It is called with mu held and releases it.
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

// drain writes what is queued until nothing is left, and waits for the socket.
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

func (l *link) take() {
	l.out, l.outBuf, l.frames = l.queue, l.queue, 0
	l.queue, l.spare = l.spare[:0], nil
	l.inFlight = len(l.out)
}

// seal makes records of what was taken, if the connection is encrypted. Senders do not wait for it.
func (l *link) seal() {
	if l.secure == nil {
		return
	}
	l.records.Reset()
	l.secure.writeTo(&l.records, l.out) // fails only after the connection was closed, as the write does then
	l.out = l.records.Bytes()
	if cap(l.outBuf) > keptQueue {
		l.outBuf = nil // nor is it needed any more
	}
}

// write is one write call; with wait it is repeated until the socket takes
// something. It is called by RawConn, which waits for the socket when write
// returns false.
func (l *link) write(fd uintptr) bool {
	n, err := l.calls.Send(fd, l.out)
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
		if l.records.Cap() > keptQueue {
			l.records = bytes.Buffer{}
		}
		l.out, l.outBuf = nil, nil
	}
	if err != nil {
		l.breakOff(err)
	}
	return !l.gone
}
