package transporttest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
)

// testCloseDrains closes right after the last Flush: all must arrive, also
// where the connection was still being made.
func testCloseDrains(t *testing.T, s Subject) {
	for name, peers := range map[string]func(int) []dme.NodeID{"connected": everyone(3), "first use": nil} {
		t.Run(name, func(t *testing.T) {
			const each = 2000
			c, book := openLedger(t, s, layout{1, 1, 1}, Knobs{}, peers, 2*each)
			if err := c.talk(1, []dme.NodeID{2, 3}, each, 500, false, each); err != nil {
				t.Fatal(err)
			}
			if err := c.transports[0].Close(); err != nil {
				t.Fatal(err)
			}
			book.settle(t, s)
		})
	}
}

// testSilenceAfterClose closes a process in the middle of a stream.
func testSilenceAfterClose(t *testing.T, s Subject) {
	var f faults
	var closed atomic.Bool
	running := make(chan struct{})
	var once sync.Once
	c := open(t, s, layout{1, 1}, Knobs{}, everyone(2))
	c.start(func(process int) transport.Handler {
		return handler{
			frame: func(from, to dme.NodeID, b []byte) {
				if process == 0 && closed.Load() {
					f.addf("Frame after Close")
				}
				once.Do(func() { close(running) })
			},
			down: func(peer dme.NodeID, err error) {
				if process == 0 {
					f.addf("Down(%d) because of Close: %v", peer, err)
				}
			},
		}
	})
	stop := make(chan struct{})
	var sender sync.WaitGroup
	sender.Go(func() {
		for seq := uint64(0); ; seq++ {
			select {
			case <-stop:
				return
			default:
			}
			// The other side leaves meanwhile, which is no error here.
			err := c.transports[1].Send(2, 1, fill(make([]byte, 100), pair{2, 1}, seq))
			if err != nil && !errors.Is(err, transport.ErrBacklog) {
				f.addf("%v", err)
				return
			}
			c.transports[1].Flush()
		}
	})
	await(t, s, "the stream", running)
	if err := c.transports[0].Close(); err != nil {
		t.Error(err)
	}
	closed.Store(true)
	close(stop)
	sender.Wait()
	c.transports[1].Close() // ends what might still have delivered
	f.report(t)
}

// testLeaving lets a process close in good order while two others go on.
func testLeaving(t *testing.T, s Subject) {
	down := make(chan dme.NodeID, 10)
	arrived := make(chan pair, 100)
	c := open(t, s, layout{1, 1, 1}, Knobs{}, everyone(3))
	c.start(func(int) transport.Handler {
		return handler{
			func(from, to dme.NodeID, _ []byte) { arrived <- pair{from, to} },
			func(peer dme.NodeID, _ error) { down <- peer },
		}
	})
	c.send(3, 1, []byte("x"))
	c.send(1, 3, []byte("x"))
	if s.Guarantees.Reliable {
		await(t, s, "a frame", arrived)
		await(t, s, "a frame", arrived)
	}
	if err := c.transports[2].Close(); err != nil {
		t.Fatal(err)
	}
	c.send(1, 3, []byte("x")) // to nobody
	c.send(2, 3, []byte("x"))
	c.send(1, 2, []byte("x"))
	if s.Guarantees.Reliable {
		for {
			if p := await(t, s, "a frame between those that stay", arrived); p == (pair{1, 2}) {
				break
			}
		}
	}
	// That Down does not come can only be seen by waiting.
	select {
	case peer := <-down:
		t.Errorf("Down(%d) although it closed in good order", peer)
	case <-time.After(100 * time.Millisecond):
	}
}

// testMisuse calls what must be refused.
func testMisuse(t *testing.T, s Subject) {
	c := open(t, s, layout{1, 1}, Knobs{}, nil)
	c.start(func(int) transport.Handler { return handler{} })
	tr := c.transports[0]
	for name, p := range map[string]pair{
		"from a node of another process": {2, 1}, "from node 0": {0, 1}, "from no node of the run": {3, 1},
		"to node 0": {1, 0}, "to no node of the run": {1, 3},
	} {
		if err := tr.Send(p.from, p.to, []byte("x")); err == nil {
			t.Errorf("Send %s: no error", name)
		}
	}
	for range 2 {
		if err := tr.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if err := tr.Send(1, 2, []byte("x")); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Send after Close: %v, want ErrClosed", err)
	}
}
