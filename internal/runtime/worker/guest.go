package worker

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"dmebench/dme"
	"dmebench/internal/runtime/foreign"
	"dmebench/internal/runtime/localprocess"
	"dmebench/internal/runtime/noderun"
)

// This file serves nodes that are processes of their own, in other languages: the worker is their
// way to the network, the local process that asks them, and what counts and watches. They live no
// longer than it does.

type guests struct {
	launcher *foreign.Launcher
	types    foreign.Types // of the messages that they send and receive
	end      sync.Once
}

// leastInitTime is how long a process may take at least from its start to the answer to init. If a
// run is stalled only after longer than that, it may take as long.
const leastInitTime = 3 * time.Second

func (w *worker) startGuests() error {
	if !foreign.Is(w.job.Algorithm.Name) {
		return nil
	}
	if !w.exec {
		return errors.New("worker: nodes in other languages run on the coordinator's host alone; this one does not start programs for others")
	}
	settle, err := time.ParseDuration(w.job.Options.Get(foreign.SettleOption))
	if err != nil {
		return err
	}
	unix.CloseOnExec(pageDescriptor) // for the worker alone
	w.guests.launcher = foreign.NewLauncher()
	for _, id := range w.assigned.Local {
		n := w.nodes[id]
		child, err := foreign.Start(w.guests.launcher, foreign.Config{
			Command: w.job.Options.Get(foreign.CommandOption), Run: w.run, ID: id, Nodes: w.job.Spec.Nodes,
			Settle: settle, Answer: w.job.Spec.StallAfter.Std(), Stderr: os.Stderr,
		}, guest{n})
		if err != nil {
			return err
		}
		n.guest = child
		n.proc.Node().(*foreign.Node).Attach(child)
	}
	return nil
}

// awaitGuests returns once every local process has answered init. If one fails, the coordinator
// hears of it at once and ends this process while it waits.
func (w *worker) awaitGuests() error {
	patience := max(leastInitTime, w.job.Spec.StallAfter.Std())
	timeout := time.After(patience)
	for _, id := range w.assigned.Local {
		child := w.nodes[id].guest
		if child == nil {
			return nil
		}
		select {
		case <-child.Ready():
		case <-timeout:
			err := fmt.Errorf("node %d (%s) has not answered init with init_ok within %v; does it write out each line at once (flush)?",
				id, child.Command, patience)
			w.fail(err)
			<-child.Ended()
			return err
		}
	}
	return nil
}

func (w *worker) endGuests() {
	w.guests.end.Do(func() {
		if w.guests.launcher == nil {
			return
		}
		var ends sync.WaitGroup
		w.each(func(n *node) {
			if n.guest != nil {
				ends.Go(n.guest.Close)
			}
		})
		ends.Wait()
		w.guests.launcher.Close()
	})
}

func (n *node) pass(from dme.NodeID, frame []byte) error {
	kind, body, err := foreign.ReadFrame(frame)
	if err != nil {
		return fmt.Errorf("node %d: frame from node %d: %w", n.id, from, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.traffic[from].Came++
	if n.events != nil {
		n.record(dme.Receive, from, body)
	}
	n.guest.Deliver(from, kind, body)
	return nil
}

// record notes a message in the recording of the run. The acts of the process after a
// message need not be because of it: only the order of events is known.
func (n *node) record(what dme.EventKind, peer dme.NodeID, body []byte) {
	n.events.Observe(n.id, noderun.Event{Kind: what, Peer: peer, Msg: foreign.Pack(body)})
}

func (n *node) describe() string {
	if n.guest != nil {
		return fmt.Sprintf("node %d is %v: %s", n.id, n.proc.Activity(), n.guest.Describe())
	}
	return noderun.Describe(&n.proc.Runner)
}

type guest struct{ *node }

var _ foreign.Host = guest{}

func (g guest) Do(event func()) { g.do(func(*localprocess.Process) { event() }) }

func (g guest) Enter(stamp dme.Stamp) { g.proc.Act(func(out *dme.Outbox) { out.Enter(stamp) }) }

func (g guest) Unasked() { g.proc.Counters().Unasked.Add(1) }

func (g guest) Send(to dme.NodeID, kind string, body []byte) {
	g.proc.CountSent(to, g.worker.guests.types.Kind([]byte(kind)), len(body))
	if g.events != nil {
		g.record(dme.Send, to, body)
	}
	if !g.worker.lost(to) {
		g.frame = foreign.AppendFrame(g.frame[:0], kind, body)
		g.send(to, g.frame)
	}
}

func (g guest) Handled(kind []byte) { g.proc.CountHandled(g.worker.guests.types.Kind(kind)) }

// Busy counts as a timer of the node: while it is armed the system is not silent.
func (g guest) Busy(busy bool) {
	change := uint64(1)
	if !busy {
		change = ^uint64(0)
	}
	g.proc.Counters().Timers.Add(change)
}

func (g guest) Fail(err error) { g.worker.fail(err) }
