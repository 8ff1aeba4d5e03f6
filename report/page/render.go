package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"dmebench/units"
)

//go:embed page.html style.css js vendor/*.js
var assets embed.FS

// scripts are those of a page, in their order: the libraries, then its own, which share one
// scope. A page that a server fills has one more.
func (d *Data) scripts() string {
	var b strings.Builder
	for _, name := range []string{"d3.min.js", "plot.min.js"} {
		b.WriteString(asset("vendor/"+name) + "\n")
	}
	b.WriteString("(() => {\n\"use strict\";\n")
	own := []string{"base", "state", "bar", "draw", "figures", "export", "tables", "runs", "main"}
	if d.Live != "" {
		own = append(own, "live")
	}
	for _, name := range own {
		b.WriteString(asset("js/" + name + ".js"))
	}
	b.WriteString("})();\n")
	return b.String()
}

// asset is an embedded file.
func asset(name string) string {
	text, err := assets.ReadFile(name)
	if err != nil {
		panic(err) // the page is embedded: it always renders
	}
	return string(text)
}

// policy permits the page's one script and its styles, pictures of its own making, and no
// request but to the server that fills it.
func (d *Data) policy(script string) string {
	sum := sha256.Sum256([]byte(script))
	policy := "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; style-src 'unsafe-inline'; " +
		"img-src data: blob:; base-uri 'none'; form-action 'none'"
	if d.Live != "" {
		policy += "; connect-src 'self'"
	}
	return policy
}

// How much of what a page begins with is shown before it is asked for.
const (
	mostSentences = 8
	mostWarnings  = 3
	mostBad       = 5
)

// sentences divides the sentences of the answer into those shown and those unfolded.
func (d *Data) sentences() (first, more []Sentence) {
	for _, s := range d.Answer.Sentences {
		if s.Minor || len(first) == mostSentences {
			more = append(more, s)
		} else {
			first = append(first, s)
		}
	}
	return first, more
}

// group is sentences below one title.
type group struct {
	Title     string
	Sentences []Sentence
}

func grouped(sentences []Sentence) (all []group) {
	for _, s := range sentences {
		if len(all) == 0 || all[len(all)-1].Title != s.Group {
			all = append(all, group{Title: s.Group})
		}
		last := &all[len(all)-1]
		last.Sentences = append(last.Sentences, s)
	}
	return all
}

// plain is the table with its visible columns as text, for readers without scripts.
func (t Table) plain() Table {
	p := Table{Title: t.Title, Note: t.Note, Rows: make([]Row, len(t.Rows))}
	for i, c := range t.Columns {
		if c.Hidden {
			continue
		}
		p.Columns = append(p.Columns, c)
		for k, r := range t.Rows {
			v := r.Values[i]
			v.Text = cmp.Or(v.Text, c.Type.text(v.Number))
			p.Rows[k].Values = append(p.Rows[k].Values, v)
		}
	}
	return p
}

// text writes a number as a reader wants it.
func (m Measure) text(x *Real) string {
	switch {
	case x == nil:
		return units.Missing
	case m == Time:
		return units.Time(float64(*x))
	case m == Share:
		return units.Number(100*float64(*x)) + "%"
	}
	return units.Number(float64(*x))
}

// cellTable is the table of the cells as readers without scripts see it.
func (d *Data) cellTable() Table {
	t := Table{Title: "Results", Note: d.Legend}
	t.Columns = []Column{{Title: "algorithm"}, {Title: "load"}, {Title: "N", Type: Number}, {Title: "runs"}}
	for _, m := range d.Metrics {
		t.Columns = append(t.Columns, Column{Title: m.Title, Type: m.Type, Hidden: m.Minor})
	}
	for _, c := range d.Cells {
		runs := fmt.Sprint(c.Runs)
		if c.Bad > 0 {
			runs = fmt.Sprintf("%d of %d", c.Runs, c.Runs+c.Bad)
		}
		row := Row{Values: []Value{Word(d.Labels[c.Label].Name), Word(d.Loads[c.Load].Brief), Num(float64(c.Nodes)), Word(runs)}}
		for i, e := range c.Values {
			v := Word(units.Missing)
			if e.Count > 0 {
				v = Value{Number: Known(e.Median), Small: e.Against, Class: e.Standing}
				if e.Lo < e.Hi {
					write := d.Metrics[i].Type.text
					v.Small = strings.TrimSpace(write(Known(e.Lo)) + " to " + write(Known(e.Hi)) + " " + e.Against)
				}
			}
			row.Values = append(row.Values, v)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Render writes the page as one HTML file.
func (d *Data) Render() ([]byte, error) {
	// Pictures are made by the program: their text is escaped where they are drawn.
	safe := template.FuncMap{"safe": func(svg string) template.HTML { return template.HTML(svg) }}
	t, err := template.New("page").Funcs(safe).Parse(asset("page.html"))
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	data, err := json.Marshal(d) // escapes <, >, & and the line ends of scripts
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	script := d.scripts()
	first, more := d.sentences()
	view := map[string]any{
		"Data": d, "JSON": template.JS(data), "Script": template.JS(script), "Style": template.CSS(asset("style.css")),
		"Policy": d.policy(script), "Told": grouped(first), "More": grouped(more), "MoreTold": fmt.Sprintf("%d more answers", len(more)),
		"FirstWarnings": d.Warnings[:min(mostWarnings, len(d.Warnings))], "OtherWarnings": d.Warnings[min(mostWarnings, len(d.Warnings)):],
		"FirstBad": d.Bad[:min(mostBad, len(d.Bad))], "OtherBad": d.Bad[min(mostBad, len(d.Bad)):],
	}
	var plain []Table
	if len(d.Cells) > 0 {
		plain = append(plain, d.cellTable().plain())
	}
	for _, t := range d.Tables {
		plain = append(plain, t.plain())
	}
	view["Plain"] = plain
	var out bytes.Buffer
	if err := t.Execute(&out, view); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return out.Bytes(), nil
}
