package live

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"dmebench/runs"
)

// registry has the metrics of a board, and those of this process.
func registry(b *Board) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(exporter{b}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// exporter reads the board when it is asked.
type exporter struct{ *Board }

var (
	planned  = describe("sweep_runs_planned", "Runs of the sweep.")
	finished = describe("sweep_runs", "Runs that have ended, by their status.", "status")
	warned   = describe("sweep_warnings", "Warnings of runs.")
	left     = describe("sweep_left_seconds", "Time until the sweep ends, about.")
	running  = describe("run_info", "The run in progress.", "run")
	entries  = describe("run_entries", "Critical sections of the run in progress, so far.")
	rate     = describe("run_entries_per_second", "Critical sections per second of the run in progress, in the latest second.")
	waited   = describe("run_waiting_seconds", "Waiting time in the run in progress, so far.", "quantile")
	waiting  = describe("run_nodes_waiting", "Nodes that wait in the run in progress.")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("dmebench_"+name, help, labels, nil)
}

// Describe implements [prometheus.Collector].
func (exporter) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{planned, finished, warned, left, running, entries, rate, waited, waiting} {
		out <- d
	}
}

// Collect implements [prometheus.Collector].
func (e exporter) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, x float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, x, labels...)
	}
	e.look(func(s *Status) {
		gauge(planned, float64(s.Planned))
		for _, status := range []runs.Status{runs.OK, runs.Violated, runs.Stalled, runs.Failed} {
			gauge(finished, float64(s.Counts[status]), string(status))
		}
		sum := 0
		for _, w := range s.Warnings {
			sum += w.Runs
		}
		gauge(warned, float64(sum))
		if s.Left > 0 {
			gauge(left, s.Left)
		}
		if s.Run == nil {
			return
		}
		gauge(running, 1, s.Run.What)
		gauge(entries, float64(s.Run.Entries))
		gauge(rate, s.Run.Rate)
		gauge(waiting, float64(s.Run.Waiting))
		if s.Run.P99 > 0 {
			gauge(waited, float64(s.Run.P50)/1e9, "0.5")
			gauge(waited, float64(s.Run.P99)/1e9, "0.99")
		}
	})
}
