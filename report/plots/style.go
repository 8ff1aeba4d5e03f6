package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"strings"
	"unicode"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// dark2 is ColorBrewer's qualitative scheme Dark2 (C. Brewer, Penn State):
// eight colours of similar weight that most colour-blind readers tell apart.
func dark2(i int) color.NRGBA {
	rgb := [...]uint32{0x1b9e77, 0xd95f02, 0x7570b3, 0xe7298a, 0x66a61e, 0xe6ab02, 0xa6761d, 0x666666}
	c := rgb[i%len(rgb)]
	return color.NRGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 255}
}

// eight is the number of colours that differ at a glance. The series after the eighth have them
// again, darker; those after the sixteenth lighter.
const eight = 8

// hue is the colour of a style.
func hue(style int) color.NRGBA {
	if style < 0 {
		return color.NRGBA{0x22, 0x22, 0x22, 255}
	}
	switch c := dark2(style); style / eight % 3 {
	case 1:
		return mix(c, 0, 0.35)
	case 2:
		return mix(c, 255, 0.3)
	default:
		return c
	}
}

// predicted is the colour of a series' prediction: dark enough to be seen upon the line of what
// was measured, if the two agree.
func predicted(c color.NRGBA) color.NRGBA { return mix(c, 0, 0.45) }

// Color returns the colour of a style as CSS writes it.
func Color(style int) string {
	c := hue(style)
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}

func paper() color.Color { return color.NRGBA{0xff, 0xff, 0xff, 255} }
func ink() color.Color   { return color.NRGBA{0x22, 0x22, 0x22, 255} }
func faint() color.Color { return color.NRGBA{0x6b, 0x6b, 0x6b, 255} }
func shade() color.Color { return color.NRGBA{0xf0, 0xf0, 0xf0, 255} }
func rule() color.Color  { return color.NRGBA{0xe2, 0xe2, 0xe2, 255} }

// mix mixes c with a part of a grey.
func mix(c color.NRGBA, grey, part float64) color.NRGBA {
	of := func(x uint8) uint8 { return uint8(math.Round(float64(x)*(1-part) + grey*part)) }
	return color.NRGBA{of(c.R), of(c.G), of(c.B), 255}
}

// predicts reports whether a series is a prediction about others.
func (s Series) predicts() bool { return s.Role == Exact || s.Role == Bound }

// line is the look of a series' line. If dashes have no other meaning they distinguish series in
// print without colour.
func (s Series) line() draw.LineStyle {
	c := hue(s.Style)
	switch s.Role {
	case Layer, Dots:
		return draw.LineStyle{Color: c} // of width 0: none
	case Exact:
		return draw.LineStyle{Color: predicted(c), Width: 1, Dashes: []vg.Length{5, 3}}
	case Bound:
		return draw.LineStyle{Color: predicted(c), Width: 1.1, Dashes: []vg.Length{1.2, 2.4}}
	case Curve:
		return draw.LineStyle{Color: c, Width: 1.5, Dashes: plotutil.Dashes(s.Style)}
	}
	return draw.LineStyle{Color: c, Width: 1.5}
}

// glyph is the look of a series' points; its Shape is nil if they have none.
func (s Series) glyph() draw.GlyphStyle {
	c := hue(s.Style)
	// Eight colours in three shades and seven shapes: no two of 168 series look
	// alike, and of 16 none but by shade.
	shapes := []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{},
	}
	shape := shapes[max(0, s.Style)%len(shapes)]
	switch s.Role {
	case Layer:
		return draw.GlyphStyle{Color: c, Radius: 4.5, Shape: draw.BoxGlyph{}}
	case Measured:
		return draw.GlyphStyle{Color: c, Radius: 3, Shape: shape}
	case Dots:
		return draw.GlyphStyle{Color: c, Radius: 2, Shape: shape}
	}
	return draw.GlyphStyle{}
}

// Size is how large a figure is drawn. The zero Size is that for a screen: as wide as
// two of them fit beside one another, with title and subtitle.
type Size struct {
	Width float64 // in points, 72 per inch; 0 for 440
	Font  float64 // size of the text at ticks, axes and in the legend, in points; 0 for 9
	Bare  bool    // without title and subtitle, which a paper says in the caption
}

// Lines and markers are as large beside the text as they are on a screen, whatever the size of the
// text. So a drawing is laid out in units in which the text has textSize, and scaled as a whole.
const (
	screenWidth  = 440
	screenMargin = 8
	bareMargin   = 2
)

// Check returns an error that says what a size must be like: letters that can be seen, and
// room for an axis and what stands beside it.
func (s Size) Check() error {
	const smallest, largest, letters, most = 4.0, 36.0, 18, 5000.0
	font, width := cmp.Or(s.Font, textSize), cmp.Or(s.Width, screenWidth)
	if !(font >= smallest && font <= largest && width >= letters*font && width <= most) {
		return fmt.Errorf("a text of %.3g pt on a width of %.4g pt: choose a text of %v to %v pt, and a width of %d times that to %v pt",
			font, width, smallest, largest, letters, most)
	}
	return nil
}

// Millimetre is how many points it has.
const Millimetre = 72 / 25.4

// units returns the width of a drawing and of its margin in its own units, and how
// many points one of them is.
func (s Size) units() (width, margin, scale vg.Length) {
	scale = vg.Length(cmp.Or(s.Font, textSize) / textSize)
	if margin = screenMargin; s.Bare {
		margin = bareMargin
	}
	return vg.Length(cmp.Or(s.Width, screenWidth)) / scale, margin, scale
}

// fonts hands out faces of Liberation Sans, which has the widths of Arial and
// Helvetica: a browser without it sets the same lines.
type fonts struct{ cache *font.Cache }

func newFonts() fonts { return fonts{font.NewCache(liberation.Collection())} }

func (f fonts) regular(size vg.Length) font.Face { return f.cache.Lookup(sans(), size) }

func (f fonts) bold(size vg.Length) font.Face {
	b := sans()
	b.Weight = xfont.WeightBold
	return f.cache.Lookup(b, size)
}

func sans() font.Font { return font.Font{Typeface: "Liberation", Variant: "Sans"} }

// printable replaces what the font has no glyph for, and what XML forbids.
func printable(s string) string {
	s = strings.NewReplacer(
		"⌈", "ceil(", "⌉", ")", "⌊", "floor(", "⌋", ")", "∛", "³√", "⋅", "·", "∣", "|", "∈", " in ",
	).Replace(strings.ToValidUTF8(s, "�"))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\ufffe' || r == '\uffff' {
			return ' '
		}
		return r
	}, s)
}

// elide shortens s to the width, ending it in "…".
func elide(f font.Face, s string, width vg.Length) string {
	if f.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && f.Width(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return strings.TrimRight(string(runes), " ") + "…"
}

// separator stands between the parts of a subtitle.
const separator = " · "

// wrap breaks s into lines of at most the width, between its parts; the last of
// the allowed lines is elided.
func wrap(f font.Face, s, separator string, width vg.Length, lines int) []string {
	var out []string
	for parts := strings.Split(s, separator); len(parts) > 0; {
		n := 1
		for n < len(parts) && (len(out) == lines-1 || f.Width(strings.Join(parts[:n+1], separator)) <= width) {
			n++
		}
		out, parts = append(out, elide(f, strings.Join(parts[:n], separator), width)), parts[n:]
	}
	return out
}
