package report

import (
	"bytes"
	"encoding/csv"
	"math"
	"slices"
	"strconv"

	"dmebench/result"
)

// SummaryCSV returns summary.csv as [Build] writes it: a row for each cell with
// medians and their 95% intervals.
func SummaryCSV(results result.Set) []byte { return collect(Input{Set: results}).csv() }

// csv writes one row for each cell: medians over the repetitions that ended
// well, and the bounds of their 95% intervals. What is not known is empty. Columns of
// a shared resource and of hosts stand last, and only where runs had some.
func (c *collection) csv() []byte {
	metrics := result.MetricsOf(c.results())
	header := []string{
		"label", "algorithm", "options", "transport", "workload", "rate_per_node_per_s", "total_rate_per_s", "cs", "requests",
		"duration_s", "nodes", "nodes_per_worker", "faults", "workers", "repetitions", "repetitions_ok", "repetitions_violated",
		"repetitions_stalled", "repetitions_failed", "entries_ok", "violations",
	}
	for _, m := range metrics {
		header = append(header, m.Name, m.Name+"_ci95_low", m.Name+"_ci95_high")
	}
	late := result.LateDimensions(c.results())
	shared, placed := slices.Contains(late, "resource"), slices.Contains(late, "hosts")
	if shared {
		header = append(header, "lost_updates")
	}
	if placed {
		header = append(header, "undecided")
	}
	header = append(header, late...)
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	rows := [][]string{header}
	for _, s := range c.sets {
		for _, cell := range s.inOrder() {
			row := c.row(cell, metrics)
			if shared {
				row = append(row, strconv.FormatUint(cell.lostUpdates(), 10))
			}
			if placed {
				row = append(row, strconv.FormatUint(cell.undecided(), 10))
			}
			for _, d := range late {
				row = append(row, cell.key.Get(d))
			}
			rows = append(rows, row)
		}
	}
	// A bytes.Buffer takes everything.
	_ = w.WriteAll(rows)
	return out.Bytes()
}

func (c *collection) row(cell *cell, metrics []result.Metric) []string {
	s := cell.spec
	given := func(x float64) string {
		if x == 0 {
			return ""
		}
		return number(x)
	}
	ended := make(map[string]int)
	for _, r := range cell.bad {
		ended[Outcome(r)]++
	}
	all := len(cell.good) + len(cell.bad)
	row := []string{
		cell.label, s.Algorithm, result.Settings(s.Set), s.Transport, s.Workload, given(s.Rate), given(s.TotalRate), s.CS,
		given(float64(s.Requests)), given(s.Duration.Std().Seconds()), strconv.Itoa(cell.nodes),
		given(float64(s.NodesPerWorker)), result.KeyOf(s).Get("faults"), cell.workers(), strconv.Itoa(all), strconv.Itoa(len(cell.good)),
		strconv.Itoa(ended[string(result.Violated)]), strconv.Itoa(ended[string(result.Stalled)]),
		strconv.Itoa(all - len(cell.good) - ended[string(result.Violated)] - ended[string(result.Stalled)]),
		strconv.FormatUint(cell.entries(), 10), strconv.FormatUint(cell.violations(), 10),
	}
	for _, m := range metrics {
		e := cell.estimates[m.Name]
		row = append(row, number(e.Median), number(e.Lo), number(e.Hi))
	}
	return row
}

// number writes x so that it can be read back; "" where there is none.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
