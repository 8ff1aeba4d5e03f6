package workqueue

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"dmebench/transport/nats"
)

// Tasks of several agents have the answers that they have here, byte for byte, also of two
// queues at a time.
func TestAnswers(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	startAgent(t, b.url(), 1)
	startAgent(t, b.url(), 2)
	var tasks []Task
	for seed := range uint64(12) {
		tasks = append(tasks, simulation("maekawa", 7, 70, seed+1), simulation("raymond", 9, 90, seed+1))
	}
	var both sync.WaitGroup
	for range 2 {
		q := b.queue()
		both.Go(func() {
			defer q.Close()
			for i, a := range all(t, q, tasks) {
				if got, want := text(t, a), here(t, tasks[i]); got != want {
					t.Errorf("task %d:\n%s\nwant\n%s", i, got, want)
				}
			}
			for q.Cores() != 3 { // as soon as the second agent is there
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	both.Wait()
}

// An agent that leaves gives back what it was doing, at once and as often as it likes.
func TestAgentsLeave(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	a := startAgent(t, b.url(), 1)
	q := b.queue(func(o *Options) { o.Lease = time.Hour })
	answered := make(chan Answer, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		x, _ := q.Do(ctx, simulation("lasts", 3, 9, 1))
		answered <- x
	}()
	for range maxTries + 1 {
		q.awaitTasks(t, 0, 1)
		a.leave()
		q.awaitTasks(t, 1, 0)
		a = startAgent(t, b.url(), 1)
	}
	q.awaitTasks(t, 0, 1)
	select {
	case x := <-answered:
		t.Errorf("answered: %+v", x)
	default:
	}
	cancel()
	<-answered
	// The process that does it ends with the queue, and its core is free again.
	q.Close()
	if a := all(t, b.queue(), []Task{simulation("maekawa", 7, 70, 1)}); a[0].Result == nil {
		t.Errorf("%+v", a[0])
	}
}

// A task that is lost on its way to agents that leave has not been tried: one that stays does it.
func TestLostOnTheWay(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	first := startAgent(t, b.url(), 1)
	q := b.queue(func(o *Options) { o.Lease = time.Hour })
	first.leave()
	gone := b.connect()
	inbox, err := gone.SubscribeSync(gone.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan Answer, 1)
	go func() {
		x, _ := q.Do(t.Context(), simulation("maekawa", 7, 70, 1))
		answered <- x
	}()
	for given := 0; given < 2*maxTries && len(answered) == 0; {
		if err := gone.PublishRequest(nextTopic(q.id), inbox.Subject, []byte(wait)); err != nil {
			t.Fatal(err)
		}
		// It may be with the first agent's core, which is gone as well.
		if m, err := inbox.NextMsg(100 * time.Millisecond); err == nil && m.Reply != "" {
			given++
		}
		q.takeBack(time.Now().Add(time.Hour), true)
	}
	startAgent(t, b.url(), 1)
	if x := <-answered; x.Result == nil {
		t.Errorf("%+v", x)
	}
}

// awaitTasks waits until so many tasks wait for an agent, and so many are being done.
func (q *Queue) awaitTasks(t *testing.T, waiting, taken int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		q.mu.Lock()
		waits, tasks := len(q.waiting), len(q.tasks)
		q.mu.Unlock()
		if waits == waiting && tasks == waiting+taken {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d tasks of %d wait; want %d, and %d to be done", waits, tasks, waiting, taken)
		}
	}
}

// An agent that is in use is there, and does nothing.
func TestAgentsInUse(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	a := startAgent(t, b.url(), 0)
	_, err := Open(t.Context(), nats.Broker{URL: b.url()}, Options{Patience: 30 * time.Second})
	if !errors.Is(err, ErrUnavailable) {
		t.Fatal(err)
	}
	wantText(t, err.Error(), "all agents are in use by runs over real networks (host-")
	startAgent(t, b.url(), 1)
	q := b.queue()
	if x := all(t, q, []Task{simulation("maekawa", 7, 70, 1)}); x[0].Result == nil || q.Cores() != 1 {
		t.Errorf("%+v, %d cores", x[0], q.Cores())
	}
	a.leave()
}

// An agent forgets queues whose owners say nothing; but not while the server could not be
// reached.
func TestExpire(t *testing.T) {
	start := time.Now()
	s := &Taker{queues: map[string]*offer{}}
	ctx, end := context.WithCancel(t.Context())
	s.queues["new"] = &offer{id: "new", heard: start, ctx: ctx, end: end}
	away := start.Add(time.Hour)
	s.expire(away, false)
	s.expire(away.Add(silentAfter), true)
	if ctx.Err() != nil {
		t.Error("too early")
	}
	s.expire(away.Add(silentAfter+1), true)
	if ctx.Err() == nil || s.queues["new"] != nil {
		t.Error("the queue is still there")
	}
}
