package workqueue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"golang.org/x/sync/semaphore"

	"dmebench/internal/platform/environment"
	"dmebench/transport/nats"
)

// Options of a queue; the zero value of each is its default.
type Options struct {
	Host string // of the owner, for people

	// Lease is how long an agent that says nothing of a task keeps it; 0: 10 s. Then it is
	// given to another.
	Lease time.Duration

	// Patience is how long there may be no agent, or no server; 0: 2 minutes. When the queue
	// is opened it is a tenth of that.
	Patience time.Duration

	// Warn receives messages for the user, a line at a time; nil for silence.
	Warn func(string)
}

const (
	defaultLease    = 10 * time.Second
	defaultPatience = 2 * time.Minute

	// reconnectWait is between two attempts to reach a broker that is away.
	reconnectWait = 500 * time.Millisecond

	// waitingBytes bounds the tasks that have no answer yet: more wait to be handed in.
	waitingBytes = 64 << 20
)

// Queue has tasks done by agents. Its methods may be called from several goroutines.
type Queue struct {
	conn   *natsgo.Conn
	opt    Options
	id     string
	server string // where it is, for people
	roster *roster
	room   *semaphore.Weighted // bytes of tasks

	ctx   context.Context // ends with its cause when the queue does
	end   context.CancelCauseFunc
	group sync.WaitGroup

	mu      sync.Mutex
	next    uint64
	tasks   map[string]*handedIn // not answered yet
	waiting []string             // tasks that no agent does, the next one first
	free    []freeCore           // waiting for a task
}

// handedIn is a task that has no answer yet.
type handedIn struct {
	task   []byte
	answer chan Answer // has room for one
	tries  int         // how often an agent began it
	until  time.Time   // end of the agent's time; zero while no agent has it
	held   bool        // and the agent has said that it has it
}

type freeCore struct {
	inbox string
	until time.Time
}

// Open makes a queue on a broker, and waits until an agent is there that takes its tasks. It
// survives a restart of the broker. Close must be called. Errors wrap [nats.ErrBroker] if the
// broker cannot be reached, or else [ErrUnavailable], but for the end of ctx.
func Open(ctx context.Context, b nats.Broker, o Options) (*Queue, error) {
	if o.Lease == 0 {
		o.Lease = defaultLease
	}
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	build, err := environment.ThisProgram()
	if err != nil {
		return nil, unavailable("cannot read this program's executable, by which agents know it: %w", err)
	}
	// It waits for a broker that is being restarted, as long as supervise lets it.
	c, err := b.Dial(natsgo.Name("dmebench work of "+o.Host), natsgo.MaxReconnects(-1), natsgo.ReconnectWait(reconnectWait),
		natsgo.PingInterval(silentAfter/2))
	if err != nil {
		return nil, err
	}
	q := &Queue{
		conn: c, opt: o, id: rand.Text(), tasks: make(map[string]*handedIn), room: semaphore.NewWeighted(waitingBytes),
		roster: newRoster(build, o.Warn), server: b.Name(),
	}
	q.ctx, q.end = context.WithCancelCause(context.Background())
	if err := q.open(ctx); err != nil {
		q.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return q, nil
}

func (q *Queue) open(ctx context.Context) (err error) {
	if q.roster.inbox, err = q.conn.Subscribe(q.conn.NewInbox(), q.roster.hear); err == nil {
		_, err = q.conn.Subscribe(nextTopic(q.id), q.asked)
	}
	if err == nil {
		_, err = q.conn.Subscribe(taskTopic(q.id)+"*.*", q.outcome)
	}
	if err != nil {
		return unavailable("%w", err)
	}
	if err := q.find(ctx, q.opt.Patience/10); err != nil {
		return err
	}
	q.group.Go(q.supervise)
	return nil
}

// Cores returns how many tasks the agents that are there do at a time.
func (q *Queue) Cores() int {
	n, _ := q.roster.cores()
	return n
}

// Do has a task done and returns its answer. It waits if very much is waiting already. A task that
// failed has an answer too, which says so. An error says that there is none: ctx has ended, or the
// queue has, or the task is larger than the server takes.
func (q *Queue) Do(ctx context.Context, t Task) (Answer, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return Answer{}, fmt.Errorf("workqueue: a task has no JSON form: %w; this is a fault of the program", err)
	}
	if int64(len(b)) > q.conn.MaxPayload() {
		return Answer{}, unavailable("a task of %d bytes, files included, but the NATS server takes at most %d; "+
			"raise its max_payload, or do without agents", len(b), q.conn.MaxPayload())
	}
	either, stop := context.WithCancelCause(ctx) // ends with the queue, too
	defer stop(nil)
	defer context.AfterFunc(q.ctx, func() { stop(context.Cause(q.ctx)) })()
	room := min(int64(len(b)), waitingBytes) // what is larger than all of it waits alone
	if q.room.Acquire(either, room) != nil {
		return Answer{}, context.Cause(either)
	}
	defer q.room.Release(room)
	q.mu.Lock()
	q.next++
	name, h := fmt.Sprint(q.next), &handedIn{task: b, answer: make(chan Answer, 1)}
	q.tasks[name] = h
	q.waiting = append(q.waiting, name)
	q.give()
	q.mu.Unlock()
	select {
	case a := <-h.answer:
		return a, nil
	case <-either.Done():
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.tasks, name)
		return Answer{}, context.Cause(either)
	}
}

// asked handles the news that a core of an agent is free. One that does not want to wait hears if
// there is nothing for it.
func (q *Queue) asked(m *natsgo.Msg) {
	if !strings.HasPrefix(m.Reply, natsgo.InboxPrefix) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free = append(q.free, freeCore{m.Reply, time.Now().Add(fetchWait)})
	q.give()
	if last := len(q.free) - 1; string(m.Data) != wait && last >= 0 && q.free[last].inbox == m.Reply {
		q.free = q.free[:last]
		_ = m.Respond(nil)
	}
}

const wait = "wait"

// give gives tasks that wait to cores that do. It is called with the lock held.
func (q *Queue) give() {
	now := time.Now()
	q.free = slices.DeleteFunc(q.free, func(c freeCore) bool { return now.After(c.until) })
	for len(q.waiting) > 0 && len(q.free) > 0 {
		name := q.waiting[0]
		q.waiting = q.waiting[1:]
		h := q.tasks[name]
		if h == nil {
			continue // given up
		}
		h.until, h.held = now.Add(min(begun, q.opt.Lease)), false
		_ = q.conn.PublishRequest(q.free[0].inbox, taskTopic(q.id)+name, h.task) // what is lost is given out again
		q.free = q.free[1:]
	}
}

// outcome handles the outcome of a task. One with an answer may get others, of agents that seemed to
// be gone.
func (q *Queue) outcome(m *natsgo.Msg) {
	name, what, _ := strings.Cut(strings.TrimPrefix(m.Subject, taskTopic(q.id)), ".")
	q.mu.Lock()
	defer q.mu.Unlock()
	h := q.tasks[name]
	switch what = "." + what; {
	case h == nil, what != answered && h.until.IsZero():
	case what == keeps:
		if !h.held { // what was lost on the way to an agent that left has not been tried
			h.held = true
			h.tries++
		}
		h.until = time.Now().Add(q.opt.Lease)
	case what == back:
		if h.held {
			h.tries-- // an agent that leaves is no fault of the task
		}
		q.again(name, "")
	case what == failed:
		q.again(name, fmt.Sprintf("given to agents %d times; at last, %s", maxTries, m.Data))
	case what == answered:
		var a Answer
		if err := json.Unmarshal(m.Data, &a); err != nil {
			a = Answer{Error: fmt.Sprintf("workqueue: an agent's answer cannot be read: %v", err)}
		}
		q.finish(name, a)
	}
	if what == answered {
		_ = m.Respond(nil) // else it comes again
	}
}

// again gives a task to another agent, or answers it with why, if that is enough. It is
// called with the lock held.
func (q *Queue) again(name, why string) {
	h := q.tasks[name]
	if h.tries >= maxTries {
		q.finish(name, Answer{Error: why})
		return
	}
	h.until = time.Time{}
	q.waiting = slices.Insert(q.waiting, 0, name)
	q.give()
}

// finish passes an answer to the waiting caller. It is called with the lock held.
func (q *Queue) finish(name string, a Answer) {
	q.tasks[name].answer <- a
	delete(q.tasks, name)
}

// takeBack takes back the tasks of silent agents. If the server cannot be reached all are silent.
func (q *Queue) takeBack(now time.Time, connected bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name, h := range q.tasks {
		switch {
		case h.until.IsZero():
		case !connected:
			h.until = now.Add(q.opt.Lease)
		case now.After(h.until):
			q.again(name, fmt.Sprintf("task %s was given to agents %d times, and none answered; did it take all the memory there is?",
				name, maxTries))
		}
	}
}

// Close removes the queue. Tasks in progress are given up.
func (q *Queue) Close() {
	defer q.conn.Close()
	q.end(unavailable("the queue is closed"))
	q.group.Wait()
	q.say(announcement{Queue: q.id, Over: true})
	if q.conn.IsConnected() {
		_ = q.conn.FlushTimeout(requestTimeout)
	}
}

// persist asks something of the other end, and tries again as long as that cannot be
// reached, until ctx ends; it returns its cause then.
func persist(ctx context.Context, try func(context.Context) error) error {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		attempt, cancel := context.WithTimeout(ctx, requestTimeout)
		err := try(attempt)
		cancel()
		if err == nil || errors.Is(err, natsgo.ErrMaxPayload) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
