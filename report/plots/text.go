package plots

import (
	"strings"
	"unicode"

	xfont "golang.org/x/image/font"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
)

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
func wrap(f font.Face, s string, width vg.Length, lines int) []string {
	var out []string
	parts := strings.Split(s, separator)
	for len(parts) > 0 && len(out) < lines-1 {
		n := 1
		for n < len(parts) && f.Width(strings.Join(parts[:n+1], separator)) <= width {
			n++
		}
		out = append(out, elide(f, strings.Join(parts[:n], separator), width))
		parts = parts[n:]
	}
	if len(parts) > 0 {
		out = append(out, elide(f, strings.Join(parts, separator), width))
	}
	return out
}
