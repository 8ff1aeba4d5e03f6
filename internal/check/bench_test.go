package check

import (
	"testing"

	"dmebench/algorithms/ricartagrawala"
)

// BenchmarkExhaustive reports states/s for Ricart–Agrawala on 3 nodes.
func BenchmarkExhaustive(b *testing.B) {
	var states, moves uint64
	for b.Loop() {
		r, err := Exhaustive(b.Context(), ricartagrawala.Algorithm(), Options{Nodes: 3, Requests: 9})
		if err != nil || !r.Complete {
			b.Fatal(r.Violation, r.Stopped, err)
		}
		states, moves = states+r.States, moves+r.Steps
	}
	b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
	b.ReportMetric(float64(moves)/b.Elapsed().Seconds(), "moves/s")
}

// BenchmarkRandom reports steps/s for Ricart–Agrawala on 8 nodes.
func BenchmarkRandom(b *testing.B) {
	var steps uint64
	for b.Loop() {
		r, err := Random(b.Context(), ricartagrawala.Algorithm(), Options{Nodes: 8, Requests: 40, Schedules: 500})
		if err != nil || !r.Complete {
			b.Fatal(r.Violation, r.Stopped, err)
		}
		steps += r.Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
}
