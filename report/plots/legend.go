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

// legend stands below the figure, in as many columns as there is room for.
type legend struct {
	face    font.Face
	entries []entry
	column  vg.Length // width of one
	rows    int
}

// legend lists every series that can be seen once, though it may be in several panels, and a
// prediction of several series once.
func (f Figure) legend(face font.Face, width vg.Length) legend {
	const thumb = thumbWidth + thumbGap
	l := legend{face: face, column: thumb + columnGap}
	listed := make(map[string]bool)
	for _, p := range f.panels() {
		for _, s := range p.Series {
			this := fmt.Sprint(s.Label, s.Role)
			if !s.predicts() {
				this += fmt.Sprint(s.Style)
			}
			if s.Label == "" || !s.drawable() || listed[this] {
				continue
			}
			listed[this] = true
			e := entry{elide(face, printable(s.Label), width-thumb), s.line(), s.glyph()}
			if p.X.Kind == Names && s.Role == Measured {
				e.line = draw.LineStyle{} // over names no line leads from point to point
			}
			l.entries = append(l.entries, e)
			l.column = max(l.column, thumb+face.Width(e.label)+columnGap)
		}
	}
	columns := max(1, int((width+columnGap)/l.column))
	l.rows = (len(l.entries) + columns - 1) / columns
	return l
}

func (l legend) height() vg.Length { return vg.Length(l.rows) * lineHeight }

// draw puts the legend at the top left of c, column by column.
func (l legend) draw(c draw.Canvas) {
	for i, e := range l.entries {
		x := c.Min.X + vg.Length(i/l.rows)*l.column
		y := c.Max.Y - vg.Length(i%l.rows)*lineHeight - lineHeight/2
		if e.line.Width > 0 {
			c.StrokeLine2(e.line, x, y, x+thumbWidth, y)
		}
		c.DrawGlyphNoClip(e.glyph, vg.Point{X: x + thumbWidth/2, Y: y})
		c.SetColor(ink())
		c.FillString(l.face, vg.Point{X: x + thumbWidth + thumbGap, Y: y - 0.35*l.face.Font.Size}, e.label)
	}
}
