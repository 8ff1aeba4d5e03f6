package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"dmebench/internal/tables"
	"dmebench/report/units"
	"dmebench/result"
)

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
	return []string{result.MessagesPerCS, result.Throughput, result.ResponseP50, result.ResponseP99, result.WaitingP99, result.SyncDelayOverT}
}

func (c *collection) texTable(s *set) []byte {
	cells := s.inOrder()
	var shown []result.Metric
	head := []string{"algorithm", "$N$"}
	scales := make(map[string]units.Scale)
	for _, name := range texMetrics() {
		if name == result.WaitingP99 && s.waitingIsResponse() {
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
		m, _ := result.LookupMetric(name)
		title, scale := tables.LaTeX(lowerFirst(m.Title)), units.Plain()
		if m.Time() {
			scale = units.TimeScale(math.Sqrt(slices.Max(medians) * max(1, slices.Min(medians))))
			title += " (" + tables.LaTeX(scale.Unit) + ")"
		}
		scales[name] = scale
		shown, head = append(shown, m), append(head, title)
	}
	t := tables.New(head...)
	for _, cell := range cells {
		row := []string{tables.LaTeX(cell.label), fmt.Sprint(cell.nodes)}
		for _, m := range shown {
			q := show(cell.estimates[m.Name], scales[m.Name])
			text := tables.LaTeX(scales[m.Name].Number(cell.estimates[m.Name].Median))
			if q.Range != "" && !q.Weak {
				text += " {\\scriptsize[" + tables.LaTeX(q.Range) + "]}"
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
