package export

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"

	"dmebench/report"
	"dmebench/report/columns"
	"dmebench/result"
)

// CSV returns three tables: summary.csv, a row for each cell with medians and
// intervals, as the report has it; runs.csv, a row for each run, whatever came
// of it; and times.csv, a row for each bucket of the distributions of the times
// of critical sections. What is not known is empty. Where runs had a shared resource,
// or were made on several hosts, these tables have columns for that at their ends, and
// of hosts two more follow:
// hosts.csv, a row for each host of each run, and links.csv, a row for each ordered
// pair of them.
func CSV(results *result.Set) ([]File, error) {
	times, err := timesTable(results.Runs)
	if err != nil {
		return nil, err
	}
	files := []File{
		{"summary.csv", report.SummaryCSV(*results)},
		{"runs.csv", written(runsTable(results.Runs))},
		{"times.csv", written(times)},
	}
	if onHosts(results.Runs) {
		files = append(files, File{"hosts.csv", written(hostsTable(results.Runs))}, File{"links.csv", written(linksTable(results.Runs))})
	}
	return files, nil
}

// identity is the columns that say which run a row is of, the first ones of a table.
// The late dimensions are its last ones.
func identity() []string {
	return columns.Header(slices.Concat([]string{"label"}, columns.Early(), []string{"repetition", "seed"})...)
}

func identify(r result.Run) []string {
	row := append([]string{r.Label}, dimensions(r, columns.Early())...)
	return append(row, strconv.Itoa(r.Repetition+1), strconv.FormatUint(r.Result.Seed, 10))
}

// dimensions returns what a run is in each of them.
func dimensions(r result.Run, names []string) []string {
	var values []string
	for _, name := range names {
		values = append(values, r.Result.Key().Get(name))
	}
	return values
}

func runsTable(runs []result.Run) [][]string {
	header := append(identity(), columns.Header("status", "requests_made", "entries", "violations", "pending", "warnings")...)
	metrics, late := result.MetricsOf(resultsOf(runs)), result.LateDimensions(resultsOf(runs))
	shared, placed := slices.Contains(late, "resource"), slices.Contains(late, "hosts")
	for _, m := range metrics {
		header = append(header, m.Name)
	}
	if shared {
		header = append(header, columns.Header("lost_updates")...)
	}
	if placed {
		header = append(header, columns.Header("undecided")...)
	}
	rows := [][]string{append(header, late...)}
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
		for _, m := range metrics {
			value := ""
			if x := m.Read(r.Result); x != nil {
				value = strconv.FormatFloat(*x, 'g', -1, 64)
			}
			row = append(row, value)
		}
		if shared {
			row = append(row, lostUpdates(r.Result))
		}
		if placed {
			row = append(row, strconv.FormatUint(r.Result.Safety.Undecided, 10))
		}
		rows = append(rows, append(row, dimensions(r, late)...))
	}
	return rows
}

func timesTable(runs []result.Run) ([][]string, error) {
	late := result.LateDimensions(resultsOf(runs))
	rows := [][]string{slices.Concat(identity(), columns.Header("quantity", "from_ns", "to_ns", "count"), late)}
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
				if bar.Count == 0 {
					continue
				}
				row := append(identify(r), q.name,
					strconv.FormatInt(bar.From, 10), strconv.FormatInt(bar.To, 10), strconv.FormatInt(bar.Count, 10))
				rows = append(rows, append(row, dimensions(r, late)...))
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
