package workqueue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/launch"
)

// maxQueues is of how many queues an agent takes tasks. It takes no notice of further ones.
const maxQueues = 64

// Taker takes tasks of all the queues on the server of a connection, and does as many of them at a
// time as it has cores, each in a process that runs on one.
type Taker struct {
	conn *natsgo.Conn
	end  context.CancelFunc // of the taker

	mu      sync.Mutex
	me      presence
	queues  map[string]*offer
	changed chan struct{} // closed when there is a new queue
	turn    int           // the queue to ask next
	stop    context.CancelFunc
	cores   *sync.WaitGroup // at work
}

// NewTaker makes a taker without cores: it announces to owners of queues that the host, by this
// name, is there, but in use.
func NewTaker(c *natsgo.Conn, host string) (*Taker, error) {
	build, err := environment.ThisProgram()
	if err != nil {
		return nil, unavailable("cannot read this program's executable, by which its queues know it: %w", err)
	}
	s := &Taker{
		conn: c, me: presence{Agent: rand.Text(), Host: host, Program: build}, queues: make(map[string]*offer),
		changed: make(chan struct{}), stop: func() {}, cores: new(sync.WaitGroup),
	}
	announcements, err := c.Subscribe(announceTopic, s.hear)
	if err != nil {
		return nil, unavailable("%w", err)
	}
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	context.AfterFunc(ctx, func() { _ = announcements.Unsubscribe() })
	go func() {
		tick := time.NewTicker(announceEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-tick.C:
				s.expire(time.Now(), c.IsConnected())
			}
		}
	}()
	return s, nil
}

// Employ has the given number of cores do tasks from now on. Tasks in progress are given back, and
// their processes are ended; wait waits for that.
func (s *Taker) Employ(cores int) (wait func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	before := s.cores
	ctx, stop := context.WithCancel(context.Background())
	s.me.Cores, s.stop, s.cores = cores, stop, new(sync.WaitGroup)
	s.cores.Go(before.Wait)
	for range cores {
		s.cores.Go(func() {
			before.Wait()
			s.work(ctx)
		})
	}
	return before.Wait
}

// Close gives back what is being done, and takes no more.
func (s *Taker) Close() {
	s.end()
	s.Employ(0)()
	if s.conn.IsConnected() {
		_ = s.conn.FlushTimeout(leaveWait) // what was given back last
	}
}

type offer struct {
	id    string
	heard time.Time
	ctx   context.Context // ends when the queue does
	end   context.CancelFunc
}

// hear notes an announcement, and answers it.
func (s *Taker) hear(m *natsgo.Msg) {
	var a announcement
	if json.Unmarshal(m.Data, &a) != nil || a.Queue == "" || len(a.Queue) > 64 || strings.ContainsAny(a.Queue, ".*> \t\r\n") {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.queues[a.Queue]
	s.me.Replaced = s.me.Replaced || Replaced()
	switch {
	case a.Over, s.me.Replaced:
		if o != nil {
			o.end()
			delete(s.queues, a.Queue)
		}
		if a.Over {
			return
		}
	case o != nil:
		o.heard = time.Now()
	case !sameBuild(a.Program, s.me.Program):
	case len(s.queues) < maxQueues:
		o = &offer{id: a.Queue, heard: time.Now()}
		o.ctx, o.end = context.WithCancel(context.Background())
		s.queues[a.Queue] = o
		close(s.changed)
		s.changed = make(chan struct{})
	default:
		return
	}
	if !strings.HasPrefix(m.Reply, natsgo.InboxPrefix) {
		return // sends nothing elsewhere at a client's wish
	}
	if b, err := json.Marshal(s.me); err == nil {
		_ = m.Respond(b)
	}
}

// offers returns the queues that are open, beginning with another one each time, and a
// channel that is closed when there is one more.
func (s *Taker) offers() (open []*offer, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open = slices.SortedFunc(maps.Values(s.queues), func(a, b *offer) int { return strings.Compare(a.id, b.id) })
	if len(open) > 1 {
		s.turn++
		k := s.turn % len(open)
		open = append(open[k:], open[:k]...)
	}
	return open, s.changed
}

// expire drops queues with silent owners. If the server cannot be reached all are silent, and
// excused.
func (s *Taker) expire(now time.Time, connected bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, o := range s.queues {
		switch {
		case !connected:
			o.heard = now
		case now.Sub(o.heard) > silentAfter:
			o.end()
			delete(s.queues, id)
		}
	}
}

// supervise announces the queue, and looks after server, agents and tasks, until the queue ends; or
// ends it if it cannot go on.
func (q *Queue) supervise() {
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	var state trouble
	for {
		q.sayOpen()
		if err := q.look(&state); err != nil {
			q.end(err)
		}
		select {
		case <-q.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// trouble is what keeps tasks from being done.
type trouble struct {
	what   string // "" for nothing
	since  time.Time
	warned bool
}

// look returns an error if the queue cannot go on.
func (q *Queue) look(s *trouble) error {
	now, connected := time.Now(), q.conn.IsConnected()
	q.takeBack(now, connected)
	q.roster.sweep(now, connected)
	q.mu.Lock()
	waits := len(q.tasks) > 0 // else agents may leave
	q.mu.Unlock()
	cores, used := q.roster.cores()
	what, begun, quiet := "", now, time.Duration(0)
	switch {
	case !connected:
		what, quiet = "the NATS server cannot be reached; waiting for it", silentAfter/5
	case cores > 0 || !waits:
	case used:
		what, quiet = "all agents are in use by runs over real networks; waiting for one", silentAfter // between the runs of a sweep it is normal
	default:
		what, begun = "no agent answers any more; waiting for one", now.Add(-silentAfter)
	}
	if what != s.what {
		*s = trouble{what: what, since: begun}
	}
	waited := now.Sub(s.since)
	switch over := waited > q.opt.Patience; {
	case !connected && (over || q.conn.IsClosed()):
		return unavailable("the NATS server at %s cannot be reached any more (%v); is it running there?", q.server, q.conn.LastError())
	case connected && what != "" && over && !used:
		return q.roster.none(waited)
	case what != "" && waited >= quiet && !s.warned:
		s.warned = true
		q.opt.Warn(what)
	}
	return nil
}

const (
	leaveWait = 3 * time.Second // for the delivery of what is done when the agent is to leave
	endWait   = time.Second     // for a process to leave
)

// work takes tasks and does them, one at a time, until ctx ends.
func (s *Taker) work(ctx context.Context) {
	c := &core{Taker: s}
	defer c.close()
	for ctx.Err() == nil {
		if o, m := s.next(ctx); m != nil {
			c.do(ctx, o, m)
		}
	}
}

// next waits for a task of any queue, but not for long.
func (s *Taker) next(ctx context.Context) (*offer, *natsgo.Msg) {
	open, changed := s.offers()
	if len(open) == 0 {
		select {
		case <-changed:
		case <-ctx.Done():
		}
		return nil, nil
	}
	for k, o := range open {
		last := k == len(open)-1
		want := ""
		if last { // the others have nothing
			want = wait
		}
		limited, cancel := context.WithTimeout(ctx, fetchWait+fetchWait/5)
		m, err := s.conn.RequestWithContext(limited, nextTopic(o.id), []byte(want))
		cancel()
		switch {
		case err == nil && m.Reply != "":
			return o, m
		case last && err != nil && !errors.Is(err, context.DeadlineExceeded): // no server, or no queue any more
			select {
			case <-time.After(fetchWait):
			case <-ctx.Done():
			}
		}
	}
	return nil, nil
}

// core does tasks in a process of its own, which it keeps from one to the next.
type core struct {
	*Taker
	child    *launch.Child
	delivery sync.WaitGroup // of the answer to the task before
}

func (c *core) close() {
	c.delivery.Wait()
	if c.child != nil {
		launch.End(endWait, c.child)
	}
}

// do does a task. The answer is delivered while the next task is begun.
func (c *core) do(ctx context.Context, o *offer, m *natsgo.Msg) {
	working, done := context.WithCancel(o.ctx)
	defer context.AfterFunc(ctx, done)()
	say := func(what, text string) { _ = c.conn.Publish(m.Reply+what, []byte(text)) } // without a connection there is no one to hear it
	// The owner knows which agent has the task, even if it is the end of this process.
	say(keeps, "")
	_ = c.conn.FlushTimeout(endWait)
	go repeat(working, func() { say(keeps, "") })
	answer, err := c.carryOut(working, m.Data)
	c.delivery.Wait()
	if err == nil {
		c.delivery.Go(func() {
			defer done()
			c.deliver(ctx, o, m.Reply+answered, answer)
		})
		return
	}
	done()
	switch {
	case o.ctx.Err() != nil: // the answer is not wanted any more
	case ctx.Err() != nil:
		say(back, "")
	default:
		say(failed, fmt.Sprintf("on %s, %v", c.me.Host, err))
	}
}

// repeat says something at once and again and again, until ctx ends.
func repeat(ctx context.Context, say func()) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		say()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// carryOut has the process do a task, and starts it if there is none. An error says that there is
// no answer: the process has died, or was ended because ctx has.
func (c *core) carryOut(ctx context.Context, b []byte) (answer json.RawMessage, err error) {
	if !json.Valid(b) {
		return json.Marshal(Answer{Error: "workqueue: this message is not a task"})
	}
	if c.child == nil {
		c.child, err = launch.Local{Answers: true}.Start(launch.Command{
			Word: Command, Name: "its process", Config: struct{}{}, GOMAXPROCS: 1,
		})
		if err != nil {
			return nil, err
		}
	}
	c.child.Send(json.RawMessage(b))
	if err = c.child.Receive(ctx, &answer); err != nil {
		c.child.Kill()
		<-c.child.Ended()
		c.child = nil
		return nil, err
	}
	return answer, nil
}

// deliver hands an answer over. It tries until the queue is over, or for a while when the
// agent is to leave.
func (c *core) deliver(ctx context.Context, o *offer, subject string, answer []byte) {
	giveUp, cancel := context.WithCancel(o.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(leaveWait, cancel) })()
	hand := func(ctx context.Context) error {
		_, err := c.conn.RequestWithContext(ctx, subject, answer)
		return err
	}
	if errors.Is(persist(giveUp, hand), natsgo.ErrMaxPayload) {
		text := fmt.Sprintf("its result is of %d bytes, and the NATS server takes at most %d; raise its max_payload, or do without agents",
			len(answer), c.conn.MaxPayload())
		answer, _ = json.Marshal(Answer{Error: text})
		_ = persist(giveUp, hand)
	}
}
