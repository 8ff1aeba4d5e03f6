package tcp

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"dmebench/algorithms"
	"dmebench/transport"
)

// The benchmarks between processes compare the transport with the least that
// could do the same over bare connections. On a shared machine, rates jump with
// the placement of processes, which differs between two sets of processes for
// as long as they live. So the two sides take turns in short stretches, with
// new processes every few pairs, and what counts is the median of the ratios of
// neighbours.
const (
	stretch   = 20 * time.Millisecond
	pairs     = 9 // of stretches, with the same processes
	minRounds = 5
)

// BenchmarkRing passes one token around eight processes.
func BenchmarkRing(b *testing.B) { bothPlacements(b, "ring", 8, "hops/s") }

// BenchmarkStream sends 32-byte messages from one process to another as fast as
// the receiver takes them.
func BenchmarkStream(b *testing.B) { bothPlacements(b, "stream", 2, "messages/s") }

func bothPlacements(b *testing.B, kind string, processes int, unit string) {
	b.Run("free", func(b *testing.B) { comparePairs(b, kind, processes, unit, false) })
	b.Run("pinned", func(b *testing.B) {
		if !canPin {
			b.Skip("cannot pin processes to a processor here")
		}
		comparePairs(b, kind, processes, unit, true)
	})
}

func comparePairs(b *testing.B, kind string, processes int, unit string, pinned bool) {
	var c comparison
	for range max(b.N, minRounds) {
		c.round(b, kind, processes, pinned)
	}
	b.ReportMetric(median(c.ratios), "ratio")
	b.ReportMetric(median(c.rates[0]), unit)
	b.ReportMetric(median(c.rates[1]), "bare-"+unit)
	// Processor time per unit of work is less moved by what else the machine
	// does: below 1, the transport costs more than the bare connection.
	b.ReportMetric(c.used[1]/sum(c.rates[1])*sum(c.rates[0])/c.used[0], "cpu-ratio")
	b.ReportMetric(0, "ns/op") // of a round: says nothing
}

// comparison is what was measured, of the transport and of the bare
// connections.
type comparison struct {
	ratios []float64
	rates  [2][]float64
	used   [2]float64 // processor time in seconds
}

func (c *comparison) round(b *testing.B, kind string, processes int, pinned bool) {
	var sides [2]*benchCluster
	for i := range sides {
		sides[i] = startBench(b, benchOrder{Kind: kind, Bare: i == 1}, processes, pinned)
		defer sides[i].stop()
		sides[i].run(b, stretch) // warms up
		c.used[i] -= sides[i].processorTime(b)
	}
	for n := range pairs {
		var rate [2]float64
		for _, i := range [2]int{n % 2, 1 - n%2} {
			rate[i] = sides[i].run(b, stretch)
			c.rates[i] = append(c.rates[i], rate[i])
		}
		c.ratios = append(c.ratios, rate[0]/rate[1])
	}
	for i := range sides {
		c.used[i] += sides[i].processorTime(b)
	}
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[len(x)/2] + x[(len(x)-1)/2]) / 2
}

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
		c := transport.Config{Listen: "127.0.0.1:0", Local: []algorithms.NodeID{algorithms.NodeID(i + 1)}, Nodes: 2, Key: testKey}
		if i == 0 {
			c.Peers = []algorithms.NodeID{2}
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

func (c *counting) Frame(_, _ algorithms.NodeID, _ []byte) { c.frames.Add(1) }
func (c *counting) Down(algorithms.NodeID, error)          {}
