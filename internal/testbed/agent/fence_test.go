package agent

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"dmebench/algorithms/catalog"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/coordinator"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// An agent that stands still leaves its workers running. The others hear that these are
// down once they have ended: node 3, which asks while node 1 is inside, enters after it,
// and what the workers of that host have recorded is in the result.
func TestWorkersOfASilentAgentEndBeforeOthersHearOfIt(t *testing.T) {
	b, fleet, agents := newBed(t, "a", "b", "c")
	trace := []byte("0,1\n0.5,3\n")
	job, err := run.Resolve(runs.Spec{
		Algorithm: "maekawa", Nodes: 7, Workload: "trace", CS: (lostAfter + 3*time.Second).String(),
		StallAfter: runs.Duration(30 * time.Second), Set: map[string]string{"file": "trace.csv"},
	}, catalog.All(), func(string) ([]byte, error) { return trace, nil })
	if err != nil {
		t.Fatal(err)
	}
	opt := coordinator.Options{Control: &b, Files: map[string][]byte{"trace.csv": trace}}
	for _, i := range discover(t, fleet, 3) {
		opt.Hosts = append(opt.Hosts, fleet.Host(i))
	}
	var pause sync.WaitGroup
	paused := false
	opt.Started = func(launch.Process) {
		if paused {
			return
		}
		paused = true
		pause.Go(func() { // once node 1, which is on the first host, is inside
			for {
				if w, err := opt.Hosts[0].Witness(t.Context(), false); err != nil || w.Entries > 0 {
					_ = agents[0].Pause()
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	t.Cleanup(func() { _ = agents[0].Resume() })
	r, err := coordinator.Run(t.Context(), job, opt)
	pause.Wait()
	if err != nil || r.Status != runs.OK || r.Entries != 1 || r.Safety.Undecided+r.Safety.Violations != 0 {
		t.Fatalf("%v %+v", err, r)
	}
	if r.Requests != 2 || len(r.Faults) != 1 || r.Faults[0].Lost != 1 || r.Faults[0].AtNS < int64(lostAfter) {
		t.Errorf("%d requests, %+v", r.Requests, r.Faults)
	}
	if w := strings.Join(r.Warnings, "\n"); !strings.Contains(w, "host a") || strings.Contains(w, "is lost with") {
		t.Errorf("warnings: %s", w)
	}
}

// Workers end without their coordinator, although no agent ends them and none of their
// connections does.
func TestWorkersEndThatDoNotHearTheirCoordinator(t *testing.T) {
	t.Parallel()
	_, b := serve(t, 0)
	all := startAgents(t, b, "east", "west")
	stranger := raw(t, b)
	leases, err := stranger.SubscribeSync("dmebench.*.lease.*")
	if err == nil {
		err = stranger.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := launch.Local{Answers: true}.Start(launch.Command{
		Word: coordinatorCommand, Name: "coordinator", Config: coordinatorConfig{Broker: b, Expect: 2, Spec: longRun(4)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { launch.End(0, c) })
	var pids []int
	for range 4 {
		var pid int
		if err := c.Receive(t.Context(), &pid); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	for asked := map[string]bool{}; len(asked) < len(pids); {
		m, err := leases.NextMsg(soon)
		if err != nil {
			t.Fatal(err)
		}
		asked[m.Subject] = true
	}
	for _, p := range append(all, c) {
		if err := p.Pause(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Resume() })
	}
	for _, pid := range pids {
		until(t, "the end of a worker", func() bool { return hasEnded(pid) })
	}
}

// hasEnded reports whether a process has ended, also one that its agent has not reaped.
func hasEnded(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(b), ") Z ")
}
