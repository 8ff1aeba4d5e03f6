package export

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"dmebench/dme"
	"dmebench/internal/platform/layout"
	"dmebench/internal/record"
	"dmebench/report"
	"dmebench/runs"
	"dmebench/units"
)

// CSV returns tables: summary.csv, a row for each cell with medians and intervals, as in the
// report; runs.csv, a row for each run, failed ones too; times.csv, a row for each bucket of the
// distributions of times; and for runs on several hosts hosts.csv and links.csv, a row for each
// host of each run, and for each ordered pair of them. Unknown values are empty.
func CSV(results *runs.Set) ([]File, error) {
	times, err := timesTable(results.Runs)
	if err != nil {
		return nil, err
	}
	files := []File{
		{"summary.csv", report.SummaryCSV(*results)},
		{"runs.csv", layout.CSV(runsTable(results.Runs))},
		{"times.csv", layout.CSV(times)},
	}
	if runs.OnHosts(resultsOf(results.Runs)) {
		files = append(files, File{"hosts.csv", layout.CSV(hostsTable(results.Runs))}, File{"links.csv", layout.CSV(linksTable(results.Runs))})
	}
	return files, nil
}

// table has rows that begin with their run, and end with its late dimensions.
type table struct {
	late []string
	rows [][]string
}

func newTable(list []runs.Run, columns ...string) *table {
	t := &table{late: runs.LateDimensions(resultsOf(list))}
	t.rows = [][]string{slices.Concat(identity(), runs.TableHead(columns...), t.late)}
	return t
}

// add adds a row. A nil number is empty.
func (t *table) add(r runs.Run, cells ...any) {
	t.rows = append(t.rows, slices.Concat(identify(r), written(cells), dimensions(r, t.late)))
}

func written(cells []any) []string {
	row := make([]string, len(cells))
	for i, c := range cells {
		switch c := c.(type) {
		case nil:
		case float64:
			row[i] = strconv.FormatFloat(c, 'g', -1, 64)
		default:
			row[i] = fmt.Sprint(c)
		}
	}
	return row
}

func identity() []string {
	return runs.TableHead(slices.Concat([]string{"label"}, runs.EarlyDimensions(), []string{"repetition", "seed"})...)
}

func identify(r runs.Run) []string {
	row := append([]string{r.Label}, dimensions(r, runs.EarlyDimensions())...)
	return append(row, strconv.Itoa(r.Repetition+1), strconv.FormatUint(r.Result.Seed, 10))
}

func dimensions(r runs.Run, names []string) []string {
	return units.Texts(names, r.Result.Key().Get)
}

func runsTable(list []runs.Run) [][]string {
	metrics, late := runs.MetricsOf(resultsOf(list)), runs.LateColumns(resultsOf(list))
	header := append(identity(), runs.TableHead("status", "requests_made", "entries", "violations", "pending", "warnings")...)
	for _, m := range metrics {
		header = append(header, m.Name)
	}
	rows := [][]string{append(header, late...)}
	for _, r := range list {
		if r.Result == nil {
			continue
		}
		x := r.Result
		cells := []any{x.Status, x.Requests, x.Entries, x.Safety.Violations, x.Liveness.Pending, len(x.Warnings)}
		for _, m := range metrics {
			var value any
			if v := m.Read(x); v != nil {
				value = *v
			}
			cells = append(cells, value)
		}
		for _, column := range late {
			var value any
			switch {
			case column == "undecided":
				value = x.Safety.Undecided
			case column != "lost_updates":
				value = x.Key().Get(column)
			case x.Safety.Resource != nil:
				value = x.Safety.Resource.LostUpdates
			}
			cells = append(cells, value)
		}
		rows = append(rows, append(identify(r), written(cells)...))
	}
	return rows
}

func timesTable(list []runs.Run) ([][]string, error) {
	t := newTable(list, "quantity", "from_ns", "to_ns", "count")
	for _, r := range list {
		if !runs.Usable(r.Result) {
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
					t.add(r, q.name, bar.From, bar.To, bar.Count)
				}
			}
		}
	}
	return t.rows, nil
}

// ErrNoEntries is the error if no run keeps records of its critical sections.
var ErrNoEntries = errors.New("export: these results keep no records of single critical sections; " +
	"'dmebench run --entries --out DIR' and 'dmebench sweep --entries' keep them")

// Entries writes a table with a row for each critical section of the runs that keep
// records of them: in the order in which they began, times in nanoseconds since the
// run's workload began. Rows are written as they are read. It returns how many runs
// keep no records; none at all is an [ErrNoEntries].
func Entries(w io.Writer, list []runs.Run) (missing int, err error) {
	out := csv.NewWriter(w)
	late := runs.LateDimensions(resultsOf(list))
	header := slices.Concat(identity(), []string{
		"entry", "node", "shared", "intended_ns", "arrived_ns", "requested_ns", "entered_ns", "exited_ns", "messages_sent", "clock", "order",
	}, late)
	for _, r := range list {
		if !runs.Usable(r.Result) {
			continue
		}
		f, err := os.Open(r.Sections)
		if errors.Is(err, fs.ErrNotExist) {
			missing++
			continue
		}
		if err != nil {
			return missing, fmt.Errorf("export: the records of %s, repetition %d: %w", r.Label, r.Repetition+1, err)
		}
		if header != nil {
			out.Write(header)
			header = nil
		}
		err = writeEntries(out, f, identify(r), dimensions(r, late))
		f.Close()
		if err != nil {
			return missing, fmt.Errorf("export: %s: %w; is the file damaged?", r.Sections, err)
		}
	}
	if header != nil {
		return missing, ErrNoEntries
	}
	out.Flush()
	return missing, out.Error()
}

// writeEntries writes the rows of one run, which begin and end as given.
func writeEntries(out *csv.Writer, f io.Reader, first, last []string) error {
	_, entries, err := record.Unpack(f)
	if err != nil {
		return err
	}
	sent := make(map[dme.NodeID]uint64) // by node, when it left last
	given := func(x uint64) any {       // what an algorithm does not have is empty
		if x == 0 {
			return nil
		}
		return x
	}
	count := 0
	for e, err := range entries {
		if err != nil {
			return err
		}
		count++
		row := written([]any{
			count, e.Node, e.Shared, e.Intended, e.Arrived, e.Requested, e.Entered, e.Exited, e.Sent - sent[e.Node], given(e.Clock), given(e.Order),
		})
		sent[e.Node] = e.Sent
		if err := out.Write(slices.Concat(first, row, last)); err != nil {
			return err
		}
	}
	return nil
}

// resultsOf returns what came of runs, nil if nothing did.
func resultsOf(list []runs.Run) []*runs.Result {
	var all []*runs.Result
	for _, r := range list {
		all = append(all, r.Result)
	}
	return all
}

func hostsTable(list []runs.Run) [][]string {
	t := newTable(list, "status", "host", "address", "labels", "nodes_there", "cores", "cores_busy", "cores_busy_workers",
		"memory_free_bytes", "clock_offset_ns", "clock_bound_ns", "clock_drift_ppm", "clock_set_ns")
	for _, r := range list {
		if r.Result == nil {
			continue
		}
		for _, h := range r.Result.Hosts {
			load, clock := []any{h.Environment["cores"], nil, nil, nil}, make([]any, 4)
			if l := h.Load; l != nil {
				load = []any{l.Cores, l.Busy, l.Workers, l.MemoryFree}
			}
			if c := h.Clock; c != nil {
				clock = []any{c.OffsetNS, c.BoundNS, nil, c.SetNS}
				if drift, known := c.Drift(); known {
					clock[2] = drift
				}
			}
			nodes := strings.Trim(fmt.Sprint(h.Nodes), "[]")
			t.add(r, slices.Concat([]any{r.Result.Status, h.Name, h.Address, runs.Settings(h.Labels), nodes}, load, clock)...)
		}
	}
	return t.rows
}

func linksTable(list []runs.Run) [][]string {
	t := newTable(list, "status", "from", "to", "sent", "lost", "rtt_min_ns", "rtt_median_ns", "rtt_p99_ns", "by",
		"clock_offset_ns", "clock_bound_ns", "clock_drift_ppm")
	for _, r := range list {
		if r.Result == nil {
			continue
		}
		for _, l := range r.Result.Links {
			trips, clock := make([]any, 3), make([]any, 3)
			for i, ns := range []int64{l.RTTMin, l.RTTMedian, l.RTTP99} {
				if ns != 0 { // else there was no answer that took one
					trips[i] = ns
				}
			}
			if l.BoundNS != nil {
				clock[0], clock[1] = l.OffsetNS, *l.BoundNS
				if drift, known := l.Drift(); known {
					clock[2] = drift
				}
			}
			t.add(r, slices.Concat([]any{r.Result.Status, l.From, l.To, l.Sent, l.Lost}, trips, []any{l.By}, clock)...)
		}
	}
	return t.rows
}
