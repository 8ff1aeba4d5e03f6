package tcp

import (
	"sync/atomic"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
)

// How the transport compares with bare connections between processes,
// «dmebench ping --transport tcp» measures.

// BenchmarkSendFlush sends a frame and flushes it, to a process that reads.
func BenchmarkSendFlush(b *testing.B) {
	sender, _ := sendAndCount(b)
	body := make([]byte, 32)
	b.ReportAllocs()
	for b.Loop() {
		if err := sender.Send(1, 2, body); err != nil {
			b.Fatal(err)
		}
		sender.Flush()
	}
}

// BenchmarkSend queues a frame; every 256th is flushed.
func BenchmarkSend(b *testing.B) {
	sender, received := sendAndCount(b)
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
}

func TestSendFlushAllocatesNothing(t *testing.T) {
	sender, received := sendAndCount(t)
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
func sendAndCount(tb testing.TB) (sender *Transport, received *atomic.Uint64) {
	var open [2]*Transport
	var book transport.AddressBook
	for i := range open {
		c := transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{dme.NodeID(i + 1)}, Nodes: 2, Key: testKey}
		if i == 0 {
			c.Peers = []dme.NodeID{2}
		}
		tr, err := Listen(c)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { tr.Close() })
		open[i] = tr
		book = append(book, tr.Addr())
	}
	counter := new(counting)
	for _, tr := range []*Transport{open[1], open[0]} {
		if err := tr.Start(book, counter); err != nil {
			tb.Fatal(err)
		}
	}
	return open[0], &counter.frames
}

type counting struct{ frames atomic.Uint64 }

func (c *counting) Frame(_, _ dme.NodeID, _ []byte) { c.frames.Add(1) }
func (c *counting) Down(dme.NodeID, error)          {}
