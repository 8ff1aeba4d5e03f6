package plots

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// said counts the texts of a figure that have a part.
func said(t *testing.T, f Figure, part string) (n int) {
	t.Helper()
	for _, b := range texts(t, f, Size{}) {
		if strings.Contains(b.text, part) {
			n++
		}
	}
	return n
}

// What is predicted stands at its curve: above the legend, and on none of the markers.
func TestPredictionsAreLabelledAtTheirCurves(t *testing.T) {
	f := figure(3, 3, 7, 13)
	legend, lowest := 0.0, math.Inf(-1) // heights grow downwards, from minus the height to 0
	for _, b := range texts(t, f, Size{}) {
		if strings.HasPrefix(b.text, "algorithm-") {
			legend = min(legend, b.top)
		}
		if strings.Contains(b.text, "TR-869") {
			lowest = max(lowest, b.bottom)
		}
	}
	if n := said(t, f, "TR-869"); n != 3 || lowest >= legend {
		t.Errorf("%d labels, down to %.1f; the legend begins at %.1f", n, lowest, legend)
	}
	d := f.lay(Size{})
	pen := laid(d.panels[0], d)
	for _, l := range pen.placeCurveLabels() {
		if n := pen.marksIn(l.box); n > 0 {
			t.Errorf("%q hides %d markers", l.text, n)
		}
	}
}

// What is predicted alike of several series is said once; where the values differ each
// curve has its own label.
func TestPredictionsOfAllAreSaidOnce(t *testing.T) {
	f := figure(4, 3, 7)
	for i := 3; i < len(f.Series); i += 2 {
		f.Series[i].Points = f.Series[1].Points
	}
	if n := said(t, f, "TR-869"); n != 1 {
		t.Errorf("said %d times", n)
	}
	if n := said(t, figure(4, 3, 7), "TR-869"); n != 4 {
		t.Errorf("four curves have %d labels", n)
	}
}

// Where there is no room a label is left out rather than written upon another.
func TestNoRoomForLabels(t *testing.T) {
	f := figure(60, 3, 7)
	if n := said(t, f, "TR-869"); n == 0 || n == 60 {
		t.Errorf("%d of 60 labels; want those that fit", n)
	}
}

// laid returns the pen of a panel on a canvas of its size.
func laid(p panel, d drawing) pen {
	c := draw.NewCanvas(vgsvg.New(d.width, d.body), d.width, d.body)
	data := p.plot.DataCanvas(draw.Crop(c, 17, 0, 14, 0))
	return p.marks.onto(&data, p.plot)
}

// A label gives way to single values, which no line tells from afar.
func TestLabelsGiveWayToDots(t *testing.T) {
	dots := Series{Label: "dots", Style: 1, Role: Dots}
	for i := range 20 { // around the end of the curve, where a label would stand else
		dots.Points = append(dots.Points, At(9+0.05*float64(i), 5.4), At(9+0.05*float64(i), 4.6))
	}
	f := Figure{X: Axis{"x", Linear}, Y: Axis{"y", Linear}, Series: []Series{
		dots, {Label: "2T", Style: 2, Role: Bound, Points: []Point{At(0, 5), At(10, 5)}}, {Style: 3, Points: []Point{At(0, 10)}},
	}}
	d := f.lay(Size{})
	pen := laid(d.panels[0], d)
	labels := pen.placeCurveLabels()
	if len(labels) != 1 || pen.marksIn(labels[0].box) > 0 {
		t.Errorf("%d labels, upon %d dots", len(labels), pen.marksIn(labels[0].box))
	}
}

// marksIn counts the markers whose middle is in a box.
func (p pen) marksIn(box vg.Rectangle) (n int) {
	for _, o := range p.obstacles() {
		if o.near > 0 && o.at.X > box.Min.X && o.at.X < box.Max.X && o.at.Y > box.Min.Y && o.at.Y < box.Max.Y {
			n++
		}
	}
	return n
}
