package agent

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"dmebench/dme"
	"dmebench/internal/platform/launch"
	"dmebench/internal/record/entrylog"
	"dmebench/internal/runtime/host"
	"dmebench/internal/runtime/noderun"
	"dmebench/runs"
)

// Read asks the agent, in one question.
func (h *Remote) Read(ctx context.Context, readings []host.Reading) error {
	x, err := h.call(ctx, request{Op: opRead})
	if err != nil {
		return err
	}
	if err := decodeReadings(readings, h.part.Local, x.Readings); err != nil {
		return fmt.Errorf("host %s: %w", h.Name(), err)
	}
	return nil
}

// Counts asks the agent, some nodes at a time.
func (h *Remote) Counts(ctx context.Context, counts []noderun.Counts) error {
	return h.pieces(ctx, request{Op: opCounts}, func(x *answer) error {
		for _, c := range x.Counts {
			if c.Node < 1 || int(c.Node) > len(counts) {
				return fmt.Errorf("host %s: there is no node %d", h.Name(), c.Node)
			}
			counts[c.Node-1] = c.Counts
		}
		return nil
	})
}

// pieces asks for one piece after the other.
func (h *Remote) pieces(ctx context.Context, q request, take func(*answer) error) error {
	for {
		x, err := h.call(ctx, q)
		if err != nil {
			return err
		}
		if err := take(&x); err != nil || x.Next == 0 {
			return err
		}
		if x.Next <= q.From {
			return fmt.Errorf("host %s: '%s' does not come to an end", h.Name(), q.Op)
		}
		q.From = x.Next
	}
}

// Waits asks the agent.
func (h *Remote) Waits(ctx context.Context) (noderun.WaitCounts, error) {
	x, err := h.call(ctx, request{Op: opWaits})
	if err == nil && x.Waits == nil {
		err = h.nothing(opWaits)
	}
	if err != nil {
		return noderun.WaitCounts{}, err
	}
	return *x.Waits, nil
}

// Witness asks the agent.
func (h *Remote) Witness(ctx context.Context) (host.Witness, error) {
	x, err := h.call(ctx, request{Op: opWitness})
	if err == nil && x.Witness == nil {
		err = h.nothing(opWitness)
	}
	if err != nil {
		return host.Witness{}, err
	}
	return *x.Witness, nil
}

// Hold asks the agent.
func (h *Remote) Hold(ctx context.Context, order uint64) error {
	_, err := h.call(ctx, request{Op: opHold, Order: order})
	return err
}

// Held asks the agent.
func (h *Remote) Held(ctx context.Context) (dme.NodeID, error) {
	x, err := h.call(ctx, request{Op: opHeld})
	return x.Node, err
}

// Bury asks the agent.
func (h *Remote) Bury(ctx context.Context, id dme.NodeID) (host.Remains, error) {
	x, err := h.call(ctx, request{Op: opBury, Node: id})
	if err == nil && x.Remains == nil {
		err = h.nothing(opBury)
	}
	if err != nil {
		return host.Remains{}, err
	}
	return *x.Remains, nil
}

// LastEntered asks the agent.
func (h *Remote) LastEntered(ctx context.Context, id dme.NodeID) (int64, error) {
	x, err := h.call(ctx, request{Op: opEntered, Node: id})
	return x.At, err
}

// Log asks the agent, some records at a time.
func (h *Remote) Log(ctx context.Context, id dme.NodeID) (all []entrylog.Entry, err error) {
	err = h.pieces(ctx, request{Op: opLog, Node: id}, func(x *answer) (err error) {
		all, err = entrylog.Decode(all, x.Entries)
		return err
	})
	return all, err
}

// Report asks the agent.
func (h *Remote) Report(ctx context.Context) (runs.Host, error) {
	x, err := h.call(ctx, request{Op: opReport})
	if err == nil && x.Host == nil {
		err = h.nothing(opReport)
	}
	if err != nil {
		return runs.Host{}, err
	}
	return *x.Host, nil
}

// nothing is the error of an answer in which the main thing is missing.
func (h *Remote) nothing(what op) error {
	return errors.New("host " + h.Name() + ": the answer to '" + string(what) + "' is empty")
}

// The readings of a host are asked for hundreds of times a second: they have a compact
// form, of some ten bytes for each node, in the order of the nodes of the host.

// appendReadings appends the readings of some nodes.
func appendReadings(b []byte, readings []host.Reading, local []dme.NodeID) []byte {
	for _, id := range local {
		r := readings[id-1]
		for _, x := range [...]uint64{r.Sent, r.Handled, r.Requests, r.Entries, r.Timers, r.Pending, uint64(r.Activity)} {
			b = binary.AppendUvarint(b, x)
		}
	}
	return b
}

var errReadings = errors.New("agent: malformed readings")

// decodeReadings puts the readings of some nodes where they belong. b must hold
// nothing else.
func decodeReadings(readings []host.Reading, local []dme.NodeID, b []byte) error {
	for _, id := range local {
		r := &readings[id-1]
		var activity uint64
		for _, to := range [...]*uint64{&r.Sent, &r.Handled, &r.Requests, &r.Entries, &r.Timers, &r.Pending, &activity} {
			x, n := binary.Uvarint(b)
			if n <= 0 {
				return errReadings
			}
			*to, b = x, b[n:]
		}
		if activity > uint64(noderun.Down) {
			return errReadings
		}
		r.Activity = noderun.Activity(activity)
	}
	if len(b) > 0 {
		return errReadings
	}
	return nil
}

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
