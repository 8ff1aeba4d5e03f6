package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"dmebench/report/plots"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// view is what the page's template is filled with.
type view struct {
	Title, Started string
	Style          template.CSS
	Verdict        verdict
	Families       []setView // of figures alone
	Sets           []setView
	Scalings       []scalingView
	Warnings       []warning
	Environment    []fact
	YAML           string
}

type setView struct {
	ID, Title string
	Figures   []figureView
	Elsewhere string // where figures stand that are not here
	Table     table
	Kinds     []kindRow
	Sizes     []int
}

type scalingView struct {
	ID, Title string
	Figures   []figureView
	Rows      []growthRow
}

type figureView struct {
	Name, Title string
	SVG         template.HTML
	Formats     []plots.Format
}

// view draws the figures and says what stands on the page.
func (c *collection) view(w *output) (v view, err error) {
	for i, s := range c.sets {
		shown := setView{ID: fmt.Sprintf("set-%d", i+1), Title: s.String(), Table: c.table(s), Kinds: s.kinds()}
		for _, here := range s.spots {
			shown.Sizes = append(shown.Sizes, here.nodes)
		}
		if shown.Figures, err = w.draw(c.setFigures(s)); err != nil {
			return v, err
		}
		if f := c.familyOf(s); f != nil {
			shown.Elsewhere = f.title
		}
		v.Sets = append(v.Sets, shown)
	}
	for i, f := range c.families {
		shown := setView{ID: fmt.Sprintf("family-%d", i+1), Title: f.title}
		var figures []plots.Figure
		for _, ch := range f.charts {
			figures = append(figures, c.figures(ch)...)
		}
		if shown.Figures, err = w.draw(figures); err != nil {
			return v, err
		}
		v.Families = append(v.Families, shown)
	}
	for i, sc := range c.scalings() {
		shown := scalingView{ID: fmt.Sprintf("scaling-%d", i+1), Title: sc.title, Rows: sc.rows}
		if shown.Figures, err = w.draw(sc.figures); err != nil {
			return v, err
		}
		v.Scalings = append(v.Scalings, shown)
	}
	v.Title = cmp.Or(c.in.Header.Experiment.Name, "Experiment")
	v.YAML, v.Style = strings.TrimSpace(c.in.Header.File), c.style()
	v.Verdict, v.Warnings, v.Environment = c.verdict(), c.warningList(), c.environment()
	if !c.in.Header.Started.IsZero() {
		v.Started = c.in.Header.Started.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return v, nil
}

// page fills the template.
func (v view) page() ([]byte, error) {
	t, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, v)
	return out.Bytes(), err
}

// style is the page's style sheet with the colours of the series.
func (c *collection) style() template.CSS {
	var b strings.Builder
	b.WriteString(pageCSS)
	for i := range c.labels {
		fmt.Fprintf(&b, ".s%d { background: %s; }\n", i, plots.Color(i))
	}
	return template.CSS(b.String())
}
