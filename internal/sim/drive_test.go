package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/centralized"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/algorithms/tokenring"
	"dmebench/dme"
	"dmebench/internal/runtime/live"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/workload"
)

// TestEveryWorkload runs the workloads over all kinds of delay, twice each, and
// wants the same bytes both times, and others for another seed.
func TestEveryWorkload(t *testing.T) {
	trace := []byte("0,1\n0.001,2,0.002\n0.001,3\n0.5,1\n")
	for _, spec := range []runs.Spec{
		{Workload: "saturate", Requests: 203},
		{Workload: "saturate", Duration: runs.Duration(300 * time.Millisecond)},
		{Workload: "saturate", CS: "exp:1ms", Requests: 200, Set: map[string]string{"think": "exp:20ms"}},
		{Workload: "poisson", Rate: 20, Requests: 200},
		{Workload: "poisson", TotalRate: 2000, Duration: runs.Duration(200 * time.Millisecond)},
		{Workload: "hotspot", TotalRate: 100, Requests: 200, Set: map[string]string{"hot": "2"}},
		{Workload: "serial", Requests: 50},
		{Workload: "serial", Duration: runs.Duration(100 * time.Millisecond)},
		{Workload: "burst", Requests: 50},
		{Workload: "trace", Set: map[string]string{"file": "trace.csv"}},
	} {
		for _, delay := range []string{"constant", "uniform", "exponential"} {
			spec.Algorithm, spec.Transport, spec.Nodes, spec.Seed = "ricart-agrawala", runs.Sim, 7, 5
			spec.Set = maps.Clone(spec.Set)
			if spec.Set == nil {
				spec.Set = make(map[string]string)
			}
			spec.Set["delay"] = delay
			outcome := func(seed uint64) []byte {
				spec.Seed = seed
				job, err := run.Resolve(spec, run.Catalog{ricartagrawala.Algorithm()}, func(string) ([]byte, error) { return trace, nil })
				if err != nil {
					t.Fatal(err)
				}
				r, err := Run(context.Background(), job)
				if err != nil {
					t.Fatal(err)
				}
				if r.Status != runs.OK || r.Entries == 0 || r.Requests != r.Entries {
					t.Fatalf("%+v: status %s (%s), %d requests, %d entries", spec, r.Status, r.Error, r.Requests, r.Entries)
				}
				if spec.Requests > 0 && r.Entries != uint64(spec.Requests) {
					t.Errorf("%+v: %d entries", spec, r.Entries)
				}
				if got := *r.Messages.PerCS; got != 12 {
					t.Errorf("%+v: %v messages per CS, want 12", spec, got)
				}
				r.Seed, r.Spec.Seed = 0, 0
				b, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
			first := outcome(5)
			if !bytes.Equal(first, outcome(5)) {
				t.Errorf("%+v: two runs of one seed differ", spec)
			}
			random := delay != "constant" || spec.Workload != "saturate" && spec.Workload != "trace" || spec.CS != ""
			if random == bytes.Equal(first, outcome(6)) {
				t.Errorf("%+v: another seed gives the same: %v, want %v", spec, random, !random)
			}
		}
	}
}

func TestStepsNeedSilence(t *testing.T) {
	a := scripted(script{
		start: func(s *script, out *dme.Outbox) {
			out.Send(s.id%s.nodes+1, dme.Message{Kind: 1})
		},
		stop:    func(*script, *dme.Outbox) {},
		receive: pingPong,
		request: enter,
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
	a := scripted(script{
		start: func(s *script, out *dme.Outbox) {
			if s.id == 1 {
				out.Send(2, dme.Message{Kind: 1})
			}
		},
		receive: func(s *script, _ dme.NodeID, m dme.Message, out *dme.Outbox) {
			s.n = 1
			if s.id < s.nodes {
				out.Send(s.id+1, m)
			}
		},
		request: func(s *script, out *dme.Outbox) {
			if s.id > 1 && s.n == 0 {
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
		var seen live.State
		r, err := RunWith(ctx, job, Options{Partial: partial, Progress: func(look func() live.State) {
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
