package coordinator

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms"
	"dmebench/internal/run"
	"dmebench/internal/sim"
	"dmebench/transport/nats"
)

// nearest returns the number of nodes closest to n that the algorithm can run on
// with its defaults.
func nearest(t *testing.T, a *algorithms.Algorithm, n int) int {
	t.Helper()
	opt, err := a.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for d := range n {
		for _, candidate := range []int{n - d, n + d} {
			if a.CheckNodes(candidate, opt) == nil {
				return candidate
			}
		}
	}
	t.Fatalf("%s runs on no number of nodes near %d", a.Name, n)
	return 0
}

// Under isolated requests, every algorithm costs over NATS exactly what it costs
// in the simulation, entry by entry. Processes host two nodes each, so that
// broadcasts reach nodes in the sender's own process too.
func TestSerialOverNATSAgreesWithTheSimulation(t *testing.T) {
	type variant struct {
		a   *algorithms.Algorithm
		set map[string]string
	}
	var variants []variant
	names := make(map[string]bool)
	for _, a := range testCatalog() {
		if !a.AsPublished && !names[a.Name] {
			names[a.Name] = true
			variants = append(variants, variant{a: a})
		}
		if a.Name == "ricart-agrawala-broadcast" {
			variants = append(variants, variant{a, map[string]string{"form": "sequenced"}})
		}
	}
	for _, v := range variants {
		name := v.a.Name
		if v.set != nil {
			name += "-" + v.set["form"]
		}
		t.Run(name, func(t *testing.T) {
			n := nearest(t, v.a, 8)
			spec := run.Spec{Algorithm: v.a.Name, Nodes: n, NodesPerWorker: 2, Workload: "serial", Requests: 12, CS: "10us", Transport: "nats", Set: v.set}
			job, err := spec.Resolve(testCatalog(), os.ReadFile)
			if err != nil {
				opt, _ := v.a.Resolve(v.set)
				if v.a.Needs(opt).BoundedDelay {
					t.Skip(err) // what it costs depends on how fast this machine is
				}
				t.Fatal(err)
			}
			real := mustRun(t, spec)
			spec.Transport = run.Sim
			simulated, err := sim.Run(t.Context(), resolve(t, spec))
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(real.Messages.PerEntry, simulated.Messages.PerEntry) || !maps.Equal(real.Messages.ByKind, simulated.Messages.ByKind) {
				t.Errorf("over NATS %v %v, simulated %v %v", real.Messages.PerEntry, real.Messages.ByKind,
					simulated.Messages.PerEntry, simulated.Messages.ByKind)
			}
			if real.Messages.Transmissions != simulated.Messages.Transmissions {
				t.Errorf("%d transmissions over NATS, %d simulated", real.Messages.Transmissions, simulated.Messages.Transmissions)
			}
			if !slices.Equal(real.Work.SentByNode, simulated.Work.SentByNode) {
				t.Errorf("nodes sent over NATS %v, simulated %v", real.Work.SentByNode, simulated.Work.SentByNode)
			}
			if real.Wire.Frames != real.Messages.Total || real.Wire.Refused != 0 {
				t.Errorf("%d frames for %d messages, %d refused", real.Wire.Frames, real.Messages.Total, real.Wire.Refused)
			}
			if job.Needs.SequencedBroadcast && *real.Messages.PerCS != float64(2*(n-1)) {
				t.Errorf("%v messages per CS with %d nodes", *real.Messages.PerCS, n)
			}
		})
	}
}

// A broadcast is one transmission and counts as N−1 messages.
func TestABroadcastOverNATSIsOneTransmission(t *testing.T) {
	r := mustRun(t, run.Spec{Algorithm: "ricart-agrawala", Nodes: 6, Requests: 120, Transport: "nats", CS: "0"})
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
	r := mustRun(t, run.Spec{
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
		r, err := Run(t.Context(), resolve(t, run.Spec{
			Algorithm: "ricart-agrawala-broadcast", Nodes: 4, Requests: 40, Transport: "nats", Set: set,
		}), Options{Broker: &b, Environment: map[string]string{}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != run.OK || r.Environment["broker"] != "elsewhere" {
			t.Errorf("%v: status %s: %s; %v", set, r.Status, r.Error, r.Environment)
		}
	}
	server.Close()
	launcher := &recording{}
	_, err := execute(t, t.Context(), run.Spec{Algorithm: "maekawa", Nodes: 3, Transport: "nats"}, Options{Broker: &b, Launcher: launcher})
	if !errors.Is(err, nats.ErrBroker) || len(launcher.pids()) > 0 {
		t.Errorf("a broker that is not there: %v, %d processes", err, len(launcher.pids()))
	}
}

// A broker that dies in the middle of a run ends it as failed, whether its
// broadcasts are sequenced or not.
func TestABrokerThatDiesEndsTheRun(t *testing.T) {
	for _, spec := range []run.Spec{
		{Algorithm: "suzuki-kasami", Nodes: 4},
		{Algorithm: "ricart-agrawala-broadcast", Set: map[string]string{"form": "sequenced"}, Nodes: 4},
	} {
		b, server := elsewhere(t)
		spec.Transport, spec.Duration = "nats", run.Duration(time.Minute)
		r, err := execute(t, t.Context(), spec, Options{Broker: &b, Progress: onFirstEntries(server.Close)})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != run.Failed || !strings.Contains(r.Error, "nats: ") {
			t.Errorf("%s: status %s: %s", spec.Algorithm, r.Status, r.Error)
		}
		if r.Entries == 0 {
			t.Errorf("%s: what had been counted is lost", spec.Algorithm)
		}
	}
}

func TestAKilledWorkerEndsARunOverNATS(t *testing.T) {
	launcher := &recording{}
	spec := long
	spec.Transport = "nats"
	r, err := execute(t, t.Context(), spec, Options{
		Launcher: launcher,
		Progress: onFirstEntries(func() { launcher.procs[2].Kill() }),
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != run.Failed || !slices.Equal(r.FailedNodes, []int{3}) {
		t.Errorf("status %s, failed nodes %v: %s", r.Status, r.FailedNodes, r.Error)
	}
}
