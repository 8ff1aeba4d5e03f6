package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/internal/runtime/host"
)

// renewal is how long an agent may take to answer one: a fraction of what it takes for a
// missing coordinator.
const renewal = LeaseTime / 2

// absentFor is how long an agent may be without a connection to the server. One that
// comes back does so within a second, and this one most likely was killed; but if its
// connection alone is lost it has ended its workers by then.
const absentFor = LeaseTime + beat

// keep renews the lease until the run is over, compares the clocks, and gives the agent
// up that is silent for too long.
func (h *Remote) keep() {
	t := time.NewTicker(beat)
	defer t.Stop()
	var absent time.Time // since when the server knows of no such agent; zero where it does
	for {
		select {
		case <-h.quit:
			return
		case <-h.lost:
			return
		case <-t.C:
		}
		wait := min(renewal, max(beat, lostAfter-h.silence()))
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		err := h.renew(ctx)
		cancel()
		h.compare()
		switch {
		case !errors.Is(err, errAbsent):
			absent = time.Time{}
		case absent.IsZero():
			absent = time.Now()
		case time.Since(absent) > absentFor:
			h.lose(fmt.Errorf("its agent has ended, or its connection to %s is lost, for %v", h.fleet.broker.Name(), absentFor), false)
		}
		if err != nil && h.silence() >= lostAfter {
			h.lose(h.silent(), false)
		}
	}
}

// renew tells the agent that its coordinator is there, and hears of processes that have
// ended.
func (h *Remote) renew(ctx context.Context) error {
	h.mu.Lock()
	heard := h.heard
	h.mu.Unlock()
	x, err := h.call(ctx, request{Op: opRenew, Heard: heard})
	if err != nil {
		return err
	}
	h.learn(x.Ended)
	return nil
}

// silence is how long nothing has been heard of the agent.
func (h *Remote) silence() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Duration(h.fleet.clock.Now() - h.sign)
}

func (h *Remote) silent() error {
	return fmt.Errorf("its agent has not answered for %v: is it running, and does the network reach it?", h.silence().Round(time.Second))
}

// hears is called with what the agent says unasked.
func (h *Remote) hears(m *natsgo.Msg) {
	var e event
	if json.Unmarshal(m.Data, &e) != nil {
		return // of whoever has let slip a message into the subject
	}
	if e.Ended != nil {
		h.learn([]ending{*e.Ended})
	}
	if e.Freed != "" {
		h.lose(errors.New("its agent has given the run up: "+e.Freed), true)
	}
}

// learn takes note of the ends of processes.
func (h *Remote) learn(endings []ending) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range endings {
		h.endings[e.Order] = e
		if p := h.processes[e.Process]; p != nil {
			p.end(e.Outcome, e.Stderr)
		}
	}
	for {
		if _, known := h.endings[h.heard+1]; !known {
			return
		}
		h.heard++
	}
}

// lose gives the agent up: whatever waits for it ends, and nothing more is heard of its
// processes. ended says that the agent has reaped them. Else it ends them as soon as it
// sees that nobody renews the lease, or is dead, or stands still: whoever leads the run
// has to see to it that they end.
func (h *Remote) lose(why error, ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why != nil {
		return
	}
	h.why = &host.LostError{Host: h.Name(), Why: why, Ended: ended}
	close(h.lost)
	for _, p := range h.processes {
		p.end(h.why.Error(), nil)
	}
}

// lossOf returns why the agent was given up.
func (h *Remote) lossOf() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.why
}

// isClosing reports whether the run is over: that the lease is, too, is then no loss.
func (h *Remote) isClosing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closing
}

// Close ends the lease: the agent kills what is left of the run.
func (h *Remote) Close() error {
	h.mu.Lock()
	lease, lost := h.lease, h.why
	h.closing = true
	h.mu.Unlock()
	if lease == "" {
		return nil
	}
	h.fleet.follow(h, false)
	close(h.quit)
	h.keeper.Wait()
	var err error
	if lost == nil {
		err = h.release()
	} else {
		// It may be there all the same, and is then free at once.
		_, _ = h.send(&request{Op: opClose, Lease: lease}, h.fleet.prefix+"none")
	}
	if err != nil {
		h.lose(err, false)
	}
	h.kills.Wait()
	_ = h.events.Unsubscribe() // of a connection that is lost there is nothing to undo
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lease = ""
	for _, p := range h.processes {
		p.end("ended with the run", nil)
	}
	return err
}

// release has the agent end the lease.
func (h *Remote) release() error {
	h.mu.Lock()
	heard, lease := h.heard, h.lease
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	x, err := h.call(ctx, request{Op: opClose, Heard: heard})
	switch {
	case err == nil:
		h.learn(x.Ended)
		h.fleet.hadTaken(h.instance, lease)
	case errors.Is(err, errOver):
		err = nil
	}
	return err
}
