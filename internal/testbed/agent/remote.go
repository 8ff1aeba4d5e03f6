package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/internal/platform/clock"
	"dmebench/internal/runtime/host"
)

// Remote is the host of an agent. It is opened for one run at a time.
type Remote struct {
	fleet *Fleet
	info  Info

	part     host.Part
	instance string // of the agent, as of the latest Open
	relation *clock.Relation
	events   *natsgo.Subscription
	running  context.Context // until the run is over
	stop     context.CancelFunc
	keeper   sync.WaitGroup // for the renewal of the lease
	kills    sync.WaitGroup // for requests without an awaited answer

	sending  sync.Mutex // so that requests are sent in the order of their numbers
	sequence uint64

	mu        sync.Mutex
	lease     string          // "" if it is not open
	sign      int64           // the latest of the agent
	best      clock.Exchange  // of those since the relation was last given one; zero for none
	alive     context.Context // until the agent is given up; its cause is why
	giveUp    context.CancelCauseFunc
	processes map[int]*process
	endings   map[int]ending // by the process
	heard     int            // of them, in answers to renewals
}

var (
	_ host.Host     = (*Remote)(nil)
	_ host.Surveyor = (*Remote)(nil)
)

// Host returns the host of an agent.
func (f *Fleet) Host(i Info) *Remote { return &Remote{fleet: f, info: i} }

// Bounds on how long an agent may take.
const (
	patience = 12 * time.Second // longer than lostAfter: the reason is then known
	atOnce   = 3 * time.Second  // before it is taken: nothing is known of it yet
	takeover = LeaseTime        // to be free of what was before, or to be restarted
	closing  = 8 * time.Second

	// renewal is how long it may take to answer one: a fraction of what it takes for a
	// missing coordinator.
	renewal = LeaseTime / 2

	// absentFor is how long it may be without a connection to the server. One that
	// comes back does so within a second, and this one most likely was killed; but if its
	// connection alone is lost it has ended its workers by then.
	absentFor = LeaseTime + beat

	comparisons = 8 // of the clocks, before a run begins
)

// Open takes the agent for a run, and refuses one whose program is another one by now.
// It waits for a while if an earlier run of this coordinator is about to be given up,
// and if the agent or the server is being restarted. The clocks are compared by exchanges
// over the server: before the run, with every reading and four times a second.
func (h *Remote) Open(ctx context.Context, p host.Part) (host.About, error) {
	h.reset(p)
	for begin := time.Now(); ; {
		asked := time.Now()
		wait, err := h.take(ctx)
		if err == nil {
			break
		}
		if !wait || asked.Sub(begin) > takeover {
			if ctx.Err() == nil && !h.fleet.conn.IsConnected() {
				err = h.errorf("%w", ErrNoServer)
			}
			return host.About{}, err
		}
		select {
		case <-ctx.Done():
			return host.About{}, context.Cause(ctx)
		case <-time.After(beat):
		}
	}
	for range comparisons {
		if err := h.update(ctx, askRenew); err != nil {
			return host.About{}, err
		}
		h.compare()
	}
	h.fleet.taken.Store(h, nil)
	h.keeper.Go(h.keep)
	return host.About{Name: h.info.Name, Listen: net.JoinHostPort(h.info.Address, "0"), Clock: h.relation}, nil
}

func (h *Remote) reset(p host.Part) {
	h.part, h.relation, h.instance = p, new(clock.Relation), h.info.Instance
	h.running, h.stop = context.WithCancel(context.Background())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lease, h.best = "", clock.Exchange{}
	h.alive, h.giveUp = context.WithCancelCause(context.Background())
	h.processes, h.endings, h.heard = make(map[int]*process), make(map[int]ending), 0
}

// take asks for a lease. Another attempt may succeed if wait is true.
func (h *Remote) take(ctx context.Context) (wait bool, err error) {
	if !h.fleet.conn.IsConnected() {
		return true, h.errorf("%w", ErrNoServer)
	}
	now, err := ask(ctx, h, askDescribe, nothing{})
	switch {
	case errors.Is(err, ErrAbsent):
		return true, h.succeed(ctx, err)
	case err != nil:
		return ctx.Err() == nil, err
	case now.Instance != h.instance:
		return false, h.errorf("its agent is not the one that was found; look for agents again")
	case !now.Program.Same(h.fleet.program):
		return false, h.errorf("%w", h.fleet.otherProgram(now))
	case now.Holder == h.fleet.holder && now.Between:
	case now.Holder == h.fleet.holder:
		return true, h.errorf("an earlier run of this coordinator has not ended there")
	case now.Holder != "":
		return false, h.errorf("it is in use by %s", now.Holder)
	}
	lease, err := ask(ctx, h, askOpen, openRequest{Ticket: now.Ticket, Holder: h.fleet.holder, Part: h.part})
	if err != nil {
		return false, err
	}
	h.events, err = h.fleet.conn.Subscribe(eventsOf(h.instance, lease), h.hears)
	if err != nil {
		return false, h.errorf("%w", err) // the agent will see that the lease is not renewed
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lease, h.sign = lease, h.fleet.clock.Now()
	return false, nil
}

// Why a host may not be opened, and may be again: its agent, or the server at which agents and
// coordinators meet, has ended or cannot be reached.
var (
	ErrAbsent   = errors.New("its agent is not there any more")
	ErrNoServer = errors.New("the server of the agents can no longer be reached")
)

// Gone reports whether err is because of either.
func Gone(err error) bool { return errors.Is(err, ErrAbsent) || errors.Is(err, ErrNoServer) }

// succeed looks for an agent of the same name, which was started after the one that is
// not there any more. The error says that it is to be asked next, or that there is none.
func (h *Remote) succeed(ctx context.Context, why error) error {
	same := func(i Info) bool { return i.Name == h.info.Name }
	all, err := h.fleet.gather(ctx, 1, listAtAll, func(all []Info) int {
		return len(slices.DeleteFunc(all, func(i Info) bool { return !same(i) }))
	})
	if err != nil {
		return err
	}
	if k := slices.IndexFunc(all, same); k >= 0 {
		h.info, h.instance = all[k], all[k].Instance
	}
	return why
}

// ask asks the agent something, and waits for the whole answer.
func ask[Q, A any](ctx context.Context, h *Remote, what question[Q, A], q Q) (a A, err error) {
	x, err := h.call(ctx, string(what), encode(q))
	if err != nil {
		return a, err
	}
	all := x.body
	for x.Rest != 0 {
		if x, err = h.call(ctx, string(askRest), encode(x.Rest)); err != nil {
			return a, err
		}
		all = append(all, x.body...)
	}
	if err := json.Unmarshal(all, &a); err != nil {
		return a, h.errorf("the answer to '%s' cannot be read: %w", what, err)
	}
	return a, nil
}

// call sends a request, and waits for its answer: until ctx ends, or the agent is given
// up.
func (h *Remote) call(ctx context.Context, op string, body []byte) (response, error) {
	h.mu.Lock()
	lease, alive := h.lease, h.alive
	h.mu.Unlock()
	bound := patience
	switch op {
	case string(askDescribe):
		bound = atOnce
	case string(askProbe):
		bound += probeTimeout
	}
	came := make(chan response, 1)
	subject, forget := h.fleet.expect(func(r response) {
		select {
		case came <- r:
		default:
		}
	})
	defer forget()
	sent, err := h.send(request{Op: op, Lease: lease}, body, subject)
	if err != nil {
		return response{}, err
	}
	timeout := time.NewTimer(bound)
	defer timeout.Stop()
	for {
		select {
		case r := <-came:
			switch {
			case r.absent && (lease == "" || op == string(askRenew)):
				return r, h.errorf("%w", ErrAbsent)
			case r.absent:
				continue // may be about to come back: the renewal of the lease decides
			case r.Over && h.running.Err() != nil:
				return r, errOver
			case r.Over:
				h.lose(errors.New(r.Error), true)
				return r, context.Cause(alive)
			}
			h.note(clock.Exchange{Sent: sent, Received: r.Received, Answered: r.Answered, Returned: r.returned})
			if r.Error != "" {
				return r, h.errorf("%s", r.Error)
			}
			return r, nil
		case <-alive.Done():
			return response{}, context.Cause(alive)
		case <-ctx.Done():
			return response{}, context.Cause(ctx)
		case <-timeout.C:
			return response{}, h.errorf("no answer to '%s' for %v", op, bound)
		}
	}
}

// send sends a request, and returns when it did. While there is no connection the
// request is lost, as on a connection that is lost a moment later.
func (h *Remote) send(q request, body []byte, subject string) (sent int64, err error) {
	h.sending.Lock()
	defer h.sending.Unlock()
	h.sequence++
	q.Sequence = h.sequence
	b := message(q, body)
	sent = h.fleet.clock.Now()
	err = h.fleet.conn.PublishRequest(subjectOf(h.instance), subject, b)
	if err != nil && !errors.Is(err, natsgo.ErrReconnectBufExceeded) {
		return 0, h.errorf("%s: %w", q.Op, err)
	}
	return sent, nil
}

// note takes the exchange of a request and its answer for a sign of the agent, and for
// a comparison of the clocks.
func (h *Remote) note(e clock.Exchange) {
	e = e.Widened(h.fleet.clock.Error(), 0) // the agent has done so on its side
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sign = max(h.sign, e.Returned)
	if h.best == (clock.Exchange{}) || e.Delay() < h.best.Delay() {
		h.best = e
	}
}

func (h *Remote) compare() {
	h.mu.Lock()
	best := h.best
	h.best = clock.Exchange{}
	h.mu.Unlock()
	if best != (clock.Exchange{}) {
		h.relation.Add(best)
	}
}

func (h *Remote) errorf(format string, args ...any) error {
	return fmt.Errorf("host "+h.info.Name+": "+format, args...)
}

// keep renews the lease until the run is over, compares the clocks, and gives the agent
// up if it is silent for too long.
func (h *Remote) keep() {
	t := time.NewTicker(beat)
	defer t.Stop()
	var absent time.Time // since when the server knows of no such agent; zero if it does
	for {
		select {
		case <-h.running.Done():
			return
		case <-h.alive.Done():
			return
		case <-t.C:
		}
		wait := min(renewal, max(beat, lostAfter-h.silence()))
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		err := h.update(ctx, askRenew)
		cancel()
		h.compare()
		switch {
		case !errors.Is(err, ErrAbsent):
			absent = time.Time{}
		case absent.IsZero():
			absent = time.Now()
		}
		silence := h.silence()
		switch {
		case !absent.IsZero() && (time.Since(absent) > absentFor || silence >= lostAfter):
			h.lose(fmt.Errorf("its agent has ended, or lost its connection to %s, %v ago",
				h.fleet.broker.Name(), silence.Round(time.Second)), false)
		case err != nil && silence >= lostAfter:
			h.lose(fmt.Errorf("its agent has not answered for %v: is it running, and does the network reach it?",
				silence.Round(time.Second)), false)
		}
	}
}

// update says to the agent that its coordinator is there, or that the run is over, and hears
// of processes that have ended.
func (h *Remote) update(ctx context.Context, how question[int, []ending]) error {
	endings, err := ask(ctx, h, how, h.heard)
	h.heard += len(endings)
	h.learn(endings)
	return err
}

func (h *Remote) silence() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Duration(h.fleet.clock.Now() - h.sign)
}

func (h *Remote) hears(m *natsgo.Msg) {
	var e event
	if json.Unmarshal(m.Data, &e) != nil {
		return // from a stranger that got a message into the subject
	}
	if e.Ended != nil {
		h.learn([]ending{*e.Ended})
	}
	if e.Freed != "" {
		h.lose(errors.New("its agent has given up the run: "+e.Freed), true)
	}
}

func (h *Remote) learn(endings []ending) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range endings {
		h.endings[e.Process] = e
		if p := h.processes[e.Process]; p != nil {
			p.end(e.Outcome, e.Stderr)
		}
	}
}

// lose gives the agent up: whatever waits for it ends, and nothing more is heard of its processes.
// ended says that the agent has reaped them. Else it ends them as soon as it sees that the lease is
// not renewed, or is dead, or stopped: the coordinator of the run has to make sure that they end.
func (h *Remote) lose(why error, ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.alive.Err() != nil {
		return
	}
	lost := &host.LostError{Host: h.info.Name, Why: why, Ended: ended}
	h.giveUp(lost)
	for _, p := range h.processes {
		p.end(lost.Error(), nil)
	}
}

// Close ends the lease: the agent kills what is left of the run.
func (h *Remote) Close() error {
	h.mu.Lock()
	lease := h.lease
	h.mu.Unlock()
	if lease == "" {
		return nil
	}
	h.fleet.taken.Delete(h)
	h.stop()
	h.keeper.Wait()
	var err error
	if h.alive.Err() == nil {
		err = h.release(lease)
	} else {
		// It may be there all the same, and is then free at once.
		_, _ = h.send(request{Op: string(askClose), Lease: lease}, encode(0), h.fleet.prefix+"none")
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
func (h *Remote) release(lease string) error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	err := h.update(ctx, askClose)
	switch {
	case err == nil:
		h.fleet.reserved.Store(h.instance, lease)
	case errors.Is(err, errOver):
		err = nil
	}
	return err
}
