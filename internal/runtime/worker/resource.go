package worker

import (
	"fmt"
	"time"

	"dmebench/internal/record"
	"dmebench/internal/runtime/localprocess"
	"dmebench/internal/runtime/witness"
)

// A critical section with a shared resource: it is entered, the resource is read, the
// section lasts for as long as the workload says, the resource is written back, and
// then it is left. Server and network take their time for reading and writing:
// a goroutine waits for them, and the node's lock is free meanwhile.

// mostPatience bounds how long the server of the resource may take for one answer, as
// does half of the time after which a system is stalled: the run then fails of the
// server, and the algorithm is not said to have stalled.
const mostPatience = 5 * time.Second

// shared is the resource, as its nodes use it; see [witness.Resource].
type shared interface {
	Read(fencing uint64) (witness.Seen, error)
	Write(seen witness.Seen, u record.Update) error
}

// openResource connects to the shared resource of the run, if there is one.
func (w *worker) openResource() error {
	if w.job.Spec.Resource == record.InMemory {
		w.resource = w.page
		return nil
	}
	a := w.assigned.Resource
	if a == nil {
		return nil
	}
	broker := w.control
	if a.Broker != nil {
		broker = *a.Broker
	}
	patience := min(mostPatience, w.job.Spec.StallAfter.Std()/2)
	r, err := witness.OpenResource(broker, a.Bucket, patience, w.fail)
	if err != nil {
		return err
	}
	w.resource = r
	return nil
}

type use struct {
	stage useStage
	seen  witness.Seen
	ends  bool  // the end of the section was arranged while the resource was being read
	hold  int64 // how long it is to last then, ns
}

type useStage uint8

const (
	unused  useStage = iota // outside
	reading                 // has entered
	inside
)

// begin reads the resource in a critical section that has just been entered.
func (n *node) begin() {
	n.use.stage = reading
	fencing := n.proc.Fencing()
	go func() {
		seen, err := n.worker.resource.Read(fencing)
		if err != nil {
			n.worker.fail(fmt.Errorf("node %d: %w", n.id, err))
			return
		}
		n.do(func(p *localprocess.Process) {
			n.use.stage, n.use.seen = inside, seen
			if n.worker.job.Spec.Resource != record.InMemory {
				p.Place(seen.Version)
			}
			if n.staying { // the fault strikes a section that is under way
				n.worker.page.Stay(n.id)
			}
			if n.use.ends {
				n.use.ends = false
				env{n}.ExitAt(n.id, n.worker.clock.Now()+n.use.hold)
			}
		})
	}()
}

// leave ends the critical section: if there is a resource, once that is written.
func (n *node) leave() {
	if n.worker.resource == nil {
		n.proc.Exit()
		return
	}
	seen := n.use.seen
	n.use = use{}
	u, shared := n.proc.Update(n.worker.clock.Now())
	if shared {
		n.proc.Exit()
		return
	}
	go func() {
		err := n.worker.resource.Write(seen, u)
		if err != nil {
			n.worker.fail(fmt.Errorf("node %d: %w", n.id, err))
			return
		}
		n.do(func(p *localprocess.Process) { p.Exit() })
	}()
}
