package agent

import (
	"context"
	"sync"

	"dmebench/internal/host"
	"dmebench/internal/launch"
)

// process is a worker on an agent's host.
type process struct {
	host   *Remote
	number int // among those of the lease
	pid    int
	ended  chan struct{}

	once    sync.Once
	outcome string
	stderr  []string
}

var _ launch.Process = (*process)(nil)

// Start has the agent start a worker.
func (h *Remote) Start(ctx context.Context, w host.Worker) (launch.Process, error) {
	x, err := h.call(ctx, request{Op: opStart, Run: w.Boot.Run, Worker: w.Boot.Worker, Procs: w.GOMAXPROCS})
	if err != nil {
		return nil, err
	}
	p := &process{host: h, number: x.Process, pid: x.PID, ended: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.processes[p.number] = p
	for _, e := range h.endings { // it may have ended already
		if e.Process == p.number {
			p.end(e.Outcome, e.Stderr)
		}
	}
	if h.why != nil {
		p.end(h.why.Error(), nil)
	}
	return p, nil
}

// end notes how the process has ended, unless that is known.
func (p *process) end(outcome string, stderr []string) {
	p.once.Do(func() {
		p.outcome, p.stderr = outcome, stderr
		close(p.ended)
	})
}

// PID returns the process's number on its host.
func (p *process) PID() int { return p.pid }

// Ended is closed once the agent has reaped the process, or is given up itself.
func (p *process) Ended() <-chan struct{} { return p.ended }

// Outcome says how the process ended; of one whose host is lost, that.
func (p *process) Outcome() string { return p.outcome }

// Kill has the agent end the process. It does not wait for that.
func (p *process) Kill() {
	select {
	case <-p.ended:
		return
	default:
	}
	p.host.kills.Go(func() { _, _ = p.host.call(context.Background(), request{Op: opKill, Process: p.number}) })
}

// Pause returns once the process stands still.
func (p *process) Pause() error { return p.ask(opPause) }

// Resume lets the process go on.
func (p *process) Resume() error { return p.ask(opResume) }

func (p *process) ask(what op) error {
	_, err := p.host.call(context.Background(), request{Op: what, Process: p.number})
	return err
}

// Stopped asks the agent; it is false where that does not answer.
func (p *process) Stopped() bool {
	x, err := p.host.call(context.Background(), request{Op: opStopped, Process: p.number})
	return err == nil && x.Stopped
}

// Stderr returns what the process has written until now, or to its end.
func (p *process) Stderr() []string {
	select {
	case <-p.ended:
		return p.stderr
	default:
	}
	x, err := p.host.call(context.Background(), request{Op: opStderr, Process: p.number})
	if err != nil {
		return nil
	}
	return x.Stderr
}
