package agent

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/host"
	"dmebench/internal/testbed/workqueue"
	"dmebench/runs"
)

// Agents that nobody has taken do the tasks of work queues. One that is taken for a run
// gives them back, and does none until the run is over; no task is lost.
func TestTasksWhileFree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it looks for processes in /proc")
	}
	t.Parallel()
	_, b := serveBy(t, server.Options{JetStream: true, StoreDir: t.TempDir()})
	startAgents(t, b, "east", "west")
	fleet := connectFleet(t, b)
	agents := discover(t, fleet, 2)
	queue, err := workqueue.Open(t.Context(), b, workqueue.Options{Host: "these tests", Warn: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer queue.Close()
	simulate := func(seed uint64) {
		t.Helper()
		spec := runs.Spec{Algorithm: "raymond", Nodes: 5, Transport: "sim", Requests: 100, Seed: seed}
		a, err := queue.Do(t.Context(), workqueue.Task{Simulate: &workqueue.Simulation{Spec: spec}})
		if err != nil || a.Error != "" || a.Result == nil || a.Result.Entries != 100 || a.Result.Seed != seed {
			t.Errorf("task %d: %v %+v", seed, err, a)
		}
	}
	simulate(1)
	var tasks sync.WaitGroup
	for k := range 60 {
		tasks.Go(func() { simulate(uint64(k + 2)) })
	}
	h := opened(t, fleet, agents[0], host.Part{Nodes: 1, Local: nodes(1)}) // in the middle of that
	p := startWorker(t, h)
	tasks.Wait()
	if children := childrenOf(t, agents[0].PID); len(children) != 1 || children[0] != p.PID() {
		t.Errorf("beside worker %d the agent has processes %v", p.PID(), children)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	until(t, "the agent does tasks again", func() bool {
		simulate(uint64(time.Now().UnixNano()))
		return len(childrenOf(t, agents[0].PID)) > 0
	})
}

// Work that is handed in right after a run is done: agents are free at once where their
// coordinator says that no run follows, and else they are waited for.
func TestTasksRightAfterARun(t *testing.T) {
	for _, ends := range []bool{true, false} {
		t.Run(fmt.Sprintf("coordinator ends %v", ends), func(t *testing.T) {
			t.Parallel()
			_, b := serveBy(t, server.Options{JetStream: true, StoreDir: t.TempDir()})
			startAgents(t, b, "east")
			fleet := connectFleet(t, b)
			h := opened(t, fleet, discover(t, fleet, 1)[0], host.Part{Nodes: 1, Local: nodes(1)})
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			if ends {
				fleet.Close()
			}
			queue, err := workqueue.Open(t.Context(), b, workqueue.Options{Host: "these tests", Warn: func(string) {}})
			if err != nil {
				t.Fatal(err)
			}
			defer queue.Close()
			spec := runs.Spec{Algorithm: "raymond", Nodes: 5, Transport: "sim", Requests: 100, Seed: 1}
			if a, err := queue.Do(t.Context(), workqueue.Task{Simulate: &workqueue.Simulation{Spec: spec}}); err != nil || a.Result == nil {
				t.Errorf("%v %+v", err, a)
			}
		})
	}
}

// An agent that was restarted takes the place of the one before it, also in runs
// that were planned before.
func TestRestartedAgent(t *testing.T) {
	b, fleet, agents := newBed(t, "east")
	h := fleet.Host(discover(t, fleet, 1)[0])
	part := host.Part{Nodes: 1, Local: nodes(1)}
	if _, err := h.Open(t.Context(), part); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	launch.End(soon, agents[0])
	if _, err := h.Open(t.Context(), part); err == nil || err.Error() != "host east: its agent is not there any more" {
		t.Error(err)
	}
	startAgents(t, b, "east")
	if _, err := h.Open(t.Context(), part); err != nil {
		t.Fatal(err)
	}
	startWorker(t, h)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
}

// childrenOf lists the processes that another one has started and that have not ended.
func childrenOf(t *testing.T, pid int) (children []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		var child, parent int
		var state string
		// The name of the program, in brackets, may itself hold brackets and spaces.
		if _, err := fmt.Sscan(string(text[bytes.LastIndexByte(text, ')')+1:]), &state, &parent); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(string(text), &child); err == nil && parent == pid && state != "Z" {
			children = append(children, child)
		}
	}
	return children
}

// Hosts exchange datagrams when their coordinator says so, and tell what came of that.
func TestSurvey(t *testing.T) {
	_, fleet, _ := newBed(t, "east", "west")
	key := make([]byte, 32)
	rand.Read(key)
	var hosts []*Remote
	var peers []clock.Peer
	for _, i := range discover(t, fleet, 2) {
		h := opened(t, fleet, i, host.Part{Nodes: 1})
		if _, _, err := h.Probe(t.Context(), nil, 1); err == nil || !strings.Contains(err.Error(), "not opened") {
			t.Error(err)
		}
		p, err := h.Port(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != i.Name {
			t.Errorf("%+v", p)
		}
		hosts, peers = append(hosts, h), append(peers, p)
	}
	east := hosts[0]
	nobody := clock.Peer{Name: "nobody", Address: "127.0.0.1:9"}
	paths, failures, err := east.Probe(t.Context(), []clock.Peer{peers[1], nobody}, 20)
	if err != nil || len(paths) != 2 || paths[0].Sent != 20 || len(paths[0].Exchanges)+paths[0].Lost != 20 || len(paths[0].Exchanges) == 0 ||
		len(paths[1].Exchanges) != 0 || len(failures) != 1 || failures["nobody"] == "" {
		t.Fatalf("%+v %v %v", paths, failures, err)
	}
	if err := east.Follow(t.Context(), peers[1:], 5*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	n := 0
	until(t, "there are many exchanges", func() bool {
		paths, err := east.Paths(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n += len(paths["west"].Exchanges)
		return n > 100
	})
}
