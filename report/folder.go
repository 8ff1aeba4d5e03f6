package report

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dmebench/internal/platform/fileio"
	"dmebench/internal/platform/layout"
	"dmebench/report/page"
	"dmebench/report/plots"
	"dmebench/units"
)

// stills draws the first figures for the part of the page that needs no scripts.
func (c *collection) stills() (all []page.Still, err error) {
	for _, f := range c.firstFigures() {
		drawn, failed := f.RenderAs(plots.Size{Bare: true}, plots.SVG) // the page has its title
		err = cmp.Or(err, failed)
		all = append(all, page.Still{Name: f.Name, Title: f.Title, Caption: f.Caption, SVG: string(drawn[plots.SVG])})
	}
	return all, err
}

// plotFiles draws figures for papers, those of [Input].Only or the first ones, with their
// captions, and writes the results as tables for LaTeX.
func (c *collection) plotFiles() (files []File, err error) {
	figures := c.firstFigures()
	if c.in.Only != nil {
		if figures, err = c.onlyFigures(c.in.Only); err != nil {
			return nil, err
		}
	}
	var text, tex strings.Builder
	tex.WriteString("% Figures of a report: copy those that you want. They need \\usepackage{graphicx}.\n")
	taken := make(units.Names)
	for i, f := range figures {
		f.Name = taken.Take(f.Name)
		drawn, err := f.RenderAs(c.in.Size, c.in.Formats...)
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		for _, format := range c.in.Formats {
			files = append(files, File{filepath.Join("plots", f.Name+"."+string(format)), drawn[format]})
		}
		if i > 0 {
			text.WriteString("\n")
		}
		fmt.Fprintf(&text, "%s\n%s\n", f.Name, f.Caption)
		fmt.Fprintf(&tex, "\n\\begin{figure}\n  \\centering\n  \\includegraphics{plots/%s}\n  \\caption{%s}\n  \\label{fig:%s}\n\\end{figure}\n",
			f.Name, layout.LaTeX(f.Caption), f.Name)
	}
	for _, table := range c.texTables() {
		files = append(files, File{filepath.Join("tables", table.Name), table.Data})
	}
	return append(files, File{"captions.txt", []byte(text.String())}, File{"captions.tex", []byte(tex.String())}), nil
}

// writeAll replaces files of a folder, each as a whole or not at all.
func writeAll(dir string, files []File) error {
	for _, file := range files {
		path := filepath.Join(dir, file.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return fmt.Errorf("report: %w; choose another folder", err)
		}
		if err := fileio.Write(path, file.Data); err != nil {
			return fmt.Errorf("report: write %s: %w; is its folder writable, and is there room on the disk?", path, err)
		}
	}
	return nil
}
