package coordinator

import (
	"strings"
	"testing"
	"time"

	"dmebench/internal/record"
	"dmebench/runs"
)

// A lock service is measured as an algorithm is: what its clients do wrong, and what becomes
// of the lock of a client that dies or stands still, is seen from outside.
func TestALockService(t *testing.T) {
	beside(t)
	for i, x := range []struct {
		name    string
		set     map[string]string
		faults  []string
		drops   uint64
		nats    bool // the resource, at a server
		overlap bool // somebody enters while another is inside
		lost    bool // an update of the resource
		refused bool // by its fencing token
		expired bool // a client is told that it had lost the lock
		failed  bool // calls of Lock
	}{
		// With a lease of an hour nothing is renewed, however slow the machine is: its messages are counted.
		{name: "alone", set: map[string]string{"lease": "1h"}},
		{name: "given back too early", set: map[string]string{"lease": "1h", "early": "true"}, overlap: true, lost: true},
		{name: "server hangs up", drops: 30, failed: true},
		{name: "holder killed", nats: true, faults: []string{"kill holder @entry:30", "restart holder @+50ms"}},
		{name: "holder stands still shortly", nats: true, faults: []string{"pause holder @entry:30+100ms"}},
		{name: "holder stands still", set: map[string]string{"lease": "200ms"},
			faults: []string{"pause holder @entry:30+600ms"}, overlap: true, refused: true, expired: true},
		{name: "holder stands still, resource at a server", nats: true, set: map[string]string{"lease": "200ms"},
			faults: []string{"pause holder @entry:30+600ms"}, overlap: true, refused: true, expired: true},
		{name: "holder stands still, no fencing", set: map[string]string{"lease": "200ms", "fencing": "false"},
			faults: []string{"pause holder @entry:30+600ms"}, overlap: true, lost: true, expired: true},
	} {
		if !sampled(i, 2) {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			beside(t)
			spec := runs.Spec{
				Algorithm: "toy-lock", Nodes: 3, Requests: 150, CS: "200us", Resource: record.InMemory,
				Set: map[string]string{"lease": "2s"}, Faults: x.faults,
			}
			if x.nats {
				spec.Resource = record.InNATS
			}
			for name, value := range x.set {
				spec.Set[name] = value
			}
			lease, err := time.ParseDuration(spec.Set["lease"])
			if err != nil {
				t.Fatal(err)
			}
			spec.Set["at"] = startToyLock(t, lease, x.drops)
			r := mustEnd(t, spec, Options{})
			if want := map[bool]runs.Status{false: runs.OK, true: runs.Violated}[x.overlap]; r.Status != want || r.Service == nil {
				t.Fatalf("status %s, want %s: %s", r.Status, want, r.Error)
			}
			s := r.Safety.Resource
			got := []bool{r.Safety.Violations > 0, s.LostUpdates > 0, s.Refused > 0, r.Service.Expired > 0, r.Service.FailedCalls > 0}
			for k, want := range []bool{x.overlap, x.lost, x.refused, x.expired, x.failed} {
				if got[k] != want {
					t.Errorf("overlap, lost, refused, expired, failed: %v; safety %+v, resource %+v, service %+v", got, r.Safety, s, r.Service)
					break
				}
			}
			calls := uint64(len(`{"Op":"lock"}`+"\n") + len(`{"Op":"unlock"}`+"\n"))
			if r.Status == runs.OK && r.Entries+1 < 150 ||
				x.set["lease"] == "1h" && (r.Messages.ByKind["answer"] != 300 || r.Service.ClientBytes != 150*calls) {
				t.Errorf("%d entries, messages %v, %d bytes sent", r.Entries, r.Messages.ByKind, r.Service.ClientBytes)
			}
		})
	}
}

// Nothing stands between clients and servers that were there before the run.
func TestDelaysOfAServiceThatIsThere(t *testing.T) {
	beside(t)
	_, err := execute(t, t.Context(), runs.Spec{
		Algorithm: "toy-lock", Nodes: 2, Requests: 10,
		Set: map[string]string{"at": startToyLock(t, time.Second, 0), "delay": "1ms"},
	}, Options{})
	if err == nil || !strings.Contains(err.Error(), "leave delay out") {
		t.Errorf("got %v", err)
	}
}
