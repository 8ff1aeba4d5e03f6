package claims

import (
	"testing"

	"dmebench/result"
)

// A run is uneven where its alarm says so, and only there.
func TestUneven(t *testing.T) {
	for _, x := range []struct {
		workload string
		jain     float64
		entries  uint64
		faults   []string
		want     bool
	}{
		{"saturate", 0.89, 50, nil, true}, {"saturate", 0.9, 50, nil, false}, {"poisson", 0.5, 50, nil, false},
		{"saturate", 0.5, 50, []string{"kill 3 @1s"}, false}, {"saturate", 0.5, 49, nil, false},
	} {
		r := &result.Result{Entries: x.entries, Spec: result.Spec{Nodes: 5, Workload: x.workload, Faults: x.faults}}
		r.Fairness.Jain = &x.jain
		if got := Uneven(r); got != x.want {
			t.Errorf("%+v: %v", x, got)
		}
	}
	if Uneven(&result.Result{Spec: result.Spec{Workload: "saturate"}}) {
		t.Error("a run without an index is uneven")
	}
}
