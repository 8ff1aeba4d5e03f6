package plots

import (
	"bytes"
	"fmt"
	"image/png"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

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
