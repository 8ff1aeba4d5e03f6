package sim

import (
	"strings"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/internal/run"
	"dmebench/result"
	"dmebench/workload"
)

// TestLongDurations runs with the longest durations that there may be: none of
// what is added up or multiplied of them leaves 64 bits, which would look like a
// stall.
func TestLongDurations(t *testing.T) {
	longest := workload.MaxDuration.String()
	for _, s := range []result.Spec{
		{Nodes: 5000, Requests: 20, CS: longest},
		{Nodes: 3, Requests: 20, CS: "exp:" + longest, StallAfter: result.Duration(workload.MaxDuration)},
		{Nodes: 3, Requests: 30, CS: longest, Set: map[string]string{"think": "exp:" + longest}},
		{Nodes: 3, Workload: "poisson", Rate: 1e-5, Duration: result.Duration(workload.MaxDuration)},
	} {
		r := simulate(t, s, centralized.Algorithm())
		if r.Status != result.OK || s.Requests > 0 && r.Entries != uint64(s.Requests) {
			t.Errorf("%+v: %s after %d entries: %s", s, r.Status, r.Entries, r.Error)
		}
	}
}

// TestLongerDurations refuses more than that before anything is simulated.
func TestLongerDurations(t *testing.T) {
	const long = "2562047h"
	a := centralized.Algorithm()
	for _, s := range []result.Spec{
		{CS: long},
		{CS: "exp:" + long},
		{Set: map[string]string{"think": long}},
		{Workload: "burst", Set: map[string]string{"window": long}},
		{StallAfter: 1 << 62},
		{Duration: 1 << 62},
	} {
		s.Algorithm, s.Nodes, s.Transport = a.Name, 3, result.Sim
		if _, err := run.Resolve(s, run.Catalog{a}, nil); err == nil || !strings.Contains(err.Error(), "2400h0m0s") {
			t.Errorf("%+v: error %v", s, err)
		}
	}
}
