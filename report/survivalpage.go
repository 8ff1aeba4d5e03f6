package report

import (
	"encoding/json"
	"fmt"

	"dmebench/report/page"
	"dmebench/report/plots"
	"dmebench/report/survival"
)

// Survival returns the files of the table of what each algorithm survives, as
// [Validation] does for claims.
func Survival(d *survival.Document) ([]File, error) {
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return nil, fmt.Errorf("report: survival: %w", err)
	}
	html, err := SurvivalPage(d).Render()
	if err != nil {
		return nil, fmt.Errorf("report: survival: %w", err)
	}
	return []File{
		{"survival.json", append(b, '\n')}, {"survival.md", survival.Markdown(d)}, {"survival.html", html}, {"survival.csv", d.CSV()},
	}, nil
}

// SurvivalPage has the table in words, whose cells open what is behind them, and a row for each
// cell, to be sorted and filtered.
func SurvivalPage(d *survival.Document) *page.Data {
	p := &page.Data{
		Kind: page.Survival, Title: "What each algorithm survives",
		Answer: page.Answer{Status: []string{survivalSummary(d)}, Level: page.Sound, Asked: d.Conditions()}, Facts: pageFacts(d.Environment),
		Notes: []page.Note{{Term: "Words", Text: survival.Words}, {Term: "Marks", Text: survival.Marks}},
	}
	matrix := page.Table{ID: "matrix", Title: "Algorithms and faults", Note: survival.Words, Columns: []page.Column{column("algorithm")}}
	for _, f := range d.Faults() {
		matrix.Columns = append(matrix.Columns, page.Column{Key: f.Fault, Title: f.Title, Type: page.Text})
	}
	cells := page.Table{ID: "cells", Title: "Every cell", Columns: []page.Column{
		column("algorithm"), chosen("fault"), chosen("outcome"), column("in runs"), chosen("stands on"),
		{Key: "recovered", Title: "next entry after", Type: page.Time, Better: "lower"},
		{Key: "served", Title: "last waiting request served after", Type: page.Time, Better: "lower"},
		{Key: "messages", Title: "messages until then", Type: page.Number, Better: "lower"},
		{Key: "search", Title: "search", Type: page.Text, Wide: true},
	}}
	labels := make(map[string]page.Ref)
	for i, r := range d.Rows() {
		name := r[0].Algorithm
		labels[name] = page.At(i)
		p.Labels = append(p.Labels, page.Label{Name: name, Algorithm: name, Color: plots.Color(i)})
		line := page.Row{Label: page.At(i), Values: []page.Value{page.Word(name)}}
		for _, c := range r {
			v := page.Value{Text: c.Marked(), Class: classes[c.Outcome()], Hint: c.Title, Opens: fmt.Sprintf("cells.%d", len(cells.Rows))}
			line.Values = append(line.Values, v)
			cells.Rows = append(cells.Rows, page.Row{Label: page.At(i), Open: evidenceOf(c), Values: []page.Value{
				page.Word(name), page.Word(c.Title), {Text: c.Outcome(), Class: v.Class}, page.Word(c.Share()), page.Word(string(c.StandsOn())),
				medianOf(c.Recovery), medianOf(c.Served), medianOf(c.Messages), page.Word(c.Searched()),
			}})
		}
		matrix.Rows = append(matrix.Rows, line)
	}
	p.Tables = []page.Table{matrix, cells}
	if len(d.Claims) > 0 {
		texts := claimsTable("texts", "What the texts claim of failures", d.Claims, labels, "validate --faults")
		p.Tables = append(p.Tables, texts)
	}
	return p
}

var classes = map[string]string{"goes on": "good", "stops": "doubt", "fenced": "doubt",
	"unsafe": "bad", "unknown": "unknown", "–": "unknown"}

// survivalSummary counts the outcomes.
func survivalSummary(d *survival.Document) string {
	n := make(map[string]int)
	for _, c := range d.Cells {
		n[c.Outcome()]++
	}
	text := fmt.Sprintf("%d algorithms under %d kinds of faults: %d cells go on, %d stop, %d are unsafe",
		len(d.Rows()), len(d.Faults()), n["goes on"], n["stops"], n["unsafe"])
	if n["unknown"] > 0 {
		text += fmt.Sprintf(", %d are unknown", n["unknown"])
	}
	return text + "."
}

// evidenceOf is what a cell stands on, and the commands that show it.
func evidenceOf(c survival.Cell) *page.More {
	m := &page.More{Text: append([]string{}, c.Why...)}
	if c.WhyNot != "" {
		m.Text = append(m.Text, "Not tried: "+c.WhyNot+".")
	}
	if c.Struck > 0 {
		m.Text = append(m.Text, fmt.Sprintf("It struck in %d of %d runs; %d were unsafe, %d stopped.", c.Struck, c.Runs, c.Unsafe, c.Stopped))
		if c.Updates != "" {
			m.Text = append(m.Text, fmt.Sprintf("In %d runs an update of a shared resource was lost.", c.Lost))
		}
	}
	if c.Witness != "" {
		m.Commands = append(m.Commands, c.Witness)
	}
	if s := c.Search; s != nil {
		m.Text = append(m.Text, s.Why...)
		if s.Witness != "" {
			m.Commands = append(m.Commands, s.Witness)
		}
	}
	for _, only := range c.Only {
		m.Text = append(m.Text, "Safe only while "+only+".")
	}
	return m
}

func medianOf(m *survival.Measure) page.Value {
	if m == nil {
		return page.Value{}
	}
	return page.Num(m.Median)
}
