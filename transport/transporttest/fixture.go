package transporttest

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dmebench/dme"
	"dmebench/transport"
)

// NoLeaks fails the test if goroutines outlive it.
func NoLeaks(t testing.TB) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

func NewKey() (key transport.Key) {
	rand.Read(key[:])
	return key
}

type cluster struct {
	t          testing.TB
	s          Subject
	transports []transport.Transport // by process
	book       transport.AddressBook
}

// layout says which nodes live in each process: layout{2, 1} is nodes 1 and 2
// in the first and node 3 in the second.
type layout []int

func (l layout) nodes() (n int) {
	for _, m := range l {
		n += m
	}
	return n
}

func (l layout) local(process int) (ids []dme.NodeID) {
	first := layout(l[:process]).nodes() + 1
	for i := range l[process] {
		ids = append(ids, dme.NodeID(first+i))
	}
	return ids
}

func open(t testing.TB, s Subject, l layout, knobs Knobs, peers func(process int) []dme.NodeID) *cluster {
	t.Helper()
	c := &cluster{t: t, s: s}
	key := NewKey()
	for p := range l {
		config := transport.Config{Listen: "127.0.0.1:0", Local: l.local(p), Nodes: l.nodes(), Key: key}
		if peers != nil {
			config.Peers = peers(p)
		}
		tr, err := s.Open(config, knobs)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tr.Close() })
		c.transports = append(c.transports, tr)
		for range l[p] {
			c.book = append(c.book, tr.Addr())
		}
	}
	return c
}

// openLedger opens and starts the transports of a run, whose handlers enter what
// arrives into a ledger that expects that many frames.
func openLedger(t testing.TB, s Subject, l layout, peers func(int) []dme.NodeID, expected int) (*cluster, *ledger) {
	t.Helper()
	book := newLedger(s, expected)
	c := open(t, s, l, Knobs{}, peers)
	c.start(func(int) transport.Handler { return handler{book.enter, book.noDown} })
	return c, book
}

func (c *cluster) of(id dme.NodeID) transport.Transport {
	return c.transports[slices.IndexFunc(c.transports, func(tr transport.Transport) bool { return tr.Addr() == c.book.Addr(id) })]
}

func (c *cluster) send(from, to dme.NodeID, b []byte) {
	c.t.Helper()
	tr := c.of(from)
	if err := tr.Send(from, to, b); err != nil {
		c.t.Fatal(err)
	}
	tr.Flush()
}

// talk sends the given number of frames from a node to each of others, and flushes after every
// few. With sizes, they have up to size bytes, else just as many.
func (c *cluster) talk(from dme.NodeID, to []dme.NodeID, frames, size int, sizes bool, flush int) error {
	tr := c.of(from)
	b := make([]byte, size)
	for seq := range frames {
		for _, id := range to {
			n := size
			if sizes {
				n = numberSize + (seq+int(id))%(size-numberSize)
			}
			if err := tr.Send(from, id, fill(b[:n], pair{from, id}, uint64(seq))); err != nil {
				return err
			}
		}
		if seq%flush == flush-1 {
			tr.Flush()
		}
	}
	return tr.Flush()
}

func (c *cluster) talkAll(to func(from dme.NodeID) []dme.NodeID, frames, size int, sizes bool, flush int) {
	c.t.Helper()
	var talks sync.WaitGroup
	var f faults
	for i := range c.book {
		from := dme.NodeID(i + 1)
		talks.Go(func() {
			if err := c.talk(from, to(from), frames, size, sizes, flush); err != nil {
				f.addf("from node %d: %v", from, err)
			}
		})
	}
	talks.Wait()
	f.report(c.t)
}

func others(nodes int) func(dme.NodeID) []dme.NodeID {
	return func(me dme.NodeID) []dme.NodeID {
		return slices.DeleteFunc(everyone(nodes)(0), func(id dme.NodeID) bool { return id == me })
	}
}

// gated returns a channel at which handlers may wait, and opens it when the test
// ends at the latest, before the transports are closed.
func (c *cluster) gated() (gate chan struct{}, release func()) {
	gate = make(chan struct{})
	release = sync.OnceFunc(func() { close(gate) })
	c.t.Cleanup(release)
	return gate, release
}

// total closes all transports and returns the sum of their counters.
func (c *cluster) total(frames int) (total transport.Counters) {
	c.t.Helper()
	for _, tr := range c.transports {
		tr.Close()
		total = total.Plus(tr.Counters())
	}
	if total.Frames != uint64(frames) || c.s.Guarantees.Reliable && total.Received != uint64(frames) {
		c.t.Errorf("%d frames sent and %d received by the counters, which count one for each receiver; %d were sent",
			total.Frames, total.Received, frames)
	}
	return total
}

func (c *cluster) start(handler func(process int) transport.Handler) {
	c.t.Helper()
	c.each(func(p int) error { return c.transports[p].Start(c.book, handler(p)) })
}

// each calls f for all processes at once.
func (c *cluster) each(f func(process int) error) {
	c.t.Helper()
	errs := make(chan error, len(c.transports))
	for p := range c.transports {
		go func() {
			err := f(p)
			if err != nil {
				err = fmt.Errorf("process %d: %w", p+1, err)
			}
			errs <- err
		}()
	}
	for range c.transports {
		if err := await(c.t, c.s, "all processes", errs); err != nil {
			c.t.Fatal(err)
		}
	}
}

func everyone(nodes int) func(int) []dme.NodeID {
	return func(int) []dme.NodeID { return layout{nodes}.local(0) }
}

// handler is a transport.Handler made of functions; nil ones do nothing.
type handler struct {
	frame func(from, to dme.NodeID, b []byte)
	down  func(peer dme.NodeID, err error)
}

func (h handler) Frame(from, to dme.NodeID, b []byte) {
	if h.frame != nil {
		h.frame(from, to, b)
	}
}

func (h handler) Down(peer dme.NodeID, err error) {
	if h.down != nil {
		h.down(peer, err)
	}
}

// Events is a [transport.Handler] that notes what it hears, up to 1000 frames and as many ends.
type Events struct {
	Frames chan string // "1>2 body"
	Downs  chan error  // "node 2: why"
}

func NewEvents() *Events { return &Events{make(chan string, 1000), make(chan error, 1000)} }

func (e *Events) Frame(from, to dme.NodeID, b []byte) {
	e.Frames <- fmt.Sprintf("%d>%d %s", from, to, b)
}

func (e *Events) Down(peer dme.NodeID, err error) {
	e.Downs <- fmt.Errorf("node %d: %w", peer, err)
}

type faults struct {
	mu  sync.Mutex
	all []string
}

func (f *faults) addf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.all) < 10 {
		f.all = append(f.all, fmt.Sprintf(format, args...))
	}
}

func (f *faults) report(t testing.TB) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.all {
		t.Error(s)
	}
}

// noDown is a Down that is a fault.
func (f *faults) noDown(peer dme.NodeID, err error) { f.addf("Down(%d): %v", peer, err) }

// Next waits until a channel is closed or yields.
func Next[T any](t testing.TB, what string, c <-chan T) (x T) {
	t.Helper()
	return await(t, Subject{Patience: patience}, what, c)
}

// Eventually waits until a condition holds that nothing announces.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	eventually(t, Subject{Patience: patience}, what, holds)
}

func await[T any](t testing.TB, s Subject, what string, c <-chan T) (x T) {
	t.Helper()
	select {
	case x = <-c:
	case <-time.After(s.Patience):
		t.Fatalf("waited %v in vain for %s", s.Patience, what)
	}
	return x
}

func eventually(t testing.TB, s Subject, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(s.Patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain for %s", s.Patience, what)
		}
	}
}

// Frames of these tests carry their number among those of their pair of nodes,
// from 0, and a body that follows from the pair and the number, so that a frame
// that is altered, mixed up or delivered to another node is recognized.

type pair struct{ from, to dme.NodeID }

const numberSize = 8

func fill(b []byte, p pair, seq uint64) []byte {
	binary.LittleEndian.PutUint64(b, seq)
	x := step(uint64(p.from)<<48 ^ uint64(p.to)<<32 ^ seq ^ 0x9e3779b97f4a7c15)
	body := b[numberSize:]
	for ; len(body) >= 8; body = body[8:] {
		binary.LittleEndian.PutUint64(body, x)
		x = step(x)
	}
	for i := range body {
		body[i] = byte(x >> (8 * i))
	}
	return b
}

// number returns the number of a frame of p, and whether its content is right.
func number(b []byte, p pair) (seq uint64, ok bool) {
	if len(b) < numberSize {
		return 0, false
	}
	seq = binary.LittleEndian.Uint64(b)
	return seq, bytes.Equal(b, fill(make([]byte, len(b)), p, seq))
}

// step is Marsaglia's xorshift64.
func step(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	return x ^ x<<17
}

// ledger checks what arrives against what was sent: content, order and number,
// as far as the guarantees go.
type ledger struct {
	faults
	fifo, reliable bool
	toAll          bool // what a node says to all has the same content for each
	expected       int64
	arrived        atomic.Int64
	complete       chan struct{} // closed when all that is expected has arrived

	mu    sync.Mutex
	pages map[pair]*page
}

type page struct {
	busy atomic.Bool // a frame of the pair is being delivered
	next uint64
	seen map[uint64]bool // where order is not promised
}

func newLedger(s Subject, expected int) *ledger {
	return &ledger{
		fifo: s.Guarantees.FIFO, reliable: s.Guarantees.Reliable, expected: int64(expected),
		complete: make(chan struct{}), pages: make(map[pair]*page),
	}
}

func (l *ledger) page(p pair) *page {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pages[p] == nil {
		l.pages[p] = &page{seen: make(map[uint64]bool)}
	}
	return l.pages[p]
}

// finish waits for all that is expected, if nothing may be lost.
func (l *ledger) finish(t testing.TB, s Subject) {
	t.Helper()
	if l.reliable {
		await(t, s, "all frames", l.complete)
	}
	l.report(t)
}

func (l *ledger) enter(from, to dme.NodeID, b []byte) {
	p := pair{from, to}
	said := p
	if l.toAll {
		said.to = dme.None
	}
	seq, ok := number(b, said)
	if !ok {
		l.addf("a frame of %d bytes from %d to %d (%d) has the wrong content", len(b), from, to, seq)
		return
	}
	a := l.page(p)
	if a.busy.Swap(true) {
		l.addf("two frames from %d to %d are delivered at once", from, to)
	}
	switch {
	case l.fifo && l.reliable && seq != a.next:
		l.addf("frame %d from %d to %d arrives where %d is due", seq, from, to, a.next)
	case l.fifo && seq < a.next:
		l.addf("frame %d from %d to %d arrives after %d", seq, from, to, a.next-1)
	case !l.fifo && l.reliable && a.seen[seq]:
		l.addf("frame %d from %d to %d arrives twice", seq, from, to)
	}
	a.next = seq + 1
	if !l.fifo && l.reliable {
		a.seen[seq] = true
	}
	a.busy.Store(false)
	if l.arrived.Add(1) == l.expected {
		close(l.complete)
	}
}
