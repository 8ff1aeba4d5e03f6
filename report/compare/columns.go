package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dmebench/report/cells"
	"dmebench/runs"
	"dmebench/units"
)

// Columns compares what one result set holds with itself: the values of one dimension stand side by
// side, and each is compared with the first, the base. If there is no sample a value is null.
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
	mean   *GeometricMean
}

// ColumnRow is one metric under circumstances that are the same in all columns.
type ColumnRow struct {
	Title    string            `json:"title"`    // network and load in words
	Label    string            `json:"label"`    // "" if labels are the columns
	Nodes    int               `json:"nodes"`    // 0 if numbers of nodes are the columns
	Settings map[string]string `json:"settings"` // what else the columns have in common, by dimension
	Columns  []ColumnSample    `json:"columns"`
	notes    []string
}

// ColumnSample is a metric in one column, compared with the base.
type ColumnSample struct {
	Sample
	Difference
}

// columnRow is a row before any metric is looked at.
type columnRow struct {
	ColumnRow
	cells map[string]*cells.Cell // by column
}

// Beside compares the values of a dimension within one result set. base names the column that the
// others are compared with; "" stands for the one that comes first. It fails if options are wrong
// or there are fewer than two columns.
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
			var columns []column
			for _, name := range names {
				columns = append(columns, column{name, row.cells[name]})
			}
			r, varying := row.ColumnRow, 0
			if r.Columns, r.notes, varying = beside(m, opt.Alpha, columns); r.Columns != nil {
				t.Rows = append(t.Rows, r)
				tests += varying
			}
		}
		if len(t.Rows) > 0 {
			c.Tables = append(c.Tables, t)
		}
	}
	c.Notes = append(counted(c.Tables), byChance(tests, c.Alpha)...)
	if dimension == "algorithm" && len(byChance(tests, c.Alpha)) > 0 {
		c.Notes = append(c.Notes, "'dmebench rank' corrects for the number of tests")
	}
	return c, nil
}

// columnsOf divides a set into rows, each with what stands in its columns.
func columnsOf(set *runs.Set, dimension string) (names []string, rows []*columnRow, err error) {
	type position struct {
		label string
		key   runs.Key
	}
	at := make(map[position]*columnRow)
	for _, c := range placesOf(set, dimension) {
		r, options := c.First, c.Options
		rest := c.Key.Without(dimension, "requests")
		label, column := c.Label, cmp.Or(c.Key.Get(dimension), "not given")
		switch dimension {
		case "algorithm":
			label, column = "", c.Label
			rest = rest.With("set", runs.Settings(options.Network)+runs.Settings(options.Workload))
		case "transport": // each transport has options of its own
			rest = rest.With("set", runs.Settings(options.Algorithm)+runs.Settings(options.Workload))
			column = cmp.Or(r.Transport, column)
		case "workload": // the workload also says how requests come, and how many
			rest = rest.Without("rate", "total_rate", "duration").With("set",
				runs.Settings(options.Algorithm)+runs.Settings(options.Network))
			column = cmp.Or(r.Workload, column)
		}
		if !slices.Contains([]string{"nodes", "requests", "workload"}, dimension) {
			rest = rest.With("requests", c.Key.Get("requests"))
		}
		here := position{label, rest}
		row := at[here]
		if row == nil {
			row = &columnRow{cells: make(map[string]*cells.Cell)}
			row.Label, row.Settings = label, rest.Settings()
			row.Title = c.title
			if dimension != "nodes" {
				row.Nodes = c.Nodes
			}
			at[here] = row
			rows = append(rows, row)
		}
		if other := row.cells[column]; other != nil {
			return nil, nil, fmt.Errorf("compare: %s of %s %s stands for several cells, which differ in %s",
				set.Name(), dimension, column, contrast(other.Key, c.Key))
		}
		row.cells[column] = c.Cell
		if !slices.Contains(names, column) {
			names = append(names, column)
		}
	}
	return names, rows, nil
}
