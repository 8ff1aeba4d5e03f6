package transporttest

import (
	"sync/atomic"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
)

func counted(t testing.TB, s Subject) (sender transport.Transport, arrived *atomic.Uint64) {
	arrived = new(atomic.Uint64)
	c := open(t, s, layout{1, 1}, Knobs{}, everyone(2))
	c.start(func(int) transport.Handler {
		return handler{frame: func(_, _ dme.NodeID, _ []byte) { arrived.Add(1) }}
	})
	return c.transports[0], arrived
}

// testAllocations sends frames one by one, each when the one before has arrived.
func testAllocations(t *testing.T, s Subject) {
	sender, arrived := counted(t, s)
	body := make([]byte, 32)
	var sent uint64
	step := func() {
		if err := sender.Send(1, 2, body); err != nil {
			t.Fatal(err)
		}
		sender.Flush()
		for sent++; arrived.Load() < sent; {
			time.Sleep(time.Microsecond)
		}
	}
	for range 2000 { // buffers grow
		step()
	}
	if allocs := testing.AllocsPerRun(2000, step); allocs != 0 {
		t.Errorf("%v allocations for a frame sent, flushed and delivered", allocs)
	}
}

// Benchmark measures a reliable subject within one process: a frame that is sent and
// flushed, many that are flushed together, and one that is sent back.
func Benchmark(b *testing.B, s Subject) {
	s.Patience = patience
	body := make([]byte, 32)
	for _, c := range []struct {
		name         string
		flush, ahead uint64 // frames
	}{{"SendFlush", 1, 1 << 12}, {"Stream", 256, 1 << 16}} {
		b.Run(c.name, func(b *testing.B) {
			sender, arrived := counted(b, s)
			var sent uint64
			b.ReportAllocs()
			for b.Loop() {
				if err := sender.Send(1, 2, body); err != nil {
					b.Fatal(err)
				}
				if sent++; sent%c.flush == 0 {
					sender.Flush()
				}
				for sent%256 == 0 && sent-arrived.Load() > c.ahead {
					time.Sleep(50 * time.Microsecond)
				}
			}
		})
	}
	b.Run("RoundTrip", func(b *testing.B) {
		back := make(chan struct{}, 1)
		c := open(b, s, layout{1, 1}, Knobs{}, everyone(2))
		c.start(func(process int) transport.Handler {
			return handler{frame: func(from, to dme.NodeID, x []byte) {
				if process == 0 {
					back <- struct{}{}
				} else if err := c.transports[1].Send(to, from, x); err != nil {
					b.Error(err)
				}
			}}
		})
		b.ReportAllocs()
		for b.Loop() {
			if err := c.transports[0].Send(1, 2, body); err != nil {
				b.Fatal(err)
			}
			c.transports[0].Flush()
			<-back
		}
	})
}
