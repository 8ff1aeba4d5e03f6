package report

import (
	"bytes"
	"encoding/csv"
	"math"
	"slices"
	"strconv"

	"dmebench/report/columns"
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
	header := columns.Header(slices.Concat([]string{"label"}, columns.Early(), []string{
		"workers", "repetitions", "repetitions_ok", "repetitions_violated", "repetitions_stalled", "repetitions_failed",
		"entries_ok", "violations",
	})...)
	for _, m := range metrics {
		header = append(header, m.Name, m.Name+columns.Low, m.Name+columns.High)
	}
	late := result.LateDimensions(c.results())
	shared, placed := slices.Contains(late, "resource"), slices.Contains(late, "hosts")
	if shared {
		header = append(header, columns.Header("lost_updates")...)
	}
	if placed {
		header = append(header, columns.Header("undecided")...)
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
	ended := make(map[string]int)
	for _, r := range cell.bad {
		ended[Outcome(r)]++
	}
	all := len(cell.good) + len(cell.bad)
	row := []string{cell.label}
	for _, d := range columns.Early() {
		row = append(row, cell.key.Get(d))
	}
	row = append(row, cell.workers(), strconv.Itoa(all), strconv.Itoa(len(cell.good)),
		strconv.Itoa(ended[string(result.Violated)]), strconv.Itoa(ended[string(result.Stalled)]),
		strconv.Itoa(all-len(cell.good)-ended[string(result.Violated)]-ended[string(result.Stalled)]),
		strconv.FormatUint(cell.entries(), 10), strconv.FormatUint(cell.violations(), 10),
	)
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
