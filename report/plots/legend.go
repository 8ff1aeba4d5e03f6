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

// legend stands below the figure, in one or two blocks. Where most series have a
// prediction it stands beside its series, and further ones in lines of their own.
// Where few have, all of them stand in a block below, each with the name of its
// series.
type legend struct {
	face   font.Face
	blocks []block
}

// block is lines that fill as many columns as there is room for.
type block struct {
	lines   [][2]entry
	series  vg.Length // width of the first part of a line
	column  vg.Length // width of a whole line
	columns int
	rows    int
}

// told is a series with what is predicted of it.
type told struct {
	series      Series
	predictions []Series
}

func (f Figure) legend(face font.Face, width vg.Length) legend {
	entryOf := func(s Series) entry {
		e := entry{printable(s.Label), s.line(), s.glyph()}
		// Over names no line leads from point to point.
		if s.Role == Dots || f.X.Kind == Names && (s.Role == Measured || s.Role == Tail) {
			e.line = draw.LineStyle{}
		}
		return e
	}
	var first, second block
	all, predicted := f.told(), 0
	for _, t := range all {
		if len(t.predictions) > 0 {
			predicted++
		}
	}
	beside := 2*predicted >= len(all)
	for _, t := range all {
		if t.series.Label == "" { // predictions of something that needs no name here
			for _, p := range t.predictions {
				second.lines = append(second.lines, [2]entry{entryOf(p)})
			}
			continue
		}
		line := [2]entry{entryOf(t.series)}
		for i, p := range t.predictions {
			e := entryOf(p)
			switch {
			case !beside:
				e.label = printable(t.series.Label) + ": " + e.label
				second.lines = append(second.lines, [2]entry{e})
			case i == 0:
				line[1] = e
			default:
				first.lines = append(first.lines, line)
				line = [2]entry{{}, e}
			}
		}
		first.lines = append(first.lines, line)
	}
	for _, k := range f.Keys {
		second.lines = append(second.lines, [2]entry{entryOf(Series{Label: k.Label, Role: k.Role, Style: Plain})})
	}
	l := legend{face: face}
	for _, b := range []block{first, second} {
		if len(b.lines) > 0 {
			b.fit(face, width)
			l.blocks = append(l.blocks, b)
		}
	}
	return l
}

// told returns the series that can be seen, each once though it may be in several
// panels, with the predictions that follow it.
func (f Figure) told() []told {
	type look struct {
		label string
		style int
		role  Role
	}
	place := make(map[look]int) // in all; of a prediction, -1
	var all []told
	for _, p := range f.panels() {
		current := -1
		for _, s := range p.Series {
			if s.Label == "" || !s.drawable() {
				continue
			}
			this := look{s.Label, s.Style, s.Role}
			i, known := place[this]
			prediction := (s.Role == Exact || s.Role == Bound) && s.Style != Plain
			switch {
			case !known && prediction && current >= 0:
				place[this] = -1
				all[current].predictions = append(all[current].predictions, s)
			case !known && prediction:
				place[this] = -1
				all = append(all, told{predictions: []Series{s}})
			case !known:
				place[this], current = len(all), len(all)
				all = append(all, told{series: s})
			case i >= 0:
				current = i
			}
		}
	}
	return all
}

// fit shortens labels and chooses the number of columns.
func (b *block) fit(face font.Face, width vg.Length) {
	const thumb = thumbWidth + thumbGap
	widest := func(part int, limit vg.Length) vg.Length {
		var most vg.Length
		for i := range b.lines {
			e := &b.lines[i][part]
			if e.label != "" {
				e.label = elide(face, e.label, limit-thumb)
				most = max(most, thumb+face.Width(e.label))
			}
		}
		return most
	}
	predicted := false
	for _, line := range b.lines {
		predicted = predicted || line[1].label != ""
	}
	if predicted {
		b.series = widest(0, 0.4*width) + columnGap
		b.column = b.series + widest(1, width-b.series) + columnGap
	} else {
		b.series = widest(0, width) + columnGap
		b.column = b.series
	}
	columns := max(1, int((width+columnGap)/b.column))
	b.rows = (len(b.lines) + columns - 1) / columns
	b.columns = (len(b.lines) + b.rows - 1) / b.rows
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
		for i, line := range b.lines {
			x := c.Min.X + vg.Length(i/b.rows)*b.column
			y := top - vg.Length(i%b.rows)*lineHeight - lineHeight/2
			l.entry(c, line[0], x, y)
			l.entry(c, line[1], x+b.series, y)
		}
		top -= vg.Length(b.rows) * lineHeight
	}
}

func (l legend) entry(c draw.Canvas, e entry, x, y vg.Length) {
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
