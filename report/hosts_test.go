package report_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"dmebench/report"
	"dmebench/runs"
)

// oneCell is six runs of one cell on so many hosts.
func oneCell(t *testing.T, hosts int) report.Input {
	return place(experiment(t, []string{"maekawa"}, []string{"saturate"}, []int{8}, 6), hosts)
}

// One page for two hosts and for thirty: of thirty the links are there when asked for.
func TestManyHosts(t *testing.T) {
	few, many := build(t, oneCell(t, 2)), build(t, place(experiment(t, []string{"a"}, []string{"saturate"}, []int{60}, 6), 30))
	if !strings.Contains(few.page, "<details open><summary>Links between hosts") ||
		!strings.Contains(many.page, "<details><summary>Links between hosts") {
		t.Error("links are not shown of two hosts, or are of thirty")
	}
	many.wants(t, "host-30 → host-29", "host-30 30, 60")
}

// places finds where in a figure the notes of links stand, by link.
func (b built) places(t *testing.T, figure string) map[string][2]float64 {
	t.Helper()
	note := regexp.MustCompile(`<circle cx="([\d.]+)" cy="([\d.]+)" r="6"><title>(host-\d+ → host-\d+): \d`)
	at := make(map[string][2]float64)
	for _, m := range note.FindAllStringSubmatch(b.svg(t, figure), -1) {
		x, errX := strconv.ParseFloat(m[1], 64)
		y, errY := strconv.ParseFloat(m[2], 64)
		if errX != nil || errY != nil {
			t.Fatal(m)
		}
		at[m[3]] = [2]float64{x, y}
	}
	return at
}

// Rows of the matrix are those who asked, columns those who answered; pairs stand in
// the order of their medians.
func TestPlacesOfLinks(t *testing.T) {
	in := oneCell(t, 3)
	for _, r := range in.Runs {
		linkOf(r.Result, "host-3", "host-1").RTTMedian = 1_000_000
		linkOf(r.Result, "host-2", "host-3").RTTMedian = 20_000
	}
	b := build(t, in)
	matrix, order := b.places(t, "hosts-delay-matrix"), b.places(t, "hosts-delay-order")
	if len(matrix) != 6 || len(order) != 6 {
		t.Fatalf("%d and %d links", len(matrix), len(order))
	}
	a, row, column := matrix["host-1 → host-2"], matrix["host-1 → host-3"], matrix["host-3 → host-2"]
	if a[1] != row[1] || a[0] >= row[0] || a[0] != column[0] || a[1] >= column[1] {
		t.Errorf("host-1 → host-2 at %v, host-1 → host-3 at %v, host-3 → host-2 at %v", a, row, column)
	}
	for link, at := range order {
		nearest, farthest := order["host-2 → host-3"], order["host-3 → host-1"]
		if at[0] < nearest[0] || at[0] > farthest[0] || nearest[0] >= farthest[0] {
			t.Errorf("%s is nearer than the nearest, or farther than the farthest", link)
		}
	}
}

// What hosts say of themselves comes from other machines, and is text.
func TestStrangeHosts(t *testing.T) {
	in := oneCell(t, 3)
	const name = `<script>"&'</script> 线程`
	for _, r := range in.Runs {
		h := &r.Result.Hosts[1]
		h.Name, h.Address, h.Labels = name, name, map[string]string{name: name}
		h.Environment["cpu"], h.Environment["memory"], h.Environment["cores"] = name, name, strings.Repeat("9", 400)
		h.Load = &runs.HostLoad{Cores: -1, Busy: math.NaN(), Workers: math.Inf(1), MemoryFree: -5}
		h.Clock = &runs.HostClock{OffsetNS: math.MinInt64, BoundNS: -7, DriftPPM: math.Inf(-1), DriftBound: math.NaN()}
		r.Result.Links = append(r.Result.Links,
			runs.HostLink{From: name, To: "nobody"}, runs.HostLink{From: name, To: name, RTTMedian: 5, Lost: 9})
		r.Result.Hosts = append(r.Result.Hosts, runs.Host{}, *h)
	}
	build(t, in).wants(t, name)
}
