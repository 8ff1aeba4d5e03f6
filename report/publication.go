package report

import (
	"path/filepath"
	"slices"

	"dmebench/report/plots"
	"dmebench/units"
)

// mostFigures is how many figures are drawn unless others are asked for.
const mostFigures = 12

// drawnFigure is a figure as the part of the page that needs no scripts shows it.
type drawnFigure struct {
	Name, Title, Caption string
	SVG                  string // its text is escaped
}

// pageFigures draws the figures that the experiment asks for, or messages, waiting time,
// throughput and synchronization delay against its numbers of nodes: at most mostFigures.
func (c *collection) pageFigures() ([]drawnFigure, error) {
	f := folder{formats: []plots.Format{plots.SVG}, taken: make(units.Names), found: make(map[string]bool)}
	shown, _ := f.draw(together(c.overNodes()))
	var all []drawnFigure
	for _, s := range shown[:min(len(shown), mostFigures)] {
		all = append(all, drawnFigure{s.Name, s.Title, s.Caption, string(s.SVG)})
	}
	return all, f.err
}

// plotFiles draws the same figures, or those of [Input].Only, as files for papers, with
// their captions, and writes the results as tables for LaTeX.
func (c *collection) plotFiles() ([]File, error) {
	f := folder{formats: c.in.Formats, size: c.in.Size, only: c.in.Only, taken: make(units.Names), found: make(map[string]bool)}
	f.draw(together(c.overNodes()))
	for _, family := range c.families {
		for _, ch := range family.charts {
			f.draw(slices.Concat(c.pictures(ch), c.recoveryPictures(ch)))
		}
	}
	f.draw(together(c.acrossSets()))
	for _, s := range c.sets {
		f.draw(append(c.ofSet(s), c.coursePictures(s)...))
	}
	for _, sc := range c.scalings() {
		f.draw(sc.pictures)
	}
	f.put("captions.txt", f.captionsText())
	f.put("captions.tex", f.captionsTeX())
	for _, t := range c.texTables() {
		f.put(filepath.Join("tables", t.Name), t.Data)
	}
	if err := f.unknown(); err != nil {
		return nil, err
	}
	return f.files, f.err
}
