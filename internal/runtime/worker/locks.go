package worker

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/localprocess"
	"dmebench/internal/runtime/noderun"
	"dmebench/lock"
)

// This file serves nodes that are clients of a lock service: the worker has the service's library
// call its servers, and the local process asks the client for the lock.

// openTime bounds how long a client may take to be opened.
const openTime = 15 * time.Second

// retryPause is between a call of Lock that the service has answered with an error, and the next.
const retryPause = 20 * time.Millisecond

// clients are those of a lock service; their zero value is for a run of an algorithm.
type clients struct {
	service lock.Service
	ctx     context.Context // until the run is over
	end     context.CancelFunc
	failed  atomic.Uint64 // calls of Lock
	expired atomic.Uint64 // locks that were lost while they were held
}

func (w *worker) openClients() error {
	p, ok := w.job.System.(*lock.Prepared)
	if !ok {
		return nil
	}
	s := &w.clients
	s.ctx, s.end = context.WithCancel(context.Background())
	opening, cancel := context.WithTimeout(s.ctx, openTime)
	defer cancel()
	var err error
	s.service, err = p.Start(opening, lock.Config{
		Options: p.Options, Servers: w.assigned.Servers, Meter: func(id dme.NodeID) lock.Meter { return meter{w.nodes[id]} },
	})
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	for _, id := range w.assigned.Local {
		c, err := s.service.Client(opening, id)
		if err != nil {
			return fmt.Errorf("%s: the client of node %d: %w", p.Name, id, err)
		}
		l := &locker{node: w.nodes[id], client: c, steps: make(chan func(), 2)}
		*l.proc.Node().(*lock.Node) = lock.Node{Ask: func() { l.steps <- l.take }, Leave: l.leave}
		go l.run()
	}
	return nil
}

func (w *worker) closeClients() {
	if s := &w.clients; s.service != nil {
		s.end()
		_ = s.service.Close() // its servers end with the run
	}
}

// locker takes and gives back the lock for one node, in a goroutine of its own.
type locker struct {
	*node
	client lock.Client
	steps  chan func() // at most two: the lock is given back, and asked for again
}

func (l *locker) run() {
	defer l.client.Close()
	for {
		select {
		case step := <-l.steps:
			step()
		case <-l.worker.clients.ctx.Done():
			return
		}
	}
}

func (l *locker) take() {
	ctx := l.worker.clients.ctx
	fencing, err := l.client.Lock(ctx)
	if err != nil {
		if ctx.Err() == nil {
			l.worker.clients.failed.Add(1)
			time.AfterFunc(retryPause, func() { l.steps <- l.take })
		}
		return
	}
	l.do(func(p *localprocess.Process) {
		if p.Activity() != noderun.Requesting {
			return
		}
		stamp := dme.Stamp{}
		if fencing > 0 {
			stamp = dme.Stamp{Clock: fencing, Node: l.id}
		}
		p.Act(func(out *dme.Outbox) { out.Enter(stamp) })
	})
}

// leave is called as a part of an event. That the lock is not given back yet counts as a
// timer: the system is not silent.
func (l *locker) leave() {
	l.proc.Counters().Timers.Add(1)
	l.steps <- l.give
}

// give gives the lock back. If that fails, the service takes it when its lease is over.
func (l *locker) give() {
	if err := l.client.Unlock(l.worker.clients.ctx); errors.Is(err, lock.ErrLost) {
		l.worker.clients.expired.Add(1)
	}
	l.proc.Counters().Timers.Add(^uint64(0))
}

// meter counts for one node. A message that reached a client counts as handled, too.
type meter struct{ *node }

func (m meter) Message(kind dme.Kind) { m.proc.CountPassed(kind) }

func (m meter) Bytes(n int) { m.proc.Counters().Bytes.Add(uint64(n)) }
