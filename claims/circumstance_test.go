package claims

import (
	"slices"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/runs"
)

func TestLoadsOfARun(t *testing.T) {
	heavy := []dme.Load{dme.AnyLoad, dme.Saturated, dme.Contention, dme.Worst}
	set := func(name, value string) map[string]string { return map[string]string{name: value} }
	rare, busy := RareRate(8, time.Millisecond, time.Millisecond), BusyRate(time.Millisecond, time.Millisecond)
	for _, x := range []struct {
		spec runs.Spec
		want []dme.Load
	}{
		{runs.Spec{Workload: "serial"}, []dme.Load{dme.AnyLoad, dme.Light, dme.Worst}},
		{runs.Spec{Workload: "saturate"}, heavy},
		{runs.Spec{Workload: "saturate", Set: set("think", "0")}, heavy},
		{runs.Spec{Workload: "saturate", Set: set("think", "exp:1ms")}, []dme.Load{dme.AnyLoad}}, // lighter than the papers' heavy load
		{runs.Spec{Workload: "saturate", Set: set("think", "1ns")}, []dme.Load{dme.AnyLoad}},
		{runs.Spec{Workload: "saturate", Set: set("readers", "0")}, heavy},
		{runs.Spec{Workload: "saturate", Set: set("readers", "0.5")}, []dme.Load{dme.AnyLoad, dme.Contention}},
		{runs.Spec{Workload: "saturate", Set: set("readers", "1")}, []dme.Load{dme.AnyLoad, dme.Contention}},
		{runs.Spec{Workload: "burst", Set: set("readers", "0.5")}, []dme.Load{dme.AnyLoad, dme.Contention}},
		{runs.Spec{Workload: "burst", Set: set("readers", "1")}, []dme.Load{dme.AnyLoad, dme.Contention, dme.Burst}},
		{runs.Spec{Workload: "burst"}, []dme.Load{dme.AnyLoad, dme.Burst, dme.Contention, dme.Worst}},
		// How heavy an open load is only a simulation tells beforehand.
		{runs.Spec{Workload: "poisson", Transport: "tcp", TotalRate: 1, CS: "1ms"}, []dme.Load{dme.AnyLoad}},
		{runs.Spec{Workload: "poisson", Transport: "sim", TotalRate: 1, CS: "1ms", Nodes: 8}, []dme.Load{dme.AnyLoad, dme.Open, dme.Light}},
		{runs.Spec{Workload: "hotspot", Transport: "sim", Rate: 1. / 8, CS: "1ms", Nodes: 8}, []dme.Load{dme.AnyLoad, dme.HotSpot}},
		{runs.Spec{Workload: "poisson", Transport: "sim", TotalRate: 100, CS: "1ms", Nodes: 8}, []dme.Load{dme.AnyLoad, dme.Open}},
		{
			runs.Spec{Workload: "poisson", Transport: "sim", TotalRate: 200, CS: "1ms", Nodes: 8},
			[]dme.Load{dme.AnyLoad, dme.Open, dme.Contention},
		},
		{
			runs.Spec{Workload: "poisson", Transport: "sim", TotalRate: 200, CS: "1ms", Nodes: 8, Set: set("t", "10us")},
			[]dme.Load{dme.AnyLoad, dme.Open},
		},
		// The limits themselves are in: 1/0.11 and 0.5/0.003 requests per second.
		{runs.Spec{Workload: "poisson", Transport: "sim", TotalRate: rare, CS: "1ms", Nodes: 8}, []dme.Load{dme.AnyLoad, dme.Open, dme.Light}},
		{runs.Spec{Workload: "hotspot", Transport: "sim", TotalRate: rare, CS: "1ms", Nodes: 8}, []dme.Load{dme.AnyLoad, dme.HotSpot}},
		{
			runs.Spec{Workload: "poisson", Transport: "sim", TotalRate: busy, CS: "1ms", Nodes: 8},
			[]dme.Load{dme.AnyLoad, dme.Open, dme.Contention},
		},
		// Each of 8 nodes asks 25 times per second, beside what all do together.
		{runs.Spec{Workload: "hotspot", Transport: "sim", Rate: 25, CS: "1ms", Nodes: 8}, []dme.Load{dme.AnyLoad, dme.Contention}},
		{
			runs.Spec{Workload: "hotspot", Transport: "sim", TotalRate: 100, Rate: 12, CS: "1ms", Nodes: 8},
			[]dme.Load{dme.AnyLoad, dme.Contention},
		},
		// With T = 1 ms and E = 10 ms several wait from 42 requests per second on.
		{runs.Spec{Workload: "poisson", Transport: "sim", TotalRate: 41, CS: "10ms", Nodes: 8}, []dme.Load{dme.AnyLoad, dme.Open}},
		{
			runs.Spec{Workload: "poisson", Transport: "sim", TotalRate: 42, CS: "10ms", Nodes: 8},
			[]dme.Load{dme.AnyLoad, dme.Open, dme.Contention},
		},
	} {
		if got := Of(x.spec, true).Loads; !slices.Equal(got, x.want) {
			t.Errorf("%+v: %v, want %v", x.spec, got, x.want)
		}
	}
}

// A claim about links is made of such links alone.
func TestLinksOfARun(t *testing.T) {
	equal := dme.Claim{Load: dme.AnyLoad, EqualDelays: true}
	for _, x := range []struct {
		option, value string
		want          bool
	}{
		{"delay", "", true}, {"delay", "constant", true}, {"delay", "2ms", true}, {"delay", "exponential", false},
		{"delay", "uniform:1ms:2ms", false},
		{"jitter", "0", true}, {"jitter", "1ms", false}, {"links", "none", true}, {"links", "1-2:delay=4ms", false}, {"loss", "0.1", false},
	} {
		s := runs.Spec{Workload: "serial", Set: map[string]string{x.option: x.value}}
		if got := Of(s, true).Covers(equal); got != x.want {
			t.Errorf("%s=%s: %v", x.option, x.value, got)
		}
	}
	fifo := dme.Claim{Load: dme.AnyLoad, FIFO: true}
	if c := (runs.Spec{Workload: "serial"}); !Of(c, true).Covers(fifo) || Of(c, false).Covers(fifo) {
		t.Error("a claim about links that keep order is made of others, or not of these")
	}
}

// What is said of undisturbed runs is said of none with faults.
func TestFaultsAreALoadOfTheirOwn(t *testing.T) {
	s := runs.Spec{Workload: "serial", Faults: []string{"kill 3 @1s"}}
	for _, load := range []dme.Load{dme.AnyLoad, dme.Light, dme.Worst} {
		if Of(s, true).Covers(dme.Claim{Load: load}) {
			t.Errorf("a claim about load %q is made of a run with faults", load)
		}
	}
	if !Of(s, true).Covers(dme.Claim{Load: dme.Faults}) {
		t.Error("a claim about faults is not made of a run with faults")
	}
}

func TestSharpestClaimsFirst(t *testing.T) {
	claim := func(formula string, kind dme.ClaimKind, knownFalse string) dme.Claim {
		return dme.Claim{Quantity: dme.MessagesPerCS, Load: dme.AnyLoad, Formula: formula, Kind: kind, KnownFalse: knownFalse}
	}
	all := []dme.Claim{
		claim("false", dme.Exact, "why"), claim("lower", dme.LowerBound, ""),
		{Quantity: dme.MessagesPerCS, Load: dme.Worst, Formula: "worst", Kind: dme.UpperBound},
		claim("upper", dme.UpperBound, ""), claim("like", dme.Asymptotic, ""), claim("mean", dme.Mean, ""),
		claim("exact", dme.Exact, ""), claim("exact too", dme.Exact, ""),
		{Quantity: dme.SyncDelay, Load: dme.AnyLoad},
		{Quantity: dme.MessagesPerCS, Load: dme.Burst},
	}
	var order []string
	for _, c := range Of(runs.Spec{Workload: "serial"}, true).About(dme.MessagesPerCS, all) {
		order = append(order, c.Formula)
	}
	if want := []string{"exact", "exact too", "mean", "like", "upper", "worst", "lower", "false"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}

// Requests are isolated where each is served before the next, whoever makes them.
func TestIsolatedRequests(t *testing.T) {
	for _, x := range []struct {
		loads []dme.Load
		want  bool
	}{
		{[]dme.Load{dme.AnyLoad, dme.Light, dme.Worst}, true}, {[]dme.Load{dme.AnyLoad, dme.HotSpot}, true},
		{[]dme.Load{dme.AnyLoad, dme.Saturated}, false}, {nil, false},
	} {
		if got := (Circumstance{Loads: x.loads}).Isolated(); got != x.want {
			t.Errorf("%v: isolated %v", x.loads, got)
		}
	}
}
