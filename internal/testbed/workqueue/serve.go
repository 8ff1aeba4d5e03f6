package workqueue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"dmebench/internal/platform/environment"
)

// maxQueues is of how many queues an agent takes tasks. It takes no notice of further ones.
const maxQueues = 64

// Serve takes tasks of all the queues on the server of a connection, and does as many of
// them at a time as it is given cores, each in a process that runs on one. host names this
// host in what owners of queues are told.
//
// With 0 cores it does nothing, and tells owners that the host is there, but in use.
//
// It goes on until ctx ends; what is being done is then given back, its processes are
// ended, and nil is returned. An error says that it could not begin.
func Serve(ctx context.Context, c *natsgo.Conn, host string, cores int) error {
	js, err := jetstream.New(c)
	if err != nil {
		return unavailable("%w", err)
	}
	build, err := environment.ThisProgram()
	if err != nil {
		return unavailable("cannot read this program's executable, by which its queues know it: %w", err)
	}
	s := &taker{
		conn: c, js: js, me: presence{Agent: agentID(), Host: host, Program: build, Cores: cores},
		queues: make(map[string]*offer), silent: make(map[string]time.Time), changed: make(chan struct{}),
	}
	announcements, err := c.Subscribe(announceTopic, s.hear)
	if err != nil {
		return unavailable("%w", err)
	}
	var group sync.WaitGroup
	for range cores {
		group.Go(func() { s.work(ctx) })
	}
	group.Go(func() { s.tidy(ctx) })
	<-ctx.Done()
	_ = announcements.Unsubscribe()
	group.Wait()
	s.close()
	if c.IsConnected() {
		_ = c.FlushTimeout(leaveWait) // what was given back last
	}
	return nil
}

// agentID tells this process from other agents.
var agentID = sync.OnceValue(rand.Text)

// taker takes tasks.
type taker struct {
	conn *natsgo.Conn
	js   jetstream.JetStream
	me   presence

	mu      sync.Mutex
	queues  map[string]*offer
	silent  map[string]time.Time // queues whose owner says nothing: since when
	changed chan struct{}        // closed when there is a new queue
	turn    int                  // which queue is asked next
	closed  bool
}

// offer is a queue that is open.
type offer struct {
	id    string
	heard time.Time

	ctx   context.Context // ends when the queue does
	end   context.CancelFunc
	tasks jetstream.Consumer // nil until it is there
	lease time.Duration
}

// hear notes an announcement, and answers it.
func (s *taker) hear(m *natsgo.Msg) {
	var a announcement
	if json.Unmarshal(m.Data, &a) != nil || a.Queue == "" || len(a.Queue) > 64 || strings.ContainsAny(a.Queue, ".*> \t\r\n/\\") {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.silent, a.Queue)
	o := s.queues[a.Queue]
	s.me.Replaced = s.me.Replaced || Replaced()
	switch {
	case s.closed:
		return
	case a.Over, s.me.Replaced:
		if o != nil {
			o.end()
			delete(s.queues, a.Queue)
		}
		if a.Over {
			return
		}
	case !sameBuild(a.Program, s.me.Program):
	case o != nil:
		o.heard = time.Now()
	case !a.Ready || s.me.Cores == 0:
	case len(s.queues) < maxQueues:
		o = &offer{id: a.Queue, heard: time.Now()}
		o.ctx, o.end = context.WithCancel(context.Background())
		s.queues[a.Queue] = o
		go s.open(o)
	default:
		return
	}
	if !strings.HasPrefix(m.Reply, natsgo.InboxPrefix) {
		return // nothing is said elsewhere at the wish of whoever asks
	}
	if b, err := json.Marshal(s.me); err == nil {
		_ = m.Respond(b)
	}
}

// open looks up the tasks of a queue.
func (s *taker) open(o *offer) {
	var tasks jetstream.Consumer
	err := persist(o.ctx, func(ctx context.Context) (err error) {
		tasks, err = s.js.Consumer(ctx, streamOf(o.id), takers)
		return err
	})
	if err != nil {
		return // the queue is over
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o.tasks, o.lease = tasks, tasks.CachedInfo().Config.AckWait
	close(s.changed)
	s.changed = make(chan struct{})
}

// offers returns the queues that are open, beginning with another one each time, and a
// channel that is closed when there is one more.
func (s *taker) offers() (open []*offer, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.queues {
		if o.tasks != nil {
			open = append(open, o)
		}
	}
	if len(open) > 1 {
		s.turn++
		k := s.turn % len(open)
		open = append(open[k:], open[:k]...)
	}
	return open, s.changed
}

// tidy forgets queues whose owners say nothing, and removes those that have said nothing
// for very long, also before this agent was there.
func (s *taker) tidy(ctx context.Context) {
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	s.listStreams(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, id := range s.expire(time.Now(), s.conn.IsConnected()) {
			attempt, cancel := context.WithTimeout(ctx, requestTimeout)
			if err := s.js.DeleteStream(attempt, streamOf(id)); err == nil || errors.Is(err, jetstream.ErrStreamNotFound) {
				s.mu.Lock()
				delete(s.silent, id)
				s.mu.Unlock()
			}
			cancel()
		}
	}
}

// listStreams notes the queues that are on the server already.
func (s *taker) listStreams(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	names := s.js.StreamNames(ctx, jetstream.WithStreamListSubject(root+">"))
	for name := range names.Name() {
		if id, ours := strings.CutPrefix(name, streamPrefix); ours {
			s.mu.Lock()
			if s.queues[id] == nil {
				s.silent[id] = time.Now()
			}
			s.mu.Unlock()
		}
	}
}

// expire returns the queues that are to be removed. Where the server cannot be reached
// nobody is heard of, and everybody is excused.
func (s *taker) expire(now time.Time, connected bool) (gone []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, o := range s.queues {
		switch {
		case !connected:
			o.heard = now
		case now.Sub(o.heard) > silentAfter:
			o.end()
			delete(s.queues, id)
			s.silent[id] = o.heard
		}
	}
	for id, since := range s.silent {
		switch {
		case !connected:
			s.silent[id] = now
		case now.Sub(since) > goneAfter:
			gone = append(gone, id)
		}
	}
	return gone
}

// close ends what is left.
func (s *taker) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, o := range s.queues {
		o.end()
	}
}

// supervise announces the queue, and looks after server, agents and tasks, until the queue
// ends; or ends it where it cannot go on.
func (q *Queue) supervise() {
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	var state condition
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

// condition is what was seen before.
type condition struct {
	away   time.Time // since when the server cannot be reached; zero where it can
	warned bool      // of that, or of no agent
	used   time.Time // since when all agents are in use by runs; zero where one is not
	idle   time.Time // since when agents have nothing to do; zero where they have
}

// look returns an error where the queue cannot go on.
func (q *Queue) look(s *condition) error {
	now := time.Now()
	if !q.conn.IsConnected() {
		if s.away.IsZero() {
			s.away = now
		}
		q.roster.excuse(now)
		waited := now.Sub(s.away)
		if q.conn.IsClosed() || waited > q.opt.Patience {
			return unavailable("the NATS server at %s cannot be reached any more (%v); is it running there?", q.server, q.conn.LastError())
		}
		q.warn(s, waited > silentAfter/5, "the NATS server cannot be reached; waiting for it")
		return nil
	}
	if !s.away.IsZero() {
		*s = condition{}
	}
	if !q.waits() {
		q.roster.rest(now) // agents may leave while there is nothing to do
	}
	since := q.roster.sweep(now)
	if waited := now.Sub(since); !since.IsZero() && waited > q.opt.Patience {
		return q.roster.none(waited)
	}
	switch used := since.IsZero() && q.roster.cores() == 0 && q.waits(); {
	case !used:
		s.used = time.Time{}
	case s.used.IsZero():
		s.used = now
	}
	used := !s.used.IsZero() && now.Sub(s.used) > silentAfter // between the runs of one sweep it is normal
	q.warn(s, !since.IsZero(), "no agent answers any more; waiting for one")
	q.warn(s, used, "all agents are in use by runs over real networks; waiting for one")
	if since.IsZero() && !used {
		s.warned = false
	}
	return q.lookAtTasks(s, now)
}

// waits reports whether somebody waits for an answer.
func (q *Queue) waits() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) > 0
}

func (q *Queue) warn(s *condition, yes bool, text string) {
	if yes && !s.warned {
		s.warned = true
		q.opt.Warn(text)
	}
}

// lookAtTasks finds tasks that nobody will answer: the server has none that wait or are
// being done, and all answers have been taken, and it stays so.
func (q *Queue) lookAtTasks(s *condition, now time.Time) error {
	ctx, cancel := context.WithTimeout(q.ctx, requestTimeout)
	defer cancel()
	tasks, err := q.tasks.Info(ctx)
	if err != nil {
		return q.lost(err)
	}
	if tasks.NumPending > 0 || tasks.NumAckPending > 0 {
		s.idle = time.Time{}
		return nil
	}
	answers, err := q.stream.Consumer(ctx, owner)
	if err != nil {
		return q.lost(err)
	}
	if i := answers.CachedInfo(); i.NumPending > 0 || i.NumAckPending > 0 {
		s.idle = time.Time{}
		return nil
	}
	if s.idle.IsZero() {
		s.idle = now
	}
	q.giveUp(s.idle, now)
	return nil
}

// giveUp answers tasks that were with the server before agents had nothing more to do, and
// some time ago.
func (q *Queue) giveUp(idle, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name, w := range q.waiting {
		if w.stored.IsZero() || !w.stored.Before(idle) || now.Sub(idle) < 2*announceEvery {
			continue
		}
		select {
		case w.answer <- Answer{Error: fmt.Sprintf("task %s was given to agents %d times, and none answered; "+
			"did it take all the memory there is?", name, maxDeliver)}:
		default:
		}
	}
}

// lost says whether an error of the server ends the queue: what it does not know any more
// does not come back.
func (q *Queue) lost(err error) error {
	if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrConsumerNotFound) {
		return unavailable("the NATS server at %s has lost the queue (%w); does it keep its JetStream folder when it is restarted?",
			q.server, err)
	}
	return nil
}
