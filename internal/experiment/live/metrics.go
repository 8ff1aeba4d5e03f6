package live

import (
	"fmt"
	"net/http"

	"github.com/VictoriaMetrics/metrics"

	"dmebench/runs"
)

// serveMetrics answers in Prometheus's text format with what the board says, and the
// metrics of this process.
func (s *Server) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	described := ""
	gauge := func(name, help string, x float64, labels ...any) { // pairs of a label and its value
		name = "dmebench_" + name
		if name != described {
			fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
			described = name
		}
		if len(labels) > 0 {
			name += fmt.Sprintf("{%s=%q}", labels...)
		}
		metrics.WriteGaugeFloat64(w, name, x)
	}
	s.board.look(func(s *Status) {
		gauge("sweep_runs_planned", "Runs of the sweep.", float64(s.Planned))
		for _, status := range []runs.Status{runs.OK, runs.Violated, runs.Stalled, runs.Failed} {
			gauge("sweep_runs", "Runs that have ended, by their status.", float64(s.Counts[status]), "status", status)
		}
		warned := 0
		for _, w := range s.Warnings {
			warned += w.Runs
		}
		gauge("sweep_warnings", "Warnings of runs.", float64(warned))
		if s.Left > 0 {
			gauge("sweep_left_seconds", "Time until the sweep ends, about.", s.Left)
		}
		r := s.Run
		if r == nil {
			return
		}
		gauge("run_info", "The run in progress.", 1, "run", r.What)
		gauge("run_entries", "Critical sections of the run in progress, so far.", float64(r.Entries))
		gauge("run_entries_per_second", "Critical sections per second of the run in progress, in the latest second.", r.Rate)
		gauge("run_nodes_waiting", "Nodes that wait in the run in progress.", float64(r.Waiting))
		if r.P99 > 0 {
			const help = "Waiting time in the run in progress, so far."
			gauge("run_waiting_seconds", help, float64(r.P50)/1e9, "quantile", "0.5")
			gauge("run_waiting_seconds", help, float64(r.P99)/1e9, "quantile", "0.99")
		}
	})
	metrics.WriteProcessMetrics(w)
}
