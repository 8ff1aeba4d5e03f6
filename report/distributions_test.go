package report_test

import (
	"regexp"
	"strconv"
	"strings"
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

// Every run with a course is shown over time, as far as all repetitions lasted.
func TestOverTime(t *testing.T) {
	in := flowing(experiment(t, []string{"a", "b"}, []string{"saturate"}, []int{3, 7}, 3), 20)
	for _, r := range in.Runs {
		if r.Label == "b" && r.Result.Nodes == 7 && r.Repetition == 1 { // neither the first nor the last
			r.Result.Series.Entries = r.Result.Series.Entries[:10]
		}
	}
	b := build(t, in)
	rate, tail := b.svg(t, "throughput-over-time-tcp-saturate-n7"), b.svg(t, "waiting-p99-over-time-tcp-saturate-n7")
	for _, want := range []string{">time since the start of the run (ms)</text>", ">entries per second</text>", ">a</text>", ">b</text>"} {
		if !strings.Contains(rate, want) {
			t.Errorf("no %s", want)
		}
	}
	// Of three repetitions with 10, 20 and 30 entries in 10 ms the median is 2,000 per second: a flat line.
	lines := curves(t, rate)
	if len(lines) != 2 {
		t.Fatalf("%d curves", len(lines))
	}
	for _, line := range lines {
		for _, at := range line {
			if at[1] != line[0][1] {
				t.Errorf("the rate is not the same everywhere: %v", line)
				break
			}
		}
	}
	if a, b := lines[0], lines[1]; len(b) >= len(a) || b[len(b)-1][0] >= a[len(a)-1][0] {
		t.Errorf("a has %d points, and b, of which one run ended early, %d", len(a), len(b))
	}
	if rising := curves(t, tail)[0]; rising[len(rising)-1][1] <= rising[0][1] {
		t.Errorf("the tail does not rise: %v", rising)
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

// How many wait is told where that is not clear beforehand; the median on request.
func TestQueueOverTime(t *testing.T) {
	for workload, drawn := range map[string]bool{"saturate": false, "poisson": true} {
		in := flowing(under(experiment(t, []string{"a"}, []string{workload}, []int{3, 7}, 3), workload), 200)
		b := build(t, in)
		if found := b.plots(t, "queue-over-time-*"); (len(found) == 1) != drawn {
			t.Errorf("%s: %q", workload, found)
		}
		in.Only = []string{"queue-over-time-*", "waiting-p50-over-time-*"}
		b = build(t, in)
		for _, name := range []string{"queue", "waiting-p50"} {
			// Of four intervals in a step the most that waited is 1, in each of 50 steps.
			lines := curves(t, b.svg(t, name+"-over-time-tcp-"+workload+"-n7"))
			if len(lines) != 1 || len(lines[0]) != 50 || lines[0][0][1] != lines[0][49][1] {
				t.Errorf("%s under %s: %d curves: %v", name, workload, len(lines), lines)
			}
		}
	}
}

// under makes all runs of an experiment arrive in an open workload.
func under(in report.Input, workload string) report.Input {
	for i := range in.Runs {
		in.Runs[i].Workload, in.Runs[i].Result.Workload, in.Runs[i].Result.Spec.Workload = workload, workload, workload
	}
	return in
}
