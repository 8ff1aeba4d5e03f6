package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/internal/platform"
	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/coordinator"
	"dmebench/internal/runtime/host"
	"dmebench/internal/runtime/run"
	"dmebench/internal/runtime/worker"
	"dmebench/internal/testbed/workqueue"
	"dmebench/internal/testkit"
	"dmebench/runs"
	"dmebench/transport/nats"
)

// The processes that the test binary can become, beside a worker.
const (
	agentCommand       = "test-agent"
	coordinatorCommand = "test-coordinator"
)

func TestMain(m *testing.M) {
	switch {
	case launch.Is(os.Args, worker.Command):
		os.Exit(worker.Main(known(), os.Stdin, os.Stderr))
	case launch.Is(os.Args, workqueue.Command):
		os.Exit(workqueue.Main(algorithms.All(), os.Stdin, os.Stdout, os.Stderr))
	case launch.Is(os.Args, agentCommand):
		os.Exit(agentProcess())
	case launch.Is(os.Args, coordinatorCommand):
		os.Exit(coordinatorProcess())
	}
	// Processes that are built with the race detector would sleep a second each
	// before they exit.
	os.Setenv("GORACE", strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"))
	testkit.Beside(12)
	os.Exit(m.Run())
}

// agentConfig is what an agent process of these tests is told.
type agentConfig struct {
	Broker  nats.Broker
	Name    string
	Labels  map[string]string
	Program environment.Program
}

func agentProcess() int {
	parent := launch.NewParent(os.Stdin, os.Stdout)
	var c agentConfig
	if err := parent.Receive(&c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, end := context.WithCancel(context.Background())
	go func() {
		parent.Wait()
		end()
	}()
	a := Agent{Broker: c.Broker, Name: c.Name, Labels: c.Labels, Log: os.Stderr, program: c.Program}
	if err := a.Serve(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// coordinatorConfig is what a coordinator process of these tests is told.
type coordinatorConfig struct {
	Broker nats.Broker
	Spec   runs.Spec
	Expect int
}

// coordinatorProcess leads a run, and says which processes it has started.
func coordinatorProcess() int {
	parent := launch.NewParent(os.Stdin, os.Stdout)
	var c coordinatorConfig
	if err := parent.Receive(&c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_, err := lead(context.Background(), c, func(p launch.Process) { parent.Send(p.PID()) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// lead leads a run over all agents that are there.
func lead(ctx context.Context, c coordinatorConfig, started func(launch.Process)) (*runs.Result, error) {
	fleet, err := Connect(ctx, c.Broker)
	if err != nil {
		return nil, err
	}
	defer fleet.Close()
	return leadOver(ctx, fleet, c, started)
}

func leadOver(ctx context.Context, fleet *Fleet, c coordinatorConfig, started func(launch.Process)) (*runs.Result, error) {
	agents, err := fleet.Discover(ctx, c.Expect, soon)
	if err != nil {
		return nil, err
	}
	job, err := run.Resolve(c.Spec, algorithms.All(), os.ReadFile)
	if err != nil {
		return nil, err
	}
	opt := coordinator.Options{Control: &c.Broker, Started: started}
	for _, i := range agents {
		opt.Hosts = append(opt.Hosts, fleet.Host(i))
	}
	return coordinator.Run(ctx, job, opt)
}

// soon is a bound on what takes a moment, on the slowest machine.
const soon = time.Minute

const token = "of these tests"

// serve starts a server at a port; 0 for any that is free.
func serve(t *testing.T, port int) (*server.Server, nats.Broker) {
	t.Helper()
	return serveBy(t, server.Options{Port: port})
}

// serveBy starts a server with what its options say beside a port, 0 for any that is free,
// and the token.
func serveBy(t *testing.T, o server.Options) (*server.Server, nats.Broker) {
	t.Helper()
	o.Host, o.NoLog, o.NoSigs = "127.0.0.1", true, true
	o.Port, o.Authorization = cmp.Or(o.Port, server.RANDOM_PORT), cmp.Or(o.Authorization, token)
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() { shut(s) })
	if !s.ReadyForConnections(soon) {
		t.Fatal("the server does not listen")
	}
	return s, nats.Broker{URL: s.ClientURL(), Token: token}
}

// fixedPort returns a port of the loopback for a server that comes back at it.
func fixedPort(t *testing.T) int {
	t.Helper()
	free, err := platform.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return free[0]
}

func shut(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// startAgent starts an agent process.
func startAgent(t *testing.T, c agentConfig) *launch.Child {
	t.Helper()
	p, err := launch.Local{}.Start(launch.Command{Word: agentCommand, Name: c.Name, Config: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		launch.End(soon, p)
		if t.Failed() {
			t.Logf("%s (%s):\n%s", c.Name, p.Outcome(), strings.Join(p.Stderr(), "\n"))
		}
	})
	return p
}

// startAgents starts agents with these names.
func startAgents(t *testing.T, b nats.Broker, names ...string) (all []*launch.Child) {
	t.Helper()
	for _, name := range names {
		all = append(all, startAgent(t, agentConfig{Broker: b, Name: name}))
	}
	return all
}

// newBed starts a server, agents with these names, and a coordinator's end, for a test that
// runs beside others.
func newBed(t *testing.T, names ...string) (nats.Broker, *Fleet, []*launch.Child) {
	t.Helper()
	t.Parallel()
	_, b := serve(t, 0)
	agents := startAgents(t, b, names...)
	return b, connectFleet(t, b), agents
}

func connectFleet(t *testing.T, b nats.Broker) *Fleet {
	t.Helper()
	f, err := Connect(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func discover(t *testing.T, f *Fleet, expect int) []Info {
	t.Helper()
	agents, err := f.Discover(t.Context(), expect, soon)
	if err != nil {
		t.Fatal(err)
	}
	if len(agents) != expect {
		t.Fatalf("%d agents are there: %+v", len(agents), agents)
	}
	return agents
}

// until waits for something that takes a moment.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// gone reports whether there is no such process.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// awaitEnds waits until none of these processes is there any more.
func awaitEnds(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		until(t, fmt.Sprintf("the end of process %d", pid), func() bool { return gone(pid) })
	}
}

// ended waits until a process has ended, or is taken for that.
func ended(t *testing.T, p launch.Process) {
	t.Helper()
	select {
	case <-p.Ended():
	case <-time.After(soon):
		t.Fatalf("process %d does not end", p.PID())
	}
}

// logged reports whether an agent has written a line with such words.
func logged(p *launch.Child, words string) func() bool {
	return func() bool {
		return slices.ContainsFunc(p.Stderr(), func(line string) bool { return strings.Contains(line, words) })
	}
}

// startCoordinator starts a process that leads a run of four workers, which goes on until it
// is ended, over two agents.
func startCoordinator(t *testing.T, b nats.Broker) (c *launch.Child, workers []int) {
	t.Helper()
	c, err := launch.Local{Answers: true}.Start(launch.Command{
		Word: coordinatorCommand, Name: "coordinator", Config: coordinatorConfig{Broker: b, Expect: 2, Spec: longRun(4)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { launch.End(0, c) })
	for range 4 {
		var pid int
		if err := c.Receive(t.Context(), &pid); err != nil {
			t.Fatal(err)
		}
		workers = append(workers, pid)
	}
	return c, workers
}

// longRun is a run that goes on until it is ended.
func longRun(nodes int) runs.Spec {
	return runs.Spec{Algorithm: "ricart-agrawala", Nodes: nodes, Duration: runs.Duration(10 * time.Minute)}
}

// raw is a connection of somebody who has been let into the server.
func raw(t *testing.T, b nats.Broker) *natsgo.Conn {
	t.Helper()
	c, err := b.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// opened is a host that is taken for a run.
func opened(t *testing.T, f *Fleet, i Info, p host.Part) *Remote {
	t.Helper()
	h := f.Host(i)
	if _, err := h.Open(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// startWorker starts a worker that waits for what its coordinator says.
func startWorker(t *testing.T, h *Remote) launch.Process {
	t.Helper()
	w := host.Worker{Name: "worker 0"}
	w.Boot.Run = rand.Text()
	p, err := h.Start(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func nodes(ids ...dme.NodeID) []dme.NodeID { return ids }

// A run over agents is watched and interrupted like one on this host: their nodes' waits
// are shown, what was measured is told, and the agents are free for the next run.
func TestAWatchedRunOverAgentsIsInterrupted(t *testing.T) {
	b, fleet, _ := newBed(t, "east", "west")
	spec := runs.Spec{Algorithm: "suzuki-kasami", Nodes: 4, Duration: runs.Duration(10 * time.Minute)}
	job, err := run.Resolve(spec, algorithms.All(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var pids []int
	var shown run.State
	opt := coordinator.Options{
		Control: &b, Partial: true, Started: func(p launch.Process) { pids = append(pids, p.PID()) },
		Progress: func(s *run.State) {
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
	if !r.Partial || r.Status != runs.Failed || r.Error != "interrupted" || r.Entries < 50 || r.Safety.Violations != 0 || len(r.Hosts) != 2 {
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
		Broker: b, Expect: 2, Spec: runs.Spec{Algorithm: "raymond", Nodes: 4, Requests: 40},
	}, nil)
	if err != nil || again.Status != runs.OK {
		t.Errorf("the next run: %v, %+v", err, again)
	}
}
