package report

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dmebench/internal/platform/layout"
	"dmebench/report/page"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// show writes an estimate: the interval if there is one, else the range.
func show(e stats.Estimate, scale units.Scale) page.Value {
	if e.N == 0 {
		return page.Value{Text: units.Missing}
	}
	v := page.Value{Number: page.Known(e.Median), Text: scale.Write(e.Median), Hint: describe(e, scale.Write)}
	lo, hi := e.Lo, e.Hi
	if !e.Bounded() {
		lo, hi, v.Class = e.Min, e.Max, "weak"
	}
	// A range that is a point says no more than the median.
	if a, b := scale.Number(lo), scale.Number(hi); a != b {
		v.Small = a + "–" + b
		if lo < 0 {
			v.Small = a + " to " + b
		}
	}
	return v
}

// timeValue writes a time in the unit that it is best written in.
func timeValue(e stats.Estimate) page.Value { return show(e, units.TimeScale(e.Median)) }

func (c *cell) entries() (n uint64) {
	for _, r := range c.Good {
		n += r.Entries
	}
	return n
}

// sum adds up a number of results.
func sum(list []*runs.Result, of func(*runs.Result) uint64) string {
	n := uint64(0)
	for _, r := range list {
		n += of(r)
	}
	return strconv.FormatUint(n, 10)
}

// workers returns the number of worker processes, or its range.
func (c *cell) workers() string {
	all := c.All()
	count := func(a, b *runs.Result) int { return a.Workers - b.Workers }
	lo, hi := slices.MinFunc(all, count).Workers, slices.MaxFunc(all, count).Workers
	if lo == hi {
		return strconv.Itoa(lo)
	}
	return fmt.Sprintf("%d–%d", lo, hi)
}

// SummaryCSV returns summary.csv as [Build] writes it: a row for each cell with
// medians and their 95% intervals.
func SummaryCSV(results runs.Set) []byte { return collect(Input{Set: results}).csv() }

// csv writes one row for each cell: medians over the repetitions that ended well, and the bounds of
// their 95% intervals. Unknown values are empty. Columns of a shared resource and of hosts stand
// last, and only if runs had some.
func (c *collection) csv() []byte {
	metrics := runs.MetricsOf(c.results())
	header := runs.TableHead(slices.Concat([]string{"label"}, runs.EarlyDimensions(), []string{
		"workers", "repetitions", "repetitions_ok", "repetitions_violated", "repetitions_stalled", "repetitions_failed",
		"entries_ok", "violations",
	})...)
	for _, m := range metrics {
		header = append(header, m.Name, m.Name+runs.LowSuffix, m.Name+runs.HighSuffix)
	}
	late := runs.LateColumns(c.results())
	rows := [][]string{append(header, late...)}
	for _, s := range c.sets {
		for _, cell := range s.inOrder() {
			row := c.row(cell, metrics)
			for _, column := range late {
				switch column {
				case "lost_updates":
					row = append(row, sum(cell.All(), func(r *runs.Result) uint64 {
						return cmp.Or(r.Safety.Resource, new(runs.Resource)).LostUpdates
					}))
				case "undecided":
					row = append(row, sum(cell.All(), func(r *runs.Result) uint64 { return r.Safety.Undecided }))
				default:
					row = append(row, cell.Key.Get(column))
				}
			}
			rows = append(rows, row)
		}
	}
	return layout.CSV(rows)
}

func (c *collection) row(cell *cell, metrics []runs.Metric) []string {
	ended := cell.Ended()
	all := cell.Repetitions()
	row := []string{cell.Label}
	for _, d := range runs.EarlyDimensions() {
		row = append(row, cell.Key.Get(d))
	}
	row = append(row, cell.workers(), strconv.Itoa(all), strconv.Itoa(len(cell.Good)),
		strconv.Itoa(ended[runs.Violated]), strconv.Itoa(ended[runs.Stalled]),
		strconv.Itoa(all-len(cell.Good)-ended[runs.Violated]-ended[runs.Stalled]),
		strconv.FormatUint(cell.entries(), 10),
		sum(cell.All(), func(r *runs.Result) uint64 { return r.Safety.Violations }),
	)
	for _, m := range metrics {
		e := cell.estimates[m.Name]
		row = append(row, number(e.Median), number(e.Lo), number(e.Hi))
	}
	return row
}

// number writes x so that it can be read back; "" if there is none.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// texTables returns the results of each set as a table for LaTeX: medians, and in
// brackets their 95% intervals, in one unit for each column.
func (c *collection) texTables() []File {
	var files []File
	taken := make(units.Names)
	for _, s := range c.sets {
		files = append(files, File{taken.Take("results "+s.place) + ".tex", c.texTable(s)})
	}
	return files
}

// texMetrics are the columns of a table that fits a page.
func texMetrics() []string {
	return []string{runs.MessagesPerCS, runs.Throughput, runs.ResponseP50, runs.ResponseP99, runs.WaitingP99, runs.SyncDelayOverT}
}

func (c *collection) texTable(s *set) []byte {
	cells := s.inOrder()
	var shown []runs.Metric
	head := []string{"algorithm", "$N$"}
	scales := make(map[string]units.Scale)
	for _, name := range texMetrics() {
		if name == runs.WaitingP99 && s.waitingIsResponse() {
			continue
		}
		var medians []float64
		for _, cell := range cells {
			if e := cell.estimates[name]; e.N > 0 {
				medians = append(medians, e.Median)
			}
		}
		if len(medians) == 0 {
			continue
		}
		m, _ := runs.LookupMetric(name)
		title, scale := layout.LaTeX(m.Phrase()), units.Plain()
		if m.Time() {
			scale = units.TimeScale(math.Sqrt(slices.Max(medians) * max(1, slices.Min(medians))))
			title += " (" + layout.LaTeX(scale.Unit) + ")"
		}
		scales[name] = scale
		shown, head = append(shown, m), append(head, title)
	}
	t := layout.NewTable(head...)
	for _, cell := range cells {
		row := []string{layout.LaTeX(cell.Label), fmt.Sprint(cell.Nodes)}
		for _, m := range shown {
			v := show(cell.estimates[m.Name], scales[m.Name])
			text := layout.LaTeX(scales[m.Name].Number(cell.estimates[m.Name].Median))
			if v.Small != "" && v.Class == "" {
				text += " {\\scriptsize[" + layout.LaTeX(v.Small) + "]}"
			}
			row = append(row, text)
		}
		t.Add(row...)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%% %s\n", strings.Map(oneLine, s.String()))
	out.WriteString("% Medians over repetitions, in brackets their 95% confidence intervals. Needs \\usepackage{booktabs}.\n")
	// A bytes.Buffer takes everything.
	_ = t.WriteLaTeX(&out, "lr"+strings.Repeat("r", len(shown)))
	return out.Bytes()
}

// oneLine keeps what would end a comment out of it.
func oneLine(r rune) rune {
	if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
		return ' '
	}
	return r
}
