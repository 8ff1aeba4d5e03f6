package agent

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/host"
	"dmebench/runs"
)

// going leads a run that does not end by itself, in the background.
type going struct {
	procs  chan launch.Process
	cancel context.CancelFunc
	done   chan struct{}
	result *runs.Result
	err    error
}

func begin(t *testing.T, c coordinatorConfig) *going {
	t.Helper()
	g := &going{procs: make(chan launch.Process, 64), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	g.cancel = cancel
	go func() {
		defer close(g.done)
		g.result, g.err = lead(ctx, c, func(p launch.Process) { g.procs <- p })
	}()
	t.Cleanup(func() {
		cancel()
		<-g.done
	})
	return g
}

// workers waits until so many have been started.
func (g *going) workers(t *testing.T, n int) (procs []launch.Process) {
	t.Helper()
	for len(procs) < n {
		select {
		case p := <-g.procs:
			procs = append(procs, p)
		case <-g.done:
			t.Fatalf("the run has ended: %v %+v", g.err, g.result)
		case <-time.After(soon):
			t.Fatal("the workers are not started")
		}
	}
	return procs
}

func pidsOf(procs []launch.Process) (pids []int) {
	for _, p := range procs {
		pids = append(pids, p.PID())
	}
	return pids
}

// A run ends, and names the host and its nodes, when the agent there is killed. Its
// workers end with it, also one that stands still.
func TestKilledAgent(t *testing.T) {
	b, fleet, agents := newBed(t, "east", "west")
	g := begin(t, coordinatorConfig{Broker: b, Expect: 2, Spec: longRun(4)})
	procs := g.workers(t, 4)
	pids := pidsOf(procs)
	if err := procs[1].Pause(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	agents[1].Kill()
	awaitEnds(t, pids[1], pids[3])
	<-g.done
	if passed := time.Since(killed); passed > absentFor+soon {
		t.Errorf("that took %v", passed)
	}
	r := g.result
	if g.err != nil || r.Status != runs.Failed || !slices.Contains(r.FailedNodes, 2) ||
		!strings.Contains(r.Error, "host west: it cannot be reached any more: its agent has ended") {
		t.Fatalf("%v %+v", g.err, r)
	}
	awaitEnds(t, pids...)
	if i := discover(t, fleet, 1); i[0].Name != "east" {
		t.Errorf("%+v", i)
	}
}

// When a coordinator is killed, agents end its workers, and serve the next one.
func TestKilledCoordinator(t *testing.T) {
	t.Parallel()
	_, b := serve(t, 0)
	agents := startAgents(t, b, "east", "west")
	c, pids := startCoordinator(t, b)
	c.Kill()
	awaitEnds(t, pids...)
	for _, a := range agents {
		until(t, "the agent says so", logged(a, "nothing was heard from its coordinator"))
	}
	short := runs.Spec{Algorithm: "raymond", Nodes: 4, Requests: 40}
	r, err := lead(t.Context(), coordinatorConfig{Broker: b, Expect: 2, Spec: short}, nil)
	if err != nil || r.Status != runs.OK || r.Entries != 40 {
		t.Errorf("%v %+v", err, r)
	}
}

// A server that goes away ends the run. The agents come back when it does.
func TestRestartedServer(t *testing.T) {
	t.Parallel()
	port := fixedPort(t)
	s, b := serve(t, port)
	agents := startAgents(t, b, "east", "west")
	g := begin(t, coordinatorConfig{Broker: b, Expect: 2, Spec: longRun(4)})
	pids := pidsOf(g.workers(t, 4))
	shut(s)
	<-g.done
	if r := g.result; g.err == nil && (r.Status != runs.Failed || r.Error == "") {
		t.Errorf("%+v", r)
	}
	awaitEnds(t, pids...)
	for _, a := range agents {
		until(t, "the agent misses the server", logged(a, "is lost"))
	}
	serve(t, port)
	short := runs.Spec{Algorithm: "raymond", Nodes: 4, Requests: 40}
	r, err := lead(t.Context(), coordinatorConfig{Broker: b, Expect: 2, Spec: short}, nil)
	if err != nil || r.Status != runs.OK || r.Entries != 40 {
		t.Errorf("%v %+v", err, r)
	}
	for _, a := range agents {
		if !logged(a, "is back")() {
			t.Errorf("%q", a.Stderr())
		}
	}
}

// A run that begins while the server is being restarted waits for it.
func TestRunWaitsForTheServer(t *testing.T) {
	t.Parallel()
	port := fixedPort(t)
	s, b := serve(t, port)
	startAgents(t, b, "east")
	fleet := connectFleet(t, b)
	h := fleet.Host(discover(t, fleet, 1)[0])
	shut(s)
	opened := make(chan error, 1)
	go func() {
		_, err := h.Open(t.Context(), host.Part{Nodes: 1, Local: nodes(1)})
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatal("it was opened without a server:", err)
	case <-time.After(atOnce + time.Second): // longer than one question takes
	}
	serve(t, port)
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// Ending an agent in order is seen at once.
func TestAgentIsToldToEnd(t *testing.T) {
	_, fleet, agents := newBed(t, "east")
	h := opened(t, fleet, discover(t, fleet, 1)[0], host.Part{Nodes: 1, Local: nodes(1)})
	p := startWorker(t, h)
	launch.End(soon, agents[0])
	if agents[0].Outcome() != "exit status 0" {
		t.Error(agents[0].Outcome(), agents[0].Stderr())
	}
	ended(t, p)
	if !gone(p.PID()) {
		t.Error("the worker is still there")
	}
	<-h.alive.Done()
	if err := context.Cause(h.alive); !strings.Contains(err.Error(), "asked to end") {
		t.Error(err)
	}
}

// What a coordinator does with processes elsewhere.
func TestProcess(t *testing.T) {
	b, fleet, _ := newBed(t, "east")
	h := opened(t, fleet, discover(t, fleet, 1)[0], host.Part{Nodes: 2, Local: nodes(1, 2)})
	stranger := raw(t, b)
	joined, err := stranger.SubscribeSync("dmebench.*.up")
	if err == nil {
		err = stranger.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	p, q := startWorker(t, h), startWorker(t, h)
	for range 2 {
		if _, err := joined.NextMsg(soon); err != nil {
			t.Fatal(err)
		}
	}
	if p.PID() == q.PID() || gone(p.PID()) || gone(q.PID()) || p.Stopped() || p.Stderr() != nil {
		t.Errorf("%d %d %v %q", p.PID(), q.PID(), p.Stopped(), p.Stderr())
	}
	if err := p.Pause(); err != nil || runtime.GOOS == "linux" && !p.Stopped() {
		t.Error(err, "it does not stand still")
	}
	if err := p.Resume(); err != nil || p.Stopped() {
		t.Error(err, "it stands still")
	}
	p.Kill()
	ended(t, p)
	if p.Outcome() != "signal: killed" || !gone(p.PID()) || p.Pause() == nil || p.Resume() == nil {
		t.Error(p.Outcome())
	}
	if err := syscall.Kill(q.PID(), syscall.SIGABRT); err != nil { // whereupon the Go runtime says what it was about
		t.Fatal(err)
	}
	ended(t, q)
	if !strings.Contains(strings.Join(q.Stderr(), "\n"), "SIGABRT") {
		t.Errorf("%s: %q", q.Outcome(), q.Stderr())
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if i := discover(t, fleet, 1)[0]; i.Holder != "" && !i.Between {
		t.Error("the agent is not free")
	}
}

// An agent that does not answer any more is given up in good time, and its processes
// with it; once it goes on it ends them, and is free.
func TestSilentAgent(t *testing.T) {
	_, fleet, agents := newBed(t, "east")
	agent := agents[0]
	h := opened(t, fleet, discover(t, fleet, 1)[0], host.Part{Nodes: 1, Local: nodes(1)})
	p := startWorker(t, h)
	if err := agent.Pause(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	err := h.Read(limited, make([]host.Reading, 1))
	if passed := time.Since(began); !errors.Is(err, host.ErrLost) || passed < lostAfter-time.Second {
		t.Errorf("after %v: %v", passed, err)
	}
	ended(t, p)
	if !strings.Contains(p.Outcome(), "host east: it cannot be reached any more: its agent has not answered for ") {
		t.Error(p.Outcome())
	}
	if err := agent.Resume(); err != nil {
		t.Fatal(err)
	}
	awaitEnds(t, p.PID())
	discover(t, fleet, 1)
}
