package coordinator

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/ping"
	"dmebench/internal/runtime/run"
	"dmebench/internal/runtime/worker"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/toys"
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
	flag.Parse()
	// Runs wait for most of the time.
	if p := flag.Lookup("test.parallel"); p.Value.String() == fmt.Sprint(runtime.GOMAXPROCS(0)) {
		_ = p.Value.Set("4")
	}
	code := m.Run()
	if err := goleak.Find(); err != nil { // of runs beside each other
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// others counts the tests that go on beside others.
var others atomic.Int32

// beside lets a test run beside others. One that measures how soon something happens, or
// what all the process has open, does not.
func beside(t *testing.T) {
	t.Helper()
	t.Parallel()
	others.Add(1)
	t.Cleanup(func() { others.Add(-1) })
}

// testCatalog has all algorithms, and some that misbehave on purpose.
func testCatalog() run.Catalog {
	toy := func(name string, s toys.Script) *dme.Algorithm {
		a := toys.Scripted(name, s)
		a.AsPublished = true
		return a
	}
	nudge := func(_ *toys.Script, out *dme.Outbox) { out.Broadcast(dme.Message{Kind: 1}) }
	enter := func(s *toys.Script, _ dme.NodeID, _ dme.Message, out *dme.Outbox) { toys.Enter(s, out) }
	return append(algorithms.All(), toyLock().Described(), doorkeeper("doorkeeper", false), doorkeeper("deaf-doorkeeper", true),
		toy("eager", toys.Script{Ask: toys.Enter}), // without asking anybody
		toy("chatty", toys.Script{Ask: func(s *toys.Script, out *dme.Outbox) { // so as well, and says it
			nudge(s, out)
			toys.Enter(s, out)
		}}),
		toy("stingy", toys.Script{Ask: nudge, // and lets nobody in
			Hear: func(s *toys.Script, _ dme.NodeID, _ dme.Message, _ *dme.Outbox) { s.X++ }}),
		toy("panicking", toys.Script{Ask: func(s *toys.Script, _ *dme.Outbox) {
			if s.ID == 2 {
				panic("the invariant of this test does not hold")
			}
		}}),
		toy("stuck", toys.Script{Ask: func(s *toys.Script, out *dme.Outbox) {
			if s.ID == 2 {
				select {}
			}
			toys.Enter(s, out)
		}}),
		// Node 1 is let in when node 2 asks, and node 2 when node 1 leaves: until then node 1
		// waits, and not a message is on the way.
		toy("ushered", toys.Script{Hear: enter,
			Ask: func(s *toys.Script, out *dme.Outbox) {
				if s.ID == 2 {
					out.Send(1, dme.Message{Kind: 1})
				}
			},
			Done: func(s *toys.Script, out *dme.Outbox) {
				if s.ID == 1 {
					out.Send(2, dme.Message{Kind: 1})
				}
			}}),
		toy("dozing", toys.Script{
			Ask:     func(_ *toys.Script, out *dme.Outbox) { out.SetTimer(1, doze) },
			Expired: func(s *toys.Script, _ dme.TimerID, out *dme.Outbox) { toys.Enter(s, out) },
		}))
}

// sampled says whether case i of many similar ones is tried: all of them in long tests, else
// one in so many.
func sampled(i, of int) bool { return testkit.Long() || i%of == 0 }

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

// doorkeeper is an algorithm for these tests: node 1 lets one node after the other in,
// and goes on when one of them is down. With deaf set it does not listen to that.
func doorkeeper(name string, deaf bool) *dme.Algorithm {
	a := toys.New(name, func(id dme.NodeID, _ int) dme.Node { return &doorkeeperNode{id: id, deaf: deaf} }, "ASK", "GRANT", "DONE")
	a.AsPublished, a.Root, a.HasToken = true, 1, dme.OfNode((*doorkeeperNode).HasToken)
	return a
}

const (
	ask dme.Kind = 1 + iota
	grant
	done
)

type doorkeeperNode struct {
	id      dme.NodeID
	deaf    bool
	inside  dme.NodeID // at the doorkeeper: who is; elsewhere: this node, if it is
	waiting []dme.NodeID
	away    []dme.NodeID // who is down: nobody is let in for it
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
		if !slices.Contains(n.away, from) {
			n.take(from, out)
		}
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
	is := func(id dme.NodeID) bool { return id == peer }
	n.waiting, n.away = slices.DeleteFunc(n.waiting, is), append(n.away, peer)
	if n.inside == peer {
		n.inside = 0
		n.next(out)
	}
}

func (n *doorkeeperNode) Up(peer dme.NodeID, _ *dme.Outbox) {
	n.away = slices.DeleteFunc(n.away, func(id dme.NodeID) bool { return id == peer })
}

func (n *doorkeeperNode) Restart(*dme.Outbox)    {}
func (n *doorkeeperNode) Join(*dme.Outbox)       {}
func (n *doorkeeperNode) Depart(out *dme.Outbox) { out.Left() }
func (n *doorkeeperNode) HasToken() bool         { return n.id != 1 && n.inside == n.id }

func (n *doorkeeperNode) State(v *dme.Visitor) {
	v.Node("inside", &n.inside)
	v.Nodes("waiting", &n.waiting)
	v.Nodes("away", &n.away)
}
