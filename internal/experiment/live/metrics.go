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

// Describe implements [prometheus.Collector]. What there is depends on the status.
func (exporter) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (e exporter) Collect(out chan<- prometheus.Metric) {
	gauge := func(name, help string, x float64, labels prometheus.Labels) {
		d := prometheus.NewDesc("dmebench_"+name, help, nil, labels)
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, x)
	}
	e.look(func(s *Status) {
		gauge("sweep_runs_planned", "Runs of the sweep.", float64(s.Planned), nil)
		for _, status := range []runs.Status{runs.OK, runs.Violated, runs.Stalled, runs.Failed} {
			gauge("sweep_runs", "Runs that have ended, by their status.", float64(s.Counts[status]),
				prometheus.Labels{"status": string(status)})
		}
		warned := 0
		for _, w := range s.Warnings {
			warned += w.Runs
		}
		gauge("sweep_warnings", "Warnings of runs.", float64(warned), nil)
		if s.Left > 0 {
			gauge("sweep_left_seconds", "Time until the sweep ends, about.", s.Left, nil)
		}
		r := s.Run
		if r == nil {
			return
		}
		gauge("run_info", "The run in progress.", 1, prometheus.Labels{"run": r.What})
		gauge("run_entries", "Critical sections of the run in progress, so far.", float64(r.Entries), nil)
		gauge("run_entries_per_second", "Critical sections per second of the run in progress, in the latest second.", r.Rate, nil)
		gauge("run_nodes_waiting", "Nodes that wait in the run in progress.", float64(r.Waiting), nil)
		if r.P99 > 0 {
			const help = "Waiting time in the run in progress, so far."
			gauge("run_waiting_seconds", help, float64(r.P50)/1e9, prometheus.Labels{"quantile": "0.5"})
			gauge("run_waiting_seconds", help, float64(r.P99)/1e9, prometheus.Labels{"quantile": "0.99"})
		}
	})
}
