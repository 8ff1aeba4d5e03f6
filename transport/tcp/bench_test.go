package tcp

import (
	"sync/atomic"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
)

// How the transport compares with bare connections between processes,
// 'dmebench ping --transport tcp' measures.

// BenchmarkSendFlush sends a frame and flushes it, to a process that reads.
func BenchmarkSendFlush(b *testing.B) {
	bothWays(b, func(b *testing.B, o Options) {
		sender, _ := sendAndCount(b, o)
		body := make([]byte, 32)
		b.ReportAllocs()
		for b.Loop() {
			if err := sender.Send(1, 2, body); err != nil {
				b.Fatal(err)
			}
			sender.Flush()
		}
	})
}

func bothWays(b *testing.B, f func(*testing.B, Options)) {
	b.Run("plain", func(b *testing.B) { f(b, Options{Encryption: Off}) })
	b.Run("tls", func(b *testing.B) { f(b, Options{Encryption: On}) })
}

// BenchmarkRoundTrip sends a frame that is sent back.
func BenchmarkRoundTrip(b *testing.B) {
	bothWays(b, func(b *testing.B, o Options) {
		back := make(chan struct{}, 1)
		var open [2]*Transport
		connect(b, &open, o, func(i int) transport.Handler {
			return handler(func(from, to dme.NodeID, body []byte) {
				if i == 0 {
					back <- struct{}{}
				} else if err := open[1].Send(to, from, body); err != nil {
					b.Error(err)
				}
			})
		})
		body := make([]byte, 32)
		b.ReportAllocs()
		for b.Loop() {
			if err := open[0].Send(1, 2, body); err != nil {
				b.Fatal(err)
			}
			open[0].Flush()
			<-back
		}
	})
}

// BenchmarkSend queues a frame; every 256th is flushed.
func BenchmarkSend(b *testing.B) {
	bothWays(b, func(b *testing.B, o Options) {
		sender, received := sendAndCount(b, o)
		body := make([]byte, 32)
		var sent uint64
		b.ReportAllocs()
		for b.Loop() {
			if err := sender.Send(1, 2, body); err != nil {
				b.Fatal(err)
			}
			if sent++; sent%256 == 0 {
				sender.Flush()
				for sent-received.Load() > 1<<16 {
					time.Sleep(50 * time.Microsecond)
				}
			}
		}
	})
}

func TestSendFlushAllocatesNothing(t *testing.T) {
	sender, received := sendAndCount(t, Options{})
	body := make([]byte, 32)
	var sent uint64
	allocs := testing.AllocsPerRun(5000, func() {
		if err := sender.Send(1, 2, body); err != nil {
			t.Fatal(err)
		}
		sender.Flush()
		sent++
	})
	if allocs != 0 {
		t.Errorf("%v allocations for a frame sent, flushed and delivered", allocs)
	}
	for deadline := time.Now().Add(20 * time.Second); received.Load() < sent; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d frames arrived", received.Load(), sent)
		}
	}
}

// sendAndCount returns a transport connected to another one, which counts.
func sendAndCount(tb testing.TB, o Options) (sender *Transport, received *atomic.Uint64) {
	received = new(atomic.Uint64)
	var open [2]*Transport
	connect(tb, &open, o, func(int) transport.Handler {
		return handler(func(dme.NodeID, dme.NodeID, []byte) { received.Add(1) })
	})
	return open[0], received
}

// connect opens transports of nodes 1 and 2, and connects the first with the second.
func connect(tb testing.TB, open *[2]*Transport, o Options, to func(int) transport.Handler) {
	tb.Helper()
	var book transport.AddressBook
	for i := range open {
		c := transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{dme.NodeID(i + 1)}, Nodes: 2, Key: testKey}
		if i == 0 {
			c.Peers = []dme.NodeID{2}
		}
		tr, err := Listen(c, o)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { tr.Close() })
		open[i] = tr
		book = append(book, tr.Addr())
	}
	for i := range open {
		if err := open[1-i].Start(book, to(1-i)); err != nil {
			tb.Fatal(err)
		}
	}
}

type handler func(from, to dme.NodeID, body []byte)

func (h handler) Frame(from, to dme.NodeID, body []byte) { h(from, to, body) }
func (h handler) Down(dme.NodeID, error)                 {}
