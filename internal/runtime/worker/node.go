package worker

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/record/recording"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/foreign"
	"dmebench/internal/runtime/localprocess"
	"dmebench/internal/runtime/noderun"
	"dmebench/transport"
)

// node is one node of this process. Its lock serializes its events: the
// goroutine that has an event (a socket's reader, the alarm) runs the handler
// itself. The lock is never held while a goroutine waits for the network.
type node struct {
	mu     sync.Mutex
	id     dme.NodeID
	worker *worker
	proc   localprocess.Process
	log    *record.Log
	events *recording.Log // nil if nothing is recorded

	started bool // or has come in late
	in      dme.Message
	frame   []byte            // encoding buffer
	spare   []uint64          // an unused vector, for the next message that has one
	leaving bool              // the critical section is over already: it lasts no time
	staying bool              // stays in the critical section, for a fault that is to strike it there
	traffic []control.Traffic // by NodeID: with that node; shows which link holds messages
	timers  map[dme.TimerID]uint64
	serial  uint64         // of timers
	use     use            // of the run's shared resource
	guest   *foreign.Child // the process that decides what the node does; nil if it is no process of its own
}

func newNode(w *worker, id dme.NodeID) *node {
	n := &node{id: id, worker: w, timers: make(map[dme.TimerID]uint64), traffic: make([]control.Traffic, w.job.Spec.Nodes+1)}
	if m, ok := w.page.Log(id); ok {
		n.log = record.NewLogIn(m)
	} else {
		n.log = record.NewLog(w.assigned.LogLimit)
	}
	group := noderun.NewGroup(w.job.Algorithm, w.job.System, w.job.Spec.Nodes, world{n})
	group.CountFar(w.job.Far())
	if w.assigned.Record > 0 {
		n.events = recording.NewLog(w.clock.Now, w.assigned.Record)
		group.SetObserver(n.events)
	}
	n.proc = localprocess.New(group.Runner(id, w.page.Counters(id), w.page.Traffic(id)), env{n}, w.job.Plan.Client(id), n.log)
	n.proc.Watch(w.page.Waits(id))
	n.proc.Fences = w.job.Algorithm.Fences(w.job.Options)
	return n
}

func (n *node) receive(from dme.NodeID, frame []byte) error {
	if n.guest != nil {
		return n.pass(from, frame)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.traffic[from].Came++
	vec := n.spare
	n.spare = nil
	if err := dme.DecodeMessage(frame, &n.in, vec); err != nil {
		return fmt.Errorf("node %d: frame from node %d: %w", n.id, from, err)
	}
	if n.in.Vec == nil {
		n.spare = vec
	}
	n.start() // another process may have heard sooner that the run begins
	n.proc.Receive(from, &n.in)
	n.settle()
	return nil
}

// start starts the node, unless it has been. It does so before all else.
func (n *node) start() {
	if !n.started {
		n.started = true
		n.proc.Start()
	}
}

// transmitted handles a broadcast of this node's own that has taken its place
// among all.
func (n *node) transmitted(frame []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := dme.DecodeMessage(frame, &n.in, nil); err != nil {
		return fmt.Errorf("node %d: its own broadcast: %w", n.id, err)
	}
	n.proc.Transmitted(&n.in)
	n.settle()
	return nil
}

// do runs one event of the local process or of the runtime.
func (n *node) do(event func(*localprocess.Process)) {
	n.mu.Lock()
	event(&n.proc)
	n.settle()
	n.mu.Unlock()
	n.worker.flush()
}

func (w *worker) fire(e event) {
	if e.due == pingDue {
		w.pings.due <- struct{}{} // there is room: one ping is awaited at a time
		return
	}
	w.nodes[e.node].fire(e)
}

func (n *node) fire(e event) {
	n.mu.Lock()
	switch e.due {
	case startDue:
		n.start()
	case arrivalDue:
		n.start()
		n.proc.Arrive(e.at)
	case exitDue:
		n.leave()
	case timeoutDue:
		if n.timers[e.timer] == e.set {
			delete(n.timers, e.timer)
			n.proc.Timeout(e.timer)
			n.proc.Counters().Timers.Add(^uint64(0)) // last: what the handler sent has been counted
		}
	}
	n.settle()
	n.mu.Unlock()
	n.worker.flush()
}

// settle ends critical sections that last no time. Between two of them it lets
// others have the node: a process that asks again at once must not shut out the
// messages that wait for the lock.
func (n *node) settle() {
	for n.leaving {
		n.leaving = false
		n.leave()
		if n.leaving {
			n.mu.Unlock()
			n.worker.flush()
			runtime.Gosched()
			n.mu.Lock()
		}
	}
}

func (n *node) disarm(timer dme.TimerID) {
	if _, armed := n.timers[timer]; armed {
		delete(n.timers, timer)
		n.proc.Counters().Timers.Add(^uint64(0))
	}
}

// encode returns the wire form of m, valid until the next call, and takes its
// vector back for reuse if it was handed over.
func (n *node) encode(m *dme.Message, owned bool) []byte {
	n.frame = dme.AppendMessage(n.frame[:0], m)
	if owned && m.Vec != nil && n.spare == nil {
		n.spare = m.Vec[:0]
	}
	return n.frame
}

// world carries out the effects of the node's handlers.
type world struct{ *node }

func (w world) Send(_, to dme.NodeID, m *dme.Message) {
	if w.worker.lost(to) {
		return
	}
	w.send(to, w.encode(m, true))
}

// send gives the transport a frame for another node, and reports whether it has taken it.
func (n *node) send(to dme.NodeID, frame []byte) bool {
	n.traffic[to].Sent++
	err := n.worker.transport.Send(n.id, to, frame)
	if err != nil {
		n.worker.fail(fmt.Errorf("node %d cannot send to node %d: %w", n.id, to, err))
	}
	return err == nil
}

func (w world) Broadcast(from dme.NodeID, m *dme.Message) int {
	frame := w.encode(m, false)
	if b, ok := w.worker.transport.(transport.Broadcaster); ok && w.worker.missing.Load() == 0 {
		if err := b.Broadcast(from, frame); err != nil {
			w.worker.fail(fmt.Errorf("node %d cannot broadcast: %w", from, err))
		}
		for to := range w.traffic {
			w.traffic[to].Sent++
		}
		return 1
	}
	nodes := w.worker.job.Spec.Nodes
	for to := dme.NodeID(1); int(to) <= nodes; to++ {
		if to != from && !w.worker.lost(to) && !w.send(to, frame) {
			break
		}
	}
	return nodes - 1
}

func (w world) Enter(_ dme.NodeID, stamp dme.Stamp) { w.proc.Entered(stamp) }

func (w world) SetTimer(id dme.NodeID, timer dme.TimerID, delay time.Duration) {
	w.disarm(timer)
	w.serial++
	w.timers[timer] = w.serial
	w.proc.Counters().Timers.Add(1)
	w.worker.alarm.add(event{at: w.worker.clock.Now() + int64(delay), due: timeoutDue, node: id, timer: timer, set: w.serial})
}

func (w world) CancelTimer(_ dme.NodeID, timer dme.TimerID) { w.disarm(timer) }

// env is what the node's local process needs.
type env struct{ *node }

// Now is asked at each request, entry and exit.
func (e env) Now() int64 {
	now := e.worker.clock.Now()
	e.worker.lease.check(now)
	return now
}

func (e env) ArriveAt(id dme.NodeID, at int64) {
	e.worker.alarm.add(event{at: at, due: arrivalDue, node: id})
}

func (e env) ExitAt(id dme.NodeID, at int64) {
	if e.worker.resource != nil && e.use.stage == unused {
		e.begin()
	}
	if e.staying {
		return
	}
	if e.use.stage == reading {
		e.use.ends, e.use.hold = true, max(at-e.worker.clock.Now(), 0)
		return
	}
	if at <= e.worker.clock.Now() {
		e.leaving = true
		return
	}
	e.worker.alarm.add(event{at: at, due: exitDue, node: id})
}

func (e env) Enter(id dme.NodeID, shared bool) uint64 {
	if e.worker.lease != nil {
		e.Now() // ends a worker that stood still for too long
	}
	order := e.worker.page.Enter(id, shared)
	if e.worker.down != nil {
		e.worker.page.Entered(id, e.worker.clock.Now())
		if e.staying = e.worker.page.Stays(order); e.staying && e.worker.resource == nil {
			e.worker.page.Stay(id)
		}
	}
	return order
}

func (e env) Exit(id dme.NodeID, shared bool) { e.worker.page.Exit(id, shared) }
