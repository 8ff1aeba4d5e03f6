package plots

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dmebench/stats"
)

// Sizes of a figure, in points.
const (
	narrowest  = 130 // of a panel that stands beside others
	titleSize  = 12
	textSize   = 9
	subtitle   = 11.5 // height of a line
	axisLine   = 11   // height of such a line
	axisLines  = 2    // at most
	panelTitle = 11   // height of a line of a panel's title
	panelGap   = 8    // between two, beside and above one another
	ordinate   = 50   // about the width that an ordinate and its labels take
)

// arrangement returns the number of columns of the panels and a panel's height, in a
// width.
func (f Figure) arrangement(inner vg.Length) (columns int, height vg.Length) {
	n := len(f.panels())
	columns = 3
	if n == 1 || n == 2 || n == 4 {
		columns = min(n, 2)
	}
	if slices.ContainsFunc(f.Panels, func(p Panel) bool { return p.Events != nil }) {
		columns = 1 // their labels need room
	}
	for columns > 1 && (inner+panelGap)/vg.Length(columns)-panelGap < narrowest {
		columns--
	}
	if n == 1 {
		return columns, min(250, 0.74*inner)
	}
	return columns, [...]vg.Length{165, 185, 150}[min(columns, 3)-1]
}

// drawing is a figure with everything decided but the format.
type drawing struct {
	figure   Figure
	width    vg.Length
	margin   vg.Length
	bare     bool      // without title and subtitle
	scale    vg.Length // what a unit of the drawing is in points
	fonts    fonts
	panels   []panel
	columns  int
	titles   int       // lines of the panels' titles
	body     vg.Length // height of a row of panels
	legend   legend
	subtitle []string
	height   vg.Length
}

// panel is one pair of axes with what stands between them.
type panel struct {
	title []string
	plot  *plot.Plot
	marks marks
}

func (f Figure) lay(size Size) drawing {
	d := drawing{figure: f, fonts: newFonts(), bare: size.Bare}
	d.width, d.margin, d.scale = size.units()
	small := d.fonts.regular(textSize)
	inner := d.width - 2*d.margin
	d.subtitle = wrap(small, printable(f.Subtitle), separator, inner, 2)

	all := f.panels()
	d.columns, d.body = f.arrangement(inner)
	for _, p := range all {
		drawn := d.within(p, (inner+panelGap)/vg.Length(d.columns)-panelGap)
		d.panels, d.titles = append(d.panels, drawn), max(d.titles, len(drawn.title))
	}
	d.legend = f.legend(small, inner)
	d.body += vg.Length(max(0, d.titles-1)) * panelTitle
	rows := (len(all) + d.columns - 1) / d.columns
	d.height = 2*d.margin + d.header() + vg.Length(rows)*(d.body+panelGap) - panelGap + 6 + d.legend.height()
	return d
}

// within chooses the axes of a panel that is so wide.
func (d drawing) within(p Panel, width vg.Length) panel {
	small := d.fonts.regular(textSize)
	fits := func(a, b tickAt) bool {
		gap := vg.Length(b.fraction-a.fraction) * (width - ordinate)
		return gap > (widest(small, a.label)+widest(small, b.label))/2+4
	}
	events := slices.DeleteFunc(slices.Clone(p.Events), func(e Event) bool { return !stats.Finite(e.At) || !stats.Finite(e.Lasts) })
	drawn := panel{plot: plot.New()}
	if p.Title != "" {
		drawn.title = wrap(d.fonts.bold(textSize), printable(p.Title), " ", width, 2)
	}
	drawn.marks = marks{
		series: p.Series, events: events, x: p.xScale(fits), y: p.yScale(), width: (width - ordinate).Points(),
		face: small,
	}
	axis(&drawn.plot.X, drawn.marks.x)
	axis(&drawn.plot.Y, drawn.marks.y)
	drawn.plot.BackgroundColor = nil
	drawn.plot.Add(drawn.marks)
	return drawn
}

// widest is the width of the widest line of a text.
func widest(f font.Face, text string) (width vg.Length) {
	for line := range strings.SplitSeq(text, "\n") {
		width = max(width, f.Width(line))
	}
	return width
}

// header is the height of the title and what stands under it.
func (d drawing) header() vg.Length {
	if d.bare {
		return 0
	}
	return titleSize + 6 + vg.Length(len(d.subtitle))*subtitle + 6
}

func axis(a *plot.Axis, s scale) {
	a.Min, a.Max = s.min, s.max
	a.Tick.Label.Font = font.From(sans(), textSize)
	a.Tick.Label.Color = ink()
	a.Tick.Length = 4
	a.Tick.LineStyle = draw.LineStyle{Color: faint(), Width: 0.6}
	a.LineStyle = draw.LineStyle{Color: faint(), Width: 0.6}
	a.Padding = 0
	a.Tick.Marker = plot.ConstantTicks(s.ticks)
	if s.log {
		a.Scale = plot.LogScale{}
	}
}

// draw draws the figure.
func (d drawing) draw(onto vg.Canvas) {
	c := draw.NewCanvas(onto, d.width, d.height)
	c.SetColor(paper())
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, d.margin, -d.margin, d.margin, -d.margin)
	if !d.bare {
		d.heading(c)
	}

	width, height := c.Max.X-c.Min.X, c.Max.Y-c.Min.Y
	one := (width+panelGap)/vg.Length(d.columns) - panelGap
	for i, p := range d.panels {
		left := vg.Length(i%d.columns) * (one + panelGap)
		top := d.header() + vg.Length(i/d.columns)*(d.body+panelGap)
		d.panel(draw.Crop(c, left, left+one-width, height-top-d.body, -top), p)
	}
	d.legend.draw(draw.Crop(c, 0, 0, 0, d.legend.height()-height))
}

// heading writes the title and what stands under it.
func (d drawing) heading(c draw.Canvas) {
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
}

// panel draws one panel to the canvas.
func (d drawing) panel(c draw.Canvas, p panel) {
	c.SetColor(ink())
	for i, line := range p.title {
		c.FillString(d.fonts.bold(textSize), vg.Point{X: c.Min.X, Y: c.Max.Y - textSize - vg.Length(i)*panelTitle}, line)
	}
	top := vg.Length(d.titles) * panelTitle
	if top > 0 {
		top += 4
	}
	// The library's own labels of axes leave the figure half empty if one is logarithmic, and cut
	// those that are long.
	face := d.fonts.regular(textSize + 0.5)
	top += vg.Length(p.marks.rows()) * labelRow
	below := wrap(face, printable(p.marks.x.label), " ", c.Max.X-c.Min.X-axisLine*axisLines, axisLines)
	bottom := axisLine*vg.Length(len(below)) + 3
	beside := wrap(face, printable(p.marks.y.label), " ", c.Max.Y-c.Min.Y-top-bottom, axisLines)
	left := axisLine*vg.Length(len(beside)) + 6
	body := draw.Crop(c, left, 0, bottom, -top)
	p.plot.Draw(body)
	data := p.plot.DataCanvas(body)
	c.SetColor(ink())
	for i, line := range below {
		x := max(body.Min.X, min(data.Center().X-face.Width(line)/2, c.Max.X-face.Width(line)))
		c.FillString(face, vg.Point{X: x, Y: body.Min.Y - axisLine*vg.Length(i+1)}, line)
	}
	for i, line := range beside {
		y := max(body.Min.Y, min(data.Center().Y-face.Width(line)/2, body.Max.Y-face.Width(line)))
		c.Push()
		c.Rotate(math.Pi / 2)
		c.FillString(face, vg.Point{X: y, Y: -c.Min.X - textSize - axisLine*vg.Length(i)}, line)
		c.Pop()
	}
}

// shades grounds the time that an event lasts.
func (p pen) shades() {
	for _, e := range p.events {
		if e.Lasts > 0 {
			from, to := p.toX(e.At), p.toX(min(e.At+e.Lasts, p.x.max))
			p.FillPolygon(shade(), corners(vg.Rectangle{Min: vg.Point{X: from, Y: p.Min.Y}, Max: vg.Point{X: to, Y: p.Max.Y}}))
		}
	}
}

// instants draws a line where an event begins.
func (p pen) instants() {
	for _, e := range p.events {
		p.StrokeLine2(instant(), p.toX(e.At), p.Min.Y, p.toX(e.At), p.Max.Y)
	}
}

func instant() draw.LineStyle {
	return draw.LineStyle{Color: faint(), Width: 0.8, Dashes: []vg.Length{3, 2}}
}

// labelRow is the height of a row of events' labels; there are at most this many.
const (
	labelRow  = 11
	labelRows = 4
)

// rows is how many rows of labels there may be above the panel.
func (m marks) rows() int { return min(len(m.events), labelRows) }

// eventLabels writes the labels of events above the data, each beside the end of its line in
// the first row that has room; what finds none is left out.
func (p pen) eventLabels() {
	ends := make([]vg.Length, p.rows())
	for _, e := range p.events {
		text := elide(p.face, printable(e.Label), p.Max.X-p.Min.X)
		x := p.toX(e.At)
		from := min(x+3, p.Max.X-p.face.Width(text))
		row := slices.IndexFunc(ends, func(end vg.Length) bool { return end < from })
		if row < 0 || text == "" {
			continue
		}
		ends[row] = from + p.face.Width(text) + 6
		y := p.Max.Y + vg.Length(row)*labelRow
		p.StrokeLine2(instant(), x, p.Max.Y, x, y+labelRow-2)
		p.SetColor(ink())
		p.FillString(p.face, vg.Point{X: from, Y: y + 3}, text)
	}
}
