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
		FIFO: true, Predict: dme.PerPeer(2),
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
		{"beyond the bound", []dme.Claim{bound}, 9, 1, "saturate", true, nil, "9 times, and at most 2(N−1) by a paper"},
		{"the bound is of other links", []dme.Claim{bound}, 50, 1, "saturate", false, nil, ""},
		{"no bound, little", nil, 50, 1, "saturate", true, nil, ""},
		{"no bound, much", nil, 51, 1, "poisson", true, nil, "starving: a node that had asked saw 51 entries"},
		{"a false bound is none", []dme.Claim{wrong}, 50, 1, "saturate", true, nil, ""},
		{"even", nil, 0, 0.9, "saturate", true, nil, ""},
		{"uneven", nil, 0, 0.89, "saturate", true, nil, "uneven: all nodes ask all the time, and node 2 entered 70 times, node 4 3 times"},
		{"not asked evenly", nil, 0, 0.5, "hotspot", true, nil, ""},
		{"with faults", nil, 999, 0.1, "saturate", true, []string{"kill 3 @1s"}, ""},
	} {
		spec := result.Spec{Nodes: 5, Workload: c.workload, Faults: c.faults}
		r := &result.Result{Spec: spec, Entries: 91}
		r.Fairness.MaxBypass, r.Fairness.Jain = c.bypass, &c.jain
		r.Work.EntriesByNode = []uint64{10, 70, 5, 3, 3}
		got := Of(spec, c.ordered).Unfair(c.claims, dme.Setting{Nodes: 5}, r)
		if text := strings.Join(got, "\n"); !strings.Contains(text, c.want) || (c.want == "") != (text == "") {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
	if said := shares([]uint64{20, 20, 20}); strings.Contains(said, "times") {
		t.Errorf("nodes that entered equally often differ: %s", said)
	}
}
