package export_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"dmebench/internal/testkit"
	"dmebench/report/export"
	"dmebench/runs"
)

// onHosts puts runs on two hosts, the second of which has a clock of its own.
func onHosts(list []runs.Run) []runs.Run {
	for i, r := range list {
		r.Result.Hosts = []runs.Host{
			{Name: "b", Address: "10.0.0.2", Labels: map[string]string{"rack": "1"}, Nodes: []int{2},
				Load:  &runs.HostLoad{Cores: 2, Busy: 1.5, Workers: 1.25, MemoryFree: 1 << 20},
				Clock: &runs.HostClock{OffsetNS: 50e6 + int64(i), BoundNS: 41_300, DriftPPM: -1.5, DriftBound: 0.5}},
			{Name: "a", Address: "10.0.0.1", Nodes: []int{1, 3}, Environment: map[string]string{"cores": "4"}},
		}
		r.Result.Links = []runs.HostLink{
			{From: "a", To: "b", Sent: 200, Lost: 2, RTTMin: 80, RTTMedian: 100, RTTP99: 300, By: "udp",
				OffsetNS: 50e6, BoundNS: new(int64(41_300)), DriftPPM: -1.5},
			{From: "b", To: "a", Sent: 200, Lost: 200, By: "control"},
		}
		r.Result.Safety.Undecided = uint64(i)
		r.Result.SyncDelayBound, r.Result.SyncDelayLoad = new(int64(41_300)), new(2.5e5)
	}
	return list
}

func files(t *testing.T, list []runs.Run) map[string][]byte {
	t.Helper()
	all, err := export.CSV(&runs.Set{Runs: list})
	if err != nil {
		t.Fatal(err)
	}
	m := make(map[string][]byte)
	for _, f := range all {
		m[f.Name] = f.Data
	}
	return m
}

// What hosts add stands in columns at the end: without hosts the tables are what they
// were, and with them their first columns are.
func TestHostsAddColumnsAtTheEnd(t *testing.T) {
	before, after := files(t, experiment(t, 1)), files(t, onHosts(experiment(t, 1)))
	if len(before) != 3 || len(after) != 5 {
		t.Errorf("%d files without hosts, %d with them", len(before), len(after))
	}
	for name, added := range map[string][]string{
		"summary.csv": {
			"sync_delay_bound_ns", "sync_delay_bound_ns_ci95_low", "sync_delay_bound_ns_ci95_high", "sync_delay_by_throughput_ns",
			"sync_delay_by_throughput_ns_ci95_low", "sync_delay_by_throughput_ns_ci95_high", "undecided", "hosts",
		},
		"runs.csv":  {"sync_delay_bound_ns", "sync_delay_by_throughput_ns", "undecided", "hosts"},
		"times.csv": {"hosts"},
	} {
		old, lines := bytes.Split(before[name], []byte("\n")), bytes.Split(after[name], []byte("\n"))
		if string(lines[0]) != string(old[0])+","+strings.Join(added, ",") || len(lines) != len(old) {
			t.Errorf("%s begins with %s", name, lines[0])
		}
		for i, line := range lines {
			if !bytes.HasPrefix(line, old[i]) {
				t.Errorf("%s: line %d is %s, and was %s", name, i+1, line, old[i])
			}
		}
		if rows := testkit.Table(t, after[name]); rows[0]["hosts"] != "a, b" {
			t.Errorf("%s: hosts %q", name, rows[0]["hosts"])
		}
	}
}

// So do the columns of a shared resource, without any hosts.
func TestResourcesAddColumnsAtTheEnd(t *testing.T) {
	before, list := files(t, experiment(t, 1)), experiment(t, 1)
	for _, r := range list {
		r.Result.Spec.Resource, r.Result.Safety.Resource = "nats", &runs.Resource{Kind: "nats"}
	}
	after := files(t, list)
	for name, added := range map[string]string{
		"summary.csv": ",lost_updates,resource", "runs.csv": ",lost_updates,resource", "times.csv": ",resource",
	} {
		old, lines := bytes.Split(before[name], []byte("\n")), bytes.Split(after[name], []byte("\n"))
		if string(lines[0]) != string(old[0])+added || len(lines) != len(old) || !bytes.HasPrefix(lines[1], old[1]) {
			t.Errorf("%s begins with %s", name, lines[0])
		}
	}
	if len(after) != 3 {
		t.Errorf("%d files", len(after))
	}
}

func TestHostsAndLinks(t *testing.T) {
	list := onHosts(experiment(t, 1))
	for _, r := range list {
		r.Result.Spec.Resource = "nats"
	}
	list[1].Result.Safety.Resource = &runs.Resource{LostUpdates: 3}
	list[0].Result.Hosts[0].Clock = &runs.HostClock{OffsetNS: 7, BoundNS: 9} // whose drift is not known
	list[0].Result.Links[1].BoundNS = new(int64(5))                          // likewise
	all := files(t, list)
	rows := testkit.Table(t, all["runs.csv"])
	if rows[1]["undecided"] != "1" || rows[1]["lost_updates"] != "3" || rows[0]["lost_updates"] != "" ||
		rows[1]["sync_delay_by_throughput_ns"] != "250000" {
		t.Errorf("%v", rows[1])
	}
	hosts, links := testkit.Table(t, all["hosts.csv"]), testkit.Table(t, all["links.csv"])
	if len(hosts) != 2*len(list) || len(links) != 2*len(list) {
		t.Fatalf("%d hosts and %d links of %d runs", len(hosts), len(links), len(list))
	}
	has := func(row map[string]string, want map[string]string) {
		t.Helper()
		for column, value := range want {
			if got, known := row[column]; got != value || !known {
				t.Errorf("%s is %q, want %q", column, got, value)
			}
		}
	}
	has(hosts[2], map[string]string{
		"label": "maekawa-grid", "nodes": "7", "repetition": "2", "status": "ok", "host": "b", "address": "10.0.0.2", "labels": "rack=1",
		"nodes_there": "2", "cores": "2", "cores_busy": "1.5", "cores_busy_workers": "1.25", "memory_free_bytes": "1048576",
		"clock_offset_ns": "50000001", "clock_bound_ns": "41300", "clock_drift_ppm": "-1.5", "clock_set_ns": "0",
	})
	has(hosts[0], map[string]string{"clock_offset_ns": "7", "clock_bound_ns": "9", "clock_drift_ppm": "", "clock_set_ns": "0"})
	has(hosts[1], map[string]string{
		"host": "a", "nodes_there": "1 3", "cores": "4", "cores_busy": "", "clock_offset_ns": "", "clock_bound_ns": "",
	})
	has(links[0], map[string]string{
		"from": "a", "to": "b", "sent": "200", "lost": "2", "rtt_min_ns": "80", "rtt_median_ns": "100", "rtt_p99_ns": "300",
		"by": "udp", "clock_offset_ns": "50000000", "clock_bound_ns": "41300", "clock_drift_ppm": "-1.5",
	})
	for _, row := range []map[string]string{rows[0], hosts[0], links[0]} {
		has(row, map[string]string{"resource": "nats", "hosts": "a, b"})
	}
	has(links[1], map[string]string{"clock_offset_ns": "0", "clock_bound_ns": "5", "clock_drift_ppm": ""})
	has(links[3], map[string]string{"lost": "200", "rtt_median_ns": "", "by": "control", "clock_offset_ns": "", "clock_bound_ns": ""})
}

// Runs on different hosts are cells of their own in every format.
func TestHostsTellCellsApart(t *testing.T) {
	list, other := onHosts(experiment(t, 1)), onHosts(experiment(t, 1))
	for _, r := range other {
		r.Result.Hosts[0].Name = "c"
	}
	files, err := export.Hgrm(&runs.Set{Runs: slices.Concat(list, other)})
	if err != nil {
		t.Fatal(err)
	}
	if alone, err := export.Hgrm(&runs.Set{Runs: list}); err != nil || len(files) != 2*len(alone) {
		t.Errorf("%d files of two sets of hosts, %d of one (%v)", len(files), len(alone), err)
	}
	text := string(benchmarks(t, slices.Concat(list, other), "throughput_cs_per_s"))
	if !strings.Contains(text, "/hosts=a,_b/") || !strings.Contains(text, "/hosts=a,_c/") {
		t.Errorf("%.400s", text)
	}
	if strings.Contains(string(benchmarks(t, experiment(t, 1), "throughput_cs_per_s")), "hosts=") {
		t.Error("runs without hosts have some")
	}
}
