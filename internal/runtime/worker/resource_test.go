package worker

import (
	"sync/atomic"
	"testing"
	"time"

	"dmebench/internal/record/entrylog"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/resource"
	"dmebench/runs"
)

// slow is a resource whose server answers when the test says so.
type slow struct {
	read, write chan chan bool // a question, to be answered
	version     atomic.Uint64
}

func (s *slow) Read() (resource.Seen, error) {
	s.await(s.read)
	return resource.Seen{Version: s.version.Add(1)}, nil
}

func (s *slow) Write(seen resource.Seen, u entrylog.Update) error {
	s.await(s.write)
	return nil
}

func (s *slow) Close() {}

func (s *slow) await(c chan chan bool) {
	answer := make(chan bool)
	c <- answer
	<-answer
}

// While a node waits for the resource it does everything else that a node does: it
// answers others and its coordinator, and is in the critical section.
func TestNodesGoOnWhileTheResourceIsAwaited(t *testing.T) {
	r := &slow{read: make(chan chan bool), write: make(chan chan bool)}
	const nodes, entries = 3, 4
	s := startSharing(t, runs.Spec{
		Algorithm: "ricart-agrawala", Nodes: nodes, Transport: "tcp", CS: "0", Requests: nodes * entries,
	}.WithDefaults(), r)
	done := func() (n uint64) {
		for i := range s.page.Nodes() {
			n += s.page.Nodes()[i].Entries.Load()
		}
		return n
	}
	alive := func() {
		for _, w := range s.workers {
			s.tell(t, w, control.Command{Op: control.OpAlive}) // hangs where a lock is held
		}
	}
	for k := range uint64(nodes * entries) {
		for _, asked := range []chan chan bool{r.read, r.write} {
			answer := <-asked
			// All the others ask, and whoever is inside takes notice.
			for k == 0 && s.handled() < nodes*(nodes-1) {
				time.Sleep(time.Millisecond)
			}
			alive()
			if n := done(); n != k {
				t.Errorf("%d nodes have left, while the one after %d waits for the resource", n, k)
			}
			select {
			case <-r.read:
				t.Fatal("another node has entered")
			case <-r.write:
				t.Fatal("another node leaves")
			default:
			}
			close(answer)
		}
	}
	for done() < nodes*entries {
		time.Sleep(time.Millisecond)
	}
	if n, _ := s.page.Violations(); n != 0 {
		t.Errorf("%d violations", n)
	}
	var order []uint64
	for _, w := range s.workers {
		w.each(func(n *node) {
			n.mu.Lock()
			defer n.mu.Unlock()
			for _, chunk := range n.log.Chunks() {
				for _, e := range chunk {
					order = append(order, e.Order)
				}
			}
		})
	}
	if len(order) != nodes*entries {
		t.Errorf("%d records", len(order))
	}
	seen := make(map[uint64]bool)
	for _, n := range order {
		if n < 1 || n > nodes*entries || seen[n] {
			t.Errorf("the order of entries is %v", order)
			break
		}
		seen[n] = true
	}
}
