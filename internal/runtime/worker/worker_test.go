package worker

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/witness"
	"dmebench/runs"
	"dmebench/transport"
)

// system is a run without a coordinator: its workers live in this process, and
// their frames cross the kernel's network.
type system struct {
	page    *witness.Page
	workers []*worker
	ending  atomic.Bool
}

func startSystem(tb testing.TB, spec runs.Spec) *system {
	tb.Helper()
	return startSharing(tb, spec, nil)
}

// startSharing starts a system whose critical sections share a resource.
func startSharing(tb testing.TB, spec runs.Spec, r shared) *system {
	tb.Helper()
	s := connect(tb, spec, r)
	s.begin(tb, s.workers...)
	return s
}

func (s *system) begin(tb testing.TB, workers ...*worker) {
	tb.Helper()
	for _, w := range workers {
		s.command(tb, w, control.Command{Op: control.OpBegin, At: w.clock.Now()})
	}
}

// connect makes a system of which nothing has begun.
func connect(tb testing.TB, spec runs.Spec, r shared) *system {
	tb.Helper()
	room := witness.Room{Nodes: spec.Nodes, Watched: true}
	if spec.Faults != nil {
		room.Records = 64
	}
	page, err := witness.CreatePage(room)
	if err != nil {
		tb.Fatal(err)
	}
	s := &system{page: page}
	tb.Cleanup(func() {
		s.ending.Store(true)
		for _, w := range s.workers {
			w.close()
		}
		page.Close()
	})
	var book transport.AddressBook
	for id := range dme.NodeID(spec.Nodes) {
		fd, err := unix.Dup(int(page.File().Fd()))
		if err != nil {
			tb.Fatal(err)
		}
		w := &worker{
			catalog: algorithms.All(), resource: r, clock: clock.New(), memory: os.NewFile(uintptr(fd), "shared page"),
			notify: func(e control.Event) {
				if !s.ending.Load() {
					tb.Errorf("%+v", e)
				}
			},
		}
		s.workers = append(s.workers, w)
		r := s.command(tb, w, control.Command{Op: control.OpAssign, Assign: &control.Assignment{
			Spec: spec, Local: []dme.NodeID{id + 1}, Listen: "127.0.0.1:0",
			Key: [transport.KeySize]byte{1}, LogLimit: 1 << 16,
		}})
		book = append(book, r.Addr)
	}
	for _, w := range s.workers {
		s.command(tb, w, control.Command{Op: control.OpConnect, Book: book})
	}
	return s
}

func (s *system) command(tb testing.TB, w *worker, c control.Command) control.Reply {
	tb.Helper()
	r := w.answer(c)
	if r.Error != "" {
		tb.Fatal(r.Error)
	}
	return r
}

// handled returns how many messages have been handled so far.
func (s *system) handled() (n uint64) {
	for i := range s.page.Nodes() {
		n += s.page.Nodes()[i].Handled.Load()
	}
	return n
}

// await returns when so many more messages have been handled.
func (s *system) await(tb testing.TB, messages uint64) {
	tb.Helper()
	deadline := time.Now().Add(time.Minute)
	for until := s.handled() + messages; s.handled() < until; time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("%d messages have not come within a minute", messages)
		}
	}
}

// A node starts before it handles its first message, although another process may have heard
// sooner that the run begins. Here the heads of two groups, which keep a lock each from their
// start on, hear of it only when a node of each group has asked.
func TestNodesStartBeforeTheirFirstMessage(t *testing.T) {
	s := connect(t, runs.Spec{Algorithm: "composed", Nodes: 4, Transport: "tcp", CS: "100us", Requests: 400}.WithDefaults(), nil)
	s.begin(t, s.workers[1], s.workers[3])
	s.await(t, 2) // which say that they ask
	s.begin(t, s.workers[0], s.workers[2])
	s.await(t, 200)
	if n, first := s.page.Violations(); n != 0 {
		t.Errorf("%d violations: %s", n, first)
	}
}

// What a message takes on its way from a socket through the node's handler to
// the next socket is reused. Records of entries come in chunks, and so count for
// next to nothing.
func TestMessagesAllocateNothing(t *testing.T) {
	for _, c := range []struct{ algorithm, transport, cs string }{
		{"ricart-agrawala", "tcp", "0"}, {"suzuki-kasami", "tcp", "100us"}, {"lamport", "tcp", "0"}, {"token-ring", "udp", "0"},
	} {
		t.Run(c.algorithm+"/"+c.transport+"/cs="+c.cs, func(t *testing.T) {
			s := startSystem(t, runs.Spec{
				Algorithm: c.algorithm, Nodes: 3, Transport: c.transport, CS: c.cs, Duration: runs.Duration(time.Hour),
			}.WithDefaults())
			const messages = 2000
			s.await(t, messages) // fills what is reused
			allocs := math.Inf(1)
			for range 5 { // what is sent again on a busy machine may allocate
				allocs = min(allocs, testing.AllocsPerRun(1, func() { s.await(t, messages) }))
			}
			if allocs > messages/100 {
				t.Errorf("%v allocations in %d messages", allocs, messages)
			}
		})
	}
}

// Whoever leads a run on an agent's host cannot have it start a program: only the
// boot of a worker, which the agent writes itself, could allow it.
func TestProgramsAreStartedOnlyWhereThatIsAllowed(t *testing.T) {
	page, err := witness.CreatePage(witness.Room{Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	started := filepath.Join(t.TempDir(), "started")
	w := &worker{catalog: algorithms.All(), clock: clock.New(), memory: page.File(), notify: func(control.Event) {}}
	defer w.close()
	r := w.answer(control.Command{Op: control.OpAssign, Assign: &control.Assignment{
		Spec: runs.Spec{
			Algorithm: "exec", Nodes: 1, Transport: "tcp", Set: map[string]string{"command": "touch " + started},
		}.WithDefaults(),
		Local: []dme.NodeID{1}, Listen: "127.0.0.1:0", Key: [transport.KeySize]byte{1}, LogLimit: 1,
	}})
	if !strings.Contains(r.Error, "does not start programs for others") {
		t.Errorf("the worker answers %q", r.Error)
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("the program was started")
	}
}
