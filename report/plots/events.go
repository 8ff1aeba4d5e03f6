package plots

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shades grounds the time that an event lasts.
func (p pen) shades() {
	for _, e := range p.events {
		if e.Lasts > 0 {
			from, to := p.toX(e.At), p.toX(min(e.At+e.Lasts, p.x.max))
			p.FillPolygon(shade(), corners(vg.Rectangle{Min: vg.Point{X: from, Y: p.Min.Y}, Max: vg.Point{X: to, Y: p.Max.Y}}))
		}
	}
}

// instants draws a line where an event begins.
func (p pen) instants() {
	for _, e := range p.events {
		p.StrokeLine2(instant(), p.toX(e.At), p.Min.Y, p.toX(e.At), p.Max.Y)
	}
}

func instant() draw.LineStyle {
	return draw.LineStyle{Color: faint(), Width: 0.8, Dashes: []vg.Length{3, 2}}
}

// labelRow is the height of a row of events' labels; there are at most so many.
const (
	labelRow  = 11
	labelRows = 4
)

// rows is how many rows of labels there may be above the panel.
func (m marks) rows() int { return min(len(m.events), labelRows) }

// eventLabels writes the labels of events above the data, each beside the end of its line in
// the first row that has room; what finds none is left out.
func (p pen) eventLabels() {
	ends := make([]vg.Length, p.rows())
	for _, e := range p.events {
		text := elide(p.face, printable(e.Label), p.Max.X-p.Min.X)
		x := p.toX(e.At)
		from := min(x+3, p.Max.X-p.face.Width(text))
		row := slices.IndexFunc(ends, func(end vg.Length) bool { return end < from })
		if row < 0 || text == "" {
			continue
		}
		ends[row] = from + p.face.Width(text) + 6
		y := p.Max.Y + vg.Length(row)*labelRow
		p.StrokeLine2(instant(), x, p.Max.Y, x, y+labelRow-2)
		p.SetColor(ink())
		p.FillString(p.face, vg.Point{X: from, Y: y + 3}, text)
	}
}
