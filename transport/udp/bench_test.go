package udp

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport/transporttest"
)

// How the transport compares with bare sockets between processes, 'dmebench ping
// --transport udp' measures.

// BenchmarkSeal compares ways to authenticate a datagram of a lone message, and
// a full one.
func BenchmarkSeal(b *testing.B) {
	key := transporttest.NewKey()
	for _, size := range []int{64, networkDatagram, loopbackDatagram} {
		datagram := make([]byte, size, size+tagSize)
		b.Run(fmt.Sprintf("gmac-%d", size), func(b *testing.B) {
			seal := newSeal(&key, 1, 2)
			b.ReportAllocs()
			for b.Loop() {
				seal.Seal(datagram, datagram[nonceAt:headerSize], nil, datagram)
			}
		})
		b.Run(fmt.Sprintf("hmac-%d", size), func(b *testing.B) {
			mac := hmac.New(sha256.New, key[:])
			sum := make([]byte, 0, sha256.Size)
			b.ReportAllocs()
			for b.Loop() {
				mac.Reset()
				mac.Write(datagram)
				mac.Sum(sum)
			}
		})
	}
}

// BenchmarkSendFlush sends a frame and flushes it, to a process that reads.
func BenchmarkSendFlush(b *testing.B) {
	for _, l := range Layers() {
		b.Run(string(l), func(b *testing.B) {
			tr, received := sendAndCount(b, l)
			body := make([]byte, 32)
			var sent uint64
			b.ReportAllocs()
			for b.Loop() {
				if err := tr.Send(1, 2, body); err != nil {
					b.Fatal(err)
				}
				tr.Flush()
				if sent++; l != Raw && sent%256 == 0 {
					for sent-received.Load() > 1<<12 {
						time.Sleep(50 * time.Microsecond)
					}
				}
			}
		})
	}
}

// BenchmarkStream queues frames; every 256th is flushed.
func BenchmarkStream(b *testing.B) {
	tr, received := sendAndCount(b, FIFO)
	body := make([]byte, 32)
	var sent uint64
	b.ReportAllocs()
	for b.Loop() {
		if err := tr.Send(1, 2, body); err != nil {
			b.Fatal(err)
		}
		if sent++; sent%256 == 0 {
			tr.Flush()
			for sent-received.Load() > 1<<16 {
				time.Sleep(50 * time.Microsecond)
			}
		}
	}
}

func TestSendFlushAllocatesNothing(t *testing.T) {
	tr, received := sendAndCount(t, FIFO)
	body := make([]byte, 32)
	var sent uint64
	step := func() {
		if err := tr.Send(1, 2, body); err != nil {
			t.Fatal(err)
		}
		tr.Flush()
		sent++
		for received.Load() < sent { // so that acknowledgements keep up
			time.Sleep(time.Microsecond)
		}
	}
	for range 2000 { // fills the stocks
		step()
	}
	if allocs := testing.AllocsPerRun(2000, step); allocs != 0 {
		t.Errorf("%v allocations for a frame sent, flushed, delivered and acknowledged", allocs)
	}
}

// sendAndCount returns a transport linked with another one, which counts.
func sendAndCount(tb testing.TB, l Layer) (*Transport, *atomic.Uint64) {
	counter := new(counting)
	ts := openPair(tb, Options{Layer: l}, counter)
	return ts[0], &counter.frames
}

type counting struct{ frames atomic.Uint64 }

func (c *counting) Frame(_, _ dme.NodeID, _ []byte) { c.frames.Add(1) }
func (c *counting) Down(dme.NodeID, error)          {}
