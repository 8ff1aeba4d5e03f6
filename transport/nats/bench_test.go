package nats

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"dmebench/algorithms"
	"dmebench/transport"
)

// The benchmarks between processes compare the transport with the client
// library alone, over the same server. On a shared machine, rates jump with the
// placement of processes, which differs between two sets of processes for as
// long as they live. So the two sides take turns in short stretches, with new
// processes every few pairs, and what counts is the median of the ratios of
// neighbours.
const (
	stretch   = 40 * time.Millisecond
	pairs     = 9 // of stretches, with the same processes
	minRounds = 5
)

// BenchmarkRing passes tokens around eight processes.
func BenchmarkRing(b *testing.B) {
	for _, c := range []struct {
		name string
		benchOrder
	}{
		{"token", benchOrder{Tokens: 1}},
		{"tokens=16", benchOrder{Tokens: 16}},
		{"token/shared", benchOrder{Tokens: 1, Shared: true}},
		{"token/sequenced", benchOrder{Tokens: 1, Sequenced: true}},
	} {
		b.Run(c.name+"/free", func(b *testing.B) { comparePairs(b, c.benchOrder, 8, false) })
		b.Run(c.name+"/pinned", func(b *testing.B) {
			if !canPin {
				b.Skip("cannot pin processes to a processor here")
			}
			comparePairs(b, c.benchOrder, 8, true)
		})
	}
}

func comparePairs(b *testing.B, order benchOrder, processes int, pinned bool) {
	server := startServer(b)
	order.Broker = server.Broker()
	order.Broker.Own, order.Broker.Sequenced = !order.Shared, order.Sequenced
	if order.Sequenced {
		s, err := StartSequencer(testKey, order.Broker, func(err error) { b.Error(err) })
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
	}
	var c comparison
	for range max(b.N, minRounds) {
		c.round(b, order, processes, pinned)
	}
	b.ReportMetric(median(c.ratios), "ratio")
	b.ReportMetric(median(c.rates[0]), "hops/s")
	b.ReportMetric(median(c.rates[1]), "bare-hops/s")
	// Processor time per hop, without the server's, is less moved by what else
	// the machine does: below 1, the transport costs more than the bare library.
	b.ReportMetric(c.used[1]/sum(c.rates[1])*sum(c.rates[0])/c.used[0], "cpu-ratio")
	b.ReportMetric(0, "ns/op") // of a round: says nothing
}

// comparison is what was measured, of the transport and of the bare library.
type comparison struct {
	ratios []float64
	rates  [2][]float64
	used   [2]float64 // processor time in seconds
}

func (c *comparison) round(b *testing.B, order benchOrder, processes int, pinned bool) {
	var sides [2]*benchCluster
	for i := range sides {
		order.Bare = i == 1
		sides[i] = startBench(b, order, processes, pinned)
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

// BenchmarkSend sends frames to a transport that takes them.
func BenchmarkSend(b *testing.B) {
	for _, own := range []bool{true, false} {
		b.Run(map[bool]string{true: "own", false: "shared"}[own], func(b *testing.B) {
			sender, received := sendAndCount(b, own)
			body := make([]byte, 32)
			var sent uint64
			b.ReportAllocs()
			for b.Loop() {
				if err := sender.Send(1, 2, body); err != nil {
					b.Fatal(err)
				}
				if sent++; sent%256 == 0 {
					for sent-received.Load() > 1<<14 {
						time.Sleep(50 * time.Microsecond)
					}
				}
			}
		})
	}
}

// What sending itself takes is reused: only the client library allocates, for
// what it receives.
func TestSendAllocatesNothing(t *testing.T) {
	for _, own := range []bool{true, false} {
		s := startServer(t)
		b := s.Broker()
		b.Own = own
		// Nobody is there who could receive: the address is of another process.
		tr, err := Listen(config(1, 2), b)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		if err := tr.Start(transport.AddressBook{tr.Addr(), tr.prefix + ".w2"}, handler{}); err != nil {
			t.Fatal(err)
		}
		body := make([]byte, 32)
		allocs := testing.AllocsPerRun(5000, func() {
			if err := tr.Send(1, 2, body); err != nil {
				t.Fatal(err)
			}
			tr.Flush()
		})
		// What else runs in this process may allocate now and then.
		if allocs >= 1 {
			t.Errorf("own %v: %v allocations for a frame sent", own, allocs)
		}
	}
}

// sendAndCount returns a transport, and what another one counts.
func sendAndCount(tb testing.TB, own bool) (sender *Transport, received *atomic.Uint64) {
	b := startServer(tb).Broker()
	b.Own = own
	received = new(atomic.Uint64)
	all := mesh(tb, b, defaultLimits(2), 2, 1, func(int) transport.Handler {
		return handler{frame: func(_, _ algorithms.NodeID, _ []byte) { received.Add(1) }}
	})
	return all[0], received
}
