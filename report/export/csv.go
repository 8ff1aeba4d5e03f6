package export

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/report"
	"dmebench/report/cells"
)

// CSV returns three tables: summary.csv, a row for each cell with medians and
// intervals, as the report has it; runs.csv, a row for each run, whatever came
// of it; and times.csv, a row for each bucket of the distributions of the times
// of critical sections. What is not known is empty.
func CSV(in report.Input) ([]File, error) {
	times, err := timesTable(in.Runs)
	if err != nil {
		return nil, err
	}
	return []File{
		{"summary.csv", report.SummaryCSV(in)},
		{"runs.csv", written(runsTable(in.Runs))},
		{"times.csv", written(times)},
	}, nil
}

// identity is the columns that say which run a row is of.
func identity() []string {
	header := []string{"label"}
	for _, d := range cells.Dimensions() {
		header = append(header, d.Name)
	}
	return append(header, "repetition", "seed")
}

func identify(r report.Run) []string {
	row := []string{r.Label}
	for _, d := range cells.Dimensions() {
		row = append(row, d.Of(cells.Spec(r.Result)))
	}
	return append(row, strconv.Itoa(r.Repetition), strconv.FormatUint(r.Result.Seed, 10))
}

func runsTable(runs []report.Run) [][]string {
	header := append(identity(), "status", "requests_made", "entries", "violations", "pending", "warnings")
	for _, m := range report.Metrics() {
		header = append(header, m.Name)
	}
	rows := [][]string{header}
	for _, r := range runs {
		if r.Result == nil {
			continue
		}
		row := append(identify(r), string(r.Result.Status))
		for _, n := range []uint64{
			r.Result.Requests, r.Result.Entries, r.Result.Safety.Violations, r.Result.Liveness.Pending, uint64(len(r.Result.Warnings)),
		} {
			row = append(row, strconv.FormatUint(n, 10))
		}
		for _, m := range report.Metrics() {
			value := ""
			if x := m.Of(r.Result); x != nil {
				value = strconv.FormatFloat(*x, 'g', -1, 64)
			}
			row = append(row, value)
		}
		rows = append(rows, row)
	}
	return rows
}

func timesTable(runs []report.Run) ([][]string, error) {
	rows := [][]string{append(identity(), "quantity", "from_ns", "to_ns", "count")}
	for _, r := range runs {
		if !report.Usable(r.Result) {
			continue
		}
		for _, q := range quantities() {
			encoded := q.of(r.Result)
			if encoded == "" {
				continue
			}
			h, err := hdrhistogram.Decode([]byte(encoded))
			if err != nil {
				return nil, fmt.Errorf("export: %s, repetition %d, %s: %w; is the result file damaged?", r.Label, r.Repetition, q.name, err)
			}
			for _, bar := range h.Distribution() {
				if bar.Count > 0 {
					rows = append(rows, append(identify(r), q.name,
						strconv.FormatInt(bar.From, 10), strconv.FormatInt(bar.To, 10), strconv.FormatInt(bar.Count, 10)))
				}
			}
		}
	}
	return rows, nil
}

func written(rows [][]string) []byte {
	var out bytes.Buffer
	_ = csv.NewWriter(&out).WriteAll(rows) // a bytes.Buffer takes everything
	return out.Bytes()
}
