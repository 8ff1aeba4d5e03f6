package plots

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// An event is a line with its label, what lasts is shaded, and who points at it
// sees its note; without events nothing of that is drawn.
func TestEvents(t *testing.T) {
	f := strange()["course"]
	svg := func(f Figure) string {
		r, err := f.Render(SVG)
		if err != nil {
			t.Fatal(err)
		}
		return string(r[SVG])
	}
	all := svg(f)
	for _, want := range []string{">kill holder</text>", ">partition 1,2|3-8</text>", ">kill 5</text>", ">restart holder</text>",
		"fill:#F0F0F0"} {
		if !strings.Contains(all, want) {
			t.Errorf("there is no %s", want)
		}
	}
	// Each has a line over the height of its panel, that goes on to its label.
	f.Panels = []Panel{{X: f.X, Y: f.Y, Series: f.Panels[1].Series, Events: []Event{{At: 0}, {At: 5, Label: "kill 1"}}}}
	if lines := strings.Count(dashed(svg(f)), "M"); lines != 3 {
		t.Errorf("%d dashed lines for two events, one with a label; want 3", lines)
	}
	f = strange()["course"]
	for _, without := range []string{"no room", ">never<"} {
		if strings.Contains(all, without) {
			t.Errorf("%q is drawn", without)
		}
	}
	f.Panels = f.Panels[1:2]
	if plain := svg(f); strings.Contains(plain, "fill:#F0F0F0") || strings.Contains(plain, "stroke-dasharray") {
		t.Error("a panel without events has some")
	}
}

// dashed returns the paths of an SVG that have dashes.
func dashed(svg string) string {
	var paths []string
	for line := range strings.Lines(svg) {
		if strings.Contains(line, "stroke-dasharray") {
			path, _, _ := strings.Cut(strings.TrimPrefix(line, `<path d="`), `"`)
			paths = append(paths, path)
		}
	}
	return strings.Join(paths, "")
}

// The axis of a time has round ticks, the moment that it counts from among them.
func TestElapsed(t *testing.T) {
	p := Panel{X: Axis{"time", Elapsed}, Series: []Series{{Role: Course, Points: []Point{At(-95, 1), At(313, 1)}}}}
	s := p.xScale(func(tickAt, tickAt) bool { return true })
	if got, want := labels(s), []string{"0", "100", "200", "300"}; !slices.Equal(got, want) || s.log || s.min != -95 || s.max != 313 {
		t.Errorf("%v from %v to %v, want %v", got, s.min, s.max, want)
	}
}

// A band is drawn up to each gap, and widens the axis by what it spans, to half again
// its height at most.
func TestBand(t *testing.T) {
	band := Series{Role: Band, Points: []Point{{X: 0, Y: 5, Lo: 0, Hi: 10}, {X: 1, Y: 5, Lo: 1, Hi: 38}, {X: 2, Y: 5, Lo: 2, Hi: 3, Gap: true},
		{X: 3, Y: 5, Lo: 2, Hi: 3}}}
	if s := (Panel{Y: Axis{"y", Linear}, Series: []Series{band}}).yScale(); s.max != 8 {
		t.Errorf("the axis ends at %v", s.max)
	}
	f := Figure{X: Axis{"x", Elapsed}, Y: Axis{"y", Linear}, Series: []Series{band}}
	r, err := f.Render(SVG)
	if err != nil {
		t.Fatal(err)
	}
	areas := 0
	for line := range strings.Lines(string(r[SVG])) {
		if strings.Contains(line, "fill:"+strings.ToUpper(fmt.Sprintf("#%02x%02x%02x", area(hue(0)).R, area(hue(0)).G, area(hue(0)).B))) {
			areas += strings.Count(line, "Z")
		}
	}
	if areas != 2 {
		t.Errorf("%d areas, want 2: one before the gap and one after it", areas)
	}
}
