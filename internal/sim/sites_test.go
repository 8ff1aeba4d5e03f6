package sim

import (
	"context"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"dmebench/algorithms"
	"dmebench/algorithms/centralized"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/tokenring"
	"dmebench/dme"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// simulateSites runs a spec on four nodes, the first two at site a and the others at site
// b, 50 ms away; within a site a message takes a microsecond.
func simulateSites(t *testing.T, s runs.Spec, a *dme.Algorithm) *runs.Result {
	t.Helper()
	s.Algorithm, s.Transport, s.Nodes, s.CS = a.Name, runs.Sim, 4, "1ms"
	s.Set = map[string]string{"t": "1us", "sites": "file:two"}
	job, err := run.Resolve(s, run.Catalog{a}, func(string) ([]byte, error) { return []byte("a,b,50ms\n"), nil })
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), job)
	if err != nil || r.Status != runs.OK {
		t.Fatal(err, r)
	}
	return r
}

// Under full load the nodes take turns: a round is their critical sections and the
// messages from each exit to the next entry. What is far in it was counted by hand.
func TestRoundsOfTwoSites(t *testing.T) {
	for name, x := range map[string]struct {
		algorithm *dme.Algorithm
		trips     int     // one-way, between the sites, from each exit to the next entry of a round
		far       float64 // messages between the sites, of a round
	}{
		// The coordinator, node 1, gets RELEASE and sends GRANT: 0 to node 2, one to 3, two
		// to 4, one to 1. The nodes 3 and 4 send REQUEST and RELEASE and get GRANT.
		"centralized": {centralized.Algorithm(), 4, 6},
		// TOKEN passes from 2 to 3 and from 4 to 1.
		"token-ring": {tokenring.Algorithm(), 2, 2},
		// In the binary tree the edges of 1 and 3 and of 2 and 4 are far. The tour that serves
		// all passes each edge twice, each time by PRIVILEGE for a REQUEST.
		"raymond": {raymond.Algorithm(), 4, 8},
	} {
		const rounds = 200
		r := simulateSites(t, runs.Spec{Requests: 4 * rounds}, x.algorithm)
		round := float64(x.trips)*float64(50*time.Millisecond) + 4*float64(time.Millisecond)
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 0.002*want+20_000 { // messages within a site take some microseconds
				t.Errorf("%s: %s %v, want %v", name, what, time.Duration(got), time.Duration(want))
			}
		}
		near("handover on average", r.SyncDelay.Mean, (round-4*1e6)/4)
		for i := range r.Sites {
			s := &r.Sites[i]
			near("median waiting time at "+s.Name, float64(s.Waiting.P50), round-1e6)
			if s.Nodes != 2 || s.Entries != 2*rounds || s.DelayNS[i] != 0 || s.DelayNS[1-i] != 50e6 {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if got := float64(*r.Messages.BetweenSites) / rounds; math.Abs(got-x.far) > 0.05*x.far {
			t.Errorf("%s: %v messages between the sites in a round, want %v", name, got, x.far)
		}
	}
}

// A node that asks alone waits for as many one-way trips as lie between its request and
// its entry: none, or there and back.
func TestLoneRequestsOfTwoSites(t *testing.T) {
	r := simulateSites(t, runs.Spec{Workload: "serial", Requests: 400}, centralized.Algorithm())
	near, far := r.Sites[0].Waiting, r.Sites[1].Waiting
	if near.Max > 10_000 || math.Abs(far.Mean-100e6) > 10_000 || far.Max-far.P50 > 1e6 {
		t.Errorf("the coordinator's site waits %+v, the other %+v; want nothing, and 100 ms", near, far)
	}
}

// A composition of two algorithms needs fewer messages between the sites than either
// alone, at every load.
func TestCompositionKeepsToSites(t *testing.T) {
	all := algorithms.All()
	byName := func(name string) *dme.Algorithm {
		return all[slices.IndexFunc(all, func(a *dme.Algorithm) bool { return a.Name == name })]
	}
	far := func(s runs.Spec, name string, set map[string]string) float64 {
		s.Set = map[string]string{"t": "100us", "sites": "file:two"}
		maps.Copy(s.Set, set)
		s.Algorithm, s.Transport, s.Nodes, s.CS, s.Requests = name, runs.Sim, 12, "1ms", 1200
		job, err := run.Resolve(s, run.Catalog{byName(name)}, func(string) ([]byte, error) { return []byte("a,b,50ms\n"), nil })
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(context.Background(), job)
		if err != nil || r.Status != runs.OK {
			t.Fatal(err, r)
		}
		return float64(*r.Messages.BetweenSites) / float64(r.Entries)
	}
	loads := []runs.Spec{{Workload: "saturate"}, {Workload: "serial"}}
	for _, rate := range []float64{1, 5, 20, 100} {
		loads = append(loads, runs.Spec{Workload: "poisson", TotalRate: rate})
	}
	for _, name := range byName("composed").Options[0].Words {
		for _, s := range loads {
			flat, parted := far(s, name, nil), far(s, "composed", map[string]string{"inside": name, "between": name})
			if parted >= 0.8*flat {
				t.Errorf("%s, %s %v/s: %.3v messages between sites an entry composed, %.3v alone", name, s.Workload, s.TotalRate, parted, flat)
			}
		}
	}
}
