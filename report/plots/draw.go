package plots

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of a figure, in points.
const (
	figureWidth = 440
	bodyHeight  = 250
	margin      = 8
	titleSize   = 12
	textSize    = 9
	subtitle    = 11.5 // height of a line
	axisLabel   = 14   // room for what an axis counts
)

// drawing is a figure with everything decided but the format.
type drawing struct {
	figure   Figure
	fonts    fonts
	plot     *plot.Plot
	marks    marks
	legend   legend
	subtitle []string
	height   vg.Length
}

func (f Figure) lay() drawing {
	d := drawing{figure: f, fonts: newFonts(), plot: plot.New()}
	small := d.fonts.regular(textSize)
	inner := vg.Length(figureWidth - 2*margin)
	d.subtitle = wrap(small, printable(f.Subtitle), inner, 2)
	d.legend = f.legend(small, inner)
	d.height = 2*margin + d.header() + bodyHeight + 6 + d.legend.height()

	// The ordinate's labels take some 50 points of the width.
	body := inner - 50
	fits := func(a, b tickAt) bool {
		gap := vg.Length(b.fraction-a.fraction) * body
		return gap > (small.Width(a.label)+small.Width(b.label))/2+4
	}
	d.marks = marks{series: f.Series, x: f.xScale(fits), y: f.yScale()}
	d.axis(&d.plot.X, d.marks.x)
	d.axis(&d.plot.Y, d.marks.y)
	d.plot.BackgroundColor = nil
	d.plot.Add(d.marks)
	return d
}

// header is the height of the title and what stands under it.
func (d drawing) header() vg.Length {
	return titleSize + 6 + vg.Length(len(d.subtitle))*subtitle + 6
}

func (d drawing) axis(a *plot.Axis, s scale) {
	a.Min, a.Max = s.min, s.max
	a.Tick.Label.Font = font.From(sans(), textSize)
	a.Tick.Label.Color = ink()
	a.Tick.Length = 4
	a.Tick.LineStyle = draw.LineStyle{Color: faint(), Width: 0.6}
	a.LineStyle = draw.LineStyle{Color: faint(), Width: 0.6}
	a.Padding = 0
	a.Tick.Marker = ticker(s.ticks)
	if s.log {
		a.Scale = plot.LogScale{}
	}
}

// draw draws the figure and returns its notes, in points from the lower left.
func (d drawing) draw(onto vg.Canvas) []note {
	c := draw.NewCanvas(onto, figureWidth, d.height)
	c.SetColor(paper())
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)

	y := c.Max.Y - titleSize
	bold, small := d.fonts.bold(titleSize), d.fonts.regular(textSize)
	c.SetColor(ink())
	c.FillString(bold, vg.Point{X: c.Min.X, Y: y}, elide(bold, printable(d.figure.Title), c.Max.X-c.Min.X))
	c.SetColor(faint())
	y -= 4
	for _, line := range d.subtitle {
		y -= subtitle
		c.FillString(small, vg.Point{X: c.Min.X, Y: y}, line)
	}

	body := draw.Crop(c, axisLabel+3, 0, d.legend.height()+6+axisLabel, -d.header())
	d.plot.Draw(body)
	data := d.plot.DataCanvas(body)
	d.axisLabels(c, body, data)
	d.legend.draw(draw.Crop(c, 0, 0, 0, -(c.Max.Y - c.Min.Y - d.legend.height())))
	return d.marks.notes(data, d.plot)
}

// axisLabels writes what the axes count, centred on the data. The library's own
// labels leave the figure half empty where an axis is logarithmic.
func (d drawing) axisLabels(c, body, data draw.Canvas) {
	face := d.fonts.regular(textSize + 0.5)
	c.SetColor(ink())
	x := elide(face, printable(d.marks.x.label), c.Max.X-c.Min.X)
	c.FillString(face, vg.Point{X: data.Center().X - face.Width(x)/2, Y: body.Min.Y - 11}, x)
	y := elide(face, printable(d.marks.y.label), body.Max.Y-body.Min.Y)
	c.Push()
	c.Translate(vg.Point{X: c.Min.X + textSize, Y: data.Center().Y - face.Width(y)/2})
	c.Rotate(math.Pi / 2)
	c.FillString(face, vg.Point{}, y)
	c.Pop()
}
