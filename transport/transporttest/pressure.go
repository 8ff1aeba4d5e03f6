package transporttest

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
)

// testSlowReader sends to a process that takes nothing: before long Send must
// fail and name the link, further tries must not get past the bound either,
// memory must be bounded, and what was accepted, then or later, must arrive once
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
	if testing.Short() {
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
