package transporttest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
)

// testCloseDrains closes right after the last Flush: all must arrive, even if the connection was
// still being made.
func testCloseDrains(t *testing.T, s Subject) {
	for name, peers := range map[string]func(int) []dme.NodeID{"connected": everyone(3), "first use": nil} {
		t.Run(name, func(t *testing.T) {
			const each = 2000
			c, book := openLedger(t, s, layout{1, 1, 1}, peers, 2*each)
			if err := c.talk(1, []dme.NodeID{2, 3}, each, 500, false, each); err != nil {
				t.Fatal(err)
			}
			if err := c.transports[0].Close(); err != nil {
				t.Fatal(err)
			}
			book.finish(t, s)
		})
	}
}

// testCloseIsBounded closes while the other process takes nothing, and a full backlog waits for it.
func testCloseIsBounded(t *testing.T, s Subject) {
	var f faults
	c := open(t, s, layout{1, 1}, Knobs{Backlog: 1 << 20, Drain: 200 * time.Millisecond}, everyone(2))
	gate, release := c.gated()
	c.start(func(process int) transport.Handler {
		if process == 0 {
			return handler{down: f.noDown}
		}
		return handler{frame: func(_, _ dme.NodeID, _ []byte) { <-gate }}
	})
	b := make([]byte, min(32<<10, s.LargestFrame))
	for err := error(nil); !errors.Is(err, transport.ErrBacklog); {
		if err = c.transports[0].Send(1, 2, b); err == nil {
			c.transports[0].Flush()
		} else if !errors.Is(err, transport.ErrBacklog) {
			t.Fatal(err)
		}
	}
	closed := make(chan error, 1)
	go func() { closed <- c.transports[0].Close() }()
	if err := await(t, s, "Close", closed); err != nil {
		t.Error(err)
	}
	release()
	f.report(t)
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
	c.send(1, 3, []byte("x")) // to no node
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

// testMisconfiguration opens and starts transports with what must be refused, and all of it with a
// reason.
func testMisconfiguration(t *testing.T, s Subject) {
	_, err := s.Open(transport.Config{Listen: "127.0.0.1:0", Nodes: 2, Peers: []dme.NodeID{3}}, Knobs{})
	for _, want := range []string{"key is zero", "no node lives", "node 3 is not one"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	for name, book := range map[string]func(addr string) transport.AddressBook{
		"too short":          func(a string) transport.AddressBook { return transport.AddressBook{a} },
		"an empty entry":     func(a string) transport.AddressBook { return transport.AddressBook{a, "", a} },
		"another node here":  func(a string) transport.AddressBook { return transport.AddressBook{a, a, a} },
		"a local node there": func(a string) transport.AddressBook { return transport.AddressBook{a, "127.0.0.1:8", "127.0.0.1:9"} },
	} {
		tr, err := s.Open(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{1, 3}, Nodes: 3, Key: NewKey()}, Knobs{})
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Send(1, 3, nil); err == nil {
			t.Error("Send before Start: no error")
		}
		if err := tr.Start(book(tr.Addr()), handler{}); err == nil {
			t.Errorf("an address book with %s: no error", name)
		}
		tr.Close()
		if err := tr.Start(transport.AddressBook{tr.Addr(), "127.0.0.1:9", tr.Addr()}, handler{}); err == nil {
			t.Error("Start after Close: no error")
		}
	}
}

func refusals(tr transport.Transport) uint64 {
	c := tr.Counters()
	return c.RefusedConns + c.RefusedFrames
}

// testWrongKey lets a process with another key claim to be a node of the run.
func testWrongKey(t *testing.T, s Subject) {
	arrived := make(chan string, 10)
	c := open(t, s, layout{1, 1}, Knobs{}, nil)
	c.start(func(int) transport.Handler {
		return handler{frame: func(_, _ dme.NodeID, b []byte) { arrived <- string(b) }}
	})
	intruder, err := s.Open(transport.Config{
		Listen: "127.0.0.1:0", Local: []dme.NodeID{2}, Nodes: 2, Key: NewKey(),
		Peers: []dme.NodeID{1},
	}, Knobs{})
	if err != nil {
		t.Fatal(err)
	}
	defer intruder.Close()
	book := slices.Clone(c.book)
	book[1] = intruder.Addr()
	// Whether the intruder learns that it is refused is the transport's affair.
	if err := intruder.Start(book, handler{}); err == nil {
		intruder.Send(2, 1, []byte("forged"))
		intruder.Flush()
	}
	eventually(t, s, "the refusal", func() bool { return refusals(c.transports[0]) > 0 })

	c.send(2, 1, []byte("genuine"))
	if s.Guarantees.Reliable {
		if got := await(t, s, "the genuine frame", arrived); got != "genuine" {
			t.Errorf("delivered %q of a process without the key", got)
		}
	}
}

// testGarbage lets strangers write noise while the run's processes talk.
func testGarbage(t *testing.T, s Subject) {
	const strangers = 30
	c, book := openLedger(t, s, layout{1, 1}, nil, 2000)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 1000 {
		for _, p := range []pair{{1, 2}, {2, 1}} {
			c.send(p.from, p.to, fill(make([]byte, 50), p, uint64(i)))
		}
		if i%(1000/strangers) != 0 || i/(1000/strangers) >= strangers {
			continue
		}
		conn, err := s.Stranger(c.transports[0].Addr())
		if err != nil {
			t.Fatal(err)
		}
		noise := make([]byte, 1+r.IntN(1000))
		for j := range noise {
			noise[j] = byte(r.Uint32())
		}
		conn.Write(noise) // may fail: refused already
		conn.Close()
	}
	eventually(t, s, "all strangers to be refused", func() bool { return refusals(c.transports[0]) >= strangers })
	book.finish(t, s)
}

// testSilentStrangers opens many connections that say nothing. The run's own
// processes must get in all the same.
func testSilentStrangers(t *testing.T, s Subject) {
	c, book := openLedger(t, s, layout{1, 1, 1}, nil, 2)
	for range 300 {
		conn, err := s.Stranger(c.transports[0].Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	for from := dme.NodeID(2); from <= 3; from++ {
		c.send(from, 1, fill(make([]byte, 50), pair{from, 1}, 0))
	}
	book.finish(t, s)
}
