package coordinator

import (
	"testing"

	"dmebench/result"
)

// Over a real network, readers are in the critical section together and writers
// alone: the witness saw no violation, and the recorded times show who shared.
func TestReadersShareTheCriticalSection(t *testing.T) {
	job := resolve(t, result.Spec{
		Algorithm: "readers-writers", Nodes: 4, Requests: 60, CS: "10ms", Set: map[string]string{"readers": "0.7"},
	})
	c, err := start(t.Context(), job, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.end()
	c.fail = func(err error) { t.Error(err) }
	if err := c.phases(t.Context()); err != nil {
		t.Fatal(err)
	}
	o, err := c.observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.collect(t.Context(), &o); err != nil {
		t.Fatal(err)
	}
	if len(o.Entries) != 60 || o.WitnessViolations != 0 {
		t.Errorf("%d entries, %d violations", len(o.Entries), o.WitnessViolations)
	}
	readers, together := 0, 0
	for i, e := range o.Entries {
		if e.Shared {
			readers++
		}
		for _, f := range o.Entries[:i] {
			if e.Entered >= f.Exited || f.Entered >= e.Exited {
				continue
			}
			together++
			if !e.Shared || !f.Shared {
				t.Errorf("%+v and %+v overlap", e, f)
			}
		}
	}
	if readers == 0 || readers == 60 || together == 0 {
		t.Errorf("%d of 60 entries are readers', %d pairs overlap", readers, together)
	}
}

// With a bound that somebody vouches for, silence is a reply over TCP, too.
func TestImplicitReplyOverTCP(t *testing.T) {
	r := mustRun(t, result.Spec{
		Algorithm: "ricart-agrawala-implicit", Nodes: 4, Requests: 6, Workload: "serial", Set: map[string]string{"bound": "200ms"},
	})
	if r.Messages.Total != 6*3 || r.Messages.PerEntry["3"] != 6 || r.Safety.Violations != 0 {
		t.Errorf("%+v", r.Messages)
	}
}
