package transporttest

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"dmebench/dme"
	"dmebench/internal/testkit"
	"dmebench/transport"
)

// testBurst sends 200,000 small frames between all pairs of nodes of four processes; one process
// hosts two nodes.
func testBurst(t *testing.T, s Subject) {
	l := layout{1, 2, 1, 1}
	n := l.nodes()
	each := 200_000 / (n * (n - 1))
	if !testkit.Long() {
		each /= 20
	}
	c, book := openLedger(t, s, l, everyone(n), each*n*(n-1))

	c.talkAll(others(n), each, numberSize+40, true, 8)
	book.finish(t, s)
	sent := uint64(each * n * (n - 1))
	total := c.total(int(sent))
	if total.Bytes < sent*numberSize || total.Writes == 0 || total.Writes > sent+total.Retransmissions+sent/2 {
		t.Errorf("%d bytes in %d writes by the counters", total.Bytes, total.Writes)
	}
	book.report(t)
}

// testSelfSend sends between nodes of one process, and from a node to itself.
func testSelfSend(t *testing.T, s Subject) {
	const each = 100
	c, book := openLedger(t, s, layout{2, 1}, nil, 4*each)
	for from := dme.NodeID(1); from <= 2; from++ {
		if err := c.talk(from, []dme.NodeID{1, 2}, each, 64, false, each); err != nil {
			t.Fatal(err)
		}
	}
	book.finish(t, s)
	if s.Guarantees.Reliable {
		c.transports[0].Close() // settles the counters
		if bytes := c.transports[0].Counters().Bytes; bytes < 4*each*64 {
			t.Errorf("%d bytes went to the network, of %d in frames", bytes, 4*each*64)
		}
	}
	book.report(t)
}

// testFirstUse lets eight processes that name no peers send to all at once,
// each from several goroutines that meet at the same missing connection.
func testFirstUse(t *testing.T, s Subject) {
	l := layout{2, 2, 2, 2, 2, 2, 2, 2}
	n := l.nodes()
	c, book := openLedger(t, s, l, nil, n*n)
	c.talkAll(func(dme.NodeID) []dme.NodeID { return everyone(n)(0) }, 1, 20, false, 1)
	book.finish(t, s)
}

// testLargeFrames sends frames of sizes from nothing to the largest.
func testLargeFrames(t *testing.T, s Subject) {
	sizes := []int{8, 127, 128, 129, 1 << 10, 16<<10 - 1, 64 << 10, 100_000, 1 << 20, s.LargestFrame - 1, s.LargestFrame, 8}
	fit := slices.DeleteFunc(sizes, func(size int) bool { return size > s.LargestFrame })
	book := newLedger(s, len(fit))
	empty := make(chan struct{}, 1)
	c := open(t, s, layout{1, 1}, Knobs{}, everyone(2))
	c.start(func(int) transport.Handler {
		return handler{func(from, to dme.NodeID, b []byte) {
			if len(b) == 0 {
				empty <- struct{}{}
				return
			}
			book.enter(from, to, b)
		}, book.noDown}
	})
	c.send(1, 2, nil)
	for seq, size := range fit {
		c.send(1, 2, fill(make([]byte, size), pair{1, 2}, uint64(seq)))
	}
	if err := c.of(1).Send(1, 2, make([]byte, s.LargestFrame+1)); !errors.Is(err, transport.ErrFrameTooLarge) {
		t.Errorf("a frame of %d bytes: %v, want ErrFrameTooLarge", s.LargestFrame+1, err)
	}
	if s.Guarantees.Reliable {
		await(t, s, "the empty frame", empty)
	}
	book.finish(t, s)
}

// testReplies plays a token to and fro, flushed by the transport alone.
func testReplies(t *testing.T, s Subject) {
	const hops = 2000
	done := make(chan struct{})
	var f faults
	c := open(t, s, layout{1, 1}, Knobs{}, everyone(2))
	c.start(func(process int) transport.Handler {
		return handler{func(from, to dme.NodeID, b []byte) {
			hop, ok := number(b, pair{1, 2})
			if !ok {
				f.addf("hop %d: wrong content", hop)
			}
			if hop == hops {
				close(done)
				return
			}
			if err := c.transports[process].Send(to, from, fill(make([]byte, 32), pair{1, 2}, hop+1)); err != nil {
				f.addf("hop %d: %v", hop, err)
			}
		}, f.noDown}
	})
	c.send(1, 2, fill(make([]byte, 32), pair{1, 2}, 1))
	await(t, s, "the last hop", done)
	f.report(t)
}

// testManyGoroutines sends from many goroutines, some of which share a pair of
// nodes, while others do nothing but flush and read counters.
func testManyGoroutines(t *testing.T, s Subject) {
	l := layout{6, 6}
	const each, sharers = 300, 4
	c, book := openLedger(t, s, l, nil, 2*6*6*each+sharers*each)

	var stop atomic.Bool
	var meddlers sync.WaitGroup
	for _, tr := range c.transports {
		meddlers.Go(func() {
			for !stop.Load() {
				tr.Flush()
				runtime.Gosched()
			}
		})
		meddlers.Go(func() {
			for !stop.Load() {
				tr.Counters()
				runtime.Gosched()
			}
		})
	}
	var senders sync.WaitGroup
	senders.Go(func() {
		c.talkAll(func(from dme.NodeID) []dme.NodeID { return l.local(1 - int(from-1)/6) }, each, 100, false, 1)
	})
	// Several goroutines that agree on an order among themselves are one
	// sender: the order in which Send was called is the order of arrival.
	var turn sync.Mutex
	var next uint64
	shared := pair{1, 2}
	for range sharers {
		senders.Go(func() {
			b := make([]byte, 30)
			for range each {
				turn.Lock()
				err := c.transports[0].Send(shared.from, shared.to, fill(b, shared, next))
				next++
				turn.Unlock()
				if err != nil {
					book.addf("%v", err)
				}
				c.transports[0].Flush()
			}
		})
	}
	senders.Wait()
	book.finish(t, s)
	stop.Store(true)
	meddlers.Wait()
}

// testBroadcast lets every node of three processes say everything to all others,
// in turn to all at once and to one after the other.
func testBroadcast(t *testing.T, s Subject) {
	l := layout{2, 1, 2}
	n := l.nodes()
	each := 1000
	if !testkit.Long() {
		each /= 10
	}
	book := newLedger(s, n*(n-1)*each)
	book.toAll = true
	c := open(t, s, l, Knobs{}, everyone(n))
	c.start(func(int) transport.Handler { return handler{book.enter, book.noDown} })
	c.each(func(process int) error {
		tr := c.transports[process]
		b := make([]byte, 30)
		for seq := range uint64(each) {
			for _, from := range l.local(process) {
				fill(b, pair{from, dme.None}, seq)
				if err := sayToAll(tr, n, from, b, seq%3 != 0); err != nil {
					return err
				}
			}
			if seq%8 == 7 {
				tr.Flush()
			}
		}
		return tr.Flush()
	})
	book.finish(t, s)
	c.total(n * (n - 1) * each)
}

func sayToAll(tr transport.Transport, nodes int, from dme.NodeID, b []byte, atOnce bool) error {
	if atOnce {
		return tr.(transport.Broadcaster).Broadcast(from, b)
	}
	return transport.SendToAll(tr, nodes, from, b)
}

// testSlowReader sends to a process that takes nothing: before long Send must
// fail and name the link, memory must be bounded, and what was accepted must arrive once
// the process reads again.
func testSlowReader(t *testing.T, s Subject) {
	const (
		backlog    = 1 << 20
		kernel     = 128 << 20 // more than the buffers of any system
		heapGrowth = 32 * backlog
		tries      = 1000 // after the first refusal
	)
	size := min(32<<10, s.LargestFrame)
	book := newLedger(s, -1)
	c := open(t, s, layout{1, 1}, Knobs{Backlog: backlog}, everyone(2))
	gate, release := c.gated()
	c.start(func(int) transport.Handler {
		return handler{func(from, to dme.NodeID, b []byte) {
			<-gate
			book.enter(from, to, b)
		}, book.noDown}
	})

	before := heap()
	b := make([]byte, size)
	var seq, refused uint64
	for refused < tries {
		err := c.transports[0].Send(1, 2, fill(b, pair{1, 2}, seq))
		if err != nil {
			if !errors.Is(err, transport.ErrBacklog) {
				t.Fatalf("%v, want ErrBacklog", err)
			}
			if addr := c.book.Addr(2); !strings.Contains(err.Error(), addr) && !strings.Contains(err.Error(), "node 2") {
				t.Fatalf("%q does not name the link to node 2 (%s)", err, addr)
			}
			refused++
			continue
		}
		c.transports[0].Flush()
		if seq++; seq*uint64(size) > backlog+kernel {
			t.Fatalf("%d bytes were accepted for a process that takes nothing; the bound is %d", seq*uint64(size), backlog)
		}
	}
	if grown := heap() - before; grown > heapGrowth {
		t.Errorf("the heap has grown by %d bytes with %d allowed on the link", grown, backlog)
	}
	if most := c.transports[0].Counters().LargestBacklog; most > backlog {
		t.Errorf("%d bytes were queued, at most %d allowed", most, backlog)
	}
	release()
	eventually(t, s, "the frames that were accepted", func() bool { return book.arrived.Load() >= int64(seq) })
	// The link works again, as soon as the sender knows.
	eventually(t, s, "the link to take a frame again", func() bool {
		err := c.transports[0].Send(1, 2, fill(b, pair{1, 2}, seq))
		if err != nil && !errors.Is(err, transport.ErrBacklog) {
			t.Fatal(err)
		}
		return err == nil
	})
	c.transports[0].Flush()
	eventually(t, s, "a frame after the backlog", func() bool { return book.arrived.Load() == int64(seq)+1 })
	book.report(t)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// testFloodBothWays fills the sockets between two processes in both directions
// while both handlers stand still, and then lets the handlers send too. If
// either waited for its socket before it read on, both would wait for ever.
func testFloodBothWays(t *testing.T, s Subject) {
	flood := 16 << 20
	if !testkit.Long() {
		flood = 6 << 20
	}
	size := min(16<<10, s.LargestFrame)
	frames := flood / size
	book := newLedger(s, 4*frames)
	c := open(t, s, layout{2, 2}, Knobs{}, everyone(4))
	gate, release := c.gated()
	// Nodes 1 and 3 flood each other; each frame is answered by the other
	// node of the process.
	c.start(func(process int) transport.Handler {
		answer := pair{2, 4}
		if process == 1 {
			answer = pair{4, 2}
		}
		var answers uint64
		return handler{func(from, to dme.NodeID, b []byte) {
			<-gate
			book.enter(from, to, b)
			if from == answer.from || to == answer.from {
				return
			}
			reply := fill(make([]byte, 1000), answer, answers)
			answers++
			if err := c.transports[process].Send(answer.from, answer.to, reply); err != nil {
				book.addf("%v", err)
			}
		}, book.noDown}
	})
	c.each(func(process int) error {
		from := dme.NodeID(1 + 2*process)
		return c.talk(from, []dme.NodeID{4 - from}, frames, size, false, 1)
	})
	for p, tr := range c.transports {
		if tr.Counters().StalledWrites == 0 && tr.Counters().LargestBacklog < uint64(flood)/4 {
			t.Errorf("process %d: %d bytes did not fill the socket; the test shows nothing", p+1, flood)
		}
	}
	release()
	await(t, s, "both floods to pass", book.complete)
	book.report(t)
}
