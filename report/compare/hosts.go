package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"dmebench/report"
	"dmebench/report/units"
	"dmebench/result"
)

// withinClocks says of a significant change of a synchronization delay that it may come
// from clocks of several hosts alone; "" where it may not.
func (p pair) withinClocks(m result.Metric, r Row) string {
	if !r.Significant || !m.Time() || !slices.Contains(result.SyncDelays(), m.Name) {
		return ""
	}
	bound := clockBound(p.a.good) + clockBound(p.b.good)
	if math.Abs(*r.B.Median-*r.A.Median) > bound || bound == 0 {
		return ""
	}
	return fmt.Sprintf("the hosts' clocks are known to ± %s only, both sides together: the change may be theirs", units.Time(bound))
}

// tooShort says of how many runs of a side the delay is shorter than clocks can tell:
// the others are slow ones.
func (g *group) tooShort(side string, m result.Metric) []string {
	n := 0
	for _, r := range g.good {
		if r.SyncDelayTooShort() {
			n++
		}
	}
	if n == 0 || !slices.Contains(result.SyncDelays(), m.Name) {
		return nil
	}
	return []string{fmt.Sprintf("%s: the delay of %d of %d runs is shorter than the hosts' clocks can tell, and is left out",
		side, n, len(g.good))}
}

// clockBound is the largest bound on the error of a delay between hosts, in
// nanoseconds; 0 where no delay crossed any.
func clockBound(runs []*result.Result) float64 {
	bound := 0.0
	for _, r := range runs {
		if r.SyncDelayBound != nil {
			bound = max(bound, float64(*r.SyncDelayBound))
		}
	}
	return bound
}

// hostConcerns notes in what hosts that both sides have differ from themselves.
func (c *Comparison) hostConcerns(a, b []*result.Result) {
	inA, inB := hostFacts(a), hostFacts(b)
	for _, host := range slices.Sorted(maps.Keys(inA)) {
		if inB[host] != nil {
			c.differences("the environments of "+host+" differ", inA[host], inB[host])
		}
	}
}

// hostFacts are the environments of the runs' hosts, by name.
func hostFacts(runs []*result.Result) map[string]map[string]map[string]int {
	facts := make(map[string]map[string]map[string]int)
	for _, host := range report.Grouped(hostsOf(runs), func(h result.Host) string { return h.Name }) {
		var all []*result.Result
		for _, h := range host {
			all = append(all, &result.Result{Environment: h.Environment})
		}
		facts[host[0].Name] = report.Facts(all)
	}
	return facts
}

func hostsOf(runs []*result.Result) []result.Host {
	var all []result.Host
	for _, r := range runs {
		all = append(all, r.Hosts...)
	}
	return all
}
