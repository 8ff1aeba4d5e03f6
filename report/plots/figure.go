// Package plots draws figures as SVG, PNG and PDF.
//
// A [Figure] is data: axes, and series of points that are already summarized.
// The same figure gives the same bytes in every format. A point that cannot be drawn
// (a value that is not finite, a zero on a logarithmic axis) is left out and
// never fails a figure. The package decides how things look and nothing else:
// it computes no statistic and knows no algorithm.
package plots

import (
	"math"
	"slices"

	"dmebench/stats"
)

// Role says what a series shows, and by that how it is drawn.
type Role uint8

// The roles of a series.
const (
	Measured Role = iota // line with markers and error bars
	Exact                // a prediction: dashed, without markers
	Bound                // a predicted bound: dotted, without markers
	Curve                // a distribution: a line without markers, dashed by style
	Layer                // a part of a stack of bars, from Lo up to Y
	Dots                 // many values of one kind: small markers without a line
	Course               // a quantity over time: a whole line without markers
)

// Plain is the style of what belongs to no series, such as a line that all are
// compared with.
const Plain = -1

// Point is one value. Lo and Hi end its error bar and are NaN if there is none; in a Layer, Lo is
// the height at which the part begins.
type Point struct {
	X, Y   float64
	Lo, Hi float64
	Gap    bool // the line is interrupted before this point
}

// At is a Point without an error bar.
func At(x, y float64) Point { return Point{X: x, Y: y, Lo: math.NaN(), Hi: math.NaN()} }

// Series is one line of a figure.
type Series struct {
	Label  string // in the legend; "" for none
	Style  int    // its look: the same number in all figures of one page
	Role   Role
	Points []Point
}

// AxisKind says what an axis counts.
type AxisKind uint8

// The kinds of axes.
const (
	Values AxisKind = iota // a number; logarithmic if the values span more than 1.5 decades
	Times                  // nanoseconds, written in the unit that fits; logarithmic like Values, with ticks at round ones
	Sizes                  // numbers of nodes: a tick at each one that was measured
	Parts                  // probabilities, from 0 to 1; never logarithmic
	Names                  // the abscissa alone: the places that the Figure names
	Linear                 // a number, on an axis that is never logarithmic
)

// Axis is one axis of a figure. The unit of Times is added to its label.
type Axis struct {
	Label string
	Kind  AxisKind
}

// Figure is one picture: one pair of axes, or small multiples.
type Figure struct {
	Name     string // of its files, without suffix
	Title    string
	Subtitle string
	X, Y     Axis
	Names    []string // the places of an abscissa of that kind, from 0
	Series   []Series
	Panels   []Panel // instead of X, Y, Names and Series
	Caption  string  // what stands below the figure: whole sentences, not drawn
}

// Panel is one of several small pictures that share a title and a legend.
type Panel struct {
	Title  string
	X, Y   Axis
	Names  []string // as of a Figure
	Series []Series
	Events []Event // of an abscissa of time
}

// Event is something that happened, on an abscissa of time: a line over the whole
// height with its label above it.
type Event struct {
	At    float64
	Lasts float64 // how long: so far the ground is shaded; 0 for what is done at once
	Label string
}

// panels returns what there is to draw.
func (f Figure) panels() []Panel {
	if len(f.Panels) > 0 {
		return f.Panels
	}
	return []Panel{{X: f.X, Y: f.Y, Names: f.Names, Series: f.Series}}
}

// Empty reports whether there is nothing to draw.
func (f Figure) Empty() bool {
	return !slices.ContainsFunc(f.panels(), func(p Panel) bool { return slices.ContainsFunc(p.Series, Series.drawable) })
}

// drawable reports whether any point of the series can be shown.
func (s Series) drawable() bool {
	return slices.ContainsFunc(s.Points, func(p Point) bool { return stats.Finite(p.X) && stats.Finite(p.Y) })
}

// hasBar reports whether the point has an error bar.
func (p Point) hasBar() bool { return stats.Finite(p.Lo) && stats.Finite(p.Hi) }
