package sim

import (
	"context"
	"errors"
	"strings"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/algorithms/tokenring"
	"dmebench/dme"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit/toys"
	"dmebench/runs"
	"dmebench/workload"
)

func TestStepsNeedSilence(t *testing.T) {
	a := scripted(toys.Script{
		Begin: func(s *toys.Script, out *dme.Outbox) {
			out.Send(s.ID%dme.NodeID(s.N)+1, dme.Message{Kind: 1})
		},
		Hear: pingPong,
		Ask:  toys.Enter,
	})
	for _, workload := range []string{"serial", "burst"} {
		job := resolve(t, runs.Spec{Nodes: 3, Workload: workload}, a)
		if _, err := Run(context.Background(), job); err == nil || !strings.Contains(err.Error(), workload+" needs a system that falls silent") ||
			!strings.Contains(err.Error(), "but 40ms after the start of scripted 3 messages are in flight") { // ten rounds of all nodes and one more
			t.Errorf("%s over a perpetual token: error %v", workload, err)
		}
	}
}

// TestStartSettles wants what the nodes tell one another at the start to have
// arrived before the first request.
func TestStartSettles(t *testing.T) {
	a := scripted(toys.Script{
		Begin: func(s *toys.Script, out *dme.Outbox) {
			if s.ID == 1 {
				out.Send(2, dme.Message{Kind: 1})
			}
		},
		Hear: func(s *toys.Script, _ dme.NodeID, m dme.Message, out *dme.Outbox) {
			s.X = 1
			if s.ID < dme.NodeID(s.N) {
				out.Send(s.ID+1, m)
			}
		},
		Ask: func(s *toys.Script, out *dme.Outbox) {
			if s.ID > 1 && s.X == 0 {
				panic("not told yet")
			}
			out.Enter(dme.Stamp{})
		},
	})
	r := simulate(t, runs.Spec{Nodes: 20, Workload: "serial", Requests: 20}, a)
	if r.Status != runs.OK || r.Messages.Total != 19 {
		t.Errorf("status %s: %s, %d messages", r.Status, r.Error, r.Messages.Total)
	}
}

func TestThousandsOfNodes(t *testing.T) {
	// Sparse: what a node talks to is few, so that nothing may grow with N².
	r := simulate(t, runs.Spec{
		Nodes: 10000, Requests: 10000 / slower, Set: map[string]string{"mode": "demand", "delay": "uniform"},
	}, tokenring.Algorithm())
	if r.Status != runs.OK || r.Entries != 10000/slower {
		t.Errorf("status %s (%s), %d entries", r.Status, r.Error, r.Entries)
	}
	// Dense: a million messages in flight at once.
	r = simulate(t, runs.Spec{Nodes: 1000, Requests: 1000 / slower}, ricartagrawala.Algorithm())
	if r.Status != runs.OK || *r.Messages.PerCS != 1998 {
		t.Errorf("status %s (%s), %v messages per CS", r.Status, r.Error, *r.Messages.PerCS)
	}
}

// TestLongDurations runs with the longest durations that there may be: none of
// what is added up or multiplied of them leaves 64 bits, which would look like a
// stall.
func TestLongDurations(t *testing.T) {
	longest := workload.MaxDuration.String()
	for _, s := range []runs.Spec{
		{Nodes: 5000, Requests: 20, CS: longest},
		{Nodes: 3, Requests: 20, CS: "exp:" + longest, StallAfter: runs.Duration(workload.MaxDuration)},
		{Nodes: 3, Requests: 30, CS: longest, Set: map[string]string{"think": "exp:" + longest}},
		{Nodes: 3, Workload: "poisson", Rate: 1e-5, Duration: runs.Duration(workload.MaxDuration)},
	} {
		r := simulate(t, s, centralized.Algorithm())
		if r.Status != runs.OK || s.Requests > 0 && r.Entries != uint64(s.Requests) {
			t.Errorf("%+v: %s after %d entries: %s", s, r.Status, r.Entries, r.Error)
		}
	}
}

// An interrupted simulation tells what was measured until then, if it is asked to.
func TestAnInterruptedSimulation(t *testing.T) {
	job := resolve(t, runs.Spec{Nodes: 5, Requests: 1 << 22}, suzukikasami.Algorithm())
	for _, partial := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var seen run.State
		r, err := RunWith(ctx, job, Options{Partial: partial, Progress: func(look func() run.State) {
			if seen = look(); seen.Entries > 10000 {
				cancel()
			}
		}})
		if !partial {
			if !errors.Is(err, context.Canceled) || r != nil {
				t.Errorf("result %v, error %v", r, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != runs.Failed || !r.Partial || r.Error != "interrupted" || r.Entries < seen.Entries || r.Throughput == nil {
			t.Errorf("status %s, partial %v, error %q, %d entries", r.Status, r.Partial, r.Error, r.Entries)
		}
		p50, ok := seen.Waits.Quantile(0.5)
		if off := p50 - r.WaitingTime.P50; !ok || off > p50/10 || off < -p50/10 {
			t.Errorf("median shown %d, measured %d", p50, r.WaitingTime.P50)
		}
		if seen.Of != 1<<22 || seen.Elapsed <= 0 || seen.Duration != 0 || seen.Waiting < 1 || seen.Waiting > 5 {
			t.Errorf("shown %d of %d, after %v of %v, %d waiting", seen.Entries, seen.Of, seen.Elapsed, seen.Duration, seen.Waiting)
		}
	}
}
