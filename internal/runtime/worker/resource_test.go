package worker

import (
	"sync/atomic"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/witness"
	"dmebench/runs"
)

// slow is a resource whose server answers when the test says so.
type slow struct {
	asked   chan chan struct{} // a question, to be answered
	version atomic.Uint64
}

// before is how many updates there were before the run: entries are numbered by those.
const before = 100

func (s *slow) Read(uint64) (witness.Seen, error) {
	s.await()
	return witness.Seen{Version: before + s.version.Add(1)}, nil
}

func (s *slow) Write(witness.Seen, record.Update) error {
	s.await()
	return nil
}

func (s *slow) Close() {}

func (s *slow) await() {
	answer := make(chan struct{})
	s.asked <- answer
	<-answer
}

// While a node waits for the resource it does everything else that a node does: it
// answers others and its coordinator, and is in the critical section.
func TestNodesGoOnWhileTheResourceIsAwaited(t *testing.T) {
	r := &slow{asked: make(chan chan struct{})}
	const nodes, entries = 3, 4
	s := startSharing(t, runs.Spec{
		Algorithm: "ricart-agrawala", Nodes: nodes, Transport: "tcp", CS: "0", Requests: nodes * entries,
	}.WithDefaults(), r)
	ended := func() (n uint64) {
		for i := range s.page.Nodes() {
			n += s.page.Nodes()[i].Entries.Load()
		}
		return n
	}
	for k := range uint64(2 * nodes * entries) { // each is read and then written
		answer := <-r.asked
		for k == 0 && s.handled() < nodes*(nodes-1) { // all the others ask, and the node inside takes notice
			time.Sleep(time.Millisecond)
		}
		for _, w := range s.workers {
			s.command(t, w, control.Command{Op: control.OpAlive}) // hangs if a lock is held
		}
		if n := ended(); n != k/2 {
			t.Errorf("%d nodes have left, while the one after %d waits for the resource", n, k/2)
		}
		select {
		case <-r.asked:
			t.Fatal("another node has entered or leaves")
		default:
		}
		close(answer)
	}
	for ended() < nodes*entries {
		time.Sleep(time.Millisecond)
	}
	seen := make(map[uint64]bool)
	for _, w := range s.workers {
		w.each(func(n *node) {
			n.mu.Lock()
			defer n.mu.Unlock()
			for _, chunk := range n.log.Chunks() {
				for _, e := range chunk {
					seen[e.Order] = true
				}
			}
		})
	}
	if n, _ := s.page.Violations(); n != 0 || len(seen) != nodes*entries || !seen[before+1] || !seen[before+nodes*entries] {
		t.Errorf("%d violations; the order of entries is %v", n, seen)
	}
}

// A fault for the node inside finds it there once it has read the resource, and not before.
func TestTheNodeInsideIsHeldOnceItHasRead(t *testing.T) {
	r := &slow{asked: make(chan chan struct{})}
	s := connect(t, runs.Spec{
		Algorithm: "ricart-agrawala", Nodes: 2, Transport: "tcp", CS: "0", Requests: 2, Faults: []string{"pause holder @entry:1+1s"},
	}.WithDefaults(), r)
	s.page.Hold(1)
	s.begin(t, s.workers...)
	answer := <-r.asked
	if id := s.page.Held(); id != dme.None {
		t.Errorf("node %d is held while it reads", id)
	}
	close(answer)
	for s.page.Held() == dme.None {
		time.Sleep(time.Millisecond)
	}
	id := s.page.Held()
	s.command(t, s.workers[id-1], control.Command{Op: control.OpFree, Nodes: []dme.NodeID{id}})
	for range 3 { // it writes, and the other one reads and writes
		close(<-r.asked)
	}
}
