package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
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
		Options: p.Options, Servers: w.assigned.Servers, Run: w.run, Meter: w.meterOf,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	for _, id := range w.assigned.Local {
		c, err := s.service.Client(opening, id)
		if err != nil {
			return fmt.Errorf("%s: the client of node %d: %w", p.Name, id, err)
		}
		l := &locker{node: w.nodes[id], client: c, asked: make(chan struct{}, 1), left: make(chan struct{}, 1)}
		of := l.proc.Node().(*lock.Node)
		of.Ask, of.Leave = l.ask, l.leave
		go l.run()
	}
	return nil
}

func (w *worker) meterOf(id dme.NodeID) lock.Meter {
	if id == dme.None {
		return new(lock.Unmetered)
	}
	return meter{w.nodes[id]}
}

func (w *worker) closeClients() {
	if s := &w.clients; s.service != nil {
		s.end()
		_ = s.service.Close() // its servers end with the run
	}
}

// locker takes and gives back the lock for one node.
type locker struct {
	*node
	client      lock.Client
	asked, left chan struct{}
}

func (l *locker) ask() { l.asked <- struct{}{} }

// leave is called as a part of an event. That the lock is not given back yet counts as a
// timer: the system is not silent.
func (l *locker) leave() {
	l.proc.Counters().Timers.Add(1)
	l.left <- struct{}{}
}

func (l *locker) run() {
	ctx := l.worker.clients.ctx
	defer l.client.Close()
	for {
		select {
		case <-l.asked:
		case <-ctx.Done():
			return
		}
		fencing, err := l.acquire(ctx)
		if err != nil {
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
		select {
		case <-l.left:
		case <-ctx.Done():
			return
		}
		// If it cannot be given back now, the service takes it when its lease is over.
		if err := l.client.Unlock(ctx); errors.Is(err, lock.ErrLost) {
			l.worker.clients.expired.Add(1)
		}
		l.proc.Counters().Timers.Add(^uint64(0))
	}
}

func (l *locker) acquire(ctx context.Context) (fencing uint64, err error) {
	for {
		if fencing, err = l.client.Lock(ctx); err == nil || ctx.Err() != nil {
			return fencing, err
		}
		l.worker.clients.failed.Add(1)
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// meter counts for one node. What a client has heard of was handled as well.
type meter struct{ *node }

var _ lock.Meter = meter{}

func (m meter) Sent(kind dme.Kind) { m.proc.CountPassed(kind) }

func (m meter) Received(kind dme.Kind) { m.Sent(kind) }

func (m meter) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return counted{c, &m.proc.Counters().Bytes}, nil
}

// counted is a connection whose bytes are counted, of both directions.
type counted struct {
	net.Conn
	bytes *atomic.Uint64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.bytes.Add(uint64(n))
	return n, err
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.bytes.Add(uint64(n))
	return n, err
}
