package agent

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"dmebench/internal/launch"
	"dmebench/result"
)

// Runs go over the hosts of two agents, one after the other, over all networks. What
// they count is what a run on one host counts, and nothing is left behind.
func TestRunsOverAgents(t *testing.T) {
	t.Parallel()
	_, b := serve(t, 0)
	startAgents(t, b, "east", "west")
	fleet := connectFleet(t, b)
	for _, network := range []string{"tcp", "udp", "nats"} {
		var pids []int
		r, err := leadOver(t.Context(), fleet, coordinatorConfig{
			Broker: b, Expect: 2,
			Spec: result.Spec{Algorithm: "ricart-agrawala", Nodes: 5, Transport: network, Workload: "serial", Requests: 50},
		}, func(p launch.Process) { pids = append(pids, p.PID()) })
		if err != nil {
			t.Fatal(network, err)
		}
		if r.Status != result.OK || r.Entries != 50 || r.Messages.Total != 50*2*4 || r.Safety.Violations != 0 {
			t.Errorf("%s: %s %s: %d entries, %d messages, %+v", network, r.Status, r.Error, r.Entries, r.Messages.Total, r.Safety)
		}
		if len(r.Hosts) != 2 || r.Hosts[0].Name != "east" || !slices.Equal(r.Hosts[0].Nodes, []int{1, 3, 5}) ||
			r.Hosts[0].Environment["os"] == "" {
			t.Errorf("%s: %+v", network, r.Hosts)
		}
		if len(r.Links) != 2 || r.Links[0].By != "udp" || r.Links[0].Sent == 0 {
			t.Errorf("%s: %+v", network, r.Links)
		}
		if len(pids) != 5 {
			t.Errorf("%s: %d processes", network, len(pids))
		}
		awaitEnds(t, pids...)
	}
	busy := result.Spec{Algorithm: "ricart-agrawala", Nodes: 4, Duration: result.Duration(time.Second)}
	r, err := leadOver(t.Context(), fleet, coordinatorConfig{Broker: b, Expect: 2, Spec: busy}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Hosts {
		switch l := h.Load; {
		case runtime.GOOS == "linux" && l == nil:
			t.Errorf("nothing is known of how busy %s was", h.Name)
		case l != nil && (l.Workers <= 0 || l.Busy <= 0 ||
			l.MemoryFree <= 0 || l.Cores < 1):
			t.Errorf("%s: %+v", h.Name, *l)
		}
	}
	for _, i := range discover(t, fleet, 2) {
		if i.Refused != 0 {
			t.Errorf("%s has refused %d requests", i.Name, i.Refused)
		}
	}
}

// Faults reach workers elsewhere: who is inside is killed there and comes back, another
// one stands still for a while. What the killed node has recorded is not lost.
func TestFaultsOverAgents(t *testing.T) {
	t.Parallel()
	_, b := serve(t, 0)
	startAgents(t, b, "east", "west")
	fleet := connectFleet(t, b)
	spec := result.Spec{
		Algorithm: "raymond-robust", Nodes: 4, Requests: 400, CS: "1ms",
		Faults: []string{"kill holder @entry:40", "restart holder @+50ms", "pause 3 @request:200+50ms"},
	}
	r, err := leadOver(t.Context(), fleet, coordinatorConfig{Broker: b, Expect: 2, Spec: spec}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != result.OK || r.Safety.Violations != 0 || len(r.Faults) != 3 {
		t.Fatalf("%s %s %+v %+v %q", r.Status, r.Error, r.Faults, r.Safety, r.Warnings)
	}
	kill, restart, pause := r.Faults[0], r.Faults[1], r.Faults[2]
	if kill.What != "kill" || kill.Lost != 1 || !slices.Equal(kill.Nodes, restart.Nodes) || restart.RecoveredNS == nil ||
		!slices.Equal(pause.Nodes, []int{3}) || pause.EndedNS == nil {
		t.Errorf("%+v", r.Faults)
	}
	if r.ResponseTime == nil || r.ResponseTime.Count != r.Entries || r.Requests != r.Entries+1 || r.Requests != 400 {
		t.Errorf("%d entries of %d requests, of which records speak of %+v", r.Entries, r.Requests, r.ResponseTime)
	}
}
