package coordinator

import (
	"fmt"
	"os"
	"testing"
	"time"

	"dmebench/internal/ping"
	"dmebench/report/stats"
	"dmebench/result"
)

const (
	ringProcesses = 8
	ringTime      = time.Second
)

// BenchmarkRing passes one token around 8 processes through the whole runtime
// (control plane, transport, codec, host, shared counters), and around 8
// processes with nothing but a socket to their neighbour, in interleaved pairs.
// It reports the median ratio of hops per second, with its confidence interval.
// What the transport alone costs, 'dmebench ping' tells.
func BenchmarkRing(b *testing.B) {
	trace := b.TempDir() + "/two-requests.csv"
	text := fmt.Appendf(nil, "0,1,0.000001\n%f,1,0.000001\n", ringTime.Seconds())
	if err := os.WriteFile(trace, text, 0o600); err != nil {
		b.Fatal(err)
	}
	job := resolve(b, result.Spec{
		Algorithm: "token-ring", Nodes: ringProcesses, Workload: "trace", Set: map[string]string{"file": trace},
	})
	wholeRing := func() float64 {
		r, err := Run(b.Context(), job, Options{Files: map[string][]byte{trace: text}})
		if err != nil {
			b.Fatal(err)
		}
		if r.Status != result.OK {
			b.Fatal(r.Error)
		}
		// The token goes round from the first request to the last, and all it
		// does is to hop.
		return float64(r.Messages.Total) / ringTime.Seconds()
	}
	for b.Loop() {
		var bare, whole, ratios []float64
		for pair := range ping.MinPairs {
			var rate [2]float64
			for _, i := range [2]int{pair % 2, 1 - pair%2} {
				rate[i] = []func() float64{wholeRing, func() float64 { return bareRing(b) }}[i]()
			}
			whole, bare = append(whole, rate[0]), append(bare, rate[1])
			ratios = append(ratios, rate[0]/rate[1])
		}
		e := stats.Median(ratios)
		b.ReportMetric(e.Median, "ratio")
		b.ReportMetric(e.Lo, "ratio-low")
		b.ReportMetric(e.Hi, "ratio-high")
		b.ReportMetric(stats.Median(whole).Median, "hops/s")
		b.ReportMetric(stats.Median(bare).Median, "bare-hops/s")
	}
}

// bareRing measures the hops per second of a ring without a runtime.
func bareRing(b *testing.B) float64 {
	c, err := ping.Start(b.Context(), ping.Setup{Network: "tcp", Side: ping.Bare, Processes: ringProcesses, Size: 32})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	var v ping.Values
	for _, stretch := range []time.Duration{ringTime / 20, ringTime} { // the first warms up
		if v, err = c.Measure(ping.Task{Test: ping.Ring, Tokens: 1, Stretch: stretch}); err != nil {
			b.Fatal(err)
		}
	}
	return v[ping.HopRate]
}
