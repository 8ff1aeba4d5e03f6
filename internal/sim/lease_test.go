package sim

import (
	"testing"

	"dmebench/algorithms/lease"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/runs"
)

// A holder that stands still for longer than its lease overlaps with the next one. The
// fencing token tells the resource that it is late; without one an update is lost. One
// that is back in time harms nobody.
func TestHolderThatStandsStill(t *testing.T) {
	for _, x := range []struct {
		fencing, pause         string
		overlap, refused, lost bool
	}{
		{"true", "400ms", true, true, false}, {"false", "400ms", true, false, true},
		{"true", "40ms", false, false, false}, {"false", "40ms", false, false, false},
	} {
		for seed := range uint64(20) {
			r := simulate(t, runs.Spec{
				Nodes: 5, CS: "1ms", Requests: 200, Resource: "memory", Seed: seed + 1,
				Faults: []string{"pause holder @entry:50+" + x.pause},
				Set:    map[string]string{"lease": "100ms", "fencing": x.fencing},
			}, lease.Algorithm())
			s := r.Safety
			if x.overlap != (s.Violations > 0) || x.refused != (s.Resource.Refused > 0) ||
				x.lost != (s.Resource.LostUpdates > 0) || r.Entries != 200 {
				t.Errorf("%+v, seed %d: %s, %d entries, %d violations, %+v", x, seed+1, r.Status, r.Entries, s.Violations, s.Resource)
			}
		}
	}
}

// A critical section that is longer than the lease is kept by renewing it.
func TestLeaseIsRenewed(t *testing.T) {
	r := simulate(t, runs.Spec{Nodes: 5, CS: "350ms", Requests: 20, Set: map[string]string{"lease": "100ms"}}, lease.Algorithm())
	if r.Status != runs.OK || r.Safety.Violations > 0 || r.Messages.ByKind["RENEW"] == 0 {
		t.Errorf("%s: %+v", r.Status, r.Messages)
	}
}

// Readers see the resource, and do not update it.
func TestReadersOfTheResource(t *testing.T) {
	r := simulate(t, runs.Spec{
		Nodes: 4, CS: "1ms", Requests: 200, Resource: "memory", Set: map[string]string{"readers": "0.5"},
	}, ricartagrawala.ReadersWriters())
	if s := r.Safety.Resource; s.Updates == 0 || s.Updates >= r.Entries || s.LostUpdates != 0 {
		t.Errorf("%d entries, %+v", r.Entries, s)
	}
}
