package coordinator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"dmebench/internal/platform/launch"
	"dmebench/internal/record"
	"dmebench/internal/record/measure"
	"dmebench/internal/runtime/host"
	"dmebench/internal/runtime/witness"
	"dmebench/runs"
	"dmebench/transport/nats"
)

// Every entry updates the resource, and what it has read says in which order they
// were: no two have read the same.
func TestASharedResource(t *testing.T) {
	beside(t)
	for i, spec := range []runs.Spec{
		{Algorithm: "ricart-agrawala", Nodes: 5, Requests: 300, CS: "0"},
		{Algorithm: "raymond", Nodes: 8, Requests: 400},
		{Algorithm: "maekawa", Nodes: 6, Requests: 120, NodesPerWorker: 3, Transport: "nats"},
		{Algorithm: "suzuki-kasami", Nodes: 4, Requests: 20, Workload: "serial", Transport: "udp"},
	} {
		if !sampled(i, 2) {
			continue
		}
		spec.Resource = record.InNATS
		t.Run(spec.Algorithm, func(t *testing.T) {
			beside(t)
			c, err := start(t.Context(), resolve(t, spec), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.end()
			life, fail := context.WithCancelCause(t.Context())
			defer fail(nil)
			c.fail = fail
			if err := c.phases(life); err != nil {
				t.Fatal(err)
			}
			o, err := c.observe(life)
			if err == nil {
				err = c.collect(life, &o)
			}
			if err != nil {
				t.Fatal(err)
			}
			want := uint64(spec.Requests)
			r := measure.Result(o)
			if r.Status != runs.OK || r.Safety.Resource == nil || r.Safety.Resource.Kind != record.InNATS ||
				r.Safety.Resource.Updates != want || r.Safety.Resource.LostUpdates != 0 || r.Entries != want || r.Safety.Violations != 0 {
				t.Errorf("status %s: %s, %d entries, safety %+v", r.Status, r.Error, r.Entries, r.Safety)
			}
			var order []uint64
			for i, e := range o.Entries {
				order = append(order, e.Order)
				if i > 0 && o.Entries[i-1].Node == e.Node && o.Entries[i-1].Order >= e.Order {
					t.Errorf("node %d made entry %d of all and then entry %d", e.Node, o.Entries[i-1].Order, e.Order)
				}
			}
			slices.Sort(order)
			for i, n := range order {
				if n != uint64(i+1) {
					t.Fatalf("entry %d of all is said to be the %d-th", i+1, n)
				}
			}
		})
	}
}

// An algorithm that lets everybody in loses updates; each is told with two critical
// sections that overlap.
func TestABrokenAlgorithmLosesUpdates(t *testing.T) {
	beside(t)
	r := mustEnd(t, runs.Spec{
		Algorithm: "eager", Nodes: 4, Requests: 200, CS: "1ms", Resource: record.InNATS, AllowMismatch: true,
	}, Options{})
	s := r.Safety.Resource
	if r.Status != runs.Violated || s == nil {
		t.Fatalf("status %s: %s, safety %+v", r.Status, r.Error, r.Safety)
	}
	if s.Updates != 200 || s.LostUpdates == 0 || s.LostUpdates >= 200 || r.Safety.Violations < s.LostUpdates ||
		uint64(len(s.Lost)) != min(s.LostUpdates, witness.MostTold) {
		t.Errorf("%d updates, %d lost, %d told, %d violations", s.Updates, s.LostUpdates, len(s.Lost), r.Safety.Violations)
	}
	for _, l := range s.Lost {
		if l.Node == l.Other || l.EnteredNS >= l.OtherExited || l.OtherEntered >= l.ExitedNS || l.EnteredNS < 0 || l.Version < 1 {
			t.Errorf("they do not overlap: %+v", l)
		}
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.Contains(w, "updates of the shared resource were lost: first, node ")
	}) {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// Readers only read.
func TestReadersDoNotUpdateTheResource(t *testing.T) {
	beside(t)
	r := mustRun(t, runs.Spec{
		Algorithm: "readers-writers", Nodes: 4, Requests: 200, Set: map[string]string{"readers": "0.5"}, Resource: record.InNATS,
	})
	if s := r.Safety.Resource; s.Updates == 0 || s.Updates >= r.Entries || s.LostUpdates != 0 {
		t.Errorf("%d entries, %+v", r.Entries, s)
	}
}

// A node that dies inside leaves no update, and nobody loses one.
func TestAHolderDiesWithTheResource(t *testing.T) {
	beside(t)
	r := mustRun(t, runs.Spec{
		Algorithm: "raymond-robust", Nodes: 4, Requests: 400, Resource: record.InNATS,
		Faults: []string{"kill holder @entry:100", "restart holder @+50ms"},
	})
	s := r.Safety.Resource
	if s.LostUpdates != 0 || s.Updates != r.Entries || r.Faults[0].RecoveredNS == nil {
		t.Errorf("%d entries, %+v, faults %+v", r.Entries, s, r.Faults)
	}
}

// A server elsewhere is used by a run over tcp too. It must have JetStream, which is
// seen before any process is started; nothing is left there; and its end is the
// run's, which says so.
func TestAResourceElsewhere(t *testing.T) {
	beside(t)
	b, server := elsewhere(t)
	spec := runs.Spec{Algorithm: "raymond", Nodes: 3, Requests: 60, Resource: record.InNATS}
	workers := &recorder{}
	_, err := Run(t.Context(), resolve(t, spec), Options{Broker: &b, Started: workers.started})
	if !errors.Is(err, nats.ErrBroker) || !errors.Is(err, witness.ErrNoJetStream) || len(workers.pids()) > 0 {
		t.Errorf("without JetStream: %v, %d processes", err, len(workers.pids()))
	}

	if err := server.EnableJetStream(1 << 24); err != nil {
		t.Fatal(err)
	}
	for _, spec.Transport = range []string{"tcp", "nats"} {
		r, err := Run(t.Context(), resolve(t, spec), Options{Broker: &b})
		if err != nil || r.Status != runs.OK || r.Safety.Resource.Updates != 60 {
			t.Fatalf("%v, %+v", err, r)
		}
	}
	if left := streams(t, b); left != nil {
		t.Errorf("left behind: %v", left)
	}

	spec.Requests, spec.Duration, spec.Transport = 0, runs.Duration(time.Minute), "tcp"
	r := mustEnd(t, spec, Options{Broker: &b, Progress: onFirstEntries(server.Close)})
	if r.Status != runs.Failed || !strings.Contains(r.Error, "shared resource") || !strings.Contains(r.Error, b.Name()) {
		t.Errorf("status %s: %s", r.Status, r.Error)
	}
	if r.Entries == 0 {
		t.Error("what had been counted is lost")
	}
}

// streams lists what a server keeps.
func streams(t *testing.T, b nats.Broker) (names []string) {
	t.Helper()
	c, err := b.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	all := js.StreamNames(t.Context())
	for name := range all.Name() {
		names = append(names, name)
	}
	if all.Err() != nil {
		t.Fatal(all.Err())
	}
	return names
}

// distant is this host, whose workers reach the broker of the control plane in a way
// of their own.
type distant struct {
	host.Local
	broker nats.Broker
}

func (h *distant) Start(ctx context.Context, w host.Worker) (launch.Process, error) {
	w.Boot.Broker = h.broker
	return h.Local.Start(ctx, w)
}

// The nodes of several hosts share a resource at the server of the control plane, as
// each host knows it. The witness of a host sees nothing of the other's nodes.
func TestHostsShareAResource(t *testing.T) {
	beside(t)
	b, server := elsewhere(t)
	defer server.Close()
	if err := server.EnableJetStream(1 << 24); err != nil {
		t.Fatal(err)
	}
	for _, algorithm := range []string{"raymond", "eager"} {
		hosts := []host.Host{
			&distant{Local: host.Local{Label: "one"}, broker: b},
			&distant{Local: host.Local{Label: "two"}, broker: b},
		}
		r, err := Run(t.Context(), resolve(t, runs.Spec{
			Algorithm: algorithm, Nodes: 2, Requests: 60, CS: "1ms", Resource: record.InNATS, AllowMismatch: true,
		}), Options{Control: &b, Hosts: hosts})
		if err != nil {
			t.Fatal(err)
		}
		s := r.Safety.Resource
		if broken := algorithm == "eager"; s.Updates != 60 || broken != (s.LostUpdates > 0) || broken != (r.Status == runs.Violated) ||
			r.Safety.Violations < s.LostUpdates {
			t.Errorf("%s: status %s: %s, %d violations, resource %+v", algorithm, r.Status, r.Error, r.Safety.Violations, s)
		}
	}
}
