package plots

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Matrix is a quantity of pairs, such as the delay from one host to another: a
// square for each pair, the darker the larger the value.
type Matrix struct {
	Value      Axis     // what is shown; logarithmic where the values span more than 1.5 decades
	From, To   string   // what rows and columns are
	Rows, Cols []string // their names, from the top and from the left
	Pairs      []Pair
	Absent     string // what a cross in a square means; "" where there is none
}

// Pair is one square. What is not listed stays empty.
type Pair struct {
	Row, Col int
	Value    float64 // NaN for a cross
	Lo, Hi   float64 // of its interval, below it where there is room; NaN where there is none
	Note     string  // what a reader sees who points at it
}

// Sizes of a matrix, in points.
const (
	wideSquare  = 92 // at most
	tallSquare  = 34 // at most, where a value stands in it
	lowSquare   = 11 // at least: a line of text
	namesWide   = 96 // at most, beside the rows
	namesHigh   = 66 // at most, above the columns, where they stand upright
	smallText   = 7
	squareGap   = 0.6
	scaleHeight = 8
	scaleWidth  = 220
	keyGap      = 18 // between the scale and what is written beside it
	scaleRoom   = 34 // of the scale below the squares with its labels
	shadesOf    = 48 // steps of the scale
)

// grid is a matrix with everything decided but the format.
type grid struct {
	*Matrix
	fonts         fonts
	scale         scale
	left, above   vg.Length // room for the names
	width, height vg.Length // of a square
	upright       bool      // names of columns
	values        bool      // stand in the squares
	ranges        bool
}

func (m *Matrix) drawable() bool {
	return m != nil && len(m.Pairs) > 0 && len(m.Rows) > 0 && len(m.Cols) > 0
}

// within arranges the matrix in a width.
func (m *Matrix) within(width vg.Length, f fonts) grid {
	g := grid{Matrix: m, fonts: f, scale: m.shades()}
	small := f.regular(textSize)
	widest := func(names []string) (w vg.Length) {
		for _, name := range names {
			w = max(w, small.Width(printable(name)))
		}
		return w
	}
	g.left = axisLabel + min(widest(m.Rows), namesWide) + 5
	g.width = min((width-g.left)/vg.Length(len(m.Cols)), wideSquare)
	g.upright = widest(m.Cols)+4 > g.width
	g.above = axisLabel + textSize + 5
	if g.upright {
		g.above = axisLabel + min(widest(m.Cols), namesHigh) + 5
	}
	tiny := f.regular(smallText)
	var value, within vg.Length
	for _, p := range m.Pairs {
		value = max(value, small.Width(g.scale.unit.Number(p.Value)))
		within = max(within, tiny.Width(g.interval(p)))
	}
	g.values = value+4 <= g.width
	g.ranges = g.values && within > 0 && within+4 <= g.width
	switch {
	case g.ranges:
		g.height = min(tallSquare, g.width)
	case g.values:
		g.height = min(tallSquare, max(16, g.width*0.6))
	default:
		g.height = max(g.width, lowSquare)
	}
	// Many squares are no taller than a line of text that names their row.
	g.height = max(lowSquare, min(g.height, 400/vg.Length(len(m.Rows))))
	return g
}

// bodyHeight is the height of everything below the title.
func (g grid) bodyHeight() vg.Length {
	return g.above + vg.Length(len(g.Rows))*g.height + scaleRoom
}

// shades chooses the scale: like an ordinate, but it begins where the values do when
// it is logarithmic, and at zero when it is not.
func (m *Matrix) shades() scale {
	var s Series
	for _, p := range m.Pairs {
		s.Points = append(s.Points, At(0, p.Value))
	}
	return Panel{Y: m.Value, Series: []Series{s}}.yScale()
}

// shadeOf is the colour at a fraction of the scale: ColorBrewer's sequential scheme
// Blues (C. Brewer, Penn State), of one hue and falling lightness, so that it is read
// without colour too.
func shadeOf(fraction float64) color.NRGBA {
	rgb := [...]uint32{0xf7fbff, 0xdeebf7, 0xc6dbef, 0x9ecae1, 0x6baed6, 0x4292c6, 0x2171b5, 0x08519c, 0x08306b}
	step := math.Round(min(max(fraction, 0), 1)*(shadesOf-1)) / (shadesOf - 1)
	at := step * float64(len(rgb)-1)
	i := min(int(at), len(rgb)-2)
	part := at - float64(i)
	of := func(shift uint) uint8 {
		a, b := float64(rgb[i]>>shift&0xff), float64(rgb[i+1]>>shift&0xff)
		return uint8(math.Round(a + (b-a)*part))
	}
	return color.NRGBA{of(16), of(8), of(0), 255}
}

// onShade is the colour of text upon a shade.
func onShade(fraction float64) color.Color {
	if fraction > 0.68 {
		return paper()
	}
	return ink()
}

// square returns the corners of the square of a pair.
func (g grid) square(c draw.Canvas, row, col int) vg.Rectangle {
	left := c.Min.X + g.left + vg.Length(col)*g.width
	top := c.Max.Y - g.above - vg.Length(row)*g.height
	return vg.Rectangle{
		Min: vg.Point{X: left + squareGap, Y: top - g.height + squareGap},
		Max: vg.Point{X: left + g.width - squareGap, Y: top - squareGap},
	}
}

// draw draws the matrix from the top of the canvas and returns its notes.
func (g grid) draw(c draw.Canvas) []note {
	g.names(c)
	known := slices.Clone(g.Pairs)
	known = slices.DeleteFunc(known, func(p Pair) bool {
		return !g.scale.drawable(p.Value) || p.Row >= len(g.Rows) || p.Col >= len(g.Cols)
	})
	// Squares of one shade follow one another, so that an SVG has one path of them.
	slices.SortStableFunc(known, func(a, b Pair) int { return cmp.Compare(g.scale.fraction(a.Value), g.scale.fraction(b.Value)) })
	for _, p := range known {
		c.FillPolygon(shadeOf(g.scale.fraction(p.Value)), corners(g.square(c, p.Row, p.Col)))
	}
	var notes []note
	for _, p := range g.Pairs {
		r := g.square(c, p.Row, p.Col)
		middle := vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: (r.Min.Y + r.Max.Y) / 2}
		if p.Note != "" {
			notes = append(notes, note{middle, p.Note})
		}
		if !g.scale.drawable(p.Value) {
			cross(c, middle, min(g.width, g.height)/5)
			continue
		}
		if g.values {
			g.write(c, p, middle)
		}
	}
	g.key(draw.Crop(c, g.left, 0, 0, scaleRoom-g.bodyHeight()))
	return notes
}

// write writes the value of a pair into its square.
func (g grid) write(c draw.Canvas, p Pair, middle vg.Point) {
	small, tiny := g.fonts.regular(textSize), g.fonts.regular(smallText)
	text := g.scale.unit.Number(p.Value)
	y := middle.Y - 0.35*textSize
	c.SetColor(onShade(g.scale.fraction(p.Value)))
	if within := g.interval(p); g.ranges && within != "" && g.height >= textSize+smallText+6 {
		y += 0.55 * smallText
		c.FillString(tiny, vg.Point{X: middle.X - tiny.Width(within)/2, Y: y - smallText - 2.5}, within)
	}
	c.FillString(small, vg.Point{X: middle.X - small.Width(text)/2, Y: y}, text)
}

// interval writes that of a value; "" where there is none, or it is a point.
func (g grid) interval(p Pair) string {
	lo, hi := g.scale.unit.Number(p.Lo), g.scale.unit.Number(p.Hi)
	if !finite(p.Lo) || !finite(p.Hi) || lo == hi {
		return ""
	}
	return lo + "–" + hi
}

// names writes what rows and columns are, and as many names of them as fit.
func (g grid) names(c draw.Canvas) {
	small, label := g.fonts.regular(textSize), g.fonts.regular(textSize+0.5)
	c.SetColor(ink())
	right, bottom := c.Min.X+g.left, c.Max.Y-g.above
	wide, high := g.width*vg.Length(len(g.Cols)), g.height*vg.Length(len(g.Rows))
	c.FillString(label, vg.Point{X: right + (wide-label.Width(g.To))/2, Y: c.Max.Y - textSize}, printable(g.To))
	upright(c, label, vg.Point{X: c.Min.X + textSize, Y: bottom - (high+label.Width(g.From))/2}, printable(g.From))

	every := func(size vg.Length) int { return max(1, int(math.Ceil(float64(lowSquare/size)))) }
	for i := 0; i < len(g.Rows); i += every(g.height) {
		name := elide(small, printable(g.Rows[i]), g.left-axisLabel-5)
		y := bottom - (vg.Length(i)+0.5)*g.height - 0.35*textSize
		c.FillString(small, vg.Point{X: right - 4 - small.Width(name), Y: y}, name)
	}
	step := 1
	if g.upright {
		step = every(g.width)
	}
	for i := 0; i < len(g.Cols); i += step {
		x := right + (vg.Length(i)+0.5)*g.width
		if !g.upright {
			name := printable(g.Cols[i])
			c.FillString(small, vg.Point{X: x - small.Width(name)/2, Y: bottom + 4}, name)
			continue
		}
		name := elide(small, printable(g.Cols[i]), g.above-axisLabel-5)
		upright(c, small, vg.Point{X: x + 0.35*textSize, Y: bottom + 4}, name)
	}
}

// key draws the scale of shades at the top of the canvas, and what a cross means.
func (g grid) key(c draw.Canvas) {
	small := g.fonts.regular(textSize)
	top := c.Max.Y - 8
	wide := min(scaleWidth, 0.6*(c.Max.X-c.Min.X))
	at := func(fraction float64) vg.Length { return c.Min.X + wide*vg.Length(fraction) }
	part := func(from, to float64) []vg.Point {
		return corners(vg.Rectangle{Min: vg.Point{X: at(from), Y: top - scaleHeight}, Max: vg.Point{X: at(to), Y: top}})
	}
	for i := range shadesOf {
		c.FillPolygon(shadeOf(float64(i)/(shadesOf-1)), part(float64(i)/shadesOf, float64(i+1)/shadesOf))
	}
	edge := draw.LineStyle{Color: faint(), Width: 0.4}
	c.StrokeLines(edge, append(part(0, 1), vg.Point{X: at(0), Y: top - scaleHeight}))
	end := vg.Length(math.Inf(-1))
	for _, t := range g.scale.ticks {
		f := g.scale.fraction(t.Value)
		if t.IsMinor() || f < -1e-9 || f > 1+1e-9 {
			continue
		}
		x := at(f) - small.Width(t.Label)/2
		x = max(x, c.Min.X)
		if x < end+4 || x+small.Width(t.Label) > c.Max.X {
			continue
		}
		end = x + small.Width(t.Label)
		c.SetColor(ink())
		c.FillString(small, vg.Point{X: x, Y: top - scaleHeight - textSize - 1}, t.Label)
		c.StrokeLine2(edge, at(f), top-scaleHeight, at(f), top-scaleHeight-2)
	}
	c.SetColor(ink())
	room := c.Max.X - at(1) - keyGap
	c.FillString(small, vg.Point{X: at(1) + keyGap, Y: top - scaleHeight + 1}, elide(small, printable(g.scale.label), room))
	if g.Absent != "" {
		cross(c, vg.Point{X: at(1) + keyGap + 3, Y: top - scaleHeight - textSize + 2}, 3)
		c.SetColor(ink())
		c.FillString(small, vg.Point{X: at(1) + keyGap + 11, Y: top - scaleHeight - textSize - 1}, elide(small, printable(g.Absent), room-11))
	}
}

// upright writes text from a point upwards.
func upright(c draw.Canvas, face font.Face, at vg.Point, s string) {
	c.Push()
	c.Rotate(math.Pi / 2)
	c.FillString(face, vg.Point{X: at.Y, Y: -at.X}, s)
	c.Pop()
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}

// cross marks a square without a value.
func cross(c draw.Canvas, at vg.Point, half vg.Length) {
	style := draw.LineStyle{Color: faint(), Width: 0.9}
	c.StrokeLine2(style, at.X-half, at.Y-half, at.X+half, at.Y+half)
	c.StrokeLine2(style, at.X-half, at.Y+half, at.X+half, at.Y-half)
}
