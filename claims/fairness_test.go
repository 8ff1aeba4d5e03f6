package claims

import (
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/result"
)

func TestUnfair(t *testing.T) {
	bound := dme.Claim{
		Quantity: dme.Bypass, Formula: "2(N−1)", Load: dme.AnyLoad, Kind: dme.UpperBound, Source: "a paper",
		FIFO: true,
	}
	wrong := bound
	wrong.KnownFalse = "it is not so"
	for _, c := range []struct {
		name     string
		claims   []dme.Claim
		bypass   uint64
		jain     float64
		workload string
		ordered  bool
		faults   []string
		want     string // "" for nothing
	}{
		{"within the bound", []dme.Claim{bound}, 8, 1, "saturate", true, nil, ""},
		{"beyond the bound", []dme.Claim{bound}, 9, 1, "saturate", true, nil,
			"9 entries of others before its own, where at most 2(N−1) = 8 are claimed by a paper"},
		{"the bound is of other links", []dme.Claim{bound}, 50, 1, "saturate", false, nil, ""},
		{"no bound, little", nil, 60, 1, "saturate", true, nil, ""},
		{"no bound, much", nil, 61, 1, "poisson", true, nil, "starving: a node that had asked saw 61 entries"},
		{"a false bound is none", []dme.Claim{wrong}, 60, 1, "saturate", true, nil, ""},
		{"even", nil, 0, 0.9, "saturate", true, nil, ""},
		{"uneven", nil, 0, 0.89, "saturate", true, nil, "uneven: all nodes ask all the time, and node 2 entered 70 times, node 4 3 times"},
		{"not asked evenly", nil, 0, 0.5, "hotspot", true, nil, ""},
		{"with faults", nil, 999, 0.1, "saturate", true, []string{"kill 3 @1s"}, ""},
	} {
		delay := 1e6
		spec := result.Spec{Nodes: 5, Transport: result.Sim, Workload: c.workload, Faults: c.faults}
		r := &result.Result{Spec: spec, Entries: 91, T: &delay, CS: &delay}
		r.Fairness.MaxBypass, r.Fairness.Jain = c.bypass, &c.jain
		r.Work.EntriesByNode = []uint64{10, 70, 5, 3, 3}
		got := Of(spec, c.ordered).Unfair(c.claims, dme.Setting{Nodes: 5}, r)
		if text := strings.Join(got, "\n"); !strings.Contains(text, c.want) || (c.want == "") != (len(got) == 0) {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
	if said := shares([]uint64{20, 20, 20}); strings.Contains(said, "times") {
		t.Errorf("nodes that entered equally often differ: %s", said)
	}
}
