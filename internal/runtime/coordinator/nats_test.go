package coordinator

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/runs"
	"dmebench/transport/nats"
)

// A broadcast is one transmission and counts as N−1 messages.
func TestABroadcastOverNATSIsOneTransmission(t *testing.T) {
	r := mustRun(t, runs.Spec{Algorithm: "ricart-agrawala", Nodes: 6, Requests: 120, Transport: "nats", CS: "0"})
	if r.Messages.ByKind["REQUEST"] != 120*5 || r.Messages.ByKind["REPLY"] != 120*5 || r.Messages.Transmissions != 120*(1+5) {
		t.Errorf("%+v", r.Messages)
	}
	if r.T == nil || *r.T <= 0 || r.Safety.Violations != 0 || r.Safety.Checked != 120 {
		t.Errorf("T %v, safety %+v", r.T, r.Safety)
	}
}

// The broadcast medium under contention: every request and reply is a broadcast,
// and all nodes must queue the requests in one order.
func TestTheSequencedMediumUnderLoad(t *testing.T) {
	r := mustRun(t, runs.Spec{
		Algorithm: "ricart-agrawala-broadcast", Set: map[string]string{"form": "sequenced"},
		Nodes: 6, Requests: 300, Transport: "nats", CS: "0",
	})
	if *r.Messages.PerCS != 10 || r.Messages.Transmissions != 600 || r.Fairness.OutOfOrder != 0 || r.Messages.Refused != 0 {
		t.Errorf("%+v, out of order %d", r.Messages, r.Fairness.OutOfOrder)
	}
}

// elsewhere starts a broker that the coordinator takes for somebody else's.
func elsewhere(t *testing.T) (nats.Broker, *nats.Server) {
	t.Helper()
	s, err := nats.StartServer(10)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Broker()
	b.Own = false
	return b, s
}

func TestABrokerElsewhere(t *testing.T) {
	b, server := elsewhere(t)
	for _, set := range []map[string]string{{"form": "listed"}, {"form": "sequenced"}} {
		r, err := Run(t.Context(), resolve(t, runs.Spec{
			Algorithm: "ricart-agrawala-broadcast", Nodes: 4, Requests: 40, Transport: "nats", Set: set,
		}), Options{Broker: &b, Environment: map[string]string{}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != runs.OK || r.Environment["broker"] != "elsewhere" {
			t.Errorf("%v: status %s: %s; %v", set, r.Status, r.Error, r.Environment)
		}
	}
	server.Close()
	workers := &recorder{}
	_, err := execute(t, t.Context(), runs.Spec{Algorithm: "maekawa", Nodes: 3, Transport: "nats"},
		Options{Broker: &b, Started: workers.started})
	if !errors.Is(err, nats.ErrBroker) || len(workers.pids()) > 0 {
		t.Errorf("a broker that is not there: %v, %d processes", err, len(workers.pids()))
	}
}

// A broker that dies in the middle of a run ends it as failed, whether its
// broadcasts are sequenced or not.
func TestABrokerThatDiesEndsTheRun(t *testing.T) {
	for _, spec := range []runs.Spec{
		{Algorithm: "suzuki-kasami", Nodes: 4},
		{Algorithm: "ricart-agrawala-broadcast", Set: map[string]string{"form": "sequenced"}, Nodes: 4},
	} {
		b, server := elsewhere(t)
		spec.Transport, spec.Duration = "nats", runs.Duration(time.Minute)
		r, err := execute(t, t.Context(), spec, Options{Broker: &b, Progress: onFirstEntries(server.Close)})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != runs.Failed || !strings.Contains(r.Error, "nats: ") {
			t.Errorf("%s: status %s: %s", spec.Algorithm, r.Status, r.Error)
		}
		if r.Entries == 0 {
			t.Errorf("%s: what had been counted is lost", spec.Algorithm)
		}
	}
}

func TestAKilledWorkerEndsARunOverNATS(t *testing.T) {
	workers := &recorder{}
	spec := long
	spec.Transport = "nats"
	r, err := execute(t, t.Context(), spec, Options{
		Started:  workers.started,
		Progress: onFirstEntries(func() { workers.procs[2].Kill() }),
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != runs.Failed || !slices.Equal(r.FailedNodes, []int{3}) {
		t.Errorf("status %s, failed nodes %v: %s", r.Status, r.FailedNodes, r.Error)
	}
}
