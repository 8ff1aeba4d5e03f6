package plots

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"

	"dmebench/report/units"
)

// xScale chooses the horizontal axis. fits tells whether labels at two
// fractions of the axis can stand beside one another.
func (p Panel) xScale(fits func(a, b tickAt) bool) scale {
	s := scale{label: p.X.Label, unit: units.Plain()}
	all, bars := newExtent(), newExtent()
	var at []float64
	for _, series := range p.Series {
		for _, pt := range series.Points {
			if !finite(pt.X) || !finite(pt.Y) {
				continue
			}
			all.add(pt.X)
			if pt.hasWidth() {
				bars.add(pt.Left)
				bars.add(pt.Right)
			}
			if series.Role == Measured || series.Role == Tail || series.Role == Dots {
				at = append(at, pt.X)
			}
		}
	}
	if all.empty() {
		s.min, s.max = 0, 1
		return s
	}
	for _, e := range p.Events {
		all.add(e.At)
	}
	switch p.X.Kind {
	case Elapsed:
		return elapsedScale(s, all)
	case Places:
		return placeScale(s, all)
	case Ranks:
		return rankScale(s, all, fits)
	case Times, Amounts:
		return amountScale(s, all, bars, p.X.Kind == Times, fits)
	case Names:
		return nameScale(s, p.Names, fits)
	case Upright:
		s = nameScale(s, p.Names, func(_, _ tickAt) bool { return true })
		s.upright = true
		return s
	}
	slices.Sort(at)
	at = slices.Compact(at)
	if p.X.Kind != Linear && all.min > 0 && all.max/all.min >= logFrom {
		s.log = true
		s.label += ", log scale"
	}
	switch {
	case all.min == all.max:
		s.min, s.max = all.min-1, all.max+1
	case s.log:
		margin := math.Pow(all.max/all.min, 0.055)
		s.min, s.max = all.min/margin, all.max*margin
	default:
		margin := (all.max - all.min) * 0.055
		s.min, s.max = all.min-margin, all.max+margin
	}
	if p.X.Kind == Values && !s.log && len(at) > manyValues {
		step := niceStep((all.max - all.min) / manyValues)
		s.steps(math.Ceil(all.min/step)*step, all.max, step)
		return s
	}
	if len(at) == 0 { // curves alone
		at = []float64{all.min, all.max}
	}
	names := make([]string, len(at))
	for i, x := range at {
		names[i] = units.Number(x)
	}
	s.ticks = thin(at, names, s, fits)
	return s
}

// nameScale is an axis with a place for each name.
func nameScale(s scale, names []string, fits func(a, b tickAt) bool) scale {
	s.min, s.max, s.names = -0.5, float64(len(names))-0.5, len(names)
	places := make([]float64, len(names))
	for i := range names {
		places[i] = float64(i)
	}
	s.ticks = thin(places, names, s, fits)
	return s
}

// elapsedScale is the axis of a time, as wide as what is shown.
func elapsedScale(s scale, all extent) scale {
	s.min, s.max = all.min, all.max
	if s.min == s.max {
		s.min, s.max = s.min-1, s.max+1
	}
	step := niceStep((s.max - s.min) / 8)
	s.steps(math.Ceil(s.min/step)*step, s.max, step)
	return s
}

// amountScale is the axis of a quantity that is measured, of a distribution for
// example. A linear one begins at zero; bars may stretch it a little.
func amountScale(s scale, all, bars extent, time bool, fits func(a, b tickAt) bool) scale {
	s.log = all.min > 0 && all.max/all.min > logFrom
	if time {
		typical := all.max
		if s.log {
			typical = math.Sqrt(all.min * all.max)
		}
		s.unit = units.TimeScale(typical)
		s.label += " (" + s.unit.Unit + ")"
	}
	if s.log {
		s.label += ", log scale"
		low, high := all.min, all.max
		if bars.positive < low {
			low = max(bars.positive, low/stretchLog)
		}
		s.logarithmic(low, max(high, min(bars.max, high*stretchLog)))
		return s
	}
	low, high := stretched(all, bars, stretch)
	if high == low {
		high = low + s.unit.Divisor
	}
	for _, ticks := range []float64{6, 4, 3} {
		room := s
		room.linear(low, high, niceStep((high-low)/ticks/s.unit.Divisor)*s.unit.Divisor)
		if room.labelsFit(fits) {
			return room
		}
	}
	s.linear(low, high, niceStep((high-low)/2/s.unit.Divisor)*s.unit.Divisor)
	return s
}

// labelsFit reports whether the labels of all ticks can stand beside one another.
func (s scale) labelsFit(fits func(a, b tickAt) bool) bool {
	for i := 1; i < len(s.ticks); i++ {
		a, b := s.ticks[i-1], s.ticks[i]
		if !fits(tickAt{s.fraction(a.Value), a.Label}, tickAt{s.fraction(b.Value), b.Label}) {
			return false
		}
	}
	return true
}

// placeScale is an axis of places, with half a place left and right.
func placeScale(s scale, all extent) scale {
	s.min, s.max = all.min-0.5, all.max+0.5
	step := max(1, niceStep((s.max-s.min)/8))
	s.steps(math.Ceil(all.min/step)*step, all.max, step)
	return s
}

// rankScale is the axis of a percentile plot: 0%, 90%, 99%, …; 50% where there is room.
func rankScale(s scale, all extent, fits func(a, b tickAt) bool) scale {
	s.log, s.ranks, s.min, s.max = true, true, 1, max(10, all.max)
	at := []float64{1, 2}
	for x := 10.0; x <= s.max*1.0001; x *= 10 {
		at = append(at, x)
	}
	label := func(x float64) string { return fmt.Sprintf("%.8g%%", 100-100/x) }
	place := func(x float64) tickAt { return tickAt{s.fraction(x), label(x)} }
	if !fits(place(1), place(2)) || !fits(place(2), place(10)) {
		at = slices.Delete(at, 1, 2)
	}
	for _, x := range at {
		s.ticks = append(s.ticks, plot.Tick{Value: x, Label: label(x)})
	}
	for i := 1; i < len(s.ticks); i++ { // labels grow longer to the right
		if last := len(s.ticks) - 1; i < last && !fits(place(s.ticks[i].Value), place(s.ticks[i+1].Value)) {
			s.ticks[i].Label = ""
		}
	}
	return s
}

// tickAt is a label at a fraction of the axis.
type tickAt struct {
	fraction float64
	label    string
}

// thin puts a tick at every value and labels as many as fit: the ends first,
// then from the left.
func thin(values []float64, names []string, s scale, fits func(a, b tickAt) bool) []plot.Tick {
	place := func(i int) tickAt { return tickAt{s.fraction(values[i]), names[i]} }
	last := len(values) - 1
	ticks := make([]plot.Tick, len(values))
	labelled := -1
	for i := range values {
		ticks[i].Value = values[i]
		crowded := labelled >= 0 && !fits(place(labelled), place(i))
		if crowded || i > 0 && i < last && !fits(place(i), place(last)) {
			continue
		}
		ticks[i].Label = names[i]
		labelled = i
	}
	return ticks
}
