package sim

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"dmebench/algorithms"
	"dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// What a claim is said to cover, it is right about: no run, whatever its load and its links, shows
// that an exact claim or a bound is wrong which is not known to be.
func TestClaimsAreRightWhereTheyCover(t *testing.T) {
	set := func(pairs ...string) map[string]string {
		m := map[string]string{"gauges": "on"}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	loads := []runs.Spec{
		{Workload: "serial"}, {Workload: "saturate"}, {Workload: "saturate", CS: "exp:1ms"}, {Workload: "saturate", CS: "10ms"},
		{Workload: "saturate", Set: set("think", "exp:5ms")}, {Workload: "saturate", Set: set("readers", "0.5")},
		{Workload: "burst"}, {Workload: "burst", Set: set("window", "0s")}, {Workload: "burst", CS: "2s", Set: set("readers", "1")},
		{Workload: "poisson", TotalRate: 20}, {Workload: "poisson", TotalRate: 400},
		{Workload: "hotspot", TotalRate: 2, Set: set("hot", "1", "share", "0.8")},
	}
	links := []map[string]string{
		set(), set("delay", "uniform"), set("delay", "exponential", "fifo", "false"), set("links", "1-*:delay=10ms"),
		set("jitter", "3ms"), set("bandwidth", "100000"), set("sites", "regions"),
	}
	sizes := []int{3}
	if testkit.Long() {
		sizes = []int{1, 2, 7}
	}
	for _, a := range algorithms.All() {
		if a.AsPublished {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			judged := 0
			for _, own := range ownSettings(a) {
				options, err := a.Resolve(own)
				if err != nil {
					t.Fatal(err)
				}
				restless := a.Perpetual != nil && a.Perpetual(options)
				for _, load := range loads {
					stepped := load.Workload == "serial" || load.Workload == "burst" // each step ends in silence
					if load.Set["readers"] != "" && a.Name != "readers-writers" || stepped && restless {
						continue
					}
					for _, condition := range links {
						for _, load.Nodes = range sizes {
							spec := load
							spec.Requests, spec.Set = 20*load.Nodes, maps.Clone(load.Set)
							if spec.Set == nil {
								spec.Set = make(map[string]string)
							}
							maps.Copy(spec.Set, condition)
							maps.Copy(spec.Set, own)
							judged += judgeCovered(t, a, spec)
						}
					}
				}
			}
			if judged == 0 {
				t.Error("nothing was judged")
			}
		})
	}
}

// ownSettings are an algorithm's defaults, and the options that claims name.
func ownSettings(a *dme.Algorithm) []map[string]string {
	all := []map[string]string{nil}
	for _, c := range claim.Of(a) {
		if c.Set != nil && !slices.ContainsFunc(all, func(s map[string]string) bool { return maps.Equal(s, c.Set) }) {
			all = append(all, c.Set)
		}
	}
	return all
}

// judgeCovered carries out a run, if there is one of that specification, and returns how many claims
// it was held against.
func judgeCovered(t *testing.T, a *dme.Algorithm, s runs.Spec) (judged int) {
	s.Algorithm, s.Transport = a.Name, runs.Sim
	job, err := run.Resolve(s, run.Catalog{a}, nil)
	if cannot := (*run.CannotRun)(nil); errors.As(err, &cannot) {
		return 0 // not on so many nodes, or such links
	}
	r := simulate(t, s, a)
	if r.Status != runs.OK {
		t.Errorf("%s: %s: %v", r.Status, r.Error, s)
	}
	setting, of := job.Setting(), job.Circumstance()
	setting.T = time.Millisecond
	for _, c := range claim.Of(a) {
		if !of.Covers(c) || !of.Refutes(c) || c.KnownFalse != "" || c.Quantity.Timed() {
			continue
		}
		predicted, made := c.Prediction(setting)
		x, known := claims.Read(c.Quantity, r)
		if !made || !known || math.IsNaN(x.Mean) {
			continue
		}
		agrees, judges := c.Kind.Agrees(predicted, x.Least, x.Most)
		if judges {
			judged++
		}
		if judges && !agrees {
			t.Errorf("%s: %v to %v, not %v: %v", c.ID(a), x.Least, x.Most, predicted, s)
		}
	}
	return judged
}
