package plots

import (
	"fmt"

	"gonum.org/v1/plot/vg"
)

// Size is how large a figure is drawn. The zero Size is that for a screen: as wide as
// two of them fit beside one another, with title and subtitle.
type Size struct {
	Width float64 // in points, of which an inch has 72; 0 for 440
	Font  float64 // size of the text at ticks, axes and in the legend, in points; 0 for 9
	Bare  bool    // without title and subtitle, which a paper says in the caption
}

// Lines and markers are as large beside the text as they are on a screen, whatever
// the size of the text. So a drawing is laid out in units of which the text has
// textSize, and scaled as a whole.
const (
	screenWidth  = 440
	screenMargin = 8
	bareMargin   = 2
)

// What a figure needs to be read: letters that can be seen, and room for an axis and
// what stands beside it.
const (
	SmallestFont  = 4.0  // in points
	LargestFont   = 36.0 // in points
	FewestLetters = 18   // how many times as wide as its text is high a figure is at least
	widest        = 5000 // in points, nearly two metres
)

// Check returns an error that says what a size must be like.
func (s Size) Check() error {
	font, width := s.Font, s.Width
	if font == 0 {
		font = textSize
	}
	if width == 0 {
		width = screenWidth
	}
	switch {
	case !(font >= SmallestFont && font <= LargestFont):
		return fmt.Errorf("a text of %.3g pt: choose one of %v to %v pt", font, SmallestFont, LargestFont)
	case !(width >= FewestLetters*font):
		return fmt.Errorf("a width of %.3g pt (%.3g mm) leaves no room for a text of %.3g pt: choose at least %.3g mm, or a smaller text",
			width, width/Millimetre, font, FewestLetters*font/Millimetre)
	case width > widest:
		return fmt.Errorf("a width of %.4g pt (%.4g mm): choose at most %.4g mm", width, width/Millimetre, widest/Millimetre)
	}
	return nil
}

// Millimetre is how many points it has.
const Millimetre = 72 / 25.4

// units returns the width of a drawing and of its margin in its own units, and how
// many points one of them is.
func (s Size) units() (width, margin, scale vg.Length) {
	width, margin, scale = screenWidth, screenMargin, 1
	if s.Font > 0 {
		scale = vg.Length(s.Font / textSize)
	}
	if s.Width > 0 {
		width = vg.Length(s.Width)
	}
	if s.Bare {
		margin = bareMargin
	}
	return width / scale, margin, scale
}
