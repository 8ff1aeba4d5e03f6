package claims

import (
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/result"
)

// How often a node may be overtaken depends on how many critical sections fit into the
// delay of a message: of 8 nodes, 10 turns of others and the trip for each.
func TestStarved(t *testing.T) {
	const nodes = 8
	claimed := dme.OvertakingBound([]dme.Claim{{
		Quantity: dme.Bypass, Formula: "N", Load: dme.AnyLoad, Kind: dme.UpperBound, Source: "a paper",
	}}, dme.Setting{Nodes: nodes}, true)
	free := dme.Overtaking{Nodes: nodes}
	for _, x := range []struct {
		name   string
		bound  dme.Overtaking
		set    map[string]string
		net    string
		cs     float64 // of T
		change func(*result.Result)
		most   int // that is not starving; -1 where nothing is
		often  int // that is not often either
	}{
		{"E = T", free, nil, "sim", 1, nil, nodes * 12, nodes * 12},
		{"E = T/10", free, nil, "sim", 0.1, nil, nodes * 21, nodes * 21},
		{"never more than the entries", free, nil, "sim", 1e-6, nil, nodes * 2010, nodes * 2010},
		{"constant", free, map[string]string{"delay": "constant", "jitter": "0s"}, "sim", 1, nil, nodes * 12, nodes * 12},
		{"a number", free, map[string]string{"delay": "3ms"}, "sim", 1, nil, nodes * 12, nodes * 12},
		{"uniform", free, map[string]string{"delay": "uniform"}, "sim", 1, nil, nodes * 13, nodes * 13},
		{"exponential", free, map[string]string{"delay": "exponential"}, "sim", 1, nil, nodes * 31, nodes * 31},
		{"exponential, of a link", free, map[string]string{"delay": "exp:1ms"}, "sim", 1, nil, nodes * 31, nodes * 31},
		{"without a mean that is kept", free, map[string]string{"delay": "pareto:1.5"}, "sim", 1, nil, -1, -1},
		{"lossy", free, map[string]string{"loss": "0.1"}, "sim", 1, nil, -1, -1},
		{"no readers", free, map[string]string{"readers": "0"}, "sim", 1, nil, nodes * 12, nodes * 12},
		{"readers", free, map[string]string{"readers": "0.5"}, "sim", 1, nil, -1, -1},
		{"of a real network a hiccup", free, nil, "tcp", 1, nil, nodes * 111, nodes * 12},
		{"no E", free, nil, "sim", 0, nil, -1, -1},
		{"no T", free, nil, "sim", 1, func(r *result.Result) { r.T = nil }, -1, -1},
		{"times of a file", free, nil, "sim", 1, func(r *result.Result) { r.Workload = "trace" }, -1, -1},
		{"faults", free, nil, "sim", 1, func(r *result.Result) { r.Spec.Faults = []string{"kill 3 @1s"} }, -1, -1},
		{"faults that struck", free, nil, "sim", 1, func(r *result.Result) {
			r.Spec.Faults, r.Faults = []string{"kill 3 @1s"}, make([]result.Fault, 1)
		}, -1, -1},
		{"a claim", claimed, nil, "sim", 1, nil, nodes, nodes},
		{"a claim needs no times", claimed, map[string]string{"loss": "0.1"}, "tcp", 0, nil, nodes, nodes},
		{"a claim, with faults", claimed, nil, "sim", 1, func(r *result.Result) { r.Spec.Faults = []string{"kill 3 @1s"} }, -1, -1},
	} {
		delay := 1e6
		e := delay * x.cs
		r := &result.Result{
			Spec: result.Spec{Nodes: nodes, Transport: x.net, Set: x.set}, Entries: 2000, T: &delay, CS: &e, Workload: "saturate",
		}
		if x.change != nil {
			x.change(r)
		}
		check := func(said func(dme.Overtaking, *result.Result) string, what, want string, most int) {
			if most < 0 {
				r.Fairness.MaxBypass = 1e6
				if line := said(x.bound, r); line != "" {
					t.Errorf("%s, %s: %s", x.name, what, line)
				}
				return
			}
			for more, want := range []string{"", want} {
				r.Fairness.MaxBypass = uint64(most + more)
				if line := said(x.bound, r); (line == "") != (want == "") || !strings.HasPrefix(line, want) {
					t.Errorf("%s, %s by %d: %q", x.name, what, most+more, line)
				}
			}
		}
		check(Starved, "overtaken", "starving: ", x.most)
		often := "starving: "
		if x.often < x.most {
			often = "overtaken often: "
		}
		check(Overtaken, "overtaken", often, x.often)
	}
}

// An algorithm that lets a node starve is not live, though it serves every request in the
// end; what is not served at all is told first.
func TestStarvationIsNotLiveness(t *testing.T) {
	a := &dme.Algorithm{Name: "some", Claims: dme.SafeAndLive("a paper")}
	run := func(seed uint64) *result.Result {
		return &result.Result{Status: result.OK, Entries: 100, Spec: result.Spec{Nodes: 27, Seed: seed}}
	}
	judge := func(t *Tally, claim int) Verdict {
		return (&Question{Algorithm: a, Claim: a.Claims[claim]}).JudgeAll(*t)
	}
	var tally Tally
	tally.Add("saturate", run(1))
	tally.Starved("saturate", run(1), "")
	if v := judge(&tally, 1); v.Verdict != Holds {
		t.Errorf("nobody starved: %s", v.Text)
	}
	for seed := range uint64(2) {
		tally.Add("saturate", run(2+seed))
		tally.Starved("saturate", run(2+seed), "starving: it saw many entries of others")
	}
	v := judge(&tally, 1)
	for _, want := range []string{"a node starved in 2 of 3 runs", "saturate, N = 27, seed 2: starving: it saw many"} {
		if v.Verdict != Fails || !strings.Contains(v.Text, want) {
			t.Errorf("%s; want %q", v.Text, want)
		}
	}
	if v := judge(&tally, 0); v.Verdict != Holds {
		t.Errorf("starving is not unsafe: %s", v.Text)
	}
	stalled := run(9)
	stalled.Liveness.Pending, stalled.Status, stalled.Error = 3, result.Stalled, "nothing moves"
	tally.Add("burst", stalled)
	if v := judge(&tally, 1); v.Verdict != Fails || !strings.Contains(v.Text, "3 requests were not served in 4 runs; burst, N = 27") {
		t.Errorf("%s", v.Text)
	}
}
