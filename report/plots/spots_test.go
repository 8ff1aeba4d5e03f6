package plots

import (
	"slices"
	"strings"
	"testing"
)

// spot is a value of two quantities with a horizontal bar.
func spot(x, left, right float64) Series {
	p := At(x, 10)
	p.Left, p.Right = left, right
	return Series{Label: "a", Role: Spots, Points: []Point{p}}
}

// An abscissa of a measured number begins at zero, and a bar stretches it a little; as
// many labels stand there as there is room for.
func TestAmounts(t *testing.T) {
	always := func(_, _ tickAt) bool { return true }
	wide := func(a, b tickAt) bool { return b.fraction-a.fraction > 0.3 }
	for _, x := range []struct {
		name     string
		kind     AxisKind
		series   []Series
		fits     func(a, b tickAt) bool
		min, max float64
		labels   []string
	}{
		{"a number", Amounts, []Series{spot(4, 3, 5)}, always, 0, 5, []string{"0", "1", "2", "3", "4", "5"}},
		{"little room", Amounts, []Series{spot(4, 3, 5)}, wide, 0, 6, []string{"0", "2", "4", "6"}},
		{"a bar that towers", Amounts, []Series{spot(4, 3, 500)}, always, 0, 6, []string{"0", "1", "2", "3", "4", "5", "6"}},
		{"a time", Times, []Series{spot(4e6, 3e6, 5e6)}, always, 0, 5e6, []string{"0", "1", "2", "3", "4", "5"}},
		{"decades", Amounts, []Series{spot(2, 2, 2), spot(200, 200, 200)}, always, 2, 200, []string{"2", "5", "10", "20", "50", "100", "200"}},
	} {
		s := Panel{X: Axis{Label: "x", Kind: x.kind}, Series: x.series}.xScale(x.fits)
		if s.min != x.min || s.max != x.max || !slices.Equal(labels(s), x.labels) {
			t.Errorf("%s: %v to %v, %q; want %v to %v, %q", x.name, s.min, s.max, labels(s), x.min, x.max, x.labels)
		}
	}
}

// A horizontal bar is drawn; one that leaves the axis is cut, and the legend says so.
func TestHorizontalBars(t *testing.T) {
	draw := func(left, right float64) string {
		f := Figure{Title: "t", X: Axis{Label: "x", Kind: Amounts}, Y: Axis{Label: "y"}, Series: []Series{spot(4, left, right), spot(5, 0, 0)}}
		drawn, err := f.Render(SVG)
		if err != nil {
			t.Fatal(err)
		}
		return string(drawn[SVG])
	}
	strokes := func(svg string) int { // paths that look alike are one element
		n := 0
		for _, path := range strings.Split(svg, `<path d="`)[1:] {
			outline, _, _ := strings.Cut(path, `"`)
			n += strings.Count(outline, "M")
		}
		return n
	}
	none, bar, cut := draw(0, 0), draw(3, 5), draw(3, 500)
	if strokes(bar)-strokes(none) != 4 { // two halves, each with a cap
		t.Errorf("%d strokes without a bar, %d with one", strokes(none), strokes(bar))
	}
	const beyond = "goes on beyond the axis"
	if !strings.Contains(cut, beyond) || strings.Contains(bar, beyond) {
		t.Error("a bar that leaves the axis is not told from one that does not")
	}
}
