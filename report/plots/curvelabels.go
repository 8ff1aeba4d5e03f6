package plots

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// curveText is the size of what is written at a curve.
const curveText = 8

// predicts reports whether a series is what somebody says of others. Its label stands
// at its curve.
func (s Series) predicts() bool { return s.Role == Exact || s.Role == Bound }

// curveLabel is the label of a prediction where it stands.
type curveLabel struct {
	text  string
	color color.Color
	box   vg.Rectangle // of the text, with a little room around it
	curve vg.Point     // the end of a thin line from the text, where it stands apart
	apart bool
}

// Room around a label, and between it and its curve, in points; at how many places along
// its curve it is tried, and how many steps away from it, of how many points.
const (
	labelPad, labelRise = 1.5, 2.2
	labelPlaces         = 24
	labelSteps          = 8
	labelStep           = 9
)

// curveLabels writes what predictions are called at their curves.
func (p pen) curveLabels() {
	for _, l := range p.placeCurveLabels() {
		if l.apart {
			from := vg.Point{X: min(max(l.curve.X, l.box.Min.X), l.box.Max.X), Y: l.box.Min.Y}
			if l.curve.Y > l.box.Max.Y {
				from.Y = l.box.Max.Y
			}
			p.StrokeLine2(draw.LineStyle{Color: l.color, Width: 0.4}, from.X, from.Y, l.curve.X, l.curve.Y)
		}
		// What lies below is seen through, but does not disturb.
		p.FillPolygon(color.NRGBA{255, 255, 255, 160}, corners(l.box))
		p.SetColor(l.color)
		p.FillString(p.face, l.box.Min.Add(vg.Point{X: labelPad, Y: labelPad + 0.2*p.face.Font.Size}), l.text)
	}
}

// placeCurveLabels finds a place for the label of each prediction: beside its curve,
// within the axes, on no other label, on as little else as possible, and near the end
// of the curve. A label that has none is left out: the caption has it. Where several
// series are predicted alike, that is said once.
func (p pen) placeCurveLabels() []curveLabel {
	var placed []curveLabel
	obstacles := p.obstacles()
	for i, s := range p.series {
		if !s.predicts() || s.Label == "" || slices.ContainsFunc(p.series[:i], s.saysTheSame) {
			continue
		}
		l := curveLabel{text: elide(p.face, printable(s.Label), p.Max.X-p.Min.X-2*labelPad), color: predicted(hue(s.Style))}
		if slices.ContainsFunc(p.series[i+1:], s.saysTheSame) {
			l.color = ink()
		}
		if l.place(p, p.curve(s), placed, obstacles) {
			placed = append(placed, l)
		}
	}
	return placed
}

// saysTheSame reports whether two predictions have the same label and the same values.
func (s Series) saysTheSame(other Series) bool {
	return other.predicts() && s.Label == other.Label && slices.EqualFunc(s.Points, other.Points, func(a, b Point) bool {
		return a.X == b.X && math.Abs(a.Y-b.Y) <= 1e-9*math.Abs(a.Y)
	})
}

// obstacle is a point that a label should not lie on, or nearer to.
type obstacle struct {
	at   vg.Point
	near vg.Length
	cost float64
}

// obstacles returns where markers are, and points along lines and bars.
func (p pen) obstacles() (all []obstacle) {
	for _, s := range p.series {
		for _, pt := range s.Points {
			at, ok := p.at(s, pt.X, pt.Y)
			if ok && (s.Role == Measured || s.Role == Dots || s.Role == Mark) {
				all = append(all, obstacle{at, 3, 6})
			}
			if ok && pt.hasBar() && s.Role != Layer {
				from, _ := p.at(s, pt.X, p.y.within(pt.Lo))
				to, _ := p.at(s, pt.X, p.y.within(pt.Hi))
				for _, at := range between(from, to) {
					all = append(all, obstacle{at, 0, 1})
				}
			}
		}
		if s.Role != Dots && s.Role != Mark && s.Role != Layer {
			for _, at := range p.curve(s) {
				all = append(all, obstacle{at, 0, 1})
			}
		}
	}
	return all
}

// curve returns points along the line of a series, as far as it is within the axes.
func (p pen) curve(s Series) (along []vg.Point) {
	for _, pt := range s.Points {
		if at, ok := p.at(s, pt.X, pt.Y); ok && at.Y >= p.Min.Y-1 && at.Y <= p.Max.Y+1 {
			if len(along) > 0 && !pt.Gap {
				along = append(along, between(along[len(along)-1], at)...)
			}
			along = append(along, at)
		}
	}
	return along
}

// between returns points on the line from a to b.
func between(a, b vg.Point) []vg.Point {
	const apart = 3
	n := int(math.Hypot(float64(b.X-a.X), float64(b.Y-a.Y))/apart) + 1
	points := make([]vg.Point, n)
	for i := range points {
		points[i] = a.Add(b.Sub(a).Scale(vg.Length(i) / vg.Length(n)))
	}
	return points
}

// place finds the best place for the label of a curve; false where there is none.
func (l *curveLabel) place(p pen, curve []vg.Point, placed []curveLabel, obstacles []obstacle) bool {
	if len(curve) == 0 {
		return false
	}
	width, height := p.face.Width(l.text)+2*labelPad, p.face.Font.Size*0.95+2*labelPad
	best := math.Inf(1)
	first, last := min(curve[0].X, p.Max.X-width), min(curve[len(curve)-1].X, p.Max.X)
	for k := range labelPlaces + 1 {
		right := last - (last-first)*vg.Length(k)/labelPlaces
		left := max(p.Min.X, min(right-width, p.Max.X-width))
		at := slices.MinFunc(curve, func(a, b vg.Point) int {
			return cmp.Compare(math.Abs(float64(a.X-left-width/2)), math.Abs(float64(b.X-left-width/2)))
		})
		low, high := at.Y, at.Y // of the curve above or below the text
		for _, c := range curve {
			if c.X >= left && c.X <= left+width {
				low, high = min(low, c.Y), max(high, c.Y)
			}
		}
		for side := range 2 * labelSteps {
			away, apart := vg.Length(side/2)*labelStep, side > 1
			bottom := high + labelRise + away
			if side%2 == 1 {
				bottom = low - labelRise - height - away
			}
			box := vg.Rectangle{Min: vg.Point{X: left, Y: bottom}, Max: vg.Point{X: left + width, Y: bottom + height}}
			taken := func(o curveLabel) bool {
				return overlap(o.box, box) || apart && crosses(at, box, o.box) || o.apart && crosses(o.curve, o.box, box)
			}
			if box.Min.Y < p.Min.Y || box.Max.Y > p.Max.Y || slices.ContainsFunc(placed, taken) {
				continue
			}
			cost := 0.12*float64(k) + 0.05*float64(side%2) + hidden(obstacles, box)
			if apart {
				cost += 2 + 0.8*float64(side/2)
			}
			if cost < best {
				best, l.box, l.curve, l.apart = cost, box, at, apart
			}
		}
	}
	return !math.IsInf(best, 1)
}

// crosses reports whether the thin line from a label to its curve meets a box.
func crosses(curve vg.Point, label, box vg.Rectangle) bool {
	x := min(max(curve.X, label.Min.X), label.Max.X)
	low, high := min(curve.Y, label.Min.Y), max(curve.Y, label.Max.Y)
	return x > box.Min.X-1 && x < box.Max.X+1 && low < box.Max.Y && high > box.Min.Y
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

// hidden is what it costs that a box hides obstacles.
func hidden(all []obstacle, box vg.Rectangle) (cost float64) {
	for _, o := range all {
		if o.at.X > box.Min.X-o.near && o.at.X < box.Max.X+o.near && o.at.Y > box.Min.Y-o.near && o.at.Y < box.Max.Y+o.near {
			cost += o.cost
		}
	}
	return cost
}
