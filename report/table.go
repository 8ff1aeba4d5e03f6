package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"dmebench/report/stats"
	"dmebench/report/units"
	"dmebench/result"
)

// quantity is an estimate as the page shows it.
type quantity struct {
	Text  string // the median, with its unit
	Range string // its interval, or the range of the values where there is none
	Weak  bool   // too few repetitions for an interval
	Hint  string // the whole, as a sentence
}

// table is the results of a set as the page shows them.
type table struct {
	Columns []string // of the quantities after the prediction
	Rows    []row
}

// row is a cell as the page shows it.
type row struct {
	Label       string
	Style       int
	Nodes       int
	Repetitions string
	Incomplete  bool // some repetitions are left out
	Entries     string
	Messages    quantity
	Predicted   []shownPrediction
	Quantities  []quantity
	Violations  uint64
	Workers     string
}

// column is a quantity of the table.
type column struct {
	title, metric string
	time          bool
}

func columns() []column {
	return []column{
		{"throughput CS/s", throughput, false},
		{"response p50", responseP50, true}, {"response p99", responseP99, true},
		{"waiting p50", waitingP50, true}, {"waiting p99", waitingP99, true},
		{"sync. delay p50", syncDelayP50, true}, {"SD/T of means", syncDelayOverT, false},
		{"Jain", jain, false},
	}
}

// shownPrediction is a prediction as the page shows it.
type shownPrediction struct {
	Text, Agreement, Hint string
	Broken                bool
}

// table leaves out columns that are empty in the whole set.
func (c *collection) table(s *set) table {
	cells := s.inOrder()
	shown := slices.DeleteFunc(columns(), func(col column) bool {
		return !slices.ContainsFunc(cells, func(cell *cell) bool { return cell.estimates[col.metric].N > 0 })
	})
	var t table
	for _, col := range shown {
		t.Columns = append(t.Columns, col.title)
	}
	for _, cell := range cells {
		all := len(cell.good) + len(cell.bad)
		r := row{
			Label: cell.label, Style: slices.Index(c.labels, cell.label), Nodes: cell.nodes,
			Repetitions: strconv.Itoa(all), Incomplete: len(cell.bad) > 0,
			Entries: units.Count(cell.entries()), Violations: cell.violations(), Workers: cell.workers(),
			Messages: show(cell.estimates[messagesPerCS], units.Plain()), Predicted: c.shownPredictions(cell),
		}
		if r.Incomplete {
			r.Repetitions = fmt.Sprintf("%d of %d", len(cell.good), all)
		}
		for _, col := range shown {
			e, scale := cell.estimates[col.metric], units.Plain()
			if col.time {
				scale = units.TimeScale(e.Median)
			}
			r.Quantities = append(r.Quantities, show(e, scale))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func (c *collection) shownPredictions(cell *cell) []shownPrediction {
	var all []shownPrediction
	for _, p := range c.theory.predictions(cell) {
		shown := shownPrediction{
			Text: p.write(units.Number(p.Value)), Agreement: p.Agreement,
			Broken: slices.Contains([]string{"differs", "exceeded", "below"}, p.Agreement),
			Hint:   fmt.Sprintf("%s: %s (%s, load: %s)", p.Claim.Source, p.Claim.Formula, p.Claim.Kind, p.Claim.Load),
		}
		if p.Claim.KnownFalse != "" {
			shown.Broken = false
			shown.Agreement += " (known to be false)"
			shown.Hint += "; known to be false: " + p.Claim.KnownFalse
		}
		all = append(all, shown)
	}
	return all
}

// show writes an estimate: the interval where there is one, else the range.
func show(e stats.Estimate, scale units.Scale) quantity {
	if e.N == 0 {
		return quantity{Text: units.Missing}
	}
	q := quantity{Text: scale.Write(e.Median), Weak: !e.Bounded(), Hint: describe(e, scale.Write)}
	lo, hi := e.Lo, e.Hi
	if q.Weak {
		lo, hi = e.Min, e.Max
	}
	// A range that is a point says no more than the median.
	if a, b := scale.Number(lo), scale.Number(hi); a != b {
		q.Range = a + "–" + b
	}
	return q
}

func (c *cell) entries() uint64 {
	var n uint64
	for _, r := range c.good {
		n += r.Entries
	}
	return n
}

func (c *cell) violations() uint64 {
	var n uint64
	for _, r := range slices.Concat(c.good, c.bad) {
		n += r.Safety.Violations
	}
	return n
}

// workers returns the number of worker processes, or its range.
func (c *cell) workers() string {
	all := slices.Concat(c.good, c.bad)
	count := func(a, b *result.Result) int { return a.Workers - b.Workers }
	lo, hi := slices.MinFunc(all, count).Workers, slices.MaxFunc(all, count).Workers
	if lo == hi {
		return strconv.Itoa(lo)
	}
	return fmt.Sprintf("%d–%d", lo, hi)
}

// kindRow is how often a series sends messages of one kind, by size.
type kindRow struct {
	Label, Kind string
	Style, Span int // Span is the number of kinds at the first row of a series, 0 at others
	PerCS       []string
}

// kinds returns the messages per CS by kind, one row for each kind of each
// series, with a number for each size.
func (c *collection) kinds(s *set) []kindRow {
	var rows []kindRow
	for _, label := range s.labels {
		byKind := make(map[string][]string)
		for i, n := range s.sizes {
			cell := s.cells[place{label, n}]
			if cell == nil {
				continue
			}
			for kind, values := range cell.perKind() {
				if byKind[kind] == nil {
					byKind[kind] = slices.Repeat([]string{""}, len(s.sizes))
				}
				byKind[kind][i] = units.Number(stats.Median(values).Median)
			}
		}
		for i, kind := range slices.Sorted(maps.Keys(byKind)) {
			r := kindRow{Label: label, Kind: kind, Style: slices.Index(c.labels, label), PerCS: byKind[kind]}
			if i == 0 {
				r.Span = len(byKind)
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// perKind returns the messages per entry of each kind, one value for each good
// run; a kind that a run did not send counts as none.
func (c *cell) perKind() map[string][]float64 {
	values := make(map[string][]float64)
	for _, r := range c.good {
		for kind := range r.Messages.ByKind {
			values[kind] = nil
		}
	}
	for kind := range values {
		for _, r := range c.good {
			if r.Entries > 0 {
				values[kind] = append(values[kind], float64(r.Messages.ByKind[kind])/float64(r.Entries))
			}
		}
	}
	return values
}
