package link

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"sync"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/rawio"
	"dmebench/transport"
)

// accountedFrame is what a delayed frame counts for beside its bytes: about
// what it takes in memory.
const accountedFrame = 128

type Transport struct {
	inner   transport.Transport
	config  Config
	largest int           // bytes of the largest frame
	backlog int           // bound on the bytes that wait on a link
	drain   time.Duration // for what is delayed to leave at Close

	mu      sync.Mutex // guards what follows
	begun   time.Time  // when it was started; zero before
	book    transport.AddressBook
	links   map[Link]*state
	waiting queue // delayed frames
	serial  uint64
	timer   *rawio.Timer // nil if nothing is ever delayed
	stopped bool         // the timer is not to be used any more
	closing bool
	empty   func()        // closes drained, once
	drained chan struct{} // closed when nothing waits and the transport closes
	free    []*delayed
	frames  uint64 // handed over by Send
	delayed uint64 // of these, those that had to wait, also for those before them
	most    int    // bytes that ever waited on one link

	leaving sync.Mutex // held while a delayed frame leaves; taken before mu

	close   func() // once
	running sync.WaitGroup
}

var (
	_ transport.Transport = (*Transport)(nil)
	_ transport.Impaired  = (*Transport)(nil)
)

type state struct {
	conditioner *Conditioner
	ordered     int // frames that wait and keep the order
	bytes       int // waiting
}

// Wrap conditions the links of a transport that has not been started. From then
// on the transport is used through the result alone.
func Wrap(inner transport.Transport, c Config) *Transport {
	t := &Transport{
		inner: inner, config: c, largest: cmp.Or(c.LargestFrame, transport.MaxFrame), backlog: transport.MaxBacklog, drain: time.Second,
		links: make(map[Link]*state), drained: make(chan struct{}),
	}
	t.empty = sync.OnceFunc(func() { close(t.drained) })
	t.close = sync.OnceFunc(t.shutDown)
	return t
}

func (t *Transport) Addr() string { return t.inner.Addr() }

func (t *Transport) Start(book transport.AddressBook, h transport.Handler) error {
	t.mu.Lock()
	if t.begun.IsZero() && !t.closing && !t.config.Idle() {
		timer, err := rawio.NewTimer()
		if err != nil {
			t.mu.Unlock()
			return fmt.Errorf("link: cannot make a timer: %w", err)
		}
		t.timer = timer
		t.running.Go(t.watch)
	}
	t.begun, t.book = time.Now(), slices.Clone(book)
	delaying := t.timer != nil
	t.mu.Unlock()
	if delaying {
		h = handler{h, t}
	}
	return t.inner.Start(book, h)
}

// clock is the time since Start. It is called with mu held.
func (t *Transport) clock() time.Duration { return time.Since(t.begun) }

func (t *Transport) Send(from, to dme.NodeID, frame []byte) error {
	l := Link{from, to}
	t.mu.Lock()
	if t.timer == nil || t.closing || t.misused(l, len(frame)) {
		t.frames++
		t.mu.Unlock()
		return t.inner.Send(from, to, frame) // and let it say what is wrong
	}
	s := t.links[l]
	if s == nil {
		s = &state{conditioner: t.config.Conditioner(l)}
		t.links[l] = s
	}
	t.frames++
	if s.bytes+2*(len(frame)+accountedFrame) > t.backlog {
		defer t.mu.Unlock()
		return fmt.Errorf("link: from node %d to node %d: %d bytes wait, at most %d allowed: %w",
			from, to, s.bytes, t.backlog, transport.ErrBacklog)
	}
	now := t.clock()
	f := s.conditioner.Next(now, len(frame))
	if f.Lost {
		t.mu.Unlock()
		return nil
	}
	if f.Repeated {
		t.hold(s, l, frame, f.Repeat, false)
	}
	if f.Departure <= now && (f.Reordered || s.ordered == 0) {
		t.mu.Unlock()
		return t.inner.Send(from, to, frame)
	}
	defer t.mu.Unlock()
	t.delayed++
	t.hold(s, l, frame, f.Departure, !f.Reordered)
	return nil
}

// misused reports whether the transport beneath will refuse the frame, whatever the
// conditions are. It is called with mu held.
func (t *Transport) misused(l Link, bytes int) bool {
	return bytes > t.largest || t.book.Addr(l.To) == "" || t.book.Addr(l.From) != t.inner.Addr()
}

func (t *Transport) Flush() error { return t.inner.Flush() }

// Counters are those of the transport beneath, but for the frames, which
// are what was handed over here.
func (t *Transport) Counters() transport.Counters {
	c := t.inner.Counters()
	t.mu.Lock()
	defer t.mu.Unlock()
	c.Frames = t.frames
	c.LargestBacklog = max(c.LargestBacklog, uint64(t.most))
	return c
}

// Close lets delayed frames leave for about a second, and drops the others.
func (t *Transport) Close() error {
	t.close()
	return nil
}

func (t *Transport) shutDown() {
	t.mu.Lock()
	t.closing = true
	t.nothingWaits()
	timer := t.timer
	t.mu.Unlock()
	if timer != nil {
		select {
		case <-t.drained:
		case <-time.After(t.drain):
		}
		t.mu.Lock()
		t.stopped = true
		t.mu.Unlock()
		timer.Close()
		t.running.Wait()
	}
	t.inner.Close()
}

func (t *Transport) nothingWaits() {
	if t.closing && len(t.waiting) == 0 {
		t.empty()
	}
}

func (t *Transport) Expel(peer dme.NodeID, cause error) error { return t.inner.Expel(peer, cause) }

func (t *Transport) Readmit(peer dme.NodeID, addr string, incarnation uint32) error {
	return t.inner.Readmit(peer, addr, incarnation)
}

// handler passes on what comes from the transport beneath, and drops what waits for nodes that are
// down.
type handler struct {
	transport.Handler
	t *Transport
}

func (h handler) Down(peer dme.NodeID, err error) {
	h.Handler.Down(peer, err)
	h.t.forget(peer) // now that no goroutine sends to it any more
}

func (h handler) Up(peer dme.NodeID) {
	h.t.know(peer)
	if u, ok := h.Handler.(transport.UpHandler); ok {
		u.Up(peer)
	}
}

func (h handler) Transmitted(from dme.NodeID, b []byte) {
	if m, ok := h.Handler.(transport.Monitor); ok {
		m.Transmitted(from, b)
	}
}

func (t *Transport) know(peer dme.NodeID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.book.Addr(peer) == "" {
		t.book[peer-1] = "readmitted"
	}
}

// forget drops the delayed frames for a node. When it returns, none is about to leave.
func (t *Transport) forget(peer dme.NodeID) {
	t.leaving.Lock()
	defer t.leaving.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.waiting[:0]
	for _, d := range t.waiting {
		if d.link.To != peer {
			kept = append(kept, d)
			continue
		}
		if d.ordered {
			d.state.ordered--
		}
		d.state.bytes -= len(d.frame) + accountedFrame
	}
	clear(t.waiting[len(kept):])
	t.waiting = kept
	heap.Init(&t.waiting)
	t.nothingWaits()
}

const (
	keptFrames = 1024    // for reuse
	keptBuffer = 4 << 10 // bytes; larger ones are not kept
)

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
		// A frame that the transport beneath does not take any more is lost: it closes,
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
