package report

import (
	"cmp"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"dmebench/internal/platform/fileio"
	"dmebench/internal/platform/layout"
	"dmebench/report/cells"
	"dmebench/report/plots"
	"dmebench/units"
)

// folder is that of a report. What is put into it is written when all of it is there.
type folder struct {
	formats []plots.Format
	size    plots.Size
	only    []string
	taken   units.Names     // of all figures, drawn or not
	names   []string        // likewise, in order
	found   map[string]bool // patterns that some name matches
	drawn   []figureView
	files   []File
	err     error // the first one
}

// UnknownFigures is the error of a report that was asked for figures which it does not
// have.
type UnknownFigures struct {
	Patterns []string // that no name matches
	Names    []string // of all figures that there are, in the order of the page
}

func (e *UnknownFigures) Error() string {
	return fmt.Sprintf("report: no figure is called %s; there are: %s", strings.Join(e.Patterns, " or "), strings.Join(e.Names, ", "))
}

// unknown returns an error if a pattern matches no figure.
func (f *folder) unknown() error {
	var patterns []string
	for _, pattern := range f.only {
		if !f.found[pattern] {
			patterns = append(patterns, pattern)
		}
	}
	if len(patterns) > 0 {
		return &UnknownFigures{patterns, f.names}
	}
	return nil
}

// wanted reports whether a picture is to be drawn.
func (f *folder) wanted(p picture) bool {
	if f.only == nil {
		return p.leftOut == ""
	}
	wanted := false
	for _, pattern := range f.only {
		if ok, err := path.Match(pattern, p.Name); ok && err == nil {
			f.found[pattern], wanted = true, true
		}
	}
	return wanted
}

// draw draws pictures and returns them as the page shows them, and what it does not show
// by the reasons.
func (f *folder) draw(pictures []picture) (shown []figureView, left []leftOut) {
	for _, p := range pictures {
		p.Name = f.taken.Take(p.Name)
		f.names = append(f.names, p.Name)
		if !f.wanted(p) {
			if p.leftOut != "" && f.only == nil {
				left = append(left, leftOut{p.leftOut, []string{p.Name}})
			}
			continue
		}
		p.read = cmp.Or(p.read, strings.TrimSpace(p.Caption))
		p.Caption = p.caption()
		v := f.render(p.Figure)
		v.Read, v.Predicted = p.read, p.predictions()
		shown = append(shown, v)
	}
	f.drawn = append(f.drawn, shown...)
	var byReason []leftOut
	for _, same := range cells.Grouped(left, func(l leftOut) string { return l.Reason }) {
		for _, l := range same[1:] {
			same[0].Names = append(same[0].Names, l.Names...)
		}
		byReason = append(byReason, same[0])
	}
	return shown, byReason
}

// drawAll draws figures that all have something to say.
func (f *folder) drawAll(figures []plots.Figure) []figureView {
	var pictures []picture
	for _, figure := range figures {
		pictures = append(pictures, picture{Figure: figure})
	}
	shown, _ := f.draw(pictures)
	return shown
}

// render draws a figure for the page and for its files.
func (f *folder) render(figure plots.Figure) figureView {
	page, err := figure.Render(plots.SVG)
	files := page
	if err == nil && (f.size != plots.Size{} || !slices.Equal(f.formats, []plots.Format{plots.SVG})) {
		files, err = figure.RenderAs(f.size, f.formats...)
	}
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("report: %w", err)
	}
	for _, format := range f.formats {
		f.put(filepath.Join("plots", figure.Name+"."+string(format)), files[format])
	}
	// A figure's text is escaped where it is drawn.
	return figureView{Name: figure.Name, Title: figure.Title, Caption: figure.Caption, SVG: template.HTML(page[plots.SVG]), Formats: f.formats}
}

// captionsText lists the captions of the figures: a name, and below it the text.
func (f *folder) captionsText() []byte {
	var b strings.Builder
	for i, d := range f.drawn {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s\n%s\n", d.Name, d.Caption)
	}
	return []byte(b.String())
}

// captionsTeX has a figure environment for each figure, to be copied into a paper.
func (f *folder) captionsTeX() []byte {
	var b strings.Builder
	b.WriteString("% Figures of a report: copy those that you want. They need \\usepackage{graphicx}.\n")
	for _, d := range f.drawn {
		fmt.Fprintf(&b, "\n\\begin{figure}\n  \\centering\n  \\includegraphics{plots/%s}\n  \\caption{%s}\n  \\label{fig:%s}\n\\end{figure}\n",
			d.Name, layout.LaTeX(d.Caption), d.Name)
	}
	return []byte(b.String())
}

// put keeps a file of the folder until it is written.
func (f *folder) put(name string, data []byte) { f.files = append(f.files, File{name, data}) }

// writeAll replaces files of a folder, each as a whole or not at all.
func writeAll(dir string, files []File) error {
	made := make(map[string]bool)
	for _, file := range files {
		path := filepath.Join(dir, file.Name)
		if dir := filepath.Dir(path); !made[dir] {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return fmt.Errorf("report: %w; choose another folder", err)
			}
			made[dir] = true
		}
		if err := fileio.Write(path, file.Data); err != nil {
			return fmt.Errorf("report: write %s: %w; is its folder writable, and is there room on the disk?", path, err)
		}
	}
	return nil
}

// figureView is a figure that was drawn.
type figureView struct {
	Name, Title string
	Caption     string // the whole, for where the title does not stand above it
	Read        string // how to read it
	Predicted   string // who predicts what is drawn with it
	SVG         template.HTML
	Formats     []plots.Format
}
