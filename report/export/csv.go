package export

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"

	"dmebench/report"
	"dmebench/result"
)

// CSV returns three tables: summary.csv, a row for each cell with medians and
// intervals, as the report has it; runs.csv, a row for each run, whatever came
// of it; and times.csv, a row for each bucket of the distributions of the times
// of critical sections. What is not known is empty.
func CSV(results *result.Set) ([]File, error) {
	times, err := timesTable(results.Runs)
	if err != nil {
		return nil, err
	}
	return []File{
		{"summary.csv", report.SummaryCSV(*results)},
		{"runs.csv", written(runsTable(results.Runs))},
		{"times.csv", written(times)},
	}, nil
}

// identity is the columns that say which run a row is of.
func identity() []string {
	return slices.Concat([]string{"label"}, result.Dimensions(), []string{"repetition", "seed"})
}

func identify(r result.Run) []string {
	row := []string{r.Label}
	key := result.KeyOf(r.Result.Asked())
	for _, d := range result.Dimensions() {
		row = append(row, key.Get(d))
	}
	return append(row, strconv.Itoa(r.Repetition+1), strconv.FormatUint(r.Result.Seed, 10))
}

func runsTable(runs []result.Run) [][]string {
	header := append(identity(), "status", "requests_made", "entries", "violations", "pending", "warnings")
	for _, m := range result.Metrics() {
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
		for _, m := range result.Metrics() {
			value := ""
			if x := m.Read(r.Result); x != nil {
				value = strconv.FormatFloat(*x, 'g', -1, 64)
			}
			row = append(row, value)
		}
		rows = append(rows, row)
	}
	return rows
}

func timesTable(runs []result.Run) ([][]string, error) {
	rows := [][]string{append(identity(), "quantity", "from_ns", "to_ns", "count")}
	for _, r := range runs {
		if !result.Usable(r.Result) {
			continue
		}
		for _, q := range quantities() {
			h, err := q.distribution(r)
			if err != nil {
				return nil, err
			}
			if h == nil {
				continue
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
