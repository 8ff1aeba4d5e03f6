package plots

import (
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
func TestTimeAroundAMoment(t *testing.T) {
	p := Panel{X: Axis{"time", Values}, Series: []Series{{Role: Course, Points: []Point{At(-95, 1), At(313, 1)}}}}
	s := p.xScale(func(tickAt, tickAt) bool { return true })
	if got := labels(s); !slices.Contains(got, "0") || !slices.Contains(got, "300") || s.log {
		t.Errorf("%v from %v to %v", got, s.min, s.max)
	}
}
