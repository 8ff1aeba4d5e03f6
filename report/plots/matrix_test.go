package plots

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// matrix is delays between n places, with one that is not known and some far ones.
func matrix(n int, name string) Figure {
	m := &Matrix{Value: Axis{"round trip, median", Times}, From: "from", To: "to", Absent: "no datagram came back"}
	for i := range n {
		m.Rows, m.Cols = append(m.Rows, fmt.Sprint(name, i+1)), append(m.Cols, fmt.Sprint(name, i+1))
		for j := range n {
			p := Pair{Row: i, Col: j, Value: 90e3 + 1e3*float64(i*n+j), Note: fmt.Sprintf("from %d to %d", i+1, j+1)}
			p.Lo, p.Hi = p.Value*0.9, p.Value*1.1
			switch {
			case i == j && n > 1:
				continue
			case i == 1 && j == 0:
				p.Value, p.Lo, p.Hi = math.NaN(), math.NaN(), math.NaN()
			case i/4 != j/4:
				p.Value *= 100
			}
			m.Pairs = append(m.Pairs, p)
		}
	}
	return Figure{Title: "Delay by pair", Subtitle: "24 runs", Matrix: m}
}

// The larger a value, the darker its square, and no two of 48 steps look alike.
func TestShadesFallEvenly(t *testing.T) {
	light := func(fraction float64) float64 {
		c := shadeOf(fraction)
		return 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
	}
	for i := 1; i < shadesOf; i++ {
		a, b := light(float64(i-1)/(shadesOf-1)), light(float64(i)/(shadesOf-1))
		if a-b < 1 || a-b > 16 {
			t.Errorf("from step %d to %d light falls by %.1f", i-1, i, a-b)
		}
	}
	if shadeOf(-3) != shadeOf(0) || shadeOf(7) != shadeOf(1) {
		t.Error("what lies beyond the scale has a colour of its own")
	}
}

// Text can be read on every shade: a contrast of 3.5 at least (WCAG's formula).
func TestTextOnShades(t *testing.T) {
	luminance := func(c interface{ RGBA() (r, g, b, a uint32) }) float64 {
		r, g, b, _ := c.RGBA()
		of := func(x uint32) float64 {
			v := float64(x) / 0xffff
			if v <= 0.03928 {
				return v / 12.92
			}
			return math.Pow((v+0.055)/1.055, 2.4)
		}
		return 0.2126*of(r) + 0.7152*of(g) + 0.0722*of(b)
	}
	for i := range shadesOf {
		f := float64(i) / (shadesOf - 1)
		a, b := luminance(shadeOf(f)), luminance(onShade(f))
		if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 3.5 {
			t.Errorf("at %.2f of the scale the contrast is %.2f", f, ratio)
		}
	}
}

// Every pair has its note at its square, with the value in it where there is room.
func TestMatrix(t *testing.T) {
	note := regexp.MustCompile(`<circle cx="([\d.]+)" cy="([\d.]+)" r="6"><title>from (\d+) to (\d+)</title>`)
	for _, n := range []int{2, 4, 12, 30} {
		drawn, err := matrix(n, "host-").Render(SVG)
		if err != nil {
			t.Fatal(err)
		}
		svg := string(drawn[SVG])
		found := note.FindAllStringSubmatch(svg, -1)
		if len(found) != n*(n-1) {
			t.Errorf("%d hosts have %d notes", n, len(found))
		}
		// Of a row the heights agree, of a column the distances from the left.
		at := make(map[string][]string)
		for _, m := range found {
			at["x"+m[4]], at["y"+m[3]] = append(at["x"+m[4]], m[1]), append(at["y"+m[3]], m[2])
		}
		for which, places := range at {
			if len(slices.Compact(slices.Sorted(slices.Values(places)))) != 1 {
				t.Errorf("%d hosts: %s lies at %q", n, which, places)
			}
		}
		if values := strings.Contains(svg, ">91.0<") || strings.Contains(svg, ">91<") || strings.Contains(svg, ">0.091<"); values != (n < 30) {
			t.Errorf("%d hosts: values in the squares: %v", n, values)
		}
		for _, text := range []string{">from<", ">to<", ">host-1<", ">no datagram came back<"} {
			if !strings.Contains(svg, text) {
				t.Errorf("%d hosts: there is no %s", n, text)
			}
		}
	}
}
