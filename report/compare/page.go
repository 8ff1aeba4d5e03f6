package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dmebench/report/page"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// versus is one metric of one cell on two sides, as a row of the page.
type versus struct {
	label, section string
	nodes          int
	metric         runs.Metric
	names          [2]string
	sides          [2]Sample
	Difference
	alpha float64
	notes []string
}

// Page returns the comparison as a page: a row for each metric of each cell, to be sorted
// and filtered.
func (c *Comparison) Page() *page.Data {
	return pageOf(c.tables(), c.Alpha, sides(), []string{"A: " + c.A.String(), "B: " + c.B.String(), c.common}, c.notes())
}

// Page is that of [Comparison.Page] for columns, each beside the first.
func (c *Columns) Page() *page.Data {
	return pageOf(c.Tables, c.Alpha, c.Names, []string{c.Results.String(), "each is compared with " + c.Names[0]}, c.Notes)
}

func pageOf(tables []ColumnTable, alpha float64, names, about, notes []string) *page.Data {
	var all []versus
	for _, t := range tables {
		for _, r := range t.Rows {
			for i, s := range r.Columns[1:] {
				all = append(all, versus{
					cmp.Or(r.Label, names[i+1]), r.Title, r.Nodes, t.metric, [2]string{names[0], names[i+1]},
					[2]Sample{r.Columns[0].Sample, s.Sample}, s.Difference, alpha, r.notes,
				})
			}
		}
	}
	loads := slices.ContainsFunc(all, func(x versus) bool { return x.section != all[0].section })
	if len(all) > 0 && !loads {
		about = append(about, all[0].section)
	}
	second := names[1]
	if len(names) > 2 {
		second = "beside it"
	}
	p := &page.Data{Kind: page.Comparison, Title: "Comparison", Answer: page.Answer{Level: page.Sound, Asked: joined(about...)}}
	t := page.Table{
		ID: "comparison", Title: "Medians, and what differs",
		Note: "Below a median stands its 95% interval. The test is that of Mann and Whitney.",
		Columns: []page.Column{
			{Key: "algorithm", Title: "algorithm", Type: page.Text}, {Key: "n", Title: "N", Type: page.Number},
			{Key: "load", Title: "load", Type: page.Text, Choose: true, Hidden: !loads},
			{Key: "metric", Title: "metric", Type: page.Text, Choose: true},
			{Key: "sides", Title: "compared", Type: page.Text, Choose: true, Hidden: len(names) == 2},
			{Key: "a", Title: names[0], Type: page.Number}, {Key: "b", Title: second, Type: page.Number},
			{Key: "change", Title: "change", Type: page.Share},
			{Key: "p", Title: "p", Type: page.Number}, {Key: "verdict", Title: "verdict", Type: page.Text, Choose: true},
		},
	}
	labels, verdicts := make(map[string]page.Ref), make(map[string]int)
	for _, x := range all {
		if _, known := labels[x.label]; !known {
			labels[x.label] = page.At(len(labels))
			p.Labels = append(p.Labels, page.Label{Name: x.label, Color: plots.Color(len(p.Labels))})
		}
		verdict, class := x.verdict()
		verdicts[verdict]++
		n, change := page.Value{}, page.Value{}
		if x.nodes > 0 {
			n = page.Num(float64(x.nodes))
		}
		if x.Change != nil {
			change = page.Value{Number: page.Known(*x.Change), Text: percent(*x.Change), Class: class}
		}
		t.Rows = append(t.Rows, page.Row{Label: labels[x.label], Nodes: x.nodes, Open: x.more(labels[x.label]), Values: []page.Value{
			page.Word(x.label), n, page.Word(x.section), page.Word(x.metric.Title), page.Word(strings.Join(x.names[:], " → ")),
			x.value(0), x.value(1), change, known(x.P), {Text: verdict, Class: class},
		}})
	}
	var parts []string
	for _, v := range []string{"better", "worse", "different", "equal", "not significant", "undecided", "not measured"} {
		if verdicts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", verdicts[v], v))
		}
	}
	if verdicts["worse"]+verdicts["undecided"] > 0 {
		p.Answer.Level = page.Look
	}
	p.Answer.Status = []string{fmt.Sprintf("%d medians compared: %s.", len(all), strings.Join(parts, ", "))}
	for _, n := range notes {
		p.Warnings = append(p.Warnings, page.Warning{Text: n})
	}
	p.Tables = []page.Table{t}
	return p
}

// verdict says how the second side stands to the first. If there are too few repetitions for any test
// to tell them apart, it is undecided.
func (x *versus) verdict() (word, class string) {
	switch {
	case x.P == nil:
		return "not measured", "unknown"
	case !varies(x.sides[0], x.sides[1]):
		return "equal", ""
	case !x.Significant && stats.LeastP(x.sides[0].N, x.sides[1].N) > x.alpha:
		return "undecided", "unknown"
	case !x.Significant:
		return "not significant", ""
	case x.metric.Better == runs.Neither || x.Change == nil:
		return "different", "doubt"
	case *x.Change > 0 == (x.metric.Better == runs.Higher):
		return "better", "good"
	}
	return "worse", "bad"
}

func (x *versus) write(v float64) string { return x.metric.Text(&v) }

func (x *versus) value(side int) page.Value {
	s := x.sides[side]
	if s.Median == nil {
		return page.Value{}
	}
	v := page.Value{Number: page.Known(*s.Median), Text: x.write(*s.Median)}
	if s.Lo != nil && s.Hi != nil {
		v.Small = x.write(*s.Lo) + " to " + x.write(*s.Hi)
	}
	return v
}

// more is the repetitions of both sides.
func (x *versus) more(label page.Ref) *page.More {
	plot := page.Plot{
		Name: units.Slug(x.metric.Name + " " + x.label), Title: x.metric.Title + ", each repetition",
		X: page.Scale{Title: "side", Names: x.names[:], Type: page.Text}, Y: page.Scale{Title: x.metric.Title, Type: page.Number},
	}
	if x.metric.Time() {
		plot.Y.Type = page.Time
	}
	for side, s := range x.sides {
		series := page.Series{Role: page.Scattered, Label: label}
		for _, v := range s.Values {
			series.Points = append(series.Points, []page.Real{page.Real(side), page.Real(v)})
		}
		plot.Series = append(plot.Series, series)
	}
	return &page.More{Text: x.notes, Plots: []page.Plot{plot}}
}

func known(x *float64) page.Value {
	if x == nil {
		return page.Value{}
	}
	return page.Num(*x)
}
