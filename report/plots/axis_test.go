package plots

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func scaleOf(y AxisKind, values ...float64) scale {
	s := Series{}
	for i, v := range values {
		s.Points = append(s.Points, At(float64(i+1), v))
	}
	return Panel{Y: Axis{Label: "quantity", Kind: y}, Series: []Series{s}}.yScale()
}

func labels(s scale) []string {
	var all []string
	for _, t := range s.ticks {
		if t.Label != "" {
			all = append(all, t.Label)
		}
	}
	return all
}

func TestOrdinate(t *testing.T) {
	for _, c := range []struct {
		name     string
		kind     AxisKind
		values   []float64
		min, max float64
		log      bool
		label    string
	}{
		{"from zero", Values, []float64{40, 80}, 0, 80, false, "quantity"},
		{"one and a half decades", Values, []float64{1, 31}, 0, 40, false, "quantity"},
		{"more", Values, []float64{1, 32}, 1, 50, true, "quantity, log scale"},
		{"zero is not on a log axis", Values, []float64{0, 3, 1000}, 2, 1000, true, "quantity, log scale without zeros"},
		{"milliseconds", Times, []float64{1.5e6, 4e6}, 0, 4e6, false, "quantity (ms)"},
		{"decades of time", Times, []float64{3e3, 4e6}, 2e3, 5e6, true, "quantity (µs), log scale"},
		{"more of them", Times, []float64{3e6, 2e9}, 2e6, 2e9, true, "quantity (ms), log scale"},
		{"below zero", Values, []float64{-5, 10}, -5, 10, false, "quantity"},
		{"nothing but zero", Values, []float64{0, 0}, 0, 1, false, "quantity"},
	} {
		s := scaleOf(c.kind, c.values...)
		if !close(s.min, c.min) || !close(s.max, c.max) || s.log != c.log || s.label != c.label {
			t.Errorf("%s: %v…%v log=%v %q, want %v…%v log=%v %q", c.name, s.min, s.max, s.log, s.label, c.min, c.max, c.log, c.label)
		}
		if n := len(labels(s)); n < 2 || n > 12 {
			t.Errorf("%s: %d labels: %v", c.name, n, labels(s))
		}
		for _, v := range c.values {
			if s.drawable(v) && (s.fraction(v) < -1e-9 || s.fraction(v) > 1+1e-9) {
				t.Errorf("%s: %v lies at %v of the axis", c.name, v, s.fraction(v))
			}
		}
	}
}

// One repetition out of line neither presses the medians to the ground nor makes the
// axis logarithmic: its bar is cut.
func TestTallBarsAreCut(t *testing.T) {
	bar := func(y, lo, hi float64) Point { return Point{X: y, Y: y, Lo: lo, Hi: hi} }
	for _, c := range []struct {
		name   string
		points []Point
		max    float64
		log    bool
	}{
		{"a bar that fits", []Point{bar(3, 2, 4), bar(5, 4, 7)}, 8, false},
		{"a bar far above", []Point{bar(3, 2, 90), bar(5, 4, 7)}, 8, false},
		{"two of them", []Point{bar(3, 2, 90), bar(5, 4, 1e9)}, 8, false},
		{"decades of medians", []Point{bar(1, 0.5, 2), bar(100, 90, 1e6)}, 500, true},
		{"a bar to zero", []Point{bar(1, 0, 2), bar(100, 90, 120)}, 200, true},
		{"bars alone", []Point{bar(0, 0, 5)}, 5, false},
		{"below zero", []Point{bar(3, -100, 4)}, 4, false},
	} {
		s := Panel{Y: Axis{"y", Values}, Series: []Series{{Label: "s", Style: 1, Points: c.points}}}.yScale()
		if !close(s.max, c.max) || s.log != c.log {
			t.Errorf("%s: up to %v, log %v; want %v, %v", c.name, s.max, s.log, c.max, c.log)
		}
	}
}

func close(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }

func TestSizesAreLabelledWhereTheyFit(t *testing.T) {
	f := figure(1, 3, 4, 5, 100, 101, 200).panels()[0]
	s := f.xScale(func(a, b tickAt) bool { return b.fraction-a.fraction > 0.1 })
	if len(s.ticks) != 6 {
		t.Errorf("%d ticks for 6 sizes", len(s.ticks))
	}
	if !s.log {
		t.Error("sizes from 3 to 200 are not on a log scale")
	}
	got := labels(s)
	if got[0] != "3" || got[len(got)-1] != "200" {
		t.Errorf("the ends are not labelled: %q", got)
	}
	last := math.Inf(-1)
	for _, tick := range s.ticks {
		if tick.Label == "" {
			continue
		}
		if at := s.fraction(tick.Value); at-last <= 0.1 {
			t.Errorf("%s stands too close: %q", tick.Label, got)
		} else {
			last = at
		}
	}
}

func TestNames(t *testing.T) {
	f := Panel{X: Axis{Kind: Names}, Names: []string{"constant", "uniform", ""}, Series: []Series{
		{Style: 0, Points: []Point{At(0, 1), At(1, 2)}}, {Style: 1, Points: []Point{At(0, 1), At(2, 2)}},
	}}
	s := f.xScale(func(a, b tickAt) bool { return true })
	if got := labels(s); len(got) != 2 || got[0] != "constant" || s.log {
		t.Errorf("labels %q, log %v", got, s.log)
	}
	const width = 380
	m := marks{series: f.Series, x: s, width: width}
	shifts, _ := m.shifts()
	a, b := shifts[0], shifts[1]
	if a >= b {
		t.Errorf("series over one name are shifted by %v and %v", a, b)
	}
	// All series of a name stay nearer to it than to the next.
	if float64(b-a) > width/3 {
		t.Errorf("series of one name are %v apart", b-a)
	}
}

// The words of names that do not fit stand in lines.
func TestNamesInLines(t *testing.T) {
	p := Panel{X: Axis{Kind: Names}, Names: []string{"slow link", "slow node"}, Series: []Series{{Points: []Point{At(0, 1)}}}}
	fits := func(a, b tickAt) bool { return strings.Contains(b.label, "\n") }
	if got := labels(p.xScale(fits)); !slices.Equal(got, []string{"slow\nlink", "slow\nnode"}) {
		t.Errorf("%q", got)
	}
}

func TestProbabilitiesEndAtOne(t *testing.T) {
	for _, values := range [][]float64{{0.4, 0.5}, {1e-9, 1}, {0}} {
		s := scaleOf(Parts, values...)
		if s.log || s.min != 0 || s.max != 1 || len(labels(s)) != 6 {
			t.Errorf("%v: %v…%v, log %v, %q", values, s.min, s.max, s.log, labels(s))
		}
	}
}

// A fraction is read on a linear axis though it may span more than a decade.
func TestAbscissaOfValues(t *testing.T) {
	at := func(xs ...float64) scale {
		s := Series{}
		for _, x := range xs {
			s.Points = append(s.Points, At(x, 1))
		}
		return Panel{X: Axis{Kind: Values}, Series: []Series{s}}.xScale(func(a, b tickAt) bool { return true })
	}
	if at(0.077, 0.99).log || !at(10, 1600).log {
		t.Error("the scale does not follow the values")
	}
	var many []float64
	for i := range 32 {
		many = append(many, float64(i))
	}
	if got := labels(at(many...)); len(got) != 7 || got[1] != "5" {
		t.Errorf("labels of 0 to 31: %q", got)
	}
}

// An abscissa of times begins at zero; as many labels stand there as there is room for.
func TestTimes(t *testing.T) {
	always := func(_, _ tickAt) bool { return true }
	wide := func(a, b tickAt) bool { return b.fraction-a.fraction > 0.3 }
	for _, x := range []struct {
		name     string
		times    []float64
		fits     func(a, b tickAt) bool
		min, max float64
		labels   []string
	}{
		{"milliseconds", []float64{1e6, 5e6}, always, 0, 5e6, []string{"0", "1", "2", "3", "4", "5"}},
		{"little room", []float64{1e6, 5e6}, wide, 0, 5e6, []string{"0", "2", "5"}},
		{"decades", []float64{2e6, 200e6}, always, 2e6, 200e6, []string{"2", "5", "10", "20", "50", "100", "200"}},
	} {
		s := Series{Role: Curve}
		for _, at := range x.times {
			s.Points = append(s.Points, At(at, 1))
		}
		got := Panel{X: Axis{Label: "x", Kind: Times}, Series: []Series{s}}.xScale(x.fits)
		if got.min != x.min || got.max != x.max || !slices.Equal(labels(got), x.labels) {
			t.Errorf("%s: %v to %v, %q; want %v to %v, %q", x.name, got.min, got.max, labels(got), x.min, x.max, x.labels)
		}
	}
}

// Residuals lie on both sides of zero, and sizes may span decades: such an axis
// stays linear.
func TestLinearAxes(t *testing.T) {
	dots := Series{Role: Dots, Points: []Point{At(3, 0.01), At(993, 900)}}
	p := Panel{X: Axis{"nodes N", Linear}, Y: Axis{"residual", Linear}, Series: []Series{dots}}
	x, y := p.xScale(func(a, b tickAt) bool { return true }), p.yScale()
	if x.log || y.log {
		t.Errorf("log scales: %v, %v", x.log, y.log)
	}
}
