package agent

import (
	"context"
	"testing"
	"time"

	"dmebench/algorithms/catalog"
	"dmebench/internal/coordinator"
	"dmebench/internal/launch"
	"dmebench/internal/live"
	"dmebench/internal/run"
	"dmebench/result"
)

// A run over agents is watched and interrupted like one on this host: their nodes' waits
// are shown, what was measured is told, and the agents are free for the next run.
func TestAWatchedRunOverAgentsIsInterrupted(t *testing.T) {
	t.Parallel()
	_, b := serve(t, 0)
	startAgents(t, b, "east", "west")
	fleet := connectFleet(t, b)
	spec := result.Spec{Algorithm: "suzuki-kasami", Nodes: 4, Duration: result.Duration(10 * time.Minute)}
	job, err := run.Resolve(spec, catalog.All(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var pids []int
	var shown live.State
	opt := coordinator.Options{
		Control: &b, Partial: true, Started: func(p launch.Process) { pids = append(pids, p.PID()) },
		Progress: func(s *live.State) {
			if _, ok := s.Waits.Quantile(0.5); ok && s.Entries >= 50 && ctx.Err() == nil {
				shown = *s
				cancel()
			}
		},
	}
	for _, i := range discover(t, fleet, 2) {
		opt.Hosts = append(opt.Hosts, fleet.Host(i))
	}
	r, err := coordinator.Run(ctx, job, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Partial || r.Status != result.Failed || r.Error != "interrupted" || r.Entries < 50 || r.Safety.Violations != 0 || len(r.Hosts) != 2 {
		t.Errorf("%s %q, partial %v, %d entries, %+v", r.Status, r.Error, r.Partial, r.Entries, r.Safety)
	}
	if r.WaitingTime == nil || int64(r.WaitingTime.Count)-int64(r.Entries) > int64(r.Nodes) {
		t.Errorf("%d entries, of which records speak of %+v", r.Entries, r.WaitingTime)
	}
	counted := uint64(0)
	for _, n := range shown.Waits {
		counted += n
	}
	if counted < 25 || counted > r.Entries+4 {
		t.Errorf("%d waits were shown with %d entries; in the end there were %d", counted, shown.Entries, r.Entries)
	}
	awaitEnds(t, pids...)
	again, err := leadOver(t.Context(), fleet, coordinatorConfig{
		Broker: b, Expect: 2, Spec: result.Spec{Algorithm: "raymond", Nodes: 4, Requests: 40},
	}, nil)
	if err != nil || again.Status != result.OK {
		t.Errorf("the next run: %v, %+v", err, again)
	}
}
