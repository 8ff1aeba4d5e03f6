package sim

import (
	"maps"
	"math"
	"testing"
	"time"

	"dmebench/algorithms/carvalhoroucairol"
	"dmebench/algorithms/chaudhurikaraata"
	"dmebench/algorithms/lodhakshemkalyani"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/singhal"
	"dmebench/dme"
	"dmebench/result"
)

// judged runs an algorithm and returns what one of its claims predicts for that
// run, and what came out.
func judged(t *testing.T, a *dme.Algorithm, q dme.Quantity, formula string, load dme.Load,
	spec result.Spec, measure func(*result.Result) float64) (c dme.Claim, want, got float64) {
	t.Helper()
	for _, c = range a.Claims {
		if c.Quantity != q || c.Formula != formula || c.Load != load {
			continue
		}
		set := maps.Clone(c.Set)
		if set == nil {
			set = map[string]string{}
		}
		maps.Copy(set, spec.Set)
		spec.Set = set
		r := simulate(t, spec, a)
		opt, err := a.Resolve(c.Set)
		if err != nil {
			t.Fatal(err)
		}
		sys, err := a.New(spec.Nodes, 1, c.Set)
		if err != nil {
			t.Fatal(err)
		}
		s := dme.Setting{Nodes: spec.Nodes, Options: opt, System: sys, T: time.Duration(*r.T), E: time.Duration(*r.CS)}
		want, ok := c.Prediction(s)
		if !ok {
			t.Fatalf("%s: %s %q is not made of %d nodes", a.Name, q, formula, spec.Nodes)
		}
		return c, want, measure(r)
	}
	t.Fatalf("%s: no claim %s %q, %s", a.Name, q, formula, load)
	return c, 0, 0
}

// Claims that are known to be false and that a run can refute are refuted.
func TestFalseClaims(t *testing.T) {
	perCS := func(r *result.Result) float64 { return *r.Messages.PerCS }
	burst := result.Spec{Nodes: 13, Workload: "burst", Requests: 130, Set: map[string]string{"window": "100us"}}
	heavy := func(nodes int) result.Spec { return result.Spec{Nodes: nodes, CS: "1ms"} }
	for _, x := range []struct {
		algorithm *dme.Algorithm
		quantity  dme.Quantity
		formula   string
		load      dme.Load
		spec      result.Spec
		measure   func(*result.Result) float64
		got       float64 // roughly
	}{
		{maekawa.Algorithm(), dme.SyncDelay, "2T on average", dme.Saturated, heavy(13),
			func(r *result.Result) float64 { return *r.SyncDelayOverT }, 1},
		{chaudhurikaraata.Algorithm(), dme.MessagesPerCS, "fewer than all existing algorithms: 4(n−1)/n, Raymond's under heavy load",
			dme.Saturated, heavy(27), perCS, 6.4},
		{chaudhurikaraata.Algorithm(), dme.WorkSpread, "1: symmetrical", dme.Saturated, heavy(27),
			func(r *result.Result) float64 { return *r.Work.MaxOverMean }, 2.7},
		{lodhakshemkalyani.Algorithm(), dme.MessagesPerCS,
			"2(N−1): no parallel, symmetric, distributed algorithm can do with fewer", dme.Burst, burst, perCS, 12.9},
		{raymond.Algorithm(), dme.MessagesPerCS, "fewer than under light load, 2 · mean distance (star)",
			dme.Saturated, heavy(13), perCS, 3.7},
	} {
		c, want, got := judged(t, x.algorithm, x.quantity, x.formula, x.load, x.spec, x.measure)
		if c.KnownFalse == "" || math.Abs(got-x.got) > 0.05*x.got {
			t.Errorf("%s: %s %q: %v, want about %v; known to be false: %q", x.algorithm.Name, x.quantity, x.formula, got, x.got, c.KnownFalse)
		}
		holds := c.Kind == dme.UpperBound && got <= want || c.Kind == dme.LowerBound && got >= want ||
			(c.Kind == dme.Exact || c.Kind == dme.Mean) && math.Abs(got-want) < 0.05*want
		if holds {
			t.Errorf("%s: %s, %s %q: %v, and %v is predicted: it holds", x.algorithm.Name, x.quantity, c.Kind, x.formula, got, want)
		}
	}
}

// Where few nodes make most requests, those that ask whom they must pay less.
func TestHotSpotClaims(t *testing.T) {
	spec := result.Spec{Nodes: 13, Workload: "hotspot", TotalRate: 2, Requests: 1000, Set: map[string]string{"hot": "2", "share": "0.9"}}
	perCS := func(r *result.Result) float64 { return *r.Messages.PerCS }
	for _, x := range []struct {
		algorithm *dme.Algorithm
		quantity  dme.Quantity
		formula   string
		measure   func(*result.Result) float64
	}{
		{carvalhoroucairol.Algorithm(), dme.MessagesPerCS, "fewer than N−1, where few nodes make most requests", perCS},
		{singhal.Algorithm(), dme.MessagesPerCS, "fewer than n − 1, where few sites make most requests", perCS},
		{singhal.Algorithm(), dme.ResponseTime, "less than 2T(n−1)/n + E, where few sites make most requests",
			func(r *result.Result) float64 { return r.ResponseTime.Mean / 1e9 }},
	} {
		_, want, got := judged(t, x.algorithm, x.quantity, x.formula, dme.HotSpot, spec, x.measure)
		if got > 0.9*want {
			t.Errorf("%s: %s %q: %v, want much less than %v", x.algorithm.Name, x.quantity, x.formula, got, want)
		}
	}
}
