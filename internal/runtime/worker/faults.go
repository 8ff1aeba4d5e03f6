package worker

import (
	"errors"
	"fmt"
	"sync/atomic"

	"dmebench/dme"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/localprocess"
	"dmebench/internal/runtime/noderun"
	"dmebench/transport"
)

// This file serves runs in which nodes are killed, come back, join and leave.
//
// Nodes hear from the coordinator that a peer is down or up, in this order: the last message of the
// one that is down, Down, Up, the first message of the next. The transport keeps it.

var _ transport.UpHandler = (*worker)(nil)

// errExpelled is the reason of a Down that the coordinator has announced.
var errExpelled = errors.New("its process has ended")

// prepareFaults gets ready for peers that come and go. A newcomer's nodes do nothing, whatever
// arrives, until they begin: a node in its initial state would answer as if it had never been
// there.
func (w *worker) prepareFaults() {
	a := w.assigned
	if len(w.job.Faults) == 0 && !a.Tolerant {
		return
	}
	w.down = make([]atomic.Bool, a.Spec.Nodes+1)
	for _, id := range a.Absent {
		w.setDown(id, true)
	}
	if w.newcomer = a.Incarnation > 1 || a.Joins; w.newcomer {
		w.each(func(n *node) { n.mu.Lock() })
	}
}

// lost reports whether what is sent to a node is lost: it is down, or this process
// has not heard yet that it is up.
func (w *worker) lost(to dme.NodeID) bool { return w.down != nil && w.down[to].Load() }

// setDown notes whether a node is down. While any is, a broadcast goes to each of
// the others by itself: one transmission would reach one that comes back too early.
func (w *worker) setDown(id dme.NodeID, down bool) {
	if w.down[id].Swap(down) == down {
		return
	}
	if down {
		w.missing.Add(1)
	} else {
		w.missing.Add(-1)
	}
}

// beginLate starts the nodes of a process that comes into a running system, and tells them which
// nodes are not there. start is when the run began.
func (w *worker) beginLate(start int64) {
	w.mark()
	w.each(func(n *node) {
		made := int(n.proc.Counters().Requests.Load())
		n.started = true
		if w.assigned.Joins {
			n.proc.Join()
		} else {
			n.proc.Restart()
		}
		for _, peer := range w.assigned.Absent {
			n.proc.PeerDown(peer)
		}
		n.proc.Continue(start, made)
		n.settle()
		n.mu.Unlock() // see prepareFaults
		w.flush()
	})
}

func (w *worker) expel(peers []dme.NodeID) error {
	t, ok := w.transport.(transport.Readmitter)
	if !ok || w.down == nil {
		return fmt.Errorf("worker: %s cannot do without a process of the run", w.job.Network.Name)
	}
	var errs []error
	for _, peer := range peers {
		w.setDown(peer, true)
		if err := t.Expel(peer, errExpelled); err != nil {
			errs = append(errs, err)
			continue
		}
		w.each(func(n *node) {
			n.do(func(p *localprocess.Process) {
				n.traffic[peer] = control.Traffic{} // what is missing is missing for ever
				p.PeerDown(peer)
			})
		})
	}
	return errors.Join(errs...)
}

func (w *worker) readmit(peers []dme.NodeID, addr string, incarnation uint32) error {
	t, ok := w.transport.(transport.Readmitter)
	if !ok || w.down == nil || len(peers) == 0 {
		return fmt.Errorf("worker: %s cannot take in a process while the run goes on", w.job.Network.Name)
	}
	return t.Readmit(peers[0], addr, incarnation)
}

// Up is called by the transport, before the first frame of a new incarnation.
func (w *worker) Up(peer dme.NodeID) {
	w.setDown(peer, false)
	w.locked(func(n *node) {
		n.proc.PeerUp(peer)
		n.settle()
	})
}

// local returns the node of that number, if it is here.
func (w *worker) local(nodes []dme.NodeID) (*node, error) {
	if len(nodes) != 1 || int(nodes[0]) >= len(w.nodes) || w.nodes[nodes[0]] == nil {
		return nil, fmt.Errorf("worker: nodes %v are not one that is here", nodes)
	}
	return w.nodes[nodes[0]], nil
}

// seize keeps a node from doing anything more, if it is as asked, by holding its
// lock: what strikes it then finds it so.
func (w *worker) seize(nodes []dme.NodeID, as control.Condition) (bool, error) {
	n, err := w.local(nodes)
	if err != nil {
		return false, err
	}
	n.mu.Lock()
	met, is := false, n.proc.Activity()
	switch as {
	case control.Idle:
		met = is == noderun.Idle
	case control.Waiting:
		met = is == noderun.Requesting
	case control.HasToken:
		has := w.job.Algorithm.HasToken
		met = has != nil && has(n.proc.Node()) && is != noderun.Down
	}
	if !met {
		n.mu.Unlock()
		return false, nil
	}
	w.seized = n
	return true, nil
}

func (w *worker) free(nodes []dme.NodeID) error {
	n, err := w.local(nodes)
	if err != nil {
		return err
	}
	if w.seized == n {
		w.seized = nil
		n.mu.Unlock()
	}
	n.do(func(p *localprocess.Process) {
		if n.staying {
			n.staying = false
			env{n}.ExitAt(n.id, w.clock.Now())
		}
	})
	return nil
}

// leave has a node leave the system once its local process is idle.
func (w *worker) leave(nodes []dme.NodeID) error {
	n, err := w.local(nodes)
	if err == nil {
		n.do(func(p *localprocess.Process) { p.Depart() })
	}
	return err
}
