package coordinator

import (
	"os"
	"strings"
	"sync"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/ping"
	"dmebench/internal/runtime/run"
	"dmebench/internal/runtime/worker"
)

// TestMain lets the test binary become a worker, as the program itself does,
// with some algorithms that misbehave on purpose; and a process of a bare ring.
func TestMain(m *testing.M) {
	if launch.Is(os.Args, worker.Command) {
		os.Exit(worker.Main(testCatalog(), os.Stdin, os.Stderr))
	}
	if launch.Is(os.Args, coordinatorCommand) {
		os.Exit(coordinate(os.Stdin, os.Stdout))
	}
	if launch.Is(os.Args, ping.Command) {
		os.Exit(ping.Main(os.Stdin, os.Stdout, os.Stderr))
	}
	// Workers that are built with the race detector would sleep a second each
	// before they exit.
	os.Setenv("GORACE", strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"))
	os.Exit(m.Run())
}

func testCatalog() run.Catalog {
	return append(catalog.All(), broken("eager", eager), broken("stingy", stingy), broken("panicking", panicking),
		broken("chatty", chatty), broken("stuck", stuck), desk("desk", false), desk("deaf-desk", true), ushered(), dozing())
}

// broken describes an algorithm that gets one thing wrong.
func broken(name string, request func(id dme.NodeID, out *dme.Outbox)) *dme.Algorithm {
	return &dme.Algorithm{
		Name: name, Title: name, Citation: "none: it is wrong on purpose", Class: dme.Permission, AsPublished: true,
		Needs:   dme.Always(dme.Needs{Reliable: true}),
		Kinds:   []string{"NUDGE"},
		Prepare: func(dme.Config) (dme.System, error) { return brokenSystem{request}, nil },
	}
}

// eager enters without asking anybody.
func eager(_ dme.NodeID, out *dme.Outbox) { out.Enter(dme.Stamp{}) }

// stuck does not come back from a request at node 2.
func stuck(id dme.NodeID, out *dme.Outbox) {
	if id == 2 {
		select {}
	}
	out.Enter(dme.Stamp{})
}

// chatty does so as well, and says it.
func chatty(_ dme.NodeID, out *dme.Outbox) {
	out.Broadcast(dme.Message{Kind: 1})
	out.Enter(dme.Stamp{})
}

// stingy never lets anybody in.
func stingy(_ dme.NodeID, out *dme.Outbox) {
	out.Broadcast(dme.Message{Kind: 1})
}

// panicking finds an invariant violated at node 2.
func panicking(id dme.NodeID, out *dme.Outbox) {
	if id == 2 {
		panic("the invariant of this test does not hold")
	}
}

type brokenSystem struct {
	request func(dme.NodeID, *dme.Outbox)
}

func (s brokenSystem) Node(id dme.NodeID) dme.Node {
	return &brokenNode{id: id, request: s.request}
}

type brokenNode struct {
	id       dme.NodeID
	request  func(dme.NodeID, *dme.Outbox)
	received uint64
}

func (n *brokenNode) Request(out *dme.Outbox) { n.request(n.id, out) }
func (n *brokenNode) Release(*dme.Outbox)     {}
func (n *brokenNode) Receive(dme.NodeID, dme.Message, *dme.Outbox) {
	n.received++
}
func (n *brokenNode) State(v *dme.Visitor) { v.Uint("received", &n.received) }

// recorder remembers the processes of a run.
type recorder struct {
	mu    sync.Mutex
	procs []launch.Process
}

func (r *recorder) started(p launch.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.procs = append(r.procs, p)
}

func (r *recorder) pids() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var pids []int
	for _, p := range r.procs {
		pids = append(pids, p.PID())
	}
	return pids
}
