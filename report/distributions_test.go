package report_test

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"dmebench/report"
	"dmebench/runs"
)

// flowing gives each run a course: a rate that its repetition sets, and a tail that grows.
func flowing(in report.Input, intervals int) report.Input {
	for _, r := range in.Runs {
		s := &runs.Series{IntervalNS: 10e6}
		for i := range intervals {
			s.Entries = append(s.Entries, uint64(10*(r.Repetition+1)))
			s.P50NS, s.P99NS = append(s.P50NS, new(int64(5e5))), append(s.P99NS, new(int64(1e6*int64(i+1))))
			s.Waiting = append(s.Waiting, int64(i%2))
		}
		r.Result.Series = s
	}
	return in
}

// Distributions are those of all repetitions together: shares that grow.
func TestDistributions(t *testing.T) {
	in := experiment(t, []string{"a", "b"}, []string{"saturate"}, []int{3, 7}, 3)
	in.Only = []string{"response-cdf-tcp-saturate-n7", "response-cdf-tcp-saturate-n3"}
	b := build(t, in)
	for _, name := range in.Only {
		lines := curves(t, b.svg(t, name))
		if len(lines) != 2 {
			t.Fatalf("%s: %d curves", name, len(lines))
		}
		for _, line := range lines {
			if !slices.IsSortedFunc(line, func(p, q [2]float64) int { return cmp.Compare(p[0], q[0]) }) || line[0][1] >= line[len(line)-1][1] {
				t.Errorf("%s: the curve does not rise: %v", name, line)
			}
		}
	}
}

var curvePath = regexp.MustCompile(`<path d="(M[-\d.,L]+)" style="fill:none;stroke:#[0-9A-F]{6};stroke-width:1.5`)

// curves returns the points of the lines of a figure that have the width of a curve and
// more than two points, which a line of the legend does not have.
func curves(t *testing.T, svg string) (all [][][2]float64) {
	t.Helper()
	for _, m := range curvePath.FindAllStringSubmatch(svg, -1) {
		var line [][2]float64
		for _, at := range regexp.MustCompile(`[ML]([-\d.]+),([-\d.]+)`).FindAllStringSubmatch(m[1], -1) {
			x, errX := strconv.ParseFloat(at[1], 64)
			y, errY := strconv.ParseFloat(at[2], 64)
			if errX != nil || errY != nil {
				t.Fatal(errX, errY)
			}
			line = append(line, [2]float64{x, y})
		}
		if len(line) > 2 {
			all = append(all, line)
		}
	}
	return all
}
