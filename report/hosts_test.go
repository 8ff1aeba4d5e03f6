package report_test

import (
	"math"
	"strings"
	"testing"

	"dmebench/report"
	"dmebench/runs"
)

// oneCell is six runs of one cell on so many hosts.
func oneCell(t *testing.T, hosts int) report.Input {
	return place(experiment(t, []string{"maekawa"}, []string{"saturate"}, []int{8}, 6), hosts)
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
	if b := build(t, in); !strings.Contains(strings.Join(b.data(t, []string{"table", "hosts"}), "\n"), name) {
		t.Errorf("no table names %q", name)
	}
}
