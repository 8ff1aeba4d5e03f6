package transporttest

import (
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dmebench/dme"
	"dmebench/transport"
)

// noLeaks fails the test if goroutines outlive it.
func noLeaks(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// NewKey draws a key for a run.
func NewKey() (key transport.Key) {
	rand.Read(key[:])
	return key
}

// cluster is the transports of a run, all in this process.
type cluster struct {
	t          *testing.T
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

// open opens the transports of a run, without starting them.
func open(t *testing.T, s Subject, l layout, knobs Knobs, peers func(process int) []dme.NodeID) *cluster {
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
// arrives into a ledger that expects so many frames.
func openLedger(t *testing.T, s Subject, l layout, knobs Knobs, peers func(int) []dme.NodeID, expected int) (*cluster, *ledger) {
	t.Helper()
	book := newLedger(s, expected)
	c := open(t, s, l, knobs, peers)
	c.start(func(int) transport.Handler { return handler{book.enter, book.noDown} })
	return c, book
}

// of returns the transport of a node.
func (c *cluster) of(id dme.NodeID) transport.Transport {
	return c.transports[slices.IndexFunc(c.transports, func(tr transport.Transport) bool { return tr.Addr() == c.book.Addr(id) })]
}

// send sends a frame and flushes it.
func (c *cluster) send(from, to dme.NodeID, b []byte) {
	c.t.Helper()
	tr := c.of(from)
	if err := tr.Send(from, to, b); err != nil {
		c.t.Fatal(err)
	}
	tr.Flush()
}

// talk sends so many frames from a node to each of others, and flushes after every
// few. Those of several sizes have up to size bytes, others just as many.
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

// talkAll lets all nodes talk at once, each to those that to names.
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

// others names all nodes but one.
func others(nodes int) func(dme.NodeID) []dme.NodeID {
	return func(me dme.NodeID) []dme.NodeID {
		return slices.DeleteFunc(everyone(nodes)(0), func(id dme.NodeID) bool { return id == me })
	}
}

// gated returns a channel at which handlers may wait, and opens it when the test
// ends at the latest: before the transports are closed, which waits for handlers.
func (c *cluster) gated() (gate chan struct{}, release func()) {
	gate = make(chan struct{})
	release = sync.OnceFunc(func() { close(gate) })
	c.t.Cleanup(release)
	return gate, release
}

// total closes all transports and returns the sum of their counters. It checks
// the numbers of frames.
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

// start starts all transports, at the same time as worker processes do.
func (c *cluster) start(handler func(process int) transport.Handler) {
	c.t.Helper()
	c.each(func(p int) error { return c.transports[p].Start(c.book, handler(p)) })
}

// each calls f for all processes at once and fails the test on an error, or if
// it does not come to an end.
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

// everyone names all nodes as peers.
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

// faults collects what goes wrong in goroutines of the transport.
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

func (f *faults) report(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.all {
		t.Error(s)
	}
}

// noDown returns a Down that is a fault.
func (f *faults) noDown(peer dme.NodeID, err error) { f.addf("Down(%d): %v", peer, err) }

// await waits until the channel is closed or yields.
func await[T any](t *testing.T, s Subject, what string, c <-chan T) (x T) {
	t.Helper()
	select {
	case x = <-c:
	case <-time.After(s.Patience):
		t.Fatalf("waited %v in vain for %s", s.Patience, what)
	}
	return x
}

// eventually waits until a condition holds that nothing announces.
func eventually(t *testing.T, s Subject, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(s.Patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain for %s", s.Patience, what)
		}
	}
}
