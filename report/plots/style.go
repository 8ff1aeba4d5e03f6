package plots

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// grey is the style that stands for no series in particular.
const grey = 7

// dark2 is ColorBrewer's qualitative scheme Dark2 (C. Brewer, Penn State):
// eight colours of similar weight that most colour-blind readers tell apart.
func dark2(i int) color.NRGBA {
	rgb := [...]uint32{0x1b9e77, 0xd95f02, 0x7570b3, 0xe7298a, 0x66a61e, 0xe6ab02, 0xa6761d, 0x666666}
	c := rgb[i%len(rgb)]
	return color.NRGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 255}
}

// Color returns the colour of a style as CSS writes it.
func Color(style int) string {
	c := dark2(style)
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}

// Neutral lists the colours of everything that is not data, as they stand in an
// SVG. A page that is read in the dark replaces them.
func Neutral() []string { return []string{"#FFFFFF", "#222222", "#6B6B6B", "#E2E2E2"} }

func paper() color.Color { return color.NRGBA{0xff, 0xff, 0xff, 255} }
func ink() color.Color   { return color.NRGBA{0x22, 0x22, 0x22, 255} }
func faint() color.Color { return color.NRGBA{0x6b, 0x6b, 0x6b, 255} }
func rule() color.Color  { return color.NRGBA{0xe2, 0xe2, 0xe2, 255} }

// lighter mixes c with white.
func lighter(c color.NRGBA, white float64) color.NRGBA {
	mix := func(x uint8) uint8 { return uint8(math.Round(float64(x)*(1-white) + 255*white)) }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}

// dashes tells series apart in print without colour, where no other meaning
// needs the dashes.
func dashes(style int) []vg.Length {
	patterns := [...][]vg.Length{
		nil, {9, 3}, {9, 3, 2, 3}, {5, 2}, {14, 3}, {9, 2, 2, 2, 2, 2}, {2.5, 1.5}, {16, 2, 4, 2},
	}
	return patterns[style%len(patterns)]
}

// line is the look of a series' line.
func (s Series) line() draw.LineStyle {
	c := dark2(s.Style)
	switch s.Role {
	case Tail:
		return draw.LineStyle{Color: lighter(c, 0.35), Width: 0.7}
	case Exact:
		return draw.LineStyle{Color: c, Width: 1, Dashes: []vg.Length{5, 3}}
	case Bound:
		return draw.LineStyle{Color: c, Width: 1.1, Dashes: []vg.Length{1.2, 2.4}}
	case Curve:
		return draw.LineStyle{Color: c, Width: 1.5, Dashes: dashes(s.Style)}
	}
	return draw.LineStyle{Color: c, Width: 1.5}
}

// glyph is the look of a series' points; its Shape is nil where they have none.
func (s Series) glyph() draw.GlyphStyle {
	c := dark2(s.Style)
	// Eight colours and seven shapes: no two of 56 series look alike.
	shape := marker{outline: outlines()[s.Style%len(outlines())]}
	switch s.Role {
	case Measured:
		return draw.GlyphStyle{Color: c, Radius: 3.4, Shape: shape}
	case Dots:
		shape.bare = true
		return draw.GlyphStyle{Color: c, Radius: 2, Shape: shape}
	case Tail:
		shape.hollow = true
		return draw.GlyphStyle{Color: lighter(c, 0.35), Radius: 2.6, Shape: shape}
	}
	return draw.GlyphStyle{}
}

// marker draws a polygon, filled or hollow. A thin white edge keeps markers
// that lie on one another apart; where very many do it would leave nothing.
type marker struct {
	outline      []vg.Point // about the unit circle
	hollow, bare bool       // bare: without an edge
}

func (m marker) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	path := make(vg.Path, 0, len(m.outline)+1)
	for i, p := range m.outline {
		q := vg.Point{X: at.X + p.X*sty.Radius, Y: at.Y + p.Y*sty.Radius}
		if i == 0 {
			path.Move(q)
		} else {
			path.Line(q)
		}
	}
	path.Close()
	edge := draw.LineStyle{Color: paper(), Width: 0.6}
	if m.hollow {
		c.SetColor(paper())
		edge = draw.LineStyle{Color: sty.Color, Width: 0.8}
	}
	c.Fill(path)
	if !m.bare {
		c.SetLineStyle(edge)
		c.Stroke(path)
	}
}

// outlines lists the shapes of markers: disc, square, triangle, diamond,
// inverted triangle, cross, star.
func outlines() [][]vg.Point {
	return [][]vg.Point{
		regular(20, 0, 1), regular(4, math.Pi/4, 1.15), regular(3, math.Pi/2, 1.3), regular(4, 0, 1.3),
		regular(3, -math.Pi/2, 1.3), cross(0.42, 1.15), star(5, 0.45, 1.4),
	}
}

func polar(radius, angle float64) vg.Point {
	sin, cos := math.Sincos(angle)
	return vg.Point{X: vg.Length(radius * cos), Y: vg.Length(radius * sin)}
}

// regular returns a regular polygon.
func regular(corners int, turn, radius float64) []vg.Point {
	points := make([]vg.Point, corners)
	for i := range points {
		points[i] = polar(radius, turn+2*math.Pi*float64(i)/float64(corners))
	}
	return points
}

// star returns a star whose inner corners lie at the fraction inner.
func star(rays int, inner, radius float64) []vg.Point {
	points := make([]vg.Point, 2*rays)
	for i := range points {
		r := radius
		if i%2 == 1 {
			r *= inner
		}
		points[i] = polar(r, math.Pi/2+math.Pi*float64(i)/float64(rays))
	}
	return points
}

// cross returns a diagonal cross with arms of the given half width.
func cross(half, radius float64) []vg.Point {
	upright := [][2]float64{
		{half, half}, {half, 1}, {-half, 1}, {-half, half}, {-1, half}, {-1, -half},
		{-half, -half}, {-half, -1}, {half, -1}, {half, -half}, {1, -half}, {1, half},
	}
	points := make([]vg.Point, len(upright))
	for i, p := range upright {
		points[i] = polar(radius*math.Hypot(p[0], p[1]), math.Pi/4+math.Atan2(p[1], p[0]))
	}
	return points
}
