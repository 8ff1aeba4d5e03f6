package workqueue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
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

	// Warn is told what a person should know, a line at a time; nil for silence.
	Warn func(string)
}

const (
	defaultLease    = 10 * time.Second
	defaultPatience = 2 * time.Minute

	// reconnectWait is between two attempts to reach a broker that is away.
	reconnectWait = 500 * time.Millisecond

	// streamBytes bounds what a queue takes of the server, and waitingBytes the tasks among
	// that. What is beyond waits here, or at the agents.
	streamBytes  = 256 << 20
	waitingBytes = 64 << 20

	// streamAge is how long a server keeps anything of a queue whose owner has died, where
	// no agent is left to remove it.
	streamAge = 24 * time.Hour

	// sameWithin is how long the server remembers which answers it has.
	sameWithin = 10 * time.Minute

	// maxTaken is how many tasks agents may have at a time.
	maxTaken = 1 << 16
)

// Queue has tasks done by agents. Its methods may be called from several goroutines.
type Queue struct {
	conn   *natsgo.Conn
	js     jetstream.JetStream
	opt    Options
	id     string
	server string // where it is, for people
	stream jetstream.Stream
	tasks  jetstream.Consumer
	roster *roster

	ctx   context.Context // ends with its cause when the queue does
	end   context.CancelCauseFunc
	group sync.WaitGroup

	mu      sync.Mutex
	next    uint64
	waiting map[string]*waiting
	room    *semaphore.Weighted // bytes of what is waiting
}

// waiting is a task that has no answer yet.
type waiting struct {
	answer chan Answer // has room for one
	stored time.Time   // when the server had it; zero before
}

// Open makes a queue on a broker, and waits until an agent is there that takes its tasks.
// It survives a restart of the broker, where that keeps what it has stored. Close must be
// called. Errors wrap [nats.ErrBroker] where the broker cannot be reached, or else
// [ErrUnavailable], but for the end of ctx.
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
		conn: c, opt: o, id: rand.Text(), waiting: make(map[string]*waiting), room: semaphore.NewWeighted(waitingBytes),
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
	if q.js, err = jetstream.New(q.conn); err != nil {
		return unavailable("%w", err)
	}
	asked, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if _, err := q.js.AccountInfo(asked); err != nil {
		return advise(err)
	}
	if q.roster.inbox, err = q.conn.Subscribe(q.conn.NewInbox(), q.roster.hear); err != nil {
		return unavailable("%w", err)
	}
	if err := q.find(ctx, q.opt.Patience/10); err != nil {
		return err
	}
	if err := q.create(ctx); err != nil {
		return advise(err)
	}
	q.group.Go(q.supervise)
	return nil
}

// create makes the stream and its consumers.
func (q *Queue) create(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*requestTimeout)
	defer cancel()
	q.stream, err = q.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: streamOf(q.id), Description: "work of dmebench on " + q.opt.Host,
		Subjects:  []string{taskTopic(q.id) + "*", answerTopic(q.id) + "*"},
		Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew,
		MaxBytes: streamBytes, MaxAge: streamAge, Duplicates: sameWithin,
	})
	if err != nil {
		return err
	}
	answers, err := q.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: owner, FilterSubject: answerTopic(q.id) + "*", AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: requestTimeout, MaxAckPending: maxTaken,
	})
	if err != nil {
		return err
	}
	reading, err := answers.Consume(q.take, jetstream.ConsumeErrHandler(func(jetstream.ConsumeContext, error) {})) // see supervise
	if err != nil {
		return err
	}
	context.AfterFunc(q.ctx, reading.Stop)
	// Last: from here on agents take tasks.
	q.tasks, err = q.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: takers, FilterSubject: taskTopic(q.id) + "*", AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: q.opt.Lease, MaxDeliver: maxDeliver, MaxAckPending: maxTaken,
	})
	return err
}

// advise adds what to do to an error of the server.
func advise(err error) error {
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		errors.Is(err, natsgo.ErrNoResponders):
		return unavailable("the NATS server has no JetStream (%w); start it with -js, or use 'dmebench broker'", err)
	default:
		return unavailable("the NATS server makes no stream for it: %w", err)
	}
}

// Cores returns how many tasks the agents that are there do at a time.
func (q *Queue) Cores() int { return q.roster.cores() }

// Do has a task done and returns its answer. It waits where very much is waiting already.
// A task that failed has an answer too, which says so. An error says that there is none:
// ctx has ended, or the queue has, or the task is larger than the server takes.
func (q *Queue) Do(ctx context.Context, t Task) (Answer, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return Answer{}, fmt.Errorf("workqueue: a task has no JSON form: %w; this is a fault of the program", err)
	}
	if most := q.conn.MaxPayload() - overhead; int64(len(b)) > most {
		return Answer{}, unavailable("a task of %d bytes, files included, where the NATS server takes messages of %d; "+
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
	name, w := fmt.Sprint(q.next), &waiting{answer: make(chan Answer, 1)}
	q.waiting[name] = w
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.waiting, name)
	}()
	err = persist(either, func(ctx context.Context) error {
		_, err := q.js.Publish(ctx, taskTopic(q.id)+name, b, jetstream.WithMsgID("task "+name))
		return err
	})
	if err != nil {
		return Answer{}, err
	}
	q.mu.Lock()
	w.stored = time.Now()
	q.mu.Unlock()
	select {
	case a := <-w.answer:
		return a, nil
	case <-either.Done():
		return Answer{}, context.Cause(either)
	}
}

// overhead is what a message takes of the largest payload for its headers.
const overhead = 1 << 10

// persist asks something of the server, and tries again as long as that cannot be reached,
// until ctx ends; it returns its cause then.
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

// take hands an answer to whoever waits for it. One that nobody waits for is a second
// answer to the same task, or to one that was given up.
func (q *Queue) take(m jetstream.Msg) {
	name := lastToken(m.Subject())
	q.mu.Lock()
	w := q.waiting[name]
	q.mu.Unlock()
	if w != nil {
		var a Answer
		if err := json.Unmarshal(m.Data(), &a); err != nil {
			a = Answer{Error: fmt.Sprintf("workqueue: an agent's answer cannot be read: %v", err)}
		}
		select {
		case w.answer <- a:
		default:
		}
	}
	_ = m.Ack() // else it comes again, and nobody waits for it
}

// Close removes the queue. What is still being done is given up.
func (q *Queue) Close() {
	defer q.conn.Close()
	q.end(unavailable("the queue is closed"))
	q.group.Wait()
	if q.roster.inbox != nil {
		_ = q.roster.inbox.Unsubscribe()
	}
	q.say(announcement{Queue: q.id, Over: true})
	if !q.conn.IsConnected() {
		return // agents remove it, or its age does
	}
	if q.stream != nil {
		ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
		defer cancel()
		_ = q.js.DeleteStream(ctx, streamOf(q.id))
	}
	_ = q.conn.FlushTimeout(requestTimeout)
}
