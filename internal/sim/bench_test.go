package sim

import (
	"context"
	"runtime"
	"testing"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/runs"
)

// BenchmarkRicartAgrawala64 is the simulator's speed where messages are most of
// the work: 64 saturating nodes, 126 messages per entry. Allocations are those
// of a whole run, per message: what is left of them is the set-up.
func BenchmarkRicartAgrawala64(b *testing.B) {
	for _, delay := range []string{"constant", "uniform"} {
		b.Run(delay, func(b *testing.B) {
			job := resolve(b, runs.Spec{
				Algorithm: "ricart-agrawala", Nodes: 64, Requests: 16000, Set: map[string]string{"delay": delay},
			}, ricartagrawala.Algorithm())
			var messages uint64
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				o, err := observe(context.Background(), job, Options{})
				if err != nil {
					b.Fatal(err)
				}
				messages += o.Wire.Frames
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "msgs/s")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(messages), "allocs/msg")
		})
	}
}
