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
	"dmebench/internal/testkit/toys"
	"dmebench/runs"
)

// pingPong answers every message, for ever.
func pingPong(_ *toys.Script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
	out.Send(from, m)
}

func TestPanicAtTheStartNamesTheNode(t *testing.T) {
	for _, bad := range []dme.NodeID{1, 2, 3} {
		r := simulate(t, runs.Spec{Nodes: 3, Requests: 3}, scripted(toys.Script{Ask: toys.Enter, Begin: func(s *toys.Script, _ *dme.Outbox) {
			if s.ID == bad {
				panic("no")
			}
		}}))
		if r.Status != runs.Failed || !slices.Equal(r.FailedNodes, []int{int(bad)}) {
			t.Errorf("node %d panics at the start: %s, %v", bad, r.Status, r.FailedNodes)
		}
	}
}

// Critical sections of no length end by themselves where requests are limited.
func TestTimeThatStandsStillForAWhile(t *testing.T) {
	job := resolve(t, runs.Spec{Nodes: 1, CS: "0s", Requests: maxExitsAtOnce + 10}, toys.Anarchy())
	if o, err := observe(context.Background(), job, Options{}); err != nil || o.Status != runs.OK || len(o.Entries) != maxExitsAtOnce+10 {
		t.Errorf("status %s, %d entries: %s, %v", o.Status, len(o.Entries), o.Error, err)
	}
}

// A run that is cancelled ends with the context's error: at the start of nodes, between
// steps of a workload, and while messages go on without end.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	loud := scripted(toys.Script{
		Ask: toys.Enter,
		Begin: func(s *toys.Script, out *dme.Outbox) {
			for range eventsPerCheck/2 + 1 { // each; the rest of the run is too short for a second look
				out.Send(3-s.ID, dme.Message{Kind: 1})
			}
		},
	})
	for _, job := range []*run.Job{
		resolve(t, runs.Spec{Nodes: 2, Requests: 1}, loud),
		resolve(t, runs.Spec{Nodes: 3, Workload: "serial", Requests: 2 * eventsPerCheck}, ricartagrawala.Algorithm()),
		resolve(t, runs.Spec{Nodes: 2, StallAfter: runs.Duration(1000 * time.Hour)}, scripted(toys.Script{Ask: toys.Ping, Hear: pingPong})),
	} {
		if r, err := Run(ctx, job); !errors.Is(err, context.Canceled) || r != nil {
			t.Errorf("%s: result %v, error %v; want the context's", job.Algorithm.Name, r, err)
		}
	}
}

func TestOnlyTheSimulatedNetwork(t *testing.T) {
	job := resolve(t, runs.Spec{Nodes: 2}, toys.Anarchy())
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
