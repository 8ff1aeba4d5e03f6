package report_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

func TestHostsOnThePage(t *testing.T) {
	in := place(experiment(t, []string{"maekawa"}, []string{"saturate"}, []int{8, 13, 30}, 6), 4)
	for _, r := range in.Runs {
		r.Result.Hosts[2].Labels = map[string]string{"rack": "b", "disk": "ssd"}
	}
	b := build(t, in)
	b.wants(t,
		"tcp · saturate · CS 100 µs · 50 requests per node · on 4 hosts",
		"18 runs on 4 hosts.",
		"host-3 10.0.0.3 disk=ssd rack=b 2 A CPU @ 2 GHz 4.12 GB 6.1.0 tsc 100.025 ms ± 42 µs 1 ppm ± 1",
		"host N = 8 N = 13 N = 30 host-1 1, 5 1, 5, 9, 13 1, 5, …, 29 host-2 2, 6 2, 6, 10 2, 6, …, 30",
		"host-1 → host-2", "0 of 3,600", "−150.037 ms ± 42 µs",
		"1/throughput − E", "Environment of the coordinator",
	)
	for _, name := range []string{"hosts-delay-matrix", "hosts-delay-order", "sync-delay-by-throughput-vs-n-tcp-saturate"} {
		if !strings.Contains(b.page, `href="plots/`+name+`.svg"`) {
			t.Errorf("there is no figure %s", name)
		}
	}
	if !strings.Contains(b.page, "host-1 → host-2: ") || strings.Contains(b.text(), "undecided") {
		t.Error("a link has no note, or something is undecided")
	}
}

// What several hosts add to a page does not stand on one of runs on one host.
func TestNoHosts(t *testing.T) {
	b := build(t, experiment(t, []string{"maekawa"}, []string{"saturate"}, []int{3, 7}, 6))
	for _, part := range []string{"hosts-", "listing", "Placement", "Undecided", "1/throughput", "of the coordinator"} {
		if strings.Contains(b.page, part) {
			t.Errorf("the page has %q", part)
		}
	}
	for column := range b.csv(t)[0] {
		if slices.Contains([]string{"hosts", "undecided", "lost_updates", runs.SyncDelayBound, runs.SyncDelayLoad}, column) {
			t.Errorf("summary.csv has a column %s", column)
		}
	}
}

// A delay that crosses hosts stands with its bound, in tables and in figures.
func TestDelaysHaveBounds(t *testing.T) {
	in := oneCell(t, 2)
	for i, r := range in.Runs {
		r.Result.SyncDelay = &runs.Quantiles{Count: 9, Mean: 500e3, P50: 400e3, P99: 900e3}
		if i == 3 { // the largest bound of all runs counts
			r.Result.SyncDelayBound = new(int64(100e3))
		}
	}
	b := build(t, in)
	b.wants(t, "400 µs ± 100 µs", "500 µs ± 100 µs", "± 2") // T is 50 µs
	for _, note := range []string{
		"400 µs, 95% interval 400 µs to 400 µs, 6 repetitions; by the hosts’ clocks ± 100 µs",
		"500 µs, 95% interval 500 µs to 500 µs, 6 repetitions; by the hosts’ clocks ± 100 µs",
	} {
		if !strings.Contains(b.page, note) {
			t.Errorf("no figure has the note %q", note)
		}
	}
	if strings.Contains(b.page, "CS/s; by the hosts") {
		t.Error("a quantity of one clock has a bound")
	}
	row := b.csv(t)[0]
	if row["sync_delay_bound_ns"] != "41300" || row["hosts"] != "host-1, host-2" || row["undecided"] != "0" ||
		row["sync_delay_by_throughput_ns"] == "" {
		t.Errorf("%v", row)
	}
}

// A synchronization delay that clocks cannot tell leaves the one that needs none.
func TestDelayWithoutClocks(t *testing.T) {
	in := everything(oneCell(t, 2))
	for _, r := range in.Runs {
		r.Result.SyncDelay, r.Result.SyncDelayOverT = nil, nil
	}
	b := build(t, in)
	b.wants(t, "synchronization delay, 1/throughput − E")
	if !strings.Contains(b.page, `href="plots/sync-delay-by-throughput-vs-n-tcp-saturate.svg"`) ||
		strings.Contains(b.page, `href="plots/sync-delay-vs-n-tcp-saturate.svg"`) {
		t.Error("not the delay without clocks alone is drawn")
	}
}

// The delays that clocks can tell are the long ones: of some repetitions alone they
// are no sample. One in which a clock was set is missing like any other.
func TestDelaysOfSomeRepetitions(t *testing.T) {
	in := oneCell(t, 2)
	in.Runs[3].Result.SyncDelay, in.Runs[3].Result.SyncDelayOverT = nil, nil
	row := build(t, in).csv(t)[0]
	for _, name := range runs.SyncDelays() {
		if row[name] != "" {
			t.Errorf("%s is %s over the slow repetitions", name, row[name])
		}
	}
	if row["sync_delay_by_throughput_ns"] == "" || row["sync_delay_bound_ns"] == "" {
		t.Errorf("%v", row)
	}
	in.Runs[3].Result.SyncDelayBound = nil
	if row := build(t, in).csv(t)[0]; row["sync_delay_p50_ns"] == "" {
		t.Error("a repetition without clocks takes the others' delays away")
	}
}

// Runs on different hosts are no sample together, though they were asked for alike.
func TestRunsOnOtherHostsStandApart(t *testing.T) {
	in, other := oneCell(t, 4), oneCell(t, 4)
	for i, r := range other.Runs {
		r.Repetition += len(in.Runs)
		for j := range r.Result.Hosts {
			r.Result.Hosts[j].Name = "far-" + r.Result.Hosts[j].Name
		}
		r.Result.Links = nil
		other.Runs[i] = r
	}
	in.Runs = append(in.Runs, other.Runs...)
	b := build(t, in)
	b.wants(t,
		"on 4 hosts (host-1, host-2, host-3, host-4)", "on 4 hosts (far-host-1, far-host-2, far-host-3, far-host-4)",
		"Hosts: host-1, host-2, host-3, host-4", "Hosts: far-host-1, far-host-2, far-host-3, far-host-4",
	)
	rows := b.csv(t)
	if len(rows) != 2 || rows[0]["repetitions"] != "6" || rows[1]["repetitions"] != "6" || rows[0]["hosts"] == rows[1]["hosts"] {
		t.Errorf("%d cells", len(rows))
	}
	// One that failed before it had hosts is not a cell of its own.
	in.Runs[2].Result.Status, in.Runs[2].Result.Hosts, in.Runs[2].Result.Links = runs.Failed, nil, nil
	if rows := build(t, in).csv(t); len(rows) != 2 || rows[0]["repetitions"] != "6" || rows[0]["repetitions_failed"] != "1" {
		t.Errorf("%d cells with a failed run: %v", len(rows), rows)
	}
}

func TestUndecided(t *testing.T) {
	in := oneCell(t, 2)
	in.Runs[1].Result.Safety.Undecided, in.Runs[4].Result.Safety.Undecided = 1, 2
	b := build(t, in)
	b.wants(t, "Of 3 entries in 2 runs, the hosts’ clocks cannot tell whether another node was inside.")
	if row := b.csv(t)[0]; row["undecided"] != "3" {
		t.Errorf("undecided %s", row["undecided"])
	}
}

func TestLostUpdates(t *testing.T) {
	in := oneCell(t, 2)
	for _, r := range in.Runs {
		r.Result.Spec.Resource = "nats"
	}
	r := in.Runs[0].Result
	r.Status, r.Safety.Violations = runs.Violated, 7
	r.Safety.Resource = &runs.Resource{Kind: "nats", Updates: 400, LostUpdates: 7}
	for range 7 {
		r.Safety.Resource.Lost = append(r.Safety.Resource.Lost, runs.LostUpdate{
			Version: 17, Node: 3, EnteredNS: 1_200_000, ExitedNS: 1_400_000, Other: 4, OtherEntered: 51_200_000, OtherExited: 51_400_000,
		})
	}
	b := build(t, in)
	b.wants(t, "7 violations of mutual exclusion", "and 2 more",
		"the update of node 3 (inside from 1.2 ms to 1.4 ms on host-1) was lost: "+
			"node 4 (inside from 51.2 ms to 51.4 ms on host-2) had read version 17 before, and wrote over it")
	if row := b.csv(t)[0]; row["lost_updates"] != "7" || row["resource"] != "nats" {
		t.Errorf("lost updates %s", row["lost_updates"])
	}
}

// A clock that drifts, and one that was set.
func TestClocksOfHosts(t *testing.T) {
	in := oneCell(t, 3)
	for i, r := range in.Runs {
		r.Result.Hosts[1].Clock.OffsetNS = 1e6 * int64(i)
		if i > 3 {
			r.Result.Hosts[2].Clock.SetNS = 50e6
		}
	}
	build(t, in).wants(t, "5.000 ms ± 42 µs 0 s to 5 ms", "100.025 ms ± 42 µs was set in 2 runs")
}

// Each thing that limits figures of several hosts is told, and not where it is not so.
func TestHostWarnings(t *testing.T) {
	for _, x := range []struct {
		name, want string
		plant      func(i int, r *runs.Result)
	}{
		{"cores", "hosts differ in cores: 2 on host-1 and host-2; 4 on host-3", func(_ int, r *runs.Result) {
			r.Hosts[2].Environment["cores"] = "4"
		}},
		{"program", "hosts differ in program: ", func(i int, r *runs.Result) {
			r.Hosts[0].Environment["program"], r.Hosts[1].Environment["program"] = "v2", "v2"
			if r.Hosts[2].Environment["program"] = "v2"; i == 5 { // in one run alone
				r.Hosts[2].Environment["program"] = "v1"
			}
		}},
		{"others", "hosts were busy with other things than the workers: host-2 up to 0.75 of 2 cores;", func(i int, r *runs.Result) {
			r.Hosts[1].Load.Busy = 1.1
			if i == 2 {
				r.Hosts[1].Load.Busy = 1.8
			}
		}},
		{"no cores left", "hosts had all their cores busy: host-3 (2 cores) in 3 runs;", func(i int, r *runs.Result) {
			if i%2 == 0 {
				r.Hosts[2].Load.Busy, r.Hosts[2].Load.Workers = 1.96, 1.9
			}
		}},
		{"lost datagrams", "datagrams were lost on 2 of 6 links between hosts: host-2 → host-1 12 of 1,200, host-1 → host-3 6 of 1,200",
			func(_ int, r *runs.Result) {
				linkOf(r, "host-2", "host-1").Lost, linkOf(r, "host-1", "host-3").Lost = 2, 1
			}},
		{"no datagram", "datagrams were lost on 1 of 6 links between hosts: host-3 → host-2 1,200 of 1,200", func(_ int, r *runs.Result) {
			l := linkOf(r, "host-3", "host-2")
			l.Lost, l.RTTMin, l.RTTMedian, l.RTTP99, l.By = l.Sent, 0, 0, 0, "control"
		}},
		{"coarse clocks", "clocks could be compared more coarsely than messages take on 1 of 6 links between hosts: host-1 → host-2 ± 3 ms in",
			func(_ int, r *runs.Result) { linkOf(r, "host-1", "host-2").BoundNS = new(int64(3e6)) }},
		{"bound above the delay", "the bound of the clocks, 41.3 µs, exceeds the median synchronization delay, 40 µs",
			func(_ int, r *runs.Result) { r.SyncDelay.P50 = 40_000 }},
		{"delays too short", "the synchronization delay of 5 of 6 repetitions is shorter than the clocks can tell",
			func(i int, r *runs.Result) {
				if i != 2 {
					r.SyncDelay, r.SyncDelayOverT = nil, nil
				}
			}},
		{"placement", "repetitions placed their nodes on hosts in 2 ways", func(i int, r *runs.Result) {
			if i == 1 {
				r.Hosts[0].Nodes, r.Hosts[1].Nodes = r.Hosts[1].Nodes, r.Hosts[0].Nodes
			}
		}},
	} {
		in := oneCell(t, 3)
		if before := build(t, in).text(); strings.Contains(before, x.want) {
			t.Errorf("%s: told although it is not so", x.name)
		}
		for i, r := range in.Runs {
			x.plant(i, r.Result)
		}
		after := build(t, in).text()
		if !strings.Contains(after, x.want) {
			warnings := after[strings.Index(after, " Warnings "):]
			t.Errorf("%s: no warning %q in%s", x.name, x.want, warnings[:min(len(warnings), 600)])
		}
	}
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

// svg is a figure of the report.
func (b built) svg(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, "plots", name+".svg"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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

// Error bars of a delay reach further by the bound, and the axis with them.
func TestBarsReachFurther(t *testing.T) {
	in := everything(oneCell(t, 2))
	for _, r := range in.Runs {
		r.Result.SyncDelay = &runs.Quantiles{Count: 9, Mean: 400e3, P50: 400e3, P99: 900e3}
		r.Result.SyncDelayBound = new(int64(100e3))
	}
	if !strings.Contains(build(t, in).svg(t, "sync-delay-vs-n-tcp-saturate"), ">500</text>") {
		t.Error("no bar reaches 500 µs")
	}
	for _, r := range in.Runs {
		r.Result.SyncDelayBound = nil
	}
	if strings.Contains(build(t, in).svg(t, "sync-delay-vs-n-tcp-saturate"), ">500</text>") {
		t.Error("a bar reaches 500 µs without a bound")
	}
}

// Of several runs the loosest bound counts, the shortest round trip, and nothing of
// a run in which nothing is known of the offset.
func TestLinksOverRuns(t *testing.T) {
	in := oneCell(t, 2)
	for i, r := range in.Runs {
		l := linkOf(r.Result, "host-1", "host-2")
		l.RTTMin, l.OffsetNS = 70_000, 7_000_000
		switch i {
		case 2:
			l.RTTMin, l.BoundNS = 11_000, new(int64(990_000))
		case 4:
			l.BoundNS, l.OffsetNS, l.DriftPPM = nil, 0, 0
		}
	}
	build(t, in).wants(t, "host-1 → host-2 11 µs", "7.00 ms ± 990 µs 0.5 ppm")
}

// A curve over the load does not lead from some hosts to others.
func TestCurvesStayOnTheirHosts(t *testing.T) {
	in, other := place(loaded(t, 500, 100, 200, 400), 2), place(loaded(t, 500, 800, 1600, 3200), 3)
	in.Runs = append(in.Runs, other.Runs...)
	b := build(t, in)
	b.wants(t, "CS 100 µs · on 2 hosts", "CS 100 µs · on 3 hosts")
	panels := regexp.MustCompile(`>(on [^<]*)</text>`).FindAllStringSubmatch(b.svg(t, "throughput-vs-load"), -1)
	if len(panels) != 2 || panels[0][1] != "on 2 hosts" || panels[1][1] != "on 3 hosts" {
		t.Errorf("panels %q", panels)
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
