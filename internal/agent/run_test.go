package agent

import (
	"slices"
	"testing"

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
			r.Hosts[0].Load == nil || r.Hosts[0].Load.Workers <= 0 || r.Hosts[0].Environment["os"] == "" {
			t.Errorf("%s: %+v", network, r.Hosts)
		}
		if len(pids) != 5 {
			t.Errorf("%s: %d processes", network, len(pids))
		}
		awaitEnds(t, pids...)
	}
	for _, i := range discover(t, fleet, 2) {
		if i.Refused != 0 {
			t.Errorf("%s has refused %d requests", i.Name, i.Refused)
		}
	}
}
