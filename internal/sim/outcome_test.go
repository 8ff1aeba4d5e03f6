package sim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

func TestTwoInsideIsAViolation(t *testing.T) {
	r := simulate(t, runs.Spec{Nodes: 3, Requests: 30, Set: map[string]string{"think": "1ms"}}, scripted(script{request: enter}))
	// All three enter at the same instants, ten times: the first is alone, the
	// other two find somebody inside.
	if r.Status != runs.Violated || r.Safety.Violations != 20 || r.Safety.Checked != 30 {
		t.Errorf("status %s, safety %+v; want violated with 20 of 30", r.Status, r.Safety)
	}
}

func TestEntryWithoutRequestIsAViolation(t *testing.T) {
	// Whoever receives a message enters, asked or not.
	a := scripted(script{
		request: func(s *script, out *dme.Outbox) {
			out.Broadcast(dme.Message{Kind: 1})
			out.Enter(dme.Stamp{})
		},
		receive: func(_ *script, _ dme.NodeID, _ dme.Message, out *dme.Outbox) {
			out.Enter(dme.Stamp{})
		},
	})
	r := simulate(t, runs.Spec{Nodes: 4, Workload: "serial", Requests: 5}, a)
	if r.Status != runs.Violated || r.Safety.Violations != 15 {
		t.Errorf("status %s, safety %+v; want violated, 15 entries that nobody asked for", r.Status, r.Safety)
	}
}

func TestNobodyAnswersIsAStall(t *testing.T) {
	a := scripted(script{request: func(s *script, out *dme.Outbox) {
		s.n = 41 + uint64(s.id)
		if s.id == 2 {
			out.Enter(dme.Stamp{})
		}
	}})
	r := simulate(t, runs.Spec{Nodes: 100, Requests: 100}, a)
	if r.Status != runs.Stalled || !r.Liveness.Stalled || r.Liveness.Pending != 99 || r.Entries != 1 {
		t.Fatalf("status %s, liveness %+v, %d entries", r.Status, r.Liveness, r.Entries)
	}
	if want := "node 1, requesting: n=42"; r.Liveness.States[0] != want {
		t.Errorf("first state %q, want %q", r.Liveness.States[0], want)
	}
	if n := len(r.Liveness.States); n != maxStates+1 || r.Liveness.States[maxStates] != "and 36 more nodes" {
		t.Errorf("%d states, the last %q", n, r.Liveness.States[n-1])
	}
	if slices.ContainsFunc(r.Liveness.States, func(s string) bool { return strings.HasPrefix(s, "node 2,") }) {
		t.Error("a node that does not wait is described before some that do")
	}
}

// pingPong answers every message, for ever.
func pingPong(_ *script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
	out.Send(from, m)
}

func TestMessagesWithoutEntryAreAStall(t *testing.T) {
	a := scripted(script{
		request: func(s *script, out *dme.Outbox) {
			if s.id == 1 {
				out.Send(2, dme.Message{Kind: 1})
			}
		},
		receive: pingPong,
	})
	r := simulate(t, runs.Spec{Nodes: 2, Requests: 2, StallAfter: runs.Duration(time.Second)}, a)
	if r.Status != runs.Stalled || r.Liveness.Pending != 2 {
		t.Errorf("status %s (%s), liveness %+v", r.Status, r.Error, r.Liveness)
	}
	// One message at a time, each 1 ms, until the second has passed.
	if r.Messages.Total < 1000 || r.Messages.Total > 1010 {
		t.Errorf("%d messages before the watchdog noticed, want one second's 1000", r.Messages.Total)
	}
}

func TestNeverSilentIsAFailure(t *testing.T) {
	a := scripted(script{
		request: func(s *script, out *dme.Outbox) {
			out.Enter(dme.Stamp{})
			out.Send(s.id%s.nodes+1, dme.Message{Kind: 1})
		},
		receive: pingPong,
	})
	r := simulate(t, runs.Spec{Nodes: 2, Requests: 1}, a)
	if r.Status != runs.Failed || !strings.Contains(r.Error, "has not fallen silent") {
		t.Errorf("status %s: %s", r.Status, r.Error)
	}
}

func TestPanicNamesTheNode(t *testing.T) {
	a := scripted(script{request: func(s *script, out *dme.Outbox) {
		if s.id == 3 {
			panic("two tokens")
		}
		out.Enter(dme.Stamp{})
	}})
	r := simulate(t, runs.Spec{Nodes: 4, Workload: "serial", Requests: 4, Set: map[string]string{"requesters": "each"}}, a)
	if r.Status != runs.Failed || !slices.Equal(r.FailedNodes, []int{3}) || !strings.Contains(r.Error, "node 3: two tokens") {
		t.Errorf("status %s, failed nodes %v: %s", r.Status, r.FailedNodes, r.Error)
	}
	if r.Entries != 2 {
		t.Errorf("%d entries before the panic, want 2", r.Entries)
	}
	for _, bad := range []dme.NodeID{1, 2, 3} {
		r := simulate(t, runs.Spec{Nodes: 3, Requests: 3}, scripted(script{request: enter, start: func(s *script, _ *dme.Outbox) {
			if s.id == bad {
				panic("no")
			}
		}}))
		if r.Status != runs.Failed || !slices.Equal(r.FailedNodes, []int{int(bad)}) {
			t.Errorf("node %d panics at the start: %s, %v", bad, r.Status, r.FailedNodes)
		}
	}
}

func TestTimeThatStandsStillIsAFailure(t *testing.T) {
	a := scripted(script{request: enter})
	r := simulate(t, runs.Spec{Nodes: 1, CS: "0s", Duration: runs.Duration(time.Second)}, a)
	if r.Status != runs.Failed || !strings.Contains(r.Error, "--cs") {
		t.Errorf("status %s: %s", r.Status, r.Error)
	}
	job := resolve(t, runs.Spec{Nodes: 1, CS: "0s", Requests: maxExitsAtOnce + 10}, a)
	if o, err := observe(context.Background(), job, Options{}); err != nil || o.Status != runs.OK || len(o.Entries) != maxExitsAtOnce+10 {
		t.Errorf("with a number of requests it ends by itself; status %s, %d entries: %s, %v", o.Status, len(o.Entries), o.Error, err)
	}
}

func TestCancel(t *testing.T) {
	a := scripted(script{
		request: func(s *script, out *dme.Outbox) {
			if s.id == 1 {
				out.Send(2, dme.Message{Kind: 1})
			}
		},
		receive: pingPong,
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	job := resolve(t, runs.Spec{Nodes: 2, StallAfter: runs.Duration(1000 * time.Hour)}, a)
	if r, err := Run(ctx, job); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("result %v, error %v; want the context's", r, err)
	}
}

// It ends with the error also where it is noticed at the start of nodes, or between
// steps of a workload.
func TestCancelAtAnyTime(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	loud := scripted(script{
		request: enter,
		start: func(s *script, out *dme.Outbox) {
			for range eventsPerCheck/2 + 1 { // each; the rest of the run is too short for a second look
				out.Send(3-s.id, dme.Message{Kind: 1})
			}
		},
	})
	for _, job := range []*run.Job{
		resolve(t, runs.Spec{Nodes: 2, Requests: 1}, loud),
		resolve(t, runs.Spec{Nodes: 3, Workload: "serial", Requests: 2 * eventsPerCheck}, ricartagrawala.Algorithm()),
	} {
		if r, err := Run(ctx, job); !errors.Is(err, context.Canceled) || r != nil {
			t.Errorf("%s: result %v, error %v; want the context's", job.Algorithm.Name, r, err)
		}
	}
}

func TestOnlyTheSimulatedNetwork(t *testing.T) {
	job := resolve(t, runs.Spec{Nodes: 2}, scripted(script{request: enter}))
	tcp, err := run.LookupNetwork("tcp")
	if err != nil {
		t.Fatal(err)
	}
	job.Network = tcp
	if _, err := Run(context.Background(), job); err == nil || !strings.Contains(err.Error(), "tcp") {
		t.Errorf("error %v, want one that names the network", err)
	}
}

// A writer and anybody else, inside at once, are a violation; readers are none.
func TestTheWitness(t *testing.T) {
	for _, c := range []struct {
		inside []bool // whether who is inside reads
		reads  bool
		want   uint64
	}{
		{nil, false, 0}, {nil, true, 0}, {[]bool{true}, true, 0}, {[]bool{true}, false, 1}, {[]bool{true, true}, false, 1},
		{[]bool{false}, true, 1}, {[]bool{false}, false, 1},
	} {
		var w witness
		for _, reads := range c.inside {
			w.enter(reads)
		}
		if order := w.enter(c.reads); order != uint64(len(c.inside)+1) || w.violations != c.want {
			t.Errorf("%v inside, then %v: entry %d, %d violations; want %d", c.inside, c.reads, order, w.violations, c.want)
		}
	}
}
