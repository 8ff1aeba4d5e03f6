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

// Room around a label, and between it and its curve, in points.
const labelPad, labelRise = 1.5, 2.2

// labelPlaces is at how many places along its curve a label is tried, and labelSteps how
// many steps away from it.
const (
	labelPlaces = 24
	labelSteps  = 8
	labelStep   = 9 // in points
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
		p.FillString(p.face, vg.Point{X: l.box.Min.X + labelPad, Y: l.box.Min.Y + labelPad + descent(p.face)}, l.text)
	}
}

func descent(f font.Face) vg.Length { return 0.2 * f.Font.Size }

// placeCurveLabels finds a place for the label of each prediction: beside its curve,
// within the axes, on no other label, on as little else as possible, and near the end
// of the curve. A label that has none is left out: the caption has it. Where several
// series are predicted alike, that is said once.
func (p pen) placeCurveLabels() []curveLabel {
	var placed []curveLabel
	marks, lines := p.obstacles()
	for i, s := range p.series {
		if !s.predicts() || s.Label == "" || slices.ContainsFunc(p.series[:i], s.saysTheSame) {
			continue
		}
		alike := slices.ContainsFunc(p.series[i+1:], s.saysTheSame)
		if l, ok := p.placeCurveLabel(s, alike, placed, marks, lines); ok {
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

// obstacles returns where markers and bars are, which a label should not hide, and
// points along the lines, which it had better not cross.
func (p pen) obstacles() (marks, lines []vg.Point) {
	const apart = 3 // points along a line
	for _, s := range p.series {
		var last vg.Point
		joined := false
		for _, pt := range s.Points {
			at, ok := p.at(s, pt.X, pt.Y)
			if !ok {
				joined = false
				continue
			}
			if s.Role == Measured || s.Role == Tail || s.Role == Dots || s.Role == Mark || s.Role == Spots {
				marks = append(marks, at)
			}
			if pt.hasBar() && s.Role != Layer {
				from, _ := p.at(s, pt.X, p.y.within(pt.Lo))
				to, _ := p.at(s, pt.X, p.y.within(pt.Hi))
				for y := from.Y; y <= to.Y; y += apart {
					lines = append(lines, vg.Point{X: at.X, Y: y})
				}
			}
			if joined && !pt.Gap && s.Role != Dots && s.Role != Mark && s.Role != Layer {
				lines = append(lines, between(last, at, apart)...)
			}
			last, joined = at, true
		}
	}
	return marks, lines
}

// between returns points on the line from a to b.
func between(a, b vg.Point, apart vg.Length) []vg.Point {
	n := int(math.Hypot(float64(b.X-a.X), float64(b.Y-a.Y))/float64(apart)) + 1
	points := make([]vg.Point, n)
	for i := range points {
		t := vg.Length(i) / vg.Length(n)
		points[i] = vg.Point{X: a.X + (b.X-a.X)*t, Y: a.Y + (b.Y-a.Y)*t}
	}
	return points
}

// placeCurveLabel finds the best place for one label.
func (p pen) placeCurveLabel(s Series, alike bool, placed []curveLabel, marks, lines []vg.Point) (curveLabel, bool) {
	l := curveLabel{text: printable(s.Label), color: predicted(hue(s.Style))}
	if alike {
		l.color = ink()
	}
	var curve []vg.Point
	for _, pt := range s.Points {
		if at, ok := p.at(s, pt.X, pt.Y); ok && at.Y >= p.Min.Y-1 && at.Y <= p.Max.Y+1 {
			if len(curve) > 0 && !pt.Gap {
				curve = append(curve, between(curve[len(curve)-1], at, 3)...)
			}
			curve = append(curve, at)
		}
	}
	if len(curve) == 0 {
		return l, false
	}
	l.text = elide(p.face, l.text, p.Max.X-p.Min.X-2*labelPad)
	width, height := p.face.Width(l.text)+2*labelPad, p.face.Font.Size*0.95+2*labelPad
	best := math.Inf(1)
	first, last := min(curve[0].X, p.Max.X-width), min(curve[len(curve)-1].X, p.Max.X)
	for k := range labelPlaces + 1 {
		right := last - (last-first)*vg.Length(k)/labelPlaces
		left := max(p.Min.X, min(right-width, p.Max.X-width))
		low, high := span(curve, left, left+width)
		at := nearest(curve, left+width/2)
		for side := range 2 * labelSteps {
			away := vg.Length(side/2) * labelStep
			bottom := high + labelRise + away
			if side%2 == 1 {
				bottom = low - labelRise - height - away
			}
			box := vg.Rectangle{Min: vg.Point{X: left, Y: bottom}, Max: vg.Point{X: left + width, Y: bottom + height}}
			taken := func(o curveLabel) bool {
				return overlap(o.box, box) || side > 1 && crosses(at, box, o.box) || o.apart && crosses(o.curve, o.box, box)
			}
			if box.Min.Y < p.Min.Y || box.Max.Y > p.Max.Y || slices.ContainsFunc(placed, taken) {
				continue
			}
			cost := 0.12*float64(k) + 0.05*float64(side%2) + 6*float64(inside(marks, box, 3)) + float64(inside(lines, box, 0))
			if side > 1 {
				cost += 2 + 0.8*float64(side/2)
			}
			if cost < best {
				best, l.box, l.curve, l.apart = cost, box, at, side > 1
			}
		}
	}
	return l, !math.IsInf(best, 1)
}

// span returns the least and the greatest height of a curve between two places, and
// that of its nearer end where it does not come there.
func span(curve []vg.Point, left, right vg.Length) (low, high vg.Length) {
	low, high = vg.Length(math.Inf(1)), vg.Length(math.Inf(-1))
	for _, at := range curve {
		if at.X >= left && at.X <= right {
			low, high = min(low, at.Y), max(high, at.Y)
		}
	}
	if low <= high {
		return low, high
	}
	at := nearest(curve, (left+right)/2)
	return at.Y, at.Y
}

// nearest is the point of a curve that is nearest to a place.
func nearest(curve []vg.Point, x vg.Length) vg.Point {
	return slices.MinFunc(curve, func(a, b vg.Point) int {
		return cmp.Compare(math.Abs(float64(a.X-x)), math.Abs(float64(b.X-x)))
	})
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

// inside counts the points in a box, or so near to it.
func inside(points []vg.Point, box vg.Rectangle, near vg.Length) (n int) {
	for _, at := range points {
		if at.X > box.Min.X-near && at.X < box.Max.X+near && at.Y > box.Min.Y-near && at.Y < box.Max.Y+near {
			n++
		}
	}
	return n
}
