package plots

import (
	"slices"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// band fills the area between Lo and Hi, up to each gap.
func (p pen) band(s Series) {
	var upper, lower []vg.Point
	flush := func() {
		if len(upper) > 1 {
			slices.Reverse(lower)
			p.FillPolygon(area(hue(s.Style)), p.ClipPolygonXY(append(upper, lower...)))
		}
		upper, lower = nil, nil
	}
	for _, pt := range s.Points {
		lo, okLo := p.at(s, pt.X, p.y.within(pt.Lo))
		hi, okHi := p.at(s, pt.X, p.y.within(pt.Hi))
		if pt.Gap || !okLo || !okHi {
			flush()
		}
		if okLo && okHi {
			upper, lower = append(upper, hi), append(lower, lo)
		}
	}
	flush()
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

// Sizes of the labels of events, in points.
const (
	labelRow  = 11 // height of a row
	labelRows = 4  // there are at most so many; what finds no room in them is left out
	labelGap  = 6
)

// eventLabels stand above a panel, in rows where they would overlap.
type eventLabels struct {
	face   font.Face
	placed []placedLabel
	rows   int
}

type placedLabel struct {
	at       float64
	text     string
	from, to vg.Length
	row      int
	left     bool // it ends at the line instead of beginning there
}

// placeLabels finds a row for every label over an axis that is so wide.
func placeLabels(events []Event, x scale, face font.Face, width vg.Length) eventLabels {
	l := eventLabels{face: face}
	for _, e := range events {
		if e.Label == "" {
			continue
		}
		at := vg.Length(x.fraction(e.At)) * width
		p := placedLabel{at: e.At, text: elide(face, printable(e.Label), max(at, width-at)-labelGap), from: at}
		p.to = at + face.Width(p.text) + labelGap
		if p.to > width && at > width-at {
			p.from, p.to, p.left = at+at-p.to, at, true
		}
		overlap := func(o placedLabel) bool { return o.row == p.row && p.to > o.from && p.from < o.to }
		for p.row < labelRows && slices.ContainsFunc(l.placed, overlap) {
			p.row++
		}
		if p.row < labelRows {
			l.placed, l.rows = append(l.placed, p), max(l.rows, p.row+1)
		}
	}
	return l
}

func (l eventLabels) height() vg.Length { return vg.Length(l.rows) * labelRow }

// draw writes the labels above the data, each at the end of its line.
func (l eventLabels) draw(data draw.Canvas, m marks) {
	for _, p := range l.placed {
		x := data.X(m.x.fraction(p.at))
		y := data.Max.Y + vg.Length(l.rows-1-p.row)*labelRow
		data.StrokeLine2(instant(), x, data.Max.Y, x, y+labelRow-2)
		from := x + 3
		if p.left {
			from = x - 3 - l.face.Width(p.text)
		}
		data.SetColor(ink())
		data.FillString(l.face, vg.Point{X: from, Y: y + 3}, p.text)
	}
}
