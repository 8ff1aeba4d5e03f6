package report_test

import (
	"fmt"
	"math/rand/v2"

	"dmebench/report"
	"dmebench/runs"
)

// place puts the runs of an experiment on hosts: nodes in turn, a rack of three hosts
// near one another, clocks that are 50 ms apart from host to host.
func place(in report.Input, hosts int) report.Input {
	for i, r := range in.Runs {
		placeRun(r.Result, hosts, rand.New(rand.NewPCG(7, uint64(i))))
	}
	return in
}

func hostName(i int) string { return fmt.Sprintf("host-%d", i+1) }

func placeRun(r *runs.Result, hosts int, rng *rand.Rand) {
	load := 1e9 / *r.Throughput - *r.CS
	bound := int64(41_300)
	r.SyncDelayBound, r.SyncDelayLoad = &bound, &load
	r.Safety.Method = "witness+intervals"
	for i := range hosts {
		h := runs.Host{
			Name: hostName(i), Address: fmt.Sprintf("10.0.%d.%d", i/3, i%3+1),
			Load: &runs.HostLoad{Cores: 2, Busy: 1.1 + rng.Float64()/10, Workers: 1.05, MemoryFree: 1 << 30},
			Environment: map[string]string{
				"cores": "2", "cpu": "A CPU @ 2 GHz", "kernel": "6.1.0", "memory": "4026824 kB", "clock_source": "tsc", "load_average": fmt.Sprint(i),
			},
		}
		if i > 0 {
			h.Clock = &runs.HostClock{OffsetNS: int64(i) * 50_012_412, BoundNS: bound, DriftPPM: float64(i) / 2, DriftBound: 1}
		}
		for node := 1 + i; node <= r.Nodes; node += hosts {
			h.Nodes = append(h.Nodes, node)
		}
		r.Hosts = append(r.Hosts, h)
		for j := range hosts {
			if i == j {
				continue
			}
			rtt := 90e3 + 20e3*rng.Float64() + 5e3*float64(abs(i-j))
			if i/3 != j/3 {
				rtt += 400e3
			}
			r.Links = append(r.Links, runs.HostLink{
				From: hostName(i), To: hostName(j), Sent: 200, RTTMin: int64(rtt * 0.8), RTTMedian: int64(rtt), RTTP99: int64(rtt * 3),
				By: "udp", OffsetNS: int64(j-i) * 50_012_412, BoundNS: new(int64(41_300)), DriftPPM: float64(j-i) / 2,
			})
		}
	}
}

func abs(i int) int { return max(i, -i) }
