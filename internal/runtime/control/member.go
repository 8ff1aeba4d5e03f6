package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	broker "dmebench/transport/nats"
	"dmebench/units"
)

// Member is a worker's end of the control plane.
type Member struct {
	boot  Boot
	conn  *nats.Conn
	ended chan error
}

// Join connects a worker to its run. answer is called for one command at a
// time, and what it returns is sent back.
func Join(boot Boot, answer func(Command) Reply) (*Member, error) {
	m := &Member{boot: boot, ended: make(chan error, 1)}
	end := func(why error) {
		select {
		case m.ended <- why:
		default:
		}
	}
	var err error
	m.conn, err = connect(boot.Broker, fmt.Sprintf("dmebench worker %d", boot.Worker), func(err error) {
		end(cmp.Or(err, nats.ErrConnectionClosed))
	})
	if err != nil {
		return nil, fmt.Errorf("control: worker %d: %w", boot.Worker, err)
	}
	_, err = m.conn.Subscribe(fmt.Sprintf("%s.w.%d", prefix(boot.Run), boot.Worker), func(msg *nats.Msg) {
		var c Command
		r := Reply{Worker: boot.Worker}
		if err := json.Unmarshal(msg.Data, &c); err != nil {
			r.Error = "control: command cannot be read: " + err.Error()
		} else {
			r = answer(c)
			r.Worker = boot.Worker
		}
		m.respond(msg, r)
		if c.Op == OpQuit {
			end(nil)
		}
	})
	if err == nil {
		err = m.Notify(Event{Joined: true, PID: os.Getpid()})
	}
	if err != nil {
		m.conn.Close()
		return nil, fmt.Errorf("control: worker %d: %w", boot.Worker, err)
	}
	return m, nil
}

func (m *Member) respond(msg *nats.Msg, r Reply) {
	out := &nats.Msg{Subject: msg.Reply, Data: r.Entries, Header: nats.Header{"Binary": {"1"}}}
	if r.Entries == nil || r.Error != "" {
		out.Data, out.Header = encode(r), nil
	}
	if err := m.conn.PublishMsg(out); err == nil {
		m.conn.Flush()
	}
}

// Notify tells the coordinator something unasked, and waits until it is on its
// way.
func (m *Member) Notify(e Event) error {
	e.Worker = m.boot.Worker
	if err := m.conn.Publish(prefix(m.boot.Run)+".up", encode(e)); err != nil {
		return err
	}
	return m.conn.FlushTimeout(startTimeout)
}

func encode(x any) []byte {
	b, err := json.Marshal(x)
	if err != nil {
		panic("control: a message has no JSON form: " + err.Error())
	}
	return b
}

// Renew asks the coordinator itself whether this worker may go on. An error says that
// there was no answer.
func (m *Member) Renew(ctx context.Context) (may bool, err error) {
	answer, err := m.conn.RequestWithContext(ctx, fmt.Sprintf("%s.lease.%d", prefix(m.boot.Run), m.boot.Worker), nil)
	if err != nil {
		return false, err
	}
	return strconv.ParseBool(string(answer.Data))
}

// Ended yields when the control plane is gone, and why; nil when a quit command has been answered.
func (m *Member) Ended() <-chan error { return m.ended }

func (m *Member) Close() { m.conn.Close() }

// Leader is the coordinator's end of the control plane.
type Leader struct {
	// Alive returns a context that ends when a worker is killed; calls to the worker end then. If
	// it is nil, they end with their own context only.
	Alive func(worker int) context.Context

	conn   *nats.Conn
	prefix string
	events chan Event
}

// subjects of a run: PREFIX.up for what members say, PREFIX.w.I to call one.
func prefix(run string) string { return "dmebench." + run }

func connect(b broker.Broker, name string, closed func(error)) (*nats.Conn, error) {
	return b.Dial(nats.Name(name),
		nats.NoReconnect(), // a control plane that was gone cannot be trusted: the run ends
		nats.ClosedHandler(func(c *nats.Conn) { closed(c.LastError()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { closed(err) }))
}

// Lead connects to the broker as the coordinator of the run.
func Lead(b broker.Broker, run string) (*Leader, error) {
	l := &Leader{prefix: prefix(run), events: make(chan Event, 4096)}
	var err error
	l.conn, err = connect(b, "dmebench coordinator", func(err error) {
		if err != nil {
			l.say(Event{Worker: -1, Fatal: "control plane: " + err.Error()})
		}
	})
	if err != nil {
		return nil, fmt.Errorf("control: coordinator: %w", err)
	}
	_, err = l.conn.Subscribe(l.prefix+".up", func(m *nats.Msg) {
		var e Event
		if err := json.Unmarshal(m.Data, &e); err != nil {
			e = Event{Worker: -1, Fatal: "control plane: a worker's report cannot be read: " + err.Error()}
		}
		l.say(e)
	})
	if err == nil {
		err = l.conn.Flush()
	}
	if err != nil {
		l.conn.Close()
		return nil, fmt.Errorf("control: coordinator: %w", err)
	}
	return l, nil
}

// say passes an event on. Once a run has failed, more of them add nothing.
func (l *Leader) say(e Event) {
	select {
	case l.events <- e:
	default:
	}
}

// Events returns what members, or the control plane itself, say unasked.
func (l *Leader) Events() <-chan Event { return l.events }

// Grant has grant decide whether a worker may go on that asks for its lease. It is
// called for one of them at a time, before the worker hears the answer.
func (l *Leader) Grant(grant func(worker int) bool) error {
	_, err := l.conn.Subscribe(l.prefix+".lease.*", func(m *nats.Msg) {
		worker, err := strconv.Atoi(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:])
		_ = m.Respond([]byte(strconv.FormatBool(err == nil && grant(worker)))) // a worker that does not hear it asks again
	})
	if err == nil {
		err = l.conn.Flush()
	}
	return err
}

func (l *Leader) Close() { l.conn.Close() }

func (l *Leader) ask(ctx context.Context, worker int, c Command) (Reply, error) {
	if l.Alive != nil {
		limited, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(l.Alive(worker), cancel)()
		ctx = limited
	}
	m, err := l.conn.RequestWithContext(ctx, fmt.Sprintf("%s.w.%d", l.prefix, worker), encode(c))
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrTimeout) {
			s := &Silence{Op: c.Op, Workers: []int{worker}}
			if errors.Is(err, nats.ErrNoResponders) {
				s.Absent = s.Workers
			}
			return Reply{Worker: worker}, s
		}
		return Reply{Worker: worker}, fmt.Errorf("control: %s: worker %d: %w", c.Op, worker, err)
	}
	r := Reply{Worker: worker}
	if m.Header.Get("Binary") != "" {
		r.Entries = m.Data
		return r, nil
	}
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return r, fmt.Errorf("control: %s: worker %d: answer cannot be read: %w", c.Op, worker, err)
	}
	if r.Error != "" {
		return r, fmt.Errorf("worker %d: %s", worker, r.Error)
	}
	return r, nil
}

// Silence is the error of calls that were not answered in time.
type Silence struct {
	Op      Op
	Workers []int // without an answer, in ascending order
	Absent  []int // of these, the ones without a connection to the broker
}

func (s *Silence) Error() string {
	return fmt.Sprintf("control: %s: no answer from worker %s", s.Op, strings.Join(units.Texts(s.Workers, strconv.Itoa), ", "))
}

// Call asks some workers at the same time and waits for all answers, which it
// returns in the order of the workers. The error names every worker that failed,
// and wraps a Silence for those that did not answer; the replies of the others
// stand. command makes each one's command.
func (l *Leader) Call(ctx context.Context, workers []int, command func(worker int) Command) ([]Reply, error) {
	replies := make([]Reply, len(workers))
	failures := make([]error, len(workers))
	var wg sync.WaitGroup
	for i, w := range workers {
		wg.Go(func() { replies[i], failures[i] = l.ask(ctx, w, command(w)) })
	}
	wg.Wait()
	silent := new(Silence)
	var errs []error
	for _, err := range failures {
		var s *Silence
		if errors.As(err, &s) {
			silent.Op, silent.Workers, silent.Absent = s.Op, append(silent.Workers, s.Workers...), append(silent.Absent, s.Absent...)
		} else if err != nil {
			errs = append(errs, err)
		}
	}
	if silent.Workers != nil {
		slices.Sort(silent.Workers)
		errs = append(errs, silent)
	}
	return replies, errors.Join(errs...)
}

// Same gives every worker the same command.
func Same(c Command) func(worker int) Command { return func(int) Command { return c } }
