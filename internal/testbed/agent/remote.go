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
	quit     chan struct{}  // closed when the run is over
	keeper   sync.WaitGroup // for who renews the lease
	kills    sync.WaitGroup // for requests for which nobody waits

	sending  sync.Mutex // so that requests are sent in the order of their numbers
	sequence uint64

	mu        sync.Mutex
	lease     string         // "" where it is not open
	sign      int64          // the latest of the agent
	best      clock.Exchange // of those since the relation was last told of one; zero for none
	closing   bool           // the run is over
	lost      chan struct{}  // closed when the agent is given up
	why       error          // then
	processes map[int]*process
	endings   map[int]ending // by their order
	heard     int            // endings 1 to heard are known
}

var _ host.Surveyor = (*Remote)(nil)

// Host returns the host of an agent.
func (f *Fleet) Host(i Info) *Remote {
	return &Remote{fleet: f, info: i, relation: new(clock.Relation)}
}

// Info returns what the agent said of itself.
func (h *Remote) Info() Info { return h.info }

// Name returns the agent's name.
func (h *Remote) Name() string { return h.info.Name }

// Listen is the agent's address.
func (h *Remote) Listen() string { return net.JoinHostPort(h.info.Address, "0") }

// Clock compares the agent's clock with this host's: by exchanges over the server,
// before the run, with every reading and four times a second.
func (h *Remote) Clock() *clock.Relation { return h.relation }

// Bounds on how long an agent may take.
const (
	patience = 12 * time.Second // longer than lostAfter: the reason is then known
	atOnce   = 3 * time.Second  // before it is taken: nothing is known of it yet
	takeover = LeaseTime        // to be free of what was before, or to be restarted
	closing  = 8 * time.Second

	serverAway = 30 * time.Second // for how long a server is waited for that is being restarted

	comparisons = 8 // of the clocks, before a run begins
)

// Open takes the agent for a run, and refuses one whose program is another one by now.
// It waits for a while where an earlier run of this coordinator is about to be given up,
// and where the agent or the server is being restarted.
func (h *Remote) Open(ctx context.Context, p host.Part) error {
	h.reset(p)
	for begin, away := time.Now(), time.Duration(0); ; {
		asked := time.Now()
		wait, err := h.take(ctx)
		if err == nil {
			break
		}
		if !h.fleet.conn.IsConnected() {
			away = min(time.Since(begin), serverAway)
		}
		if !wait || asked.Sub(begin) > away+takeover {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(beat):
		}
	}
	for range comparisons {
		if err := h.renew(ctx); err != nil {
			return err
		}
		h.compare()
	}
	h.fleet.follow(h, true)
	h.keeper.Go(h.keep)
	return nil
}

// reset forgets the run before.
func (h *Remote) reset(p host.Part) {
	h.part, h.relation, h.instance = p, new(clock.Relation), h.info.Instance
	h.quit = make(chan struct{})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lease, h.closing, h.lost, h.why, h.best = "", false, make(chan struct{}), nil, clock.Exchange{}
	h.processes, h.endings, h.heard = make(map[int]*process), make(map[int]ending), 0
}

// take asks for a lease. Another attempt may succeed where wait is true.
func (h *Remote) take(ctx context.Context) (wait bool, err error) {
	now, err := h.call(ctx, request{Op: opDescribe})
	switch {
	case errors.Is(err, errAbsent):
		return true, h.succeed(ctx, err)
	case err != nil:
		return ctx.Err() == nil, err
	case now.Info == nil || now.Info.Instance != h.instance:
		return false, h.errorf("its agent is not the one that was found; look for agents again")
	case !now.Info.Program.Same(h.fleet.program):
		return false, h.errorf("%w", h.fleet.otherProgram(*now.Info))
	case now.Info.Holder == h.fleet.holder && now.Info.Between:
	case now.Info.Holder == h.fleet.holder:
		return true, h.errorf("an earlier run of this coordinator is not over there")
	case now.Info.Holder != "":
		return false, h.errorf("it is in use by %s", now.Info.Holder)
	}
	x, err := h.call(ctx, request{Op: opOpen, Ticket: now.Info.Ticket, Holder: h.fleet.holder, Part: &h.part})
	if err != nil {
		return false, err
	}
	h.events, err = h.fleet.conn.Subscribe(eventsOf(h.instance, x.Lease), h.hears)
	if err != nil {
		return false, h.errorf("%w", err) // the agent will see that nobody renews the lease
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lease, h.sign = x.Lease, h.fleet.clock.Now()
	return false, nil
}

var errAbsent = errors.New("its agent is not there any more")

// succeed looks for an agent of the same name, which was started after the one that is
// not there any more. The error says that it is to be asked next, or that there is none.
func (h *Remote) succeed(ctx context.Context, why error) error {
	same := func(i Info) bool { return i.Name == h.info.Name }
	all, err := h.fleet.gather(ctx, listAtAll, func(all []Info) bool { return slices.ContainsFunc(all, same) })
	if err != nil {
		return err
	}
	if k := slices.IndexFunc(all, same); k >= 0 {
		h.info, h.instance = all[k], all[k].Instance
	}
	return why
}

// call asks the agent, and waits for its answer: until ctx ends, or the agent is given
// up.
func (h *Remote) call(ctx context.Context, q request) (answer, error) {
	h.mu.Lock()
	q.Lease = h.lease
	lost := h.lost
	h.mu.Unlock()
	bound := patience
	switch {
	case q.Op == opDescribe:
		bound = atOnce
	case q.Op == opProbe:
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
	sent, err := h.send(&q, subject)
	if err != nil {
		return answer{}, err
	}
	timeout := time.NewTimer(bound)
	defer timeout.Stop()
	for {
		select {
		case r := <-came:
			switch {
			case r.absent && (q.Lease == "" || q.Op == opRenew):
				return answer{}, h.errorf("%w", errAbsent)
			case r.absent:
				continue // it may be about to come back: whoever keeps the lease gives it up
			case r.Over && h.isClosing():
				return answer{}, errOver
			case r.Over:
				h.lose(errors.New(r.Error), true)
				return answer{}, h.lossOf()
			}
			h.note(clock.Exchange{Sent: sent, Received: r.Received, Answered: r.Answered, Returned: r.returned})
			if r.Error != "" {
				return answer{}, h.errorf("%s", r.Error)
			}
			return r.answer, nil
		case <-lost:
			return answer{}, h.lossOf()
		case <-ctx.Done():
			return answer{}, context.Cause(ctx)
		case <-timeout.C:
			return answer{}, h.errorf("no answer to '%s' for %v", q.Op, bound)
		}
	}
}

// send sends a request, and returns when it did. While there is no connection the
// request is lost, as on a connection that is lost a moment later.
func (h *Remote) send(q *request, subject string) (sent int64, err error) {
	h.sending.Lock()
	defer h.sending.Unlock()
	h.sequence++
	q.Sequence = h.sequence
	b, err := json.Marshal(q)
	if err != nil {
		return 0, h.errorf("%s: %w", q.Op, err)
	}
	sent = h.fleet.clock.Now()
	err = h.fleet.conn.PublishRequest(subjectOf(h.instance), subject, b)
	if errors.Is(err, natsgo.ErrReconnectBufExceeded) {
		err = nil
	}
	if err != nil {
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

// compare tells the relation of the best exchange since it was last told of one.
func (h *Remote) compare() {
	h.mu.Lock()
	best := h.best
	h.best = clock.Exchange{}
	h.mu.Unlock()
	if best != (clock.Exchange{}) {
		h.relation.Add(best)
	}
}

// errorf makes an error that names the host.
func (h *Remote) errorf(format string, args ...any) error {
	return fmt.Errorf("host "+h.Name()+": "+format, args...)
}
