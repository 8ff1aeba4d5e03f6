package agent

import (
	"context"
	"sync"

	"dmebench/dme"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/host"
)

func (h *Remote) Read(ctx context.Context, readings []host.Reading) error {
	b, err := ask(ctx, h, askRead, nothing{})
	if err == nil {
		if err = decodeReadings(readings, h.part.Local, b); err != nil {
			err = h.errorf("%w", err)
		}
	}
	return err
}

func (h *Remote) Witness(ctx context.Context, waits bool) (host.Witness, error) {
	return ask(ctx, h, askWitness, waits)
}

func (h *Remote) Hold(ctx context.Context, order uint64) error {
	_, err := ask(ctx, h, askHold, order)
	return err
}

func (h *Remote) Remove(ctx context.Context, id dme.NodeID) (control.Left, error) {
	return ask(ctx, h, askRemove, id)
}

func (h *Remote) Report(ctx context.Context) (host.Report, error) {
	r, err := ask(ctx, h, askReport, nothing{})
	for _, n := range r.Nodes {
		if n.Node < 1 || int(n.Node) > h.part.Nodes {
			return host.Report{}, h.errorf("there is no node %d", n.Node)
		}
	}
	return r, err
}

type process struct {
	host *Remote
	started
	ended chan struct{}

	once    sync.Once
	outcome string
	stderr  []string
}

var _ launch.Process = (*process)(nil)

// Start has the agent start a worker.
func (h *Remote) Start(ctx context.Context, w host.Worker) (launch.Process, error) {
	s, err := ask(ctx, h, askStart, startRequest{Run: w.Boot.Run, Worker: w.Boot.Worker, Procs: w.GOMAXPROCS})
	if err != nil {
		return nil, err
	}
	p := &process{host: h, started: s, ended: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.processes[s.Process] = p
	if e, ended := h.endings[s.Process]; ended {
		p.end(e.Outcome, e.Stderr)
	}
	if why := context.Cause(h.alive); why != nil {
		p.end(why.Error(), nil)
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

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *process) PID() int { return p.started.PID }

// Ended is closed once the agent has reaped the process, or is given up itself.
func (p *process) Ended() <-chan struct{} { return p.ended }

// Outcome says how the process ended; of one whose host is lost, that.
func (p *process) Outcome() string { return p.outcome }

// Kill has the agent end the process. It does not wait for that.
func (p *process) Kill() {
	if !p.hasEnded() {
		p.host.kills.Go(func() { _, _ = about(p, askKill) })
	}
}

// Pause returns once the process stands still.
func (p *process) Pause() error {
	_, err := about(p, askPause)
	return err
}

// Resume lets the process go on.
func (p *process) Resume() error {
	_, err := about(p, askResume)
	return err
}

func (p *process) Stopped() bool {
	stopped, _ := about(p, askStopped)
	return stopped
}

// Stderr returns what the process has written until now, or to its end.
func (p *process) Stderr() []string {
	if p.hasEnded() {
		return p.stderr
	}
	lines, _ := about(p, askStderr)
	return lines
}

// about asks the agent something about a process.
func about[A any](p *process, what question[int, A]) (A, error) {
	return ask(context.Background(), p.host, what, p.started.Process)
}
