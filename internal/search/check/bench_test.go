package check

import (
	"testing"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
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

// BenchmarkReduction reports how many times fewer states a search visits with
// reduction, and how many times less time it takes, by interleaved pairs.
func BenchmarkReduction(b *testing.B) {
	for _, c := range []struct {
		algorithm *dme.Algorithm
		nodes     int
	}{
		{suzukikasami.Algorithm(), 4}, // arrivals that commute
		{lamport.Algorithm(), 3},      // classes of clocks
	} {
		b.Run(c.algorithm.Name, func(b *testing.B) {
			var with, without Report
			o := Options{Nodes: c.nodes, Requests: c.nodes, WithoutInvariants: true}
			for b.Loop() {
				for _, sum := range []*Report{&with, &without} {
					o.Reduce = sum == &with
					r, err := Exhaustive(b.Context(), c.algorithm, o)
					if err != nil || !r.Complete || r.Reduced != o.Reduce {
						b.Fatal(r.Violation, r.Stopped, r.Reduced, err)
					}
					sum.States += r.States
					sum.Elapsed += r.Elapsed
				}
			}
			b.ReportMetric(float64(without.States)/float64(with.States), "fewer-states")
			b.ReportMetric(float64(without.Elapsed)/float64(with.Elapsed), "less-time")
			b.ReportMetric(float64(with.States)/with.Elapsed.Seconds(), "states/s")
		})
	}
}
