package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"path/filepath"
	"slices"
	"strings"

	"dmebench/report/plots"
	"dmebench/report/units"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// What a page of runs on several hosts has more.
//
//go:embed hosts.html
var hostsHTML string

//go:embed hosts.css
var hostsCSS string

// view is what the page's template is filled with.
type view struct {
	Title, Started string
	Style          template.CSS
	Verdict        verdict
	Answer         answer
	Families       []section // of figures alone
	Sets           []section
	Scalings       []section
	Hosts          []hostsView
	Warnings       []warning
	Environment    []fact
	Faults         bool // some runs were disturbed on purpose
	YAML           string
}

// section is a part of the page: figures, and for some the numbers behind them.
type section struct {
	ID, Title string
	Figures   []figureView
	LeftOut   []leftOut // figures that say nothing
	Drawn     bool      // of a set: some of its runs stand in a figure
	Table     table
	TeX       string // the name of its file with the table for LaTeX
	Kinds     []kindRow
	Recovery  *recovery // of a set with faults
	Sizes     []int
	Rows      []growthRow // of a scaling
}

type figureView struct {
	Name, Title string
	Caption     string // the whole, for where the title does not stand above it
	Read        string // how to read it
	Predicted   string // who predicts what is drawn with it
	SVG         template.HTML
	Formats     []plots.Format
}

// view draws the figures and says what stands on the page.
func (c *collection) view(w *folder) view {
	var v view
	v.Answer = c.answer(w)
	show := func(id, title string, pictures []picture) {
		shown := section{ID: id, Title: title}
		shown.Figures, shown.LeftOut = w.draw(together(pictures))
		if len(shown.Figures)+len(shown.LeftOut) > 0 {
			v.Families = append(v.Families, shown)
		}
	}
	show("over-n", c.titleOverNodes(), c.overNodes())
	for _, same := range Grouped(c.families, func(f *family) string { return f.axis }) {
		var pictures []picture
		for _, f := range same {
			for _, ch := range f.charts {
				pictures = slices.Concat(pictures, c.pictures(ch), c.recoveryPictures(ch))
			}
		}
		show("over-"+units.Slug(same[0].charts[0].against), "Against "+same[0].axis, pictures)
	}
	show("distributions", "Distributions, the course of the runs, and who did the work", c.acrossSets())
	tex := c.texTables()
	for i, s := range c.sets {
		shown := section{ID: fmt.Sprintf("set-%d", i+1), Title: s.String(), Table: c.table(s), TeX: tex[i].Name, Kinds: s.kinds()}
		w.put(filepath.Join("tables", tex[i].Name), tex[i].Data)
		shown.Figures, shown.LeftOut = w.draw(c.ofSet(s))
		for _, here := range s.spots {
			shown.Sizes = append(shown.Sizes, here.nodes)
		}
		if shown.Recovery = c.recovery(s, w); shown.Recovery != nil {
			v.Faults = true
		}
		shown.Drawn = slices.ContainsFunc(s.inOrder(), func(cell *cell) bool { return len(cell.good) > 0 })
		v.Sets = append(v.Sets, shown)
	}
	for i, sc := range c.scalings() {
		shown := section{ID: fmt.Sprintf("scaling-%d", i+1), Title: sc.title, Rows: sc.rows}
		shown.Figures, shown.LeftOut = w.draw(sc.pictures)
		v.Scalings = append(v.Scalings, shown)
	}
	v.Hosts = c.hosts(w)
	v.Title = cmp.Or(c.in.Header.Experiment.Name, "Experiment")
	v.YAML, v.Style = strings.TrimSpace(c.in.Header.File), c.style()
	v.Verdict, v.Warnings, v.Environment = c.verdict(), c.warningList(), c.environment()
	if !c.in.Header.Started.IsZero() {
		v.Started = c.in.Header.Started.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return v
}

// page fills the template.
func (v view) page() ([]byte, error) {
	t, err := template.New("page").Parse(pageHTML)
	if err == nil {
		_, err = t.New("hosts").Parse(hostsHTML)
	}
	if err == nil {
		_, err = t.New("answer").Parse(answerHTML)
	}
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, v)
	return out.Bytes(), err
}

// mostWarnings is how many kinds of warnings are told before the others are folded.
const mostWarnings = 3

// FirstWarnings are the most frequent ones.
func (v view) FirstWarnings() []warning { return v.Warnings[:min(mostWarnings, len(v.Warnings))] }

// OtherWarnings are those after the first.
func (v view) OtherWarnings() []warning { return v.Warnings[min(mostWarnings, len(v.Warnings)):] }

// style is the page's style sheet with the colours of the series.
func (c *collection) style() template.CSS {
	var b strings.Builder
	b.WriteString(pageCSS + answerCSS)
	if c.onHosts() {
		b.WriteString(hostsCSS)
	}
	for i := range c.labels {
		fmt.Fprintf(&b, ".s%d { background: %s; }\n", i, plots.Color(i))
	}
	return template.CSS(b.String())
}
