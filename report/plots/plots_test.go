package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// figure returns a figure of n series over the sizes.
func figure(n int, sizes ...int) Figure {
	f := Figure{
		Name: "f", Title: "Messages per critical section", Subtitle: "tcp · saturate · CS 100 µs · 50 requests per node",
		X: Axis{"nodes N", Sizes}, Y: Axis{"messages per CS", Values},
	}
	for i := range n {
		measured := Series{Label: fmt.Sprintf("algorithm-%d", i), Style: i, Role: Measured}
		theory := Series{Label: "2(N−1) (TR-869 §4.1)", Style: i, Role: Exact}
		for _, size := range sizes {
			y := 2*float64(size-1) + float64(i)
			measured.Points = append(measured.Points, Point{
				X: float64(size), Y: y, Lo: y * 0.9, Hi: y * 1.2,
			})
			theory.Points = append(theory.Points, At(float64(size), y))
		}
		f.Series = append(f.Series, measured, theory)
	}
	return f
}

// strange returns figures that are hard to draw.
func strange() map[string]Figure {
	nan, inf := math.NaN(), math.Inf(1)
	one := func(points ...Point) Figure {
		f := figure(0)
		f.Series = []Series{{Label: "s", Points: points}}
		return f
	}
	times := one(At(3, 250), At(7, 3e6), At(13, 8e9))
	times.Y = Axis{"response time", Times}
	odd := figure(3, 3, 7, 13)
	odd.Title, odd.Subtitle = `<script>alert("&")</script> ⌈log₂ N⌉ ∛N`, strings.Repeat("very long & <odd> · ", 30)
	odd.Series[0].Label = strings.Repeat("a label that never ends ", 20)
	odd.Series[2].Label = "线程\x00\x07\xff]]><![CDATA[ \ufffe"
	crowded := figure(2)
	for n := 2; n <= 300; n++ {
		crowded.Series[0].Points = append(crowded.Series[0].Points, At(float64(n), float64(n)))
	}
	bars := func(panels int) Figure {
		f := Figure{Title: "kinds"}
		for i := range panels {
			p := Panel{Title: strings.Repeat("a series ", i+1), Names: []string{"3", "1,000,000", "7"}, X: Axis{"nodes N", Names},
				Y: Axis{"messages", Values}}
			for k := range 10 {
				layer := Series{Label: fmt.Sprintf("KIND-%d", k), Style: k, Role: Layer}
				for x := range 3 {
					layer.Points = append(layer.Points, Point{X: float64(x), Lo: float64(k), Y: float64(k + 1)})
				}
				p.Series = append(p.Series, layer)
			}
			f.Panels = append(f.Panels, p)
		}
		return f
	}
	panels := figure(9, 3, 7, 13)
	whole := panels.panels()[0]
	panels.Panels = []Panel{whole, whole, {Title: "empty"}, {X: Axis{"x", Linear}, Y: Axis{"residual", Linear}, Series: []Series{
		{Style: 3, Role: Dots, Points: []Point{At(3, -0.1), At(900, 20), At(900, nan)}},
		{Style: Plain, Role: Bound, Points: []Point{At(3, 0), At(900, 0)}},
	}}}
	course := figure(0)
	course.X = Axis{"time since the first fault (ms)", Values}
	band, median := Series{Label: "interval", Style: 1, Role: Bound}, Series{Label: "median", Style: 1, Role: Course}
	for x := range 40 {
		pt := Point{X: float64(x) - 10.5, Y: float64(x % 7), Lo: float64(x%7) - 1, Hi: 9, Gap: x == 20}
		if x == 30 {
			pt.Lo, pt.Hi = nan, nan
		}
		band.Points, median.Points = append(band.Points, pt), append(median.Points, pt)
	}
	course.Panels = []Panel{
		{Title: "one", X: course.X, Y: course.Y, Series: []Series{band, median}, Events: []Event{
			{At: 0, Label: "kill holder"}, {At: 0.2, Lasts: 100, Label: "partition 1,2|3-8"},
			{At: 0.3, Label: "kill 4"}, {At: 0.4, Label: "kill 5"}, {At: 0.5, Label: "kill 6, for which there is no room"},
			{At: 27, Label: "restart holder"}, {At: 15, Label: strings.Repeat("a label that never ends ", 9)},
			{At: 28.9, Label: "restart holder again"}, {At: nan, Label: "never"}, {At: 40, Label: "late"},
		}},
		{Title: "no events", X: course.X, Y: course.Y, Series: []Series{median}},
		{Title: "nothing but events", X: course.X, Y: course.Y, Events: []Event{{At: 1, Label: "kill 1"}}},
	}
	long := figure(5, 3, 7, 13)
	long.Y.Label = "time from a fault until all who waited were served, in intervals of what a clock can tell"
	long.X.Label = strings.Repeat("a title that has many words ", 3)
	return map[string]Figure{
		"long titles":       long,
		"course":            course,
		"nothing":           figure(0),
		"bars":              bars(1),
		"seven panels":      bars(7),
		"panels":            panels,
		"no points":         figure(2),
		"one point":         figure(1, 5),
		"a size of one":     figure(1, 1),
		"one size":          figure(12, 5),
		"twelve series":     figure(12, 3, 7, 13, 31, 133),
		"sixty series":      figure(60, 3, 7),
		"many sizes":        crowded,
		"zeros, wide":       one(At(3, 0), At(7, 1), At(13, 1000), Point{X: 31, Y: 10, Lo: -5, Hi: 2e4}),
		"zeros only":        one(At(3, 0), At(7, 0)),
		"negative":          one(At(3, -5), At(7, 10)),
		"not finite":        one(At(3, nan), At(7, inf), At(13, -inf), At(21, 4), Point{X: 31, Y: 4, Lo: nan, Hi: inf}),
		"nothing finite":    one(At(3, nan), At(nan, 4)),
		"a size of zero":    one(At(0, 4), At(1000, 5)),
		"tiny":              one(At(3, 1e-300), At(7, 5e-300)),
		"huge":              one(At(3, 1e300), At(7, 5e299)),
		"equal and not 0":   one(At(3, 7), At(7, 7)),
		"bar far below":     one(Point{X: 3, Y: 1000, Lo: 1e-9, Hi: 2000}, At(7, 1)),
		"gap":               one(At(3, 1), Point{X: 7, Y: 2, Lo: nan, Hi: nan, Gap: true}, At(13, 3)),
		"times":             times,
		"odd text":          odd,
		"single prediction": {X: Axis{"nodes N", Sizes}, Series: []Series{{Label: "2T", Role: Bound, Points: []Point{At(3, 2)}}}},
	}
}

func TestEveryFormatIsSound(t *testing.T) {
	for name, f := range strange() {
		formats := []Format{SVG, PDF}
		// Pixels are dear where races are looked for, and what is drawn is the
		// same in all formats.
		if slices.Contains([]string{"twelve series", "odd text"}, name) {
			formats = Formats()
		}
		r, err := f.Render(formats...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if data, ok := r[PNG]; ok {
			img, err := png.Decode(bytes.NewReader(data))
			if err != nil {
				t.Errorf("%s: PNG: %v", name, err)
			} else if b := img.Bounds(); b.Dx() < 1000 || b.Dy() < 600 || blank(img) {
				t.Errorf("%s: a blank PNG, or one of %v", name, b)
			}
		}
		if err := wellFormed(r[SVG]); err != nil {
			t.Errorf("%s: SVG: %v", name, err)
		}
		if !bytes.HasPrefix(r[PDF], []byte("%PDF-")) || !bytes.Contains(r[PDF], []byte("%%EOF")) {
			t.Errorf("%s: PDF of %d bytes is none", name, len(r[PDF]))
		}
		if bytes.Contains(r[SVG], []byte("NaN")) || bytes.Contains(r[SVG], []byte("Inf")) {
			t.Errorf("%s: the SVG has a coordinate that is no number", name)
		}
	}
	if _, err := figure(1, 3).Render("gif"); err == nil {
		t.Error("there is a format gif")
	}
}

// blank reports whether fewer than three colours stand on a picture.
func blank(img image.Image) bool {
	colors := make(map[color.Color]bool)
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y += 3 {
		for x := b.Min.X; x < b.Max.X; x += 3 {
			colors[img.At(x, y)] = true
		}
	}
	return len(colors) < 3
}

func wellFormed(b []byte) error {
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func TestSVGStandsAlone(t *testing.T) {
	r, err := figure(2, 3, 7).Render(SVG)
	if err != nil {
		t.Fatal(err)
	}
	svg := string(r[SVG])
	for _, forbidden := range []string{" id=", "href", "url(", "<script", "<?xml", "@import"} {
		if strings.Contains(svg, forbidden) {
			t.Errorf("the SVG has %q: it cannot stand beside others in one page", forbidden)
		}
	}
	if !strings.HasPrefix(svg, "<svg ") {
		t.Error("the SVG has no root")
	}
	if len(svg) > 20_000 {
		t.Errorf("the SVG has %d bytes; were fonts embedded?", len(svg))
	}
}

func TestSameFigureSameBytes(t *testing.T) {
	vector := []Format{SVG, PDF}
	a, err := figure(3, 3, 7, 13).Render(vector...)
	if err != nil {
		t.Fatal(err)
	}
	b, err := figure(3, 3, 7, 13).Render(vector...)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range vector {
		if len(a[format]) == 0 || !bytes.Equal(a[format], b[format]) {
			t.Errorf("drawing twice gives different %s", format)
		}
	}
	if bytes.Contains(a[PDF], []byte("/CreationDate")) && !bytes.Contains(a[PDF], []byte("/CreationDate (D:20000101000000)")) {
		t.Error("the PDF tells when it was made")
	}
}

// Formulas must survive in a PDF: its library knows Western European text only,
// so that text is drawn as outlines and no font is needed.
func TestPDFHasOutlinesInsteadOfFonts(t *testing.T) {
	r, err := figure(1, 3).Render(PDF)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(r[PDF], []byte("/FontFile")) || bytes.Contains(r[PDF], []byte("/Type /Font")) {
		t.Error("the PDF has a font")
	}
}

// box is where a text lies in an SVG.
type box struct {
	left, right, top, bottom float64
	text                     string
}

var textElement = regexp.MustCompile(
	`(?s)(<g transform="rotate\(90\)">\n)?<text x="([-\d.e+]+)" y="([-\d.e+]+)" transform="scale\(1, -1\)"\s+style="([^"]*)">([^<]*)</text>`)

var fontSize = regexp.MustCompile(`font-size:([\d.]+)px`)

// texts returns the boxes of an SVG's texts, but for those at an origin of their own.
// The drawing's origin is at the lower left, and y in the file is negative; that of a
// text which stands upright is its place from the left.
func texts(t *testing.T, f Figure, size Size) []box {
	t.Helper()
	r, err := f.RenderAs(size, SVG)
	if err != nil {
		t.Fatal(err)
	}
	faces := newFonts()
	var boxes []box
	for _, m := range textElement.FindAllStringSubmatch(string(r[SVG]), -1) {
		upright, m := m[1] != "", m[1:]
		x, _ := strconv.ParseFloat(m[1], 64)
		y, _ := strconv.ParseFloat(m[2], 64)
		size, err := strconv.ParseFloat(fontSize.FindStringSubmatch(m[3])[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if y == 0 {
			t.Fatalf("%s: a text at an origin of its own: %q", f.Name, m[4])
		}
		face := faces.regular(1)
		if strings.Contains(m[3], "bold") {
			face = faces.bold(1)
		}
		s := strings.NewReplacer("&#34;", `"`, "&lt;", "<", "&gt;", ">", "&#39;", "'", "&amp;", "&").Replace(m[4])
		long := size * face.Width(s).Points()
		if upright {
			boxes = append(boxes, box{y - 0.7*size, y, -x - long, -x, s})
			continue
		}
		boxes = append(boxes, box{x, x + long, y - 0.7*size, y, s})
	}
	return boxes
}

// No text may be cut by the figure's edge or lie on another text.
func TestTextsNeitherOverlapNorLeaveTheFigure(t *testing.T) {
	for _, size := range []Size{{}, {Width: 84 * Millimetre, Font: 8, Bare: true}, {Width: 400 * Millimetre}} {
		wide, _, _ := size.units()
		for name, f := range strange() {
			boxes := texts(t, f, size)
			for i, a := range boxes {
				if a.left < 0 || a.right > wide.Points()+0.01 || a.bottom > 0 {
					t.Errorf("%s at %v: %q lies from %.1f to %.1f of %.1f", name, size, a.text, a.left, a.right, wide.Points())
				}
				for _, b := range boxes[i+1:] {
					if a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom {
						t.Errorf("%s at %v: %q lies on %q", name, size, a.text, b.text)
					}
				}
			}
		}
	}
}

// A series has a look of its own; without markers, colour and dashes must do.
func TestSeriesLookDifferent(t *testing.T) {
	looks := make(map[string]int)
	for style := range 168 {
		of := []string{fmt.Sprintf("%v %T", Series{Style: style}.line(), Series{Style: style}.glyph().Shape)}
		if style < 3*eight {
			of = append(of, fmt.Sprint(Series{Style: style, Role: Curve}.line()))
		}
		for _, look := range of {
			if other, taken := looks[look]; taken {
				t.Errorf("styles %d and %d look alike", other, style)
			}
			looks[look] = style
		}
	}
}

// A series is in the legend once, also where it is in several panels.
func TestLegend(t *testing.T) {
	one := figure(12, 3, 7, 13)
	count := make(map[string]int)
	for _, b := range texts(t, Figure{Panels: []Panel{one.panels()[0], one.panels()[0]}}, Size{}) {
		count[b.text]++
	}
	for i := range 12 {
		if label := fmt.Sprintf("algorithm-%d", i); count[label] != 1 {
			t.Errorf("the legend names %s %d times", label, count[label])
		}
	}
}

// A figure has the width that is asked for in every format, and its text the size.
func TestPhysicalSize(t *testing.T) {
	const millimetres, font = 84.0, 8.0
	f := figure(3, 3, 7, 13)
	r, err := f.RenderAs(Size{Width: millimetres * Millimetre, Font: font}, Formats()...)
	if err != nil {
		t.Fatal(err)
	}
	var width, box float64
	m := regexp.MustCompile(`^<svg [^>]*width="([\d.]+)pt"[^>]*viewBox="0 0 ([\d.]+) `).FindSubmatch(r[SVG])
	if m == nil {
		t.Fatalf("no width in %.200s", r[SVG])
	}
	width, _ = strconv.ParseFloat(string(m[1]), 64)
	box, _ = strconv.ParseFloat(string(m[2]), 64)
	if want := millimetres * Millimetre; width < want-0.01 || width > want+0.01 {
		t.Errorf("the SVG is %.2f pt wide; want %.2f", width, want)
	}
	scale := width / box
	sizes := make(map[string]bool)
	for _, m := range fontSize.FindAllStringSubmatch(string(r[SVG]), -1) {
		size, _ := strconv.ParseFloat(m[1], 64)
		sizes[fmt.Sprintf("%.1f", size*scale)] = true
		if size*scale < 0.8*font {
			t.Errorf("a text of %.1f pt where %v were asked for", size*scale, font)
		}
	}
	if !sizes["8.0"] {
		t.Errorf("texts of %v pt; want some of %v", sizes, font)
	}
	if media := regexp.MustCompile(`/MediaBox \[0 0 238\.1\d? `); !media.Match(r[PDF]) {
		t.Errorf("the PDF has another size than 238.11 pt: %s", regexp.MustCompile(`/MediaBox[^\]]*]`).Find(r[PDF]))
	}
	img, err := png.DecodeConfig(bytes.NewReader(r[PNG]))
	if inches := float64(img.Width) / dotsPerInch * 25.4; err != nil || inches < 83.5 || inches > 84.5 {
		t.Errorf("the PNG is %.1f mm wide (%v)", inches, err)
	}
}

// A larger text makes lines and markers larger with it.
func TestLinesGrowWithTheText(t *testing.T) {
	f := figure(1, 3, 7)
	small, large := f.lay(Size{Width: 440, Font: 9}), f.lay(Size{Width: 440, Font: 18})
	if large.scale != 2*small.scale || large.width != small.width/2 {
		t.Errorf("scales %v and %v, widths %v and %v", small.scale, large.scale, small.width, large.width)
	}
}

// Where a paper says it, a figure has no title.
func TestBare(t *testing.T) {
	f := figure(1, 3, 7)
	for _, bare := range []bool{false, true} {
		titled := false
		for _, b := range texts(t, f, Size{Bare: bare}) {
			titled = titled || b.text == f.Title || strings.HasPrefix(b.text, "tcp · saturate")
		}
		if titled == bare {
			t.Errorf("bare: %v, and the title is there: %v", bare, titled)
		}
	}
}

func TestImpossibleSizes(t *testing.T) {
	for _, s := range []Size{{Width: 50}, {Font: 3}, {Font: 100}, {Width: 84 * Millimetre, Font: 20}, {Width: 1e6}, {Width: -1}, {Font: -1}} {
		if _, err := figure(1, 3).RenderAs(s, SVG); err == nil || !strings.Contains(err.Error(), "choose") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// What an axis counts is told in full, in two lines where one is too short, on a column of
// a paper too.
func TestAxisTitlesAreNotCut(t *testing.T) {
	for _, size := range []Size{{}, {Width: 84 * Millimetre, Font: 8, Bare: true}} {
		for _, label := range []string{
			"messages per CS", "synchronization delay / T", "work of the busiest node over the mean",
			"most entries by one other while a node waits", "time from a fault until all who waited were served",
		} {
			f := figure(2, 3, 7)
			f.Series = append(f.Series, Series{Points: []Point{At(3, 1e5)}}) // log scale
			f.X.Label, f.Y.Label = label, label
			f.Panels = []Panel{f.panels()[0], f.panels()[0], f.panels()[0], f.panels()[0], f.panels()[0]}
			words := 0
			for _, b := range texts(t, f, size) {
				if strings.HasSuffix(b.text, "…") && !strings.Contains(b.text, "TR-869") {
					t.Errorf("%v: %q is cut to %q", size, label, b.text)
				}
				if strings.HasPrefix(label, strings.Fields(b.text)[0]) {
					words++
				}
			}
			if words < 10 {
				t.Errorf("%v: %q stands %d times at the axes of five panels", size, label, words)
			}
		}
	}
}
