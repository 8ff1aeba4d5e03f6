package plots

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"dmebench/stats"
	"dmebench/units"
)

// logFrom is the ratio of the largest to the smallest value from which an axis
// is logarithmic: one and a half decades.
const logFrom = 31.622776601683793

// A bar may stretch an axis beyond the largest value that it belongs to by these
// factors: of a linear axis, and of a logarithmic one. Longer bars are cut:
// one repetition out of line must not press all medians to the ground.
const stretch, stretchLog = 1.5, 3

// manyValues on an abscissa get round ticks instead of one each.
const manyValues = 12

// scale is an axis whose range is known.
type scale struct {
	label    string
	min, max float64
	log      bool
	names    int // how many there are, on an axis of Names
	unit     units.Scale
	ticks    []plot.Tick
}

// extent is the range of the values that an axis must show.
type extent struct {
	min, max float64
	positive float64 // the smallest value above zero
}

func newExtent() extent { return extent{math.Inf(1), math.Inf(-1), math.Inf(1)} }

func (e *extent) add(x float64) {
	if !stats.Finite(x) {
		return
	}
	e.min, e.max = min(e.min, x), max(e.max, x)
	if x > 0 {
		e.positive = min(e.positive, x)
	}
}

// yScale chooses the vertical axis.
func (p Panel) yScale() scale {
	points, bars := newExtent(), newExtent()
	// The parts of a stack can be compared on a linear axis only.
	linear := p.Y.Kind == Linear
	for _, s := range p.Series {
		linear = linear || s.Role == Layer
		for _, pt := range s.Points {
			points.add(pt.Y)
			if pt.hasBar() {
				bars.add(pt.Lo)
				bars.add(pt.Hi)
			}
		}
	}
	s := scale{label: p.Y.Label, unit: units.Plain()}
	switch {
	case p.Y.Kind == Parts:
		s.linear(0, 1, 0.2)
	case points.min > points.max:
		s.linear(0, 1, 1)
	default:
		s.measured(p.Y.Kind == Times, linear, points, bars)
	}
	return s
}

// measured chooses the axis of measured values. A linear one begins at zero, so that
// lengths can be compared.
func (s *scale) measured(time, linear bool, points, bars extent) {
	s.log = !linear && points.positive < math.Inf(1) && points.max/points.positive > logFrom
	if time {
		typical := points.max
		if s.log {
			typical = math.Sqrt(points.positive * points.max)
		}
		s.unit = units.TimeScale(typical)
		s.label += " (" + s.unit.Unit + ")"
	}
	if s.log {
		s.label += ", log scale"
		if points.min <= 0 {
			s.label += " without zeros"
		}
		low := min(points.positive, max(bars.positive, points.positive/stretchLog))
		s.logarithmic(low, max(points.max, min(bars.max, points.max*stretchLog)))
		return
	}
	low, high := min(0, points.min), max(0, points.max)
	room := (stretch - 1) * (high - low)
	if high == low { // all are zero: bars are all there is to see
		room = math.Inf(1)
	}
	low, high = min(low, max(bars.min, low-room)), max(high, min(bars.max, high+room))
	if high == low {
		high = low + s.unit.Divisor
	}
	s.linear(low, high, niceStep((high-low)/5/s.unit.Divisor)*s.unit.Divisor)
}

// linear gives the axis a range of whole steps, with a tick at each.
func (s *scale) linear(lo, hi, step float64) {
	s.min, s.max = math.Floor(lo/step)*step, math.Ceil(hi/step*(1-1e-9))*step
	s.round(s.min, s.max, step)
}

// round puts a tick at every multiple of step from lo to hi.
func (s *scale) round(lo, hi, step float64) {
	for k := math.Ceil(lo/step - 1e-6); k*step <= hi+step/1e6; k++ {
		s.ticks = append(s.ticks, plot.Tick{Value: k * step, Label: s.unit.Number(k * step)})
	}
}

// logarithmic gives the axis a range that ends at 1, 2 or 5 times a power of ten
// of its unit, with a tick at each of them. It labels the decades, in a short range all.
func (s *scale) logarithmic(lo, hi float64) {
	const near = 1 + 1e-9
	next := func(x float64) float64 { return niceStep(1.5 * x) }
	lo, hi = lo/s.unit.Divisor, niceStep(hi/s.unit.Divisor)
	down := math.Pow(10, math.Floor(math.Log10(lo)))
	for next(down) <= lo*near {
		down = next(down)
	}
	s.min, s.max = down*s.unit.Divisor, hi*s.unit.Divisor
	for x := down; x <= hi*near; x = next(x) {
		t := plot.Tick{Value: x * s.unit.Divisor}
		if _, part := math.Modf(math.Log10(x) + 1e-9); hi/down < 1000 || math.Abs(part) < 1e-6 {
			t.Label = units.Number(x)
		}
		s.ticks = append(s.ticks, t)
	}
}

// fraction returns where on the axis x lies, from 0 to 1.
func (s scale) fraction(x float64) float64 {
	if s.log {
		return math.Log(x/s.min) / math.Log(s.max/s.min)
	}
	return (x - s.min) / (s.max - s.min)
}

// closest returns the distance of the two ticks that are closest to one another,
// as a fraction of the axis.
func (s scale) closest() float64 {
	least := 1.0
	for i := 1; i < len(s.ticks); i++ {
		least = min(least, math.Abs(s.fraction(s.ticks[i].Value)-s.fraction(s.ticks[i-1].Value)))
	}
	return least
}

// drawable reports whether y can be shown on the axis.
func (s scale) drawable(y float64) bool { return stats.Finite(y) && (!s.log || y > 0) }

// niceStep returns the smallest of 1, 2, 5 times a power of ten that is at
// least step.
func niceStep(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= step*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// xScale chooses the horizontal axis. fits tells whether labels at two
// fractions of the axis can stand beside one another.
func (p Panel) xScale(fits func(a, b tickAt) bool) scale {
	s := scale{label: p.X.Label, unit: units.Plain()}
	all := newExtent()
	var at []float64
	for _, series := range p.Series {
		for _, pt := range series.Points {
			if !stats.Finite(pt.X) || !stats.Finite(pt.Y) {
				continue
			}
			all.add(pt.X)
			if series.Role == Measured || series.Role == Dots {
				at = append(at, pt.X)
			}
		}
	}
	if all.min > all.max {
		s.min, s.max = 0, 1
		return s
	}
	for _, e := range p.Events {
		all.add(e.At)
	}
	switch p.X.Kind {
	case Times:
		s.measured(true, false, all, newExtent())
	case Names:
		s.min, s.max, s.names = -0.5, float64(len(p.Names))-0.5, len(p.Names)
		for i, name := range p.Names {
			s.ticks = append(s.ticks, plot.Tick{Value: float64(i), Label: name})
		}
	default:
		s.values(p.X.Kind, all, at)
	}
	whole := slices.Clone(s.ticks)
	if s.thin(fits); s.names > 0 && !slices.Equal(whole, s.ticks) {
		for i, t := range whole {
			s.ticks[i].Label = strings.ReplaceAll(t.Label, " ", "\n")
		}
		s.thin(fits)
	}
	return s
}

// values is an axis with a tick at each value.
func (s *scale) values(kind AxisKind, all extent, at []float64) {
	slices.Sort(at)
	at = slices.Compact(at)
	if kind != Linear && all.min > 0 && all.max/all.min >= logFrom {
		s.log = true
		s.label += ", log scale"
	}
	const part = 0.055 // of the axis, left and right of all values
	switch margin := part * (all.max - all.min); {
	case all.min == all.max:
		s.min, s.max = all.min-1, all.max+1
	case s.log:
		factor := math.Pow(all.max/all.min, part)
		s.min, s.max = all.min/factor, all.max*factor
	default:
		s.min, s.max = all.min-margin, all.max+margin
	}
	if len(at) == 0 || kind == Values && !s.log && len(at) > manyValues {
		s.round(all.min, all.max, niceStep((all.max-all.min)/manyValues))
		return
	}
	for _, x := range at {
		s.ticks = append(s.ticks, plot.Tick{Value: x, Label: units.Number(x)})
	}
}

// tickAt is a label at a fraction of the axis.
type tickAt struct {
	fraction float64
	label    string
}

// thin leaves as many labels as fit: the ends first, then from the left.
func (s *scale) thin(fits func(a, b tickAt) bool) {
	var labelled []int
	for i, t := range s.ticks {
		if t.Label != "" {
			labelled = append(labelled, i)
		}
	}
	place := func(i int) tickAt { return tickAt{s.fraction(s.ticks[i].Value), s.ticks[i].Label} }
	previous := -1
	for k, i := range labelled {
		last := labelled[len(labelled)-1]
		crowded := previous >= 0 && !fits(place(previous), place(i))
		if crowded || k > 0 && i != last && !fits(place(i), place(last)) {
			s.ticks[i].Label = ""
			continue
		}
		previous = i
	}
}
