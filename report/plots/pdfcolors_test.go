package plots

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pdfFills returns the colors with which a PDF fills, as "#RRGGBB".
func pdfFills(t *testing.T, pdf []byte) []string {
	t.Helper()
	fills := make(map[string]bool)
	operator := regexp.MustCompile(`(?m)(?:^| )([\d.]+)(?: ([\d.]+) ([\d.]+))? (rg|g)$`)
	for _, part := range bytes.Split(pdf, []byte("stream\n"))[1:] {
		r, err := zlib.NewReader(bytes.NewReader(part))
		if err != nil {
			continue // no drawing
		}
		content, err := io.ReadAll(r)
		if err != nil {
			continue
		}
		for _, m := range operator.FindAllStringSubmatch(string(content), -1) {
			if m[4] == "g" {
				m[2], m[3] = m[1], m[1]
			}
			text := "#"
			for _, s := range m[1:4] {
				x, err := strconv.ParseFloat(s, 64)
				if err != nil {
					t.Fatal(err)
				}
				text += fmt.Sprintf("%02X", int(math.Round(255*x)))
			}
			fills[text] = true
		}
	}
	return slices.Sorted(maps.Keys(fills))
}

// svgColors returns the colors of an SVG, likewise.
func svgColors(svg []byte) []string {
	all := regexp.MustCompile(`#[0-9A-Fa-f]{6}`).FindAllString(string(svg), -1)
	for i := range all {
		all[i] = strings.ToUpper(all[i])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A figure has the same colors in a PDF as in an SVG, also where they are translucent, as
// the white behind a label at a curve is: no label stands in a grey box.
func TestColorsOfAPDFAreThoseOfAnSVG(t *testing.T) {
	f := figure(3, 3, 7, 13)
	drawn, err := f.Render(Formats()...)
	if err != nil {
		t.Fatal(err)
	}
	fills, colors := pdfFills(t, drawn[PDF]), svgColors(drawn[SVG])
	if len(fills) < 5 || !slices.Contains(fills, "#FFFFFF") {
		t.Fatalf("the PDF fills with %v", fills)
	}
	const initial = "#000000" // with which a page begins
	for _, fill := range fills {
		if fill != initial && !slices.Contains(colors, fill) {
			t.Errorf("the PDF fills with %s, the SVG with none but %v", fill, colors)
		}
	}
	if !strings.Contains(string(drawn[SVG]), "fill-opacity:0.6") {
		t.Error("nothing is translucent: this shows nothing")
	}
}
