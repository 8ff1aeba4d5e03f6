package sim

import (
	"context"
	"testing"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/internal/measure"
	"dmebench/result"
)

// Readers are in the critical section together, writers alone.
func TestReadersShareTheCriticalSection(t *testing.T) {
	for _, delay := range []string{"constant", "uniform", "exponential"} {
		for _, readers := range []string{"0", "0.7", "1"} {
			job := resolve(t, result.Spec{Nodes: 8, Requests: 800, CS: "2ms", Set: map[string]string{
				"readers": readers, "delay": delay, "fifo": "false",
			}}, ricartagrawala.ReadersWriters())
			o, err := observe(context.Background(), job, Options{})
			if err != nil || o.Status != result.OK {
				t.Fatalf("%s %s: %v", o.Status, o.Error, err)
			}
			reading, together := 0, 0
			for i, e := range o.Entries {
				if e.Shared {
					reading++
				}
				for _, f := range o.Entries[:i] {
					if e.Entered >= f.Exited || f.Entered >= e.Exited {
						continue
					}
					together++
					if !e.Shared || !f.Shared {
						t.Fatalf("%+v and %+v overlap", e, f)
					}
				}
			}
			if (reading > 0) != (readers != "0") || (reading < 800) != (readers != "1") || (together > 0) != (readers != "0") {
				t.Errorf("readers=%s: %d of 800 entries are readers', %d pairs overlap", readers, reading, together)
			}
			if r := measure.Result(o); r.Safety.Violations != 0 || r.Status != result.OK {
				t.Errorf("readers=%s, delay=%s: %s, %d violations", readers, delay, r.Status, r.Safety.Violations)
			}
		}
	}
}

// careless takes every request for a reader's.
type careless struct{ dme.System }

func (c careless) Node(id dme.NodeID) dme.Node {
	n := c.System.Node(id)
	return carelessNode{n, n.(dme.SharedRequester)}
}

type carelessNode struct {
	dme.Node
	dme.SharedRequester
}

func (c carelessNode) Request(out *dme.Outbox) { c.RequestShared(out) }

// A writer among readers is a violation, which both the witness and the times
// show.
func TestWriterAmongReadersIsAViolation(t *testing.T) {
	a := ricartagrawala.ReadersWriters()
	prepare := a.Prepare
	a.Prepare = func(c dme.Config) (dme.System, error) {
		sys, err := prepare(c)
		return careless{sys}, err
	}
	r := simulate(t, result.Spec{Nodes: 4, Requests: 80, CS: "2ms", Set: map[string]string{"readers": "0.5"}}, a)
	if r.Status != result.Violated || r.Safety.Violations == 0 {
		t.Errorf("status %s, %d violations", r.Status, r.Safety.Violations)
	}
}
