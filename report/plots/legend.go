package plots

import (
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

// entry is a series in the legend; one without a label is blank.
type entry struct {
	label string
	line  draw.LineStyle
	glyph draw.GlyphStyle
}

// legend stands below the figure. A line of it is a series and, beside it, a
// prediction for the series; further predictions follow in lines of their own.
// The lines fill as many columns as there is room for.
type legend struct {
	face    font.Face
	lines   [][2]entry
	series  vg.Length // width of the first part of a line
	column  vg.Length // width of a whole line
	columns int
	rows    int
}

func (f Figure) legend(face font.Face, width vg.Length) legend {
	l := legend{face: face}
	entryOf := func(s Series) entry {
		e := entry{printable(s.Label), s.line(), s.glyph()}
		// Over names no line leads from point to point.
		if s.Role == Dots || f.X.Kind == Names && (s.Role == Measured || s.Role == Tail) {
			e.line = draw.LineStyle{}
		}
		return e
	}
	for _, s := range f.Series {
		switch prediction := s.Role == Exact || s.Role == Bound; {
		case s.Label == "" || !s.drawable():
		case !prediction:
			l.lines = append(l.lines, [2]entry{entryOf(s)})
		case len(l.lines) > 0 && l.lines[len(l.lines)-1][1].label == "":
			l.lines[len(l.lines)-1][1] = entryOf(s)
		default:
			l.lines = append(l.lines, [2]entry{{}, entryOf(s)})
		}
	}
	for _, k := range f.Keys {
		l.lines = append(l.lines, [2]entry{entryOf(Series{Label: k.Label, Role: k.Role, Style: grey})})
	}
	if len(l.lines) == 0 {
		return l
	}
	l.fit(width)
	return l
}

// fit shortens labels and chooses the number of columns.
func (l *legend) fit(width vg.Length) {
	const thumb = thumbWidth + thumbGap
	widest := func(part int, limit vg.Length) vg.Length {
		var most vg.Length
		for i := range l.lines {
			e := &l.lines[i][part]
			if e.label != "" {
				e.label = elide(l.face, e.label, limit-thumb)
				most = max(most, thumb+l.face.Width(e.label))
			}
		}
		return most
	}
	predicted := false
	for _, line := range l.lines {
		predicted = predicted || line[1].label != ""
	}
	if predicted {
		l.series = widest(0, 0.4*width) + columnGap
		l.column = l.series + widest(1, width-l.series) + columnGap
	} else {
		l.series = widest(0, width) + columnGap
		l.column = l.series
	}
	columns := max(1, int((width+columnGap)/l.column))
	l.rows = (len(l.lines) + columns - 1) / columns
	l.columns = (len(l.lines) + l.rows - 1) / l.rows
}

// drawable reports whether any point of the series can be shown.
func (s Series) drawable() bool {
	for _, p := range s.Points {
		if finite(p.X) && finite(p.Y) {
			return true
		}
	}
	return false
}

func (l legend) height() vg.Length { return vg.Length(l.rows) * lineHeight }

// draw puts the legend at the top left of c, column by column.
func (l legend) draw(c draw.Canvas) {
	for i, line := range l.lines {
		x := c.Min.X + vg.Length(i/l.rows)*l.column
		y := c.Max.Y - vg.Length(i%l.rows)*lineHeight - lineHeight/2
		l.drawEntry(c, line[0], x, y)
		l.drawEntry(c, line[1], x+l.series, y)
	}
}

func (l legend) drawEntry(c draw.Canvas, e entry, x, y vg.Length) {
	if e.label == "" {
		return
	}
	if e.line.Width > 0 {
		c.StrokeLine2(e.line, x, y, x+thumbWidth, y)
	}
	c.DrawGlyphNoClip(e.glyph, vg.Point{X: x + thumbWidth/2, Y: y})
	c.SetColor(ink())
	c.FillString(l.face, vg.Point{X: x + thumbWidth + thumbGap, Y: y - 0.35*l.face.Font.Size}, e.label)
}
