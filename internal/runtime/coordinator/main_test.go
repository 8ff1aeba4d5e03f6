package coordinator

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/ping"
	"dmebench/internal/runtime/run"
	"dmebench/internal/runtime/worker"
	"dmebench/internal/testkit"
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
		broken("chatty", chatty), broken("stuck", stuck),
		doorkeeper("doorkeeper", false), doorkeeper("deaf-doorkeeper", true), ushered(), dozing())
}

// sampled says whether case i of many similar ones is tried: all of them in long tests, else
// one in so many.
func sampled(i, of int) bool { return testkit.Long() || i%of == 0 }

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

// ushered lets node 1 in when node 2 asks, and node 2 when node 1 leaves: until then node 1
// waits, and not a message is on the way.
func ushered() *dme.Algorithm {
	a := broken("ushered", nil)
	a.Prepare = func(dme.Config) (dme.System, error) { return usheredSystem{}, nil }
	return a
}

type usheredSystem struct{}

func (usheredSystem) Node(id dme.NodeID) dme.Node { return &usheredNode{id: id} }

type usheredNode struct{ id dme.NodeID }

func (n *usheredNode) Request(out *dme.Outbox) {
	if n.id == 2 {
		out.Send(1, dme.Message{Kind: 1})
	}
}

func (n *usheredNode) Release(out *dme.Outbox) {
	if n.id == 1 {
		out.Send(2, dme.Message{Kind: 1})
	}
}

func (n *usheredNode) Receive(_ dme.NodeID, _ dme.Message, out *dme.Outbox) { out.Enter(dme.Stamp{}) }
func (n *usheredNode) State(*dme.Visitor)                                   {}

// dozing lets a node in when its timer fires.
func dozing() *dme.Algorithm {
	a := broken("dozing", nil)
	a.Prepare = func(dme.Config) (dme.System, error) { return dozingSystem{}, nil }
	return a
}

type dozingSystem struct{}

func (dozingSystem) Node(dme.NodeID) dme.Node { return dozingNode{} }

type dozingNode struct{}

func (dozingNode) Request(out *dme.Outbox)                      { out.SetTimer(1, doze) }
func (dozingNode) Release(*dme.Outbox)                          {}
func (dozingNode) Receive(dme.NodeID, dme.Message, *dme.Outbox) {}
func (dozingNode) Timeout(_ dme.TimerID, out *dme.Outbox)       { out.Enter(dme.Stamp{}) }
func (dozingNode) State(*dme.Visitor)                           {}

// doorkeeper is an algorithm for these tests: node 1 lets one node after the other in,
// and goes on when one of them is down. With deaf set it does not listen to that.
func doorkeeper(name string, deaf bool) *dme.Algorithm {
	return &dme.Algorithm{
		Name: name, Title: "a doorkeeper", Citation: "none: it is for tests", Class: dme.Permission, AsPublished: true,
		Needs:    dme.Always(dme.Needs{Reliable: true}),
		Kinds:    []string{"ASK", "GRANT", "DONE"},
		HasToken: dme.OfNode((*doorkeeperNode).HasToken), Root: 1,
		Prepare: func(dme.Config) (dme.System, error) { return doorkeeperSystem{deaf}, nil },
	}
}

const (
	ask dme.Kind = 1 + iota
	grant
	done
)

type doorkeeperSystem struct{ deaf bool }

func (s doorkeeperSystem) Node(id dme.NodeID) dme.Node { return &doorkeeperNode{id: id, deaf: s.deaf} }

type doorkeeperNode struct {
	id      dme.NodeID
	deaf    bool
	inside  dme.NodeID // at the doorkeeper: who is; elsewhere: this node, if it is
	waiting []dme.NodeID
	heard   []dme.NodeID // who was down and is up again
}

func (n *doorkeeperNode) Request(out *dme.Outbox) {
	if n.id == 1 {
		n.take(1, out)
		return
	}
	out.Send(1, dme.Message{Kind: ask})
}

func (n *doorkeeperNode) Release(out *dme.Outbox) {
	n.inside = 0
	if n.id == 1 {
		n.next(out)
		return
	}
	out.Send(1, dme.Message{Kind: done})
}

func (n *doorkeeperNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case ask:
		n.take(from, out)
	case grant:
		n.inside = n.id
		out.Enter(dme.Stamp{})
	case done:
		n.inside = 0
		n.next(out)
	}
}

func (n *doorkeeperNode) take(id dme.NodeID, out *dme.Outbox) {
	n.waiting = append(n.waiting, id)
	if n.inside == 0 {
		n.next(out)
	}
}

func (n *doorkeeperNode) next(out *dme.Outbox) {
	if len(n.waiting) == 0 {
		return
	}
	n.inside, n.waiting = n.waiting[0], n.waiting[1:]
	if n.inside == 1 {
		out.Enter(dme.Stamp{})
		return
	}
	out.Send(n.inside, dme.Message{Kind: grant})
}

func (n *doorkeeperNode) Down(peer dme.NodeID, out *dme.Outbox) {
	if n.id != 1 || n.deaf {
		return
	}
	n.waiting = slices.DeleteFunc(n.waiting, func(id dme.NodeID) bool { return id == peer })
	if n.inside == peer {
		n.inside = 0
		n.next(out)
	}
}

func (n *doorkeeperNode) Up(peer dme.NodeID, _ *dme.Outbox) { n.heard = append(n.heard, peer) }
func (n *doorkeeperNode) Restart(*dme.Outbox)               {}
func (n *doorkeeperNode) Join(*dme.Outbox)                  {}
func (n *doorkeeperNode) Depart(out *dme.Outbox)            { out.Left() }
func (n *doorkeeperNode) HasToken() bool                    { return n.id != 1 && n.inside == n.id }

func (n *doorkeeperNode) State(v *dme.Visitor) {
	v.Node("inside", &n.inside)
	v.Nodes("waiting", &n.waiting)
	v.Nodes("heard", &n.heard)
}
