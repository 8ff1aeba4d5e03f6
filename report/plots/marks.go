package plots

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// marks draws the series of a figure. It is a plotter of its own because a
// line here may have gaps, and because all markers must lie above all lines.
type marks struct {
	series []Series
	events []Event
	x, y   scale
	width  float64   // about that of the axis, in points
	face   font.Face // of what is written at events
}

// Coinciding series are drawn side by side, each with its predictions: shifted by
// dodge points from the next, all together by at most the part dodgeAll of the
// distance between two values. Over a single value or a name there is room for
// more.
const dodge, dodgeAlone, dodgeAll = 3.4, 26, 0.5

// shifts returns how far the series of each style stand from their place, and how
// far from one another.
func (m marks) shifts() (shifts map[int]vg.Length, step vg.Length) {
	var styles []int
	for _, s := range m.series {
		if s.Role == Measured && s.drawable() && !slices.Contains(styles, s.Style) {
			styles = append(styles, s.Style)
		}
	}
	each, room := float64(dodge), m.x.closest()*m.width
	if m.x.names > 0 || len(m.x.ticks) == 1 {
		each, room = dodgeAlone, m.width/float64(len(m.x.ticks))
	}
	step = vg.Length(min(each, dodgeAll*room/float64(max(1, len(styles)-1))))
	shifts = make(map[int]vg.Length)
	for i, style := range styles {
		shifts[style] = step * vg.Length(float64(i)-float64(len(styles)-1)/2)
	}
	return shifts, step
}

// pen draws marks onto a canvas.
type pen struct {
	marks
	*draw.Canvas
	toX, toY func(float64) vg.Length
	shifts   map[int]vg.Length
	step     vg.Length
}

// at returns where a value of a series lies; ok is false if it cannot be shown.
func (p pen) at(s Series, x, y float64) (at vg.Point, ok bool) {
	if !p.x.drawable(x) || !p.y.drawable(y) {
		return at, false
	}
	at = vg.Point{X: p.toX(x), Y: p.toY(y)}
	if !slices.Contains([]Role{Layer, Curve, Course}, s.Role) {
		at.X += p.shifts[s.Style]
	}
	return at, true
}

// Plot draws from back to front: events, bars, measured lines, predictions upon
// them, error bars, markers.
func (m marks) Plot(c draw.Canvas, p *plot.Plot) {
	n := pen{marks: m, Canvas: &c}
	n.toX, n.toY = p.Transforms(&c)
	n.shifts, n.step = m.shifts()
	n.shades()
	n.grid()
	n.instants()
	n.each(n.layer, Layer)
	n.each(n.lines, Curve, Course, Measured, Bound, Exact)
	n.each(n.bars, Measured, Dots)
	n.each(n.glyphs, Measured, Dots)
	n.eventLabels()
}

// each draws the series of these roles, one role after the other.
func (p pen) each(draw func(Series), roles ...Role) {
	for _, role := range roles {
		for _, s := range p.series {
			if s.Role == role {
				draw(s)
			}
		}
	}
}

func (p pen) glyphs(s Series) {
	for _, pt := range s.Points {
		if at, ok := p.at(s, pt.X, pt.Y); ok {
			p.DrawGlyphNoClip(s.glyph(), at)
		}
	}
}

func (p pen) grid() {
	style := draw.LineStyle{Color: rule(), Width: 0.6}
	for _, t := range p.y.ticks {
		if !t.IsMinor() && t.Value >= p.y.min && t.Value <= p.y.max*(1+1e-9) {
			p.StrokeLine2(style, p.Min.X, p.toY(t.Value), p.Max.X, p.toY(t.Value))
		}
	}
	for i := 1; i < p.x.names; i++ {
		between := p.toX(float64(i) - 0.5)
		p.StrokeLine2(style, between, p.Min.Y, between, p.Max.Y)
	}
}

func (p pen) lines(s Series) {
	style := s.line()
	var run []vg.Point
	flush := func() {
		if len(run) > 1 {
			p.StrokeLines(style, p.ClipLinesXY(run)...)
		}
		run = nil
	}
	// A prediction that has a single value, or one for each name, has no marker
	// that would show it: there it is short lines.
	half := max(5, p.step/2-2)
	short := s.Role != Measured && (len(s.Points) == 1 || p.x.names > 0)
	for _, pt := range s.Points {
		at, ok := p.at(s, pt.X, pt.Y)
		if pt.Gap || !ok {
			flush()
		}
		if ok {
			run = append(run, at)
		}
		if ok && short {
			p.StrokeLine2(style, at.X-half, at.Y, at.X+half, at.Y)
		}
	}
	flush()
}

// barWidth is the part of the distance between two places that a bar fills.
const barWidth = 0.72

// layer draws a series' parts of the bars, with a thin line between them.
func (p pen) layer(s Series) {
	for _, pt := range s.Points {
		a, okA := p.at(s, pt.X-barWidth/2, pt.Lo)
		b, okB := p.at(s, pt.X+barWidth/2, pt.Y)
		if !okA || !okB || pt.Y <= pt.Lo {
			continue
		}
		outline := corners(vg.Rectangle{Min: a, Max: b})
		p.FillPolygon(hue(s.Style), outline)
		p.StrokeLines(draw.LineStyle{Color: paper(), Width: 0.5}, append(outline, a))
	}
}

// bars draws error bars with caps, but none of no length. A bar that ends beyond the axis goes as
// far as that, without a cap.
func (p pen) bars(s Series) {
	style := s.line()
	style.Dashes, style.Width = nil, 0.9
	for _, pt := range s.Points {
		from, ok := p.at(s, pt.X, p.y.within(pt.Y))
		if !ok || !p.y.drawable(pt.Y) || !pt.hasBar() || pt.Lo == pt.Hi {
			continue
		}
		for _, end := range []float64{pt.Lo, pt.Hi} {
			to, _ := p.at(s, pt.X, p.y.within(end))
			p.StrokeLine2(style, from.X, from.Y, to.X, to.Y)
			if p.y.within(end) == end {
				p.StrokeLine2(style, to.X-3, to.Y, to.X+3, to.Y)
			}
		}
	}
}

// within is the place on the axis that is nearest to a value.
func (s scale) within(y float64) float64 {
	return min(max(y, s.min), s.max)
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}
