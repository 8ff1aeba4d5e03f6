package plots

import (
	"fmt"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of the legend, in points.
const (
	thumbWidth = 28
	thumbGap   = 5
	columnGap  = 14
	lineHeight = 13
)

// entry is a series in the legend.
type entry struct {
	label string
	line  draw.LineStyle
	glyph draw.GlyphStyle
}

// legend stands below the figure in two blocks: the series, and below them the
// figure's keys.
type legend struct {
	face   font.Face
	blocks []block
}

// block is entries that fill as many columns as there is room for.
type block struct {
	entries []entry
	column  vg.Length // width of one
	rows    int
}

// legend lists every series that can be seen once, though it may be in several
// panels. What is predicted is written at its curve and not here.
func (f Figure) legend(face font.Face, width vg.Length) legend {
	listed := make(map[string]bool)
	var series, keys []entry
	for _, p := range f.panels() {
		for _, s := range p.Series {
			this := fmt.Sprint(s.Label, s.Style, s.Role)
			if s.Label == "" || s.predicts() || !s.drawable() || listed[this] {
				continue
			}
			listed[this] = true
			e := entry{printable(s.Label), s.line(), s.glyph()}
			// Over names no line leads from point to point.
			if s.Role == Dots || p.X.Kind == Names && s.Role == Measured {
				e.line = draw.LineStyle{}
			}
			series = append(series, e)
		}
	}
	for _, k := range f.Keys {
		s := Series{Role: k.Role, Style: Plain}
		keys = append(keys, entry{printable(k.Label), s.line(), s.glyph()})
	}
	l := legend{face: face}
	for _, entries := range [][]entry{series, keys} {
		if len(entries) > 0 {
			l.blocks = append(l.blocks, fit(entries, face, width))
		}
	}
	return l
}

// fit shortens labels and chooses the number of columns.
func fit(entries []entry, face font.Face, width vg.Length) block {
	const thumb = thumbWidth + thumbGap
	b := block{entries: entries}
	for i := range entries {
		entries[i].label = elide(face, entries[i].label, width-thumb)
		b.column = max(b.column, thumb+face.Width(entries[i].label)+columnGap)
	}
	columns := max(1, int((width+columnGap)/b.column))
	b.rows = (len(entries) + columns - 1) / columns
	return b
}

func (l legend) height() vg.Length {
	rows := 0
	for _, b := range l.blocks {
		rows += b.rows
	}
	return vg.Length(rows) * lineHeight
}

// draw puts the legend at the top left of c, column by column.
func (l legend) draw(c draw.Canvas) {
	top := c.Max.Y
	for _, b := range l.blocks {
		for i, e := range b.entries {
			x := c.Min.X + vg.Length(i/b.rows)*b.column
			y := top - vg.Length(i%b.rows)*lineHeight - lineHeight/2
			if e.line.Width > 0 {
				c.StrokeLine2(e.line, x, y, x+thumbWidth, y)
			}
			c.DrawGlyphNoClip(e.glyph, vg.Point{X: x + thumbWidth/2, Y: y})
			c.SetColor(ink())
			c.FillString(l.face, vg.Point{X: x + thumbWidth + thumbGap, Y: y - 0.35*l.face.Font.Size}, e.label)
		}
		top -= vg.Length(b.rows) * lineHeight
	}
}
