package report

import (
	"bytes"
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

// page fills the template. drawn holds the figures of each set, families those of
// each family, grown those of each of the scalings, formats the files that there
// are of each.
func (c *collection) page(drawn, families [][]drawing, scalings []scaling, grown [][]drawing, formats []plots.Format) ([]byte, error) {
	v := view{
		Title: c.in.Title, YAML: strings.TrimSpace(c.in.SpecYAML), Style: c.style(),
		Verdict: c.verdict(), Warnings: c.warningList(), Environment: c.environment(),
	}
	if v.Title == "" {
		v.Title = "Experiment"
	}
	if !c.in.Started.IsZero() {
		v.Started = c.in.Started.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	for i, s := range c.sets {
		shown := setView{
			ID: fmt.Sprintf("set-%d", i+1), Title: s.String(), Table: c.table(s), Kinds: c.kinds(s), Sizes: s.sizes,
		}
		shown.Figures = viewFigures(drawn[i], formats)
		if f := c.familyOf(s); f != nil {
			shown.Elsewhere = f.title()
		}
		v.Sets = append(v.Sets, shown)
	}
	for i, sc := range scalings {
		v.Scalings = append(v.Scalings, scalingView{
			ID: fmt.Sprintf("scaling-%d", i+1), Title: sc.title, Figures: viewFigures(grown[i], formats), Rows: sc.rows,
		})
	}
	for i, f := range c.families {
		v.Families = append(v.Families, setView{
			ID: fmt.Sprintf("family-%d", i+1), Title: f.title(),
			Figures: viewFigures(families[i], formats),
		})
	}
	t, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, v)
	return out.Bytes(), err
}

func viewFigures(drawn []drawing, formats []plots.Format) []figureView {
	var views []figureView
	for _, d := range drawn {
		// A figure's text is escaped where it is drawn.
		views = append(views, figureView{d.figure.Name, d.figure.Title, template.HTML(d.svg), formats})
	}
	return views
}

// style is the page's style sheet with the colours of the series.
func (c *collection) style() template.CSS {
	var b strings.Builder
	b.WriteString(pageCSS)
	for i := range c.labels {
		fmt.Fprintf(&b, ".s%d { background: %s; }\n", i, plots.Color(i))
	}
	b.WriteString("@media screen and (prefers-color-scheme: dark) {\n")
	for i := range c.labels {
		fmt.Fprintf(&b, "  .s%d { background: %s; }\n", i, plots.ColorInTheDark(i))
	}
	for _, pair := range plots.InTheDark() {
		for _, what := range []string{"fill", "stroke"} {
			fmt.Fprintf(&b, "  figure svg [style*=\"%s:%s\"] { %s: %s !important; }\n", what, pair[0], what, pair[1])
		}
	}
	b.WriteString("}\n")
	return template.CSS(b.String())
}
