package spacetime

import (
	"strings"
	"testing"
)

// Rows that repeat have an arrow from the last back to the first of them, also
// where that one is not shown.
func TestLoop(t *testing.T) {
	d := example()
	if strings.Contains(string(d.SVG()), `class="loop"`) {
		t.Error("nothing repeats, and a loop is drawn")
	}
	for _, loop := range []int{3, d.Last, d.Last + 5} {
		d.Loop = loop
		if svg := string(d.SVG()); strings.Count(svg, `class="loop"`) != 1 || !strings.Contains(svg, ">for ever<") {
			t.Errorf("the last %d rows repeat, and no loop is drawn", loop)
		}
	}
}
