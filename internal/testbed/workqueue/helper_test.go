package workqueue

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"

	"dmebench/algorithms"
	"dmebench/algorithms/lamport"
	"dmebench/dme"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/run"
	"dmebench/internal/sim"
	"dmebench/internal/testkit"
	"dmebench/runs"
	"dmebench/transport/nats"
)

// agentCommand makes the test binary an agent: it serves the server of its environment
// until it is killed or told to leave.
const agentCommand = "test-agent"

const urlKey, coresKey = "DMEBENCH_TEST_URL", "DMEBENCH_TEST_CORES"

func TestMain(m *testing.M) {
	switch {
	case launch.Is(os.Args, Command):
		os.Exit(Main(known(), os.Stdin, os.Stdout, os.Stderr))
	case launch.Is(os.Args, agentCommand):
		os.Exit(serveTest())
	}
	testkit.Beside(12)
	os.Exit(m.Run())
}

// known are the catalogue's and some that do not behave.
func known() run.Catalog {
	bad := func(name string, prepare func()) *dme.Algorithm {
		a := *lamport.Algorithm()
		a.Name = name
		a.Prepare = func(dme.Config) (dme.System, error) { prepare(); panic("not reached") }
		return &a
	}
	return append(run.Catalog(algorithms.All()),
		bad("panics", func() { panic("as it was told to") }),
		bad("kills", func() { // its agent, and so itself
			_ = syscall.Kill(os.Getppid(), syscall.SIGKILL)
			select {}
		}),
		bad("lasts", func() { select {} }),
	)
}

// A server may be busy for seconds, and be started again.
var patiently = []natsgo.Option{natsgo.Timeout(time.Minute), natsgo.MaxReconnects(-1), natsgo.ReconnectWait(50 * time.Millisecond)}

func serveTest() int {
	var cores int
	fmt.Sscan(os.Getenv(coresKey), &cores)
	c, err := natsgo.Connect(os.Getenv(urlKey), patiently...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s, err := NewTaker(c, fmt.Sprint("host-", os.Getpid()))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s.Employ(cores)
	if err := c.Flush(); err != nil { // the server knows of it
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // until the test ends, however it does
	s.Close()
	return 0
}

// agentProcess is an agent.
type agentProcess struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin interface{ Close() error }
	once  sync.Once
}

// startAgent starts an agent, from this program or another file, and returns once it hears queues.
func startAgent(t *testing.T, url string, cores int, file ...string) *agentProcess {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range file {
		program = f
	}
	a := &agentProcess{t: t, cmd: exec.Command(program, agentCommand)}
	a.cmd.Env = append(os.Environ(), urlKey+"="+url, fmt.Sprintf("%s=%d", coresKey, cores))
	a.cmd.Stderr = os.Stderr
	if a.stdin, err = a.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	ready, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.leave)
	if _, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		t.Fatalf("an agent has ended: %v", err)
	}
	return a
}

// kill ends the agent at once.
func (a *agentProcess) kill() {
	_ = a.cmd.Process.Kill()
	a.leave()
}

// leave has the agent leave in order, and waits until it has.
func (a *agentProcess) leave() {
	a.once.Do(func() {
		a.stdin.Close()
		_ = a.cmd.Wait()
	})
}

// broker is a NATS server.
type broker struct {
	t      *testing.T
	server *server.Server
	opt    server.Options
	port   int
}

func startBroker(t *testing.T, change ...func(*server.Options)) *broker {
	t.Helper()
	b := &broker{t: t, opt: server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, MaxPayload: 8 << 20,
	}}
	for _, f := range change {
		f(&b.opt)
	}
	b.start()
	t.Cleanup(b.stop)
	return b
}

func (b *broker) start() {
	b.t.Helper()
	opt := b.opt
	s, err := server.NewServer(&opt)
	if err != nil {
		b.t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		b.t.Fatal("the server does not start")
	}
	b.server, b.port = s, s.Addr().(*net.TCPAddr).Port
}

func (b *broker) stop() {
	b.server.Shutdown()
	b.server.WaitForShutdown()
}

func (b *broker) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", b.port) }

func (b *broker) connect() *natsgo.Conn {
	b.t.Helper()
	c, err := natsgo.Connect(b.url(), patiently...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(c.Close)
	return c
}

// queue opens a queue whose tasks are soon given to another.
func (b *broker) queue(change ...func(*Options)) *Queue {
	b.t.Helper()
	o := Options{Host: "here", Lease: time.Second, Patience: 10 * time.Minute, Warn: func(s string) { b.t.Log(s) }}
	for _, f := range change {
		f(&o)
	}
	q, err := Open(b.t.Context(), nats.Broker{URL: b.url()}, o)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(q.Close)
	return q
}

func simulation(algorithm string, nodes, requests int, seed uint64) Task {
	s := runs.Spec{Algorithm: algorithm, Nodes: nodes, Transport: runs.Sim, Requests: requests, Seed: seed}
	return Task{Simulate: &Simulation{Spec: s.WithDefaults()}}
}

// here carries out a simulation in this process.
func here(t *testing.T, x Task) string {
	t.Helper()
	job, err := run.Resolve(x.Simulate.Spec, known(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	r.Spec = job.Spec
	return text(t, Answer{Result: r})
}

func text(t *testing.T, a Answer) string {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// all has tasks done, all at once, and returns their answers.
func all(t *testing.T, q *Queue, tasks []Task) []Answer {
	t.Helper()
	answers := make([]Answer, len(tasks))
	var group sync.WaitGroup
	for i, x := range tasks {
		group.Go(func() {
			var err error
			if answers[i], err = q.Do(t.Context(), x); err != nil {
				t.Errorf("task %d: %v", i, err)
			}
		})
	}
	group.Wait()
	return answers
}

func wantText(t *testing.T, got string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}
