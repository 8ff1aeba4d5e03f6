package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dmebench/report/cells"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// Columns compares what one result set holds with itself: the values of one
// dimension stand side by side, and each is compared with the first, the base.
// Where there is no sample a value is null.
type Columns struct {
	SchemaVersion int           `json:"schema_version"`
	Alpha         float64       `json:"alpha"`
	Results       Origin        `json:"results"`
	Column        string        `json:"column"` // the dimension
	Names         []string      `json:"names"`  // its values; of algorithms their labels; the base first
	Tables        []ColumnTable `json:"metrics"`
	Notes         []string      `json:"notes"`
}

// ColumnTable is one metric over all rows.
type ColumnTable struct {
	Metric string      `json:"metric"`
	Rows   []ColumnRow `json:"rows"`
	metric runs.Metric
}

// ColumnRow is one metric under circumstances that are the same in all columns.
type ColumnRow struct {
	Title    string            `json:"title"`    // network and load in words
	Label    string            `json:"label"`    // "" where labels are the columns
	Nodes    int               `json:"nodes"`    // 0 where numbers of nodes are the columns
	Settings map[string]string `json:"settings"` // what else the columns have in common, by dimension
	Columns  []ColumnSample    `json:"columns"`
}

// ColumnSample is a metric in one column.
type ColumnSample struct {
	Sample
	Change      *float64 `json:"change"` // of the median, relative to the base's
	P           *float64 `json:"p"`      // of the Mann-Whitney test against the base
	Significant bool     `json:"significant"`
}

// columnRow is a row before any metric is looked at.
type columnRow struct {
	ColumnRow
	cells map[string]*cells.Cell // by column
}

// Beside compares the values of a dimension within one result set. base names the
// column that the others are compared with; "" stands for the one that comes first.
// It fails where options are wrong or there are fewer than two columns.
func Beside(set *runs.Set, dimension, base string, opt Options) (*Columns, error) {
	opt.Alpha = cmp.Or(opt.Alpha, DefaultAlpha)
	metrics, err := opt.Check()
	if err != nil {
		return nil, err
	}
	if all := runs.Dimensions(); !slices.Contains(all, dimension) {
		return nil, fmt.Errorf("col: %w", units.UnknownName("dimension", dimension, all, units.Listed(all)))
	}
	names, rows, err := columnsOf(set, dimension)
	if err != nil {
		return nil, err
	}
	if len(names) < 2 {
		return nil, fmt.Errorf("compare: %s has one value of %s alone, %s; there is nothing to compare it with",
			set.Name(), dimension, strings.Join(names, ""))
	}
	if base != "" {
		i := slices.Index(names, base)
		if i < 0 {
			return nil, fmt.Errorf("base: %w", units.UnknownName(dimension, base, names, units.Listed(names)))
		}
		names = slices.Concat([]string{base}, names[:i], names[i+1:])
	}
	c := &Columns{
		SchemaVersion: SchemaVersion, Alpha: opt.Alpha, Results: origin(set), Column: dimension, Names: names,
		Tables: []ColumnTable{}, Notes: []string{},
	}
	tests := 0
	for _, m := range metrics {
		t := ColumnTable{Metric: m.Name, metric: m, Rows: []ColumnRow{}}
		for _, row := range rows {
			if r, n := row.compare(m, names, opt.Alpha); n > 0 {
				t.Rows = append(t.Rows, r)
				tests += n - 1
			}
		}
		if len(t.Rows) > 0 {
			c.Tables = append(c.Tables, t)
		}
	}
	c.concerns(rows, tests)
	return c, nil
}

// columnsOf divides a set into rows, each with what stands in its columns.
func columnsOf(set *runs.Set, dimension string) (names []string, rows []*columnRow, err error) {
	experiment := &set.Header.Experiment
	table := cells.Of(experiment, set.Runs)
	requests := make(map[*cells.Cell]string) // how many all of its group made, in words
	for _, g := range table.Groups {
		for _, c := range g.Cells {
			requests[c] = cells.Requests(g.Runs)
		}
	}
	type place struct {
		label string
		key   runs.Key
	}
	at := make(map[place]*columnRow)
	for _, c := range table.Cells() {
		r, options := c.First, c.Options
		rest := c.Key.Without(dimension, "requests")
		label, column := c.Label, cmp.Or(c.Key.Get(dimension), "not given")
		switch dimension {
		case "algorithm":
			label, column = "", c.Label
			rest = rest.With("set", runs.Settings(options.Network)+runs.Settings(options.Workload))
		case "transport": // whose options are its own
			rest = rest.With("set", runs.Settings(options.Algorithm)+runs.Settings(options.Workload))
			column = cmp.Or(r.Transport, column)
		case "workload": // which says by itself how requests come, and how many
			rest = rest.Without("rate", "total_rate", "duration").With("set",
				runs.Settings(options.Algorithm)+runs.Settings(options.Network))
			column = cmp.Or(r.Workload, column)
		}
		if !slices.Contains([]string{"nodes", "requests", "workload"}, dimension) {
			rest = rest.With("requests", c.Key.Get("requests"))
		}
		row := at[place{label, rest}]
		if row == nil {
			row = &columnRow{cells: make(map[string]*cells.Cell)}
			row.Label, row.Settings = label, rest.Settings()
			row.Title = title(experiment, r, dimension, requests[c])
			if dimension != "nodes" {
				row.Nodes = c.Nodes
			}
			at[place{label, rest}] = row
			rows = append(rows, row)
		}
		if other := row.cells[column]; other != nil {
			return nil, nil, fmt.Errorf("compare: %s of %s %s stands for several cells, which differ in %s",
				set.Name(), dimension, column, contrast(other.Key, c.Key))
		}
		row.cells[column] = c
		if !slices.Contains(names, column) {
			names = append(names, column)
		}
	}
	first, labels := make(map[string]int), make(map[string]int)
	for _, row := range rows {
		rank(first, row.Title)
		rank(labels, row.Label)
	}
	slices.SortStableFunc(rows, func(a, b *columnRow) int {
		return cmp.Or(first[a.Title]-first[b.Title], labels[a.Label]-labels[b.Label], a.Nodes-b.Nodes)
	})
	return names, rows, nil
}

// title is that of a run's circumstances, without what stands in columns. requests
// says how many all runs under these circumstances made.
func title(e *runs.Experiment, r runs.Run, dimension, requests string) string {
	spec := r.Result.Spec.Without("requests")
	if !slices.Contains([]string{"algorithm", "set", "nodes"}, dimension) { // of which a title says nothing
		spec = spec.Without(dimension)
	}
	set := e
	switch dimension {
	case "transport":
		set = &runs.Experiment{Workloads: e.Workloads}
	case "workload":
		spec.Rate, spec.TotalRate, spec.Duration, requests = 0, 0, 0, ""
		set = &runs.Experiment{Transports: e.Transports}
	case "requests":
		requests = ""
	}
	hosts := r.Result.Key().Get("hosts")
	if dimension == "hosts" {
		hosts = ""
	}
	about := *r.Result
	about.Spec = spec
	r.Result = &about
	text := cells.Title(set, []runs.Run{r}, hosts)
	if requests != "" {
		text += cells.Separator + requests
	}
	return text
}

// compare compares a metric of the row's columns; n is how many have it.
func (r *columnRow) compare(m runs.Metric, names []string, alpha float64) (row ColumnRow, n int) {
	row = r.ColumnRow
	var base []float64
	for i, name := range names {
		var values []float64
		if c := r.cells[name]; c != nil {
			values = m.Values(c.Good)
		}
		if i == 0 {
			base = values
		}
		if len(values) > 0 {
			n++
		}
		d := stats.Compare(base, values, alpha)
		s := ColumnSample{Sample: sampleOf(values, d.B)}
		if i > 0 {
			s.Change, s.P, s.Significant = stats.Known(d.Change), stats.Known(d.P), d.Significant
		}
		row.Columns = append(row.Columns, s)
	}
	return row, n
}

// concerns notes what limits the answer.
func (c *Columns) concerns(rows []*columnRow, tests int) {
	if chance := float64(tests) * c.Alpha; chance >= 1 {
		note := fmt.Sprintf("%d tests at level %v: about %.0f of them would raise an alarm by chance alone", tests, c.Alpha, chance)
		if c.Column == "algorithm" {
			note += "; 'dmebench rank' corrects for that"
		}
		c.Notes = append(c.Notes, note)
	}
	fewest, bad := 0, make(map[string]int)
	for _, r := range rows {
		for _, name := range c.Names {
			cell := r.cells[name]
			if cell == nil {
				continue
			}
			for status, n := range cell.Ended() {
				bad[name+" "+string(status)] += n
			}
			if n := len(cell.Good); n > 0 && (fewest == 0 || n < fewest) {
				fewest = n
			}
		}
	}
	if fewest > 0 && stats.LeastP(fewest, fewest) > c.Alpha {
		c.Notes = append(c.Notes, fmt.Sprintf("a cell has %d repetitions only: no test can find a difference at level %v with fewer than %d",
			fewest, c.Alpha, stats.EnoughFor(1, c.Alpha)))
	}
	for _, what := range slices.Sorted(maps.Keys(bad)) {
		name, status, _ := strings.Cut(what, " ")
		c.Notes = append(c.Notes, fmt.Sprintf("%s: %d runs ended as %s and are left out", name, bad[what], status))
	}
}
