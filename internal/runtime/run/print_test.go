package run_test

import (
	"strings"
	"testing"

	"dmebench/algorithms"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// What crosses hosts is printed with its bound, or not at all.
func TestPrintOfARunOnSeveralHosts(t *testing.T) {
	spec := runs.Spec{Algorithm: "raymond", Nodes: 3, Transport: "tcp", Requests: 9}
	job, err := run.Resolve(spec, run.Catalog(algorithms.All()), nil)
	if err != nil {
		t.Fatal(err)
	}
	bound, load, after := int64(31_400), 212_345.6, int64(7e7)
	r := &runs.Result{
		Algorithm: "raymond", Nodes: 3, Workload: "saturate", Status: runs.OK, Entries: 9, Requests: 9,
		SyncDelay:      &runs.Quantiles{Count: 8, P50: 201_000, P90: 240_000, P99: 300_000, Max: 310_000},
		SyncDelayBound: &bound, SyncDelayLoad: &load,
		Safety: runs.Safety{Checked: 9, Undecided: 2, Method: "witness+intervals"},
		Faults: []runs.Fault{{Fault: "kill 3 @1s", AtNS: 1e9, Nodes: []int{3}, RecoveredNS: &after}},
		Hosts: []runs.Host{
			{Name: "alpha", Address: "10.0.0.1:0", Nodes: []int{1, 3}},
			{Name: "beta", Address: "10.0.0.2:0", Nodes: []int{2},
				Clock: &runs.HostClock{OffsetNS: -50_001_234, BoundNS: 20_500, DriftPPM: 1.25, DriftBound: 0.31}},
		},
		Links: []runs.HostLink{
			{From: "alpha", To: "beta", Sent: 100, Lost: 1, RTTMedian: 60_000, By: "udp"},
			{From: "beta", To: "alpha", Sent: 100, Lost: 100, By: "control"},
		},
	}
	print := func() string {
		var b strings.Builder
		if err := run.Print(&b, job, r); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	says := func(wants ...string) {
		t.Helper()
		text := print()
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	}
	says("p50 201µs  p90 240µs  p99 300µs, each ± 31.4µs  max 310µs\n",
		"1/throughput - CS      212.3µs\n",
		"0 violations in 9 entries, 2 that the clocks cannot tell (witness+intervals)\n",
		"next entry after 70.000 ms ± 21 µs",
		"alpha at 10.0.0.1:0: nodes 1,3\n",
		"beta at 10.0.0.2:0: node 2; clock −50.001 ms ± 21 µs ahead, drift 1.3 ± 0.3 ppm\n",
		"2, round trips 60µs to 60µs in the median, 101 of 200 datagrams lost; no datagram passes on 1 of them\n")

	r.SyncDelay, r.Hosts[1].Clock = nil, &runs.HostClock{OffsetNS: -50_001_234, BoundNS: 20_500} // whose drift is not known
	says("beta at 10.0.0.2:0: node 2; clock −50.001 ms ± 21 µs ahead\n")
	says("unknown: the clocks allow only ± 31.4µs\n")

	r.SyncDelayBound, r.Faults[0].RecoveredNS, r.Hosts[1].Clock.SetNS = nil, nil, 50e6
	says("and was set by 50ms or more\n", "the clocks cannot tell what came after it\n")
	if text := print(); strings.Contains(text, "synchronization delay") {
		t.Error(text)
	}
}
