package plots

import (
	"math"
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
	face   font.Face // of what is written at curves
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

// shifts returns how far the series of each style stand from their place, and how
// far from one another.
func (m marks) shifts() (shifts map[int]vg.Length, step vg.Length) {
	var styles []int
	for _, s := range m.series {
		beside := s.Role == Measured || s.Role == Dots && m.x.ranks
		if beside && s.drawable() && !slices.Contains(styles, s.Style) {
			styles = append(styles, s.Style)
		}
	}
	if m.x.names > 0 && m.apart() {
		return make(map[int]vg.Length), 0
	}
	each, all := float64(dodge), dodgeAll*m.x.closest()*m.width
	switch {
	case m.x.names > 0:
		each, all = dodgeAlone, dodgeAllNames*m.width/float64(m.x.names)
	case len(m.x.ticks) == 1:
		each, all = dodgeAlone, dodgeAllOne*m.width
	}
	step = vg.Length(min(each, all/float64(max(1, len(styles)-1))))
	shifts = make(map[int]vg.Length)
	for i, style := range styles {
		shifts[style] = step * vg.Length(float64(i)-float64(len(styles)-1)/2)
	}
	return shifts, step
}

// apart reports whether no two series have a place in common.
func (m marks) apart() bool {
	owner := make(map[float64]int)
	for _, s := range m.series {
		if s.Role != Measured {
			continue
		}
		for _, pt := range s.Points {
			if of, taken := owner[pt.X]; taken && of != s.Style {
				return false
			}
			owner[pt.X] = s.Style
		}
	}
	return true
}

// pen draws marks onto a canvas.
type pen struct {
	marks
	*draw.Canvas
	toX, toY func(float64) vg.Length
	shifts   map[int]vg.Length
	step     vg.Length
}

func (m marks) onto(c *draw.Canvas, p *plot.Plot) pen {
	n := pen{marks: m, Canvas: c}
	n.toX, n.toY = p.Transforms(c)
	n.shifts, n.step = m.shifts()
	return n
}

// at returns where a value of a series lies; ok is false where it cannot be shown.
func (p pen) at(s Series, x, y float64) (at vg.Point, ok bool) {
	if !p.x.drawable(x) || !p.y.drawable(y) {
		return at, false
	}
	at = vg.Point{X: p.toX(x), Y: p.toY(y)}
	if !slices.Contains([]Role{Layer, Curve, Course, Band}, s.Role) {
		at.X += p.shifts[s.Style]
	}
	return at, true
}

// Plot draws from back to front: areas, events, bars, tails, measured lines, predictions upon
// them, error bars, markers; where median and tail are equal, the median is seen.
func (m marks) Plot(c draw.Canvas, p *plot.Plot) {
	n := m.onto(&c, p)
	n.shades()
	n.grid()
	for _, s := range m.series {
		if s.Role == Band {
			n.band(s)
		}
	}
	n.instants()
	for _, step := range []struct {
		draw  func(Series)
		roles []Role
	}{
		{n.layer, []Role{Layer}}, {n.lines, []Role{Tail}}, {n.lines, []Role{Curve, Course}}, {n.lines, []Role{Measured}},
		{n.lines, []Role{Bound}}, {n.lines, []Role{Exact}}, {n.bars, []Role{Measured, Tail, Mark, Dots, Spots}},
		{n.glyphs, []Role{Tail}}, {n.glyphs, []Role{Measured, Mark, Dots, Spots}},
	} {
		for _, s := range m.series {
			if slices.Contains(step.roles, s.Role) {
				step.draw(s)
			}
		}
	}
	n.curveLabels()
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
	half := vg.Length(dodgeAlone)/2 - 2
	if len(p.shifts) > 1 {
		half = max(5, p.step/2-2)
	}
	short := s.Role != Measured && s.Role != Tail && (len(s.Points) == 1 || p.x.names > 0)
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

// bars draws error bars with caps, but none of no length, and the values outside of
// them. What ends beyond the axis goes as far as that, and ends in an arrow.
func (p pen) bars(s Series) {
	style := s.line()
	style.Dashes, style.Width = nil, 0.9
	half := vg.Length(3)
	if s.Role == Tail {
		style.Width, half = 0.6, 2
	}
	for _, pt := range s.Points {
		if _, ok := p.at(s, pt.X, pt.Y); !ok {
			continue
		}
		from, _ := p.at(s, pt.X, p.y.within(pt.Y))
		// half a bar, to an end that may be cut
		bar := func(to vg.Point, cut bool, turn float64, halfX, halfY vg.Length) {
			p.StrokeLine2(style, from.X, from.Y, to.X, to.Y)
			if cut {
				p.arrow(s, to, turn)
			} else {
				p.StrokeLine2(style, to.X-halfX, to.Y-halfY, to.X+halfX, to.Y+halfY)
			}
		}
		if pt.hasBar() && pt.Lo != pt.Hi {
			for _, end := range []float64{pt.Lo, pt.Hi} {
				to, _ := p.at(s, pt.X, p.y.within(end))
				bar(to, p.y.cuts(end), upward(end > p.y.max), half, 0)
			}
		}
		if pt.hasWidth() {
			for _, end := range []float64{pt.Left, pt.Right} {
				to, _ := p.at(s, p.x.within(end), p.y.within(pt.Y))
				bar(to, p.x.cuts(end), map[bool]float64{true: 0, false: math.Pi}[end > p.x.max], 0, half)
			}
		}
		for _, y := range pt.Others {
			to, _ := p.at(s, pt.X, p.y.within(y))
			if p.y.cuts(y) {
				p.arrow(s, to, upward(y > p.y.max))
			} else {
				p.DrawGlyphNoClip(draw.GlyphStyle{Color: style.Color, Radius: 1.5, Shape: marker{hollow: true}}, to)
			}
		}
	}
}

// upward is the direction of an arrow at the upper or the lower end of an axis.
func upward(up bool) float64 {
	if up {
		return math.Pi / 2
	}
	return -math.Pi / 2
}

// arrow marks at an end of the axis that something goes on beyond it, that way.
func (p pen) arrow(s Series, at vg.Point, turn float64) {
	p.DrawGlyphNoClip(draw.GlyphStyle{Color: hue(s.Style), Radius: 3.2, Shape: marker{outline: regular(3, turn, 1.2)}}, at)
}

// cuts reports whether a finite value lies beyond the axis.
func (s scale) cuts(y float64) bool { return finite(y) && s.within(y) != y }

// within is the place on the axis that is nearest to a value.
func (s scale) within(y float64) float64 {
	const rounding = 1e-9
	if span := (s.max - s.min) * rounding; y > s.max-span && y < s.max+span || y > s.min-span && y < s.min+span {
		return y
	}
	return min(max(y, s.min), s.max)
}

// cuts reports whether a bar or a single value ends beyond the axis.
func (m marks) cuts() bool {
	for _, s := range m.series {
		if s.Role == Layer || s.Role == Band {
			continue
		}
		for _, pt := range s.Points {
			if !m.x.drawable(pt.X) || !m.y.drawable(pt.Y) {
				continue
			}
			if pt.hasWidth() && (m.x.cuts(pt.Left) || m.x.cuts(pt.Right)) {
				return true
			}
			if pt.hasBar() && pt.Lo != pt.Hi && (m.y.cuts(pt.Lo) || m.y.cuts(pt.Hi)) || slices.ContainsFunc(pt.Others, m.y.cuts) {
				return true
			}
		}
	}
	return false
}

// note is a place on the drawing that has something to say.
type note struct {
	at   vg.Point
	text string
}

func (m marks) notes(c draw.Canvas, p *plot.Plot) []note {
	n := m.onto(&c, p)
	var notes []note
	for _, e := range m.events {
		if e.Note != "" {
			notes = append(notes, note{vg.Point{X: n.toX(e.At), Y: n.Max.Y}, e.Note})
		}
	}
	for _, s := range m.series {
		for _, pt := range s.Points {
			if at, ok := n.at(s, pt.X, pt.Y); ok && pt.Note != "" {
				notes = append(notes, note{at, pt.Note})
			}
		}
	}
	return notes
}
