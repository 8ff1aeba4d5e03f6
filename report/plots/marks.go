package plots

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// marks draws the series of a figure. It is a plotter of its own because a
// line here may have gaps, and because all markers must lie above all lines.
type marks struct {
	series []Series
	x, y   scale
	width  float64 // about that of the axis, in points
}

// Coinciding series are drawn side by side, each with its predictions: shifted by
// dodge points from the next, all together by at most the part dodgeAll of the
// distance between two values. Over a single value or a name there is room for
// more.
const (
	dodge, dodgeAll         = 3.4, 0.4
	dodgeAlone, dodgeAllOne = 26, 0.85
	dodgeAllNames           = 0.65 // divided among them: what is left keeps them apart
)

// spacious reports whether there is room beside the places of the abscissa.
func (m marks) spacious() bool { return len(m.x.ticks) == 1 || m.x.names > 0 }

// dodged lists the styles of the series to be drawn side by side, and how far
// from one another.
func (m marks) dodged() (styles []int, step vg.Length) {
	for _, s := range m.series {
		beside := s.Role == Measured || s.Role == Dots && m.x.ranks
		if beside && s.drawable() && !slices.Contains(styles, s.Style) {
			styles = append(styles, s.Style)
		}
	}
	each, all := float64(dodge), dodgeAll*m.x.closest()*m.width
	if m.spacious() {
		each, all = dodgeAlone, dodgeAllOne*m.width
		if m.x.names > 0 {
			all = dodgeAllNames * m.width / float64(m.x.names)
		}
	}
	return styles, vg.Length(min(each, all/float64(max(1, len(styles)-1))))
}

// shift returns how far a series' points stand from their place.
func (m marks) shift(s Series) vg.Length {
	if s.Role == Layer || s.Role == Curve {
		return 0
	}
	styles, step := m.dodged()
	i := slices.Index(styles, s.Style)
	if i < 0 || len(styles) < 2 {
		return 0
	}
	return step * vg.Length(float64(i)-float64(len(styles)-1)/2)
}

// Plot draws from back to front: bars, tails, measured lines, predictions upon
// them, error bars, markers.
func (m marks) Plot(c draw.Canvas, p *plot.Plot) {
	m.grid(&c, p)
	for _, s := range m.series {
		if s.Role == Layer {
			m.layer(&c, p, s)
		}
	}
	for _, role := range []Role{Tail, Curve, Measured, Bound, Exact} {
		for _, s := range m.series {
			if s.Role == role {
				m.lines(&c, p, s)
			}
		}
	}
	for _, s := range m.series {
		m.bars(&c, p, s)
	}
	// Where median and tail are equal, the median is seen.
	for _, s := range m.series {
		if s.Role == Tail {
			m.glyphs(&c, p, s)
		}
	}
	for _, s := range m.series {
		if s.Role != Tail && s.Role != Layer {
			m.glyphs(&c, p, s)
		}
	}
}

func (m marks) glyphs(c *draw.Canvas, p *plot.Plot, s Series) {
	style := s.glyph()
	for _, pt := range s.Points {
		if at, ok := m.placeOf(c, p, s, pt.X, pt.Y); ok {
			c.DrawGlyphNoClip(style, at)
		}
	}
}

// place returns where a value lies; ok is false where it cannot be shown.
func (m marks) place(c *draw.Canvas, p *plot.Plot, x, y float64) (at vg.Point, ok bool) {
	if !m.x.drawable(x) || !m.y.drawable(y) {
		return at, false
	}
	toX, toY := p.Transforms(c)
	return vg.Point{X: toX(x), Y: toY(y)}, true
}

// placeOf is place for a point of a series, beside those of other series.
func (m marks) placeOf(c *draw.Canvas, p *plot.Plot, s Series, x, y float64) (at vg.Point, ok bool) {
	at, ok = m.place(c, p, x, y)
	at.X += m.shift(s)
	return at, ok
}

func (m marks) grid(c *draw.Canvas, p *plot.Plot) {
	style := draw.LineStyle{Color: rule(), Width: 0.6}
	for _, t := range m.y.ticks {
		if t.IsMinor() || t.Value < m.y.min || t.Value > m.y.max*(1+1e-9) {
			continue
		}
		if at, ok := m.place(c, p, m.x.min, t.Value); ok {
			c.StrokeLine2(style, c.Min.X, at.Y, c.Max.X, at.Y)
		}
	}
	for i := 1; i < m.x.names; i++ {
		if at, ok := m.place(c, p, float64(i)-0.5, m.y.max); ok {
			c.StrokeLine2(style, at.X, c.Min.Y, at.X, c.Max.Y)
		}
	}
}

func (m marks) lines(c *draw.Canvas, p *plot.Plot, s Series) {
	style := s.line()
	var run []vg.Point
	flush := func() {
		if len(run) > 1 {
			c.StrokeLines(style, c.ClipLinesXY(run)...)
		}
		run = nil
	}
	for _, pt := range s.Points {
		at, ok := m.placeOf(c, p, s, pt.X, pt.Y)
		if pt.Gap || !ok {
			flush()
		}
		if ok {
			run = append(run, at)
		}
	}
	flush()
	m.lonely(c, p, s, style)
}

// lonely draws a prediction that has a single value, or one for each name, as
// short lines, since it has no marker that would show it.
func (m marks) lonely(c *draw.Canvas, p *plot.Plot, s Series, style draw.LineStyle) {
	if len(s.Points) != 1 && m.x.names == 0 || s.Role != Exact && s.Role != Bound && s.Role != Curve {
		return
	}
	half := vg.Length(dodgeAlone)/2 - 2
	if styles, step := m.dodged(); len(styles) > 1 {
		half = max(5, step/2-2)
	}
	for _, pt := range s.Points {
		if at, ok := m.placeOf(c, p, s, pt.X, pt.Y); ok {
			c.StrokeLine2(style, at.X-half, at.Y, at.X+half, at.Y)
		}
	}
}

// barWidth is the part of the distance between two places that a bar fills.
const barWidth = 0.72

// layer draws a series' parts of the bars, with a thin line between them.
func (m marks) layer(c *draw.Canvas, p *plot.Plot, s Series) {
	for _, pt := range s.Points {
		a, okA := m.place(c, p, pt.X-barWidth/2, pt.Lo)
		b, okB := m.place(c, p, pt.X+barWidth/2, pt.Y)
		if !okA || !okB || pt.Y <= pt.Lo {
			continue
		}
		corners := []vg.Point{a, {X: b.X, Y: a.Y}, b, {X: a.X, Y: b.Y}}
		c.FillPolygon(hue(s.Style), corners)
		c.StrokeLines(draw.LineStyle{Color: paper(), Width: 0.5}, append(corners, a))
	}
}

// bars draws error bars with caps, but none of no length. A bar that ends at or below zero on a
// logarithmic axis goes down to the axis, without a cap.
func (m marks) bars(c *draw.Canvas, p *plot.Plot, s Series) {
	style := s.line()
	style.Dashes, style.Width = nil, 0.9
	half := vg.Length(3)
	if s.Role == Tail {
		style.Width, half = 0.6, 2
	}
	for _, pt := range s.Points {
		if !pt.hasBar() || s.Role == Layer || pt.Lo == pt.Hi {
			continue
		}
		if _, ok := m.placeOf(c, p, s, pt.X, pt.Y); !ok {
			continue
		}
		for _, end := range []float64{pt.Lo, pt.Hi} {
			shown := math.Min(math.Max(end, m.y.min), m.y.max)
			from, _ := m.placeOf(c, p, s, pt.X, math.Min(math.Max(pt.Y, m.y.min), m.y.max))
			to, ok := m.placeOf(c, p, s, pt.X, shown)
			if !ok {
				continue
			}
			c.StrokeLine2(style, from.X, from.Y, to.X, to.Y)
			if shown == end {
				c.StrokeLine2(style, to.X-half, to.Y, to.X+half, to.Y)
			}
		}
	}
}

// note is a place on the drawing that has something to say.
type note struct {
	at   vg.Point
	text string
}

func (m marks) notes(c draw.Canvas, p *plot.Plot) []note {
	var notes []note
	for _, s := range m.series {
		for _, pt := range s.Points {
			if at, ok := m.placeOf(&c, p, s, pt.X, pt.Y); ok && pt.Note != "" {
				notes = append(notes, note{at, pt.Note})
			}
		}
	}
	return notes
}
