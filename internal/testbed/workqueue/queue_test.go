package workqueue

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"dmebench/transport/nats"
)

// Tasks of several agents have the answers that they have here, byte for byte, also of two
// queues at a time; and nothing remains on the server.
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
	b.leavesNothing()
}

// leavesNothing fails the test where a queue is left on the server.
func (b *broker) leavesNothing() {
	b.t.Helper()
	js, err := jetstream.New(b.connect())
	if err != nil {
		b.t.Fatal(err)
	}
	for name := range js.StreamNames(b.t.Context()).Name() {
		b.t.Errorf("stream %s is left", name)
	}
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
	for range maxDeliver + 1 {
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

// awaitTasks waits until so many tasks wait for an agent, and so many are being done.
func (q *Queue) awaitTasks(t *testing.T, pending uint64, taken int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		i, err := q.tasks.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if i.NumPending == pending && i.NumAckPending == taken {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d tasks wait and %d are being done; want %d and %d", i.NumPending, i.NumAckPending, pending, taken)
		}
		time.Sleep(5 * time.Millisecond)
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

// An agent forgets queues whose owners say nothing, and removes them when that has lasted
// very long; but not while the server could not be reached.
func TestExpire(t *testing.T) {
	start := time.Now()
	s := &taker{queues: map[string]*offer{}, silent: map[string]time.Time{"old": start}}
	ctx, end := context.WithCancel(t.Context())
	s.queues["new"] = &offer{id: "new", heard: start, ctx: ctx, end: end}
	look := func(after time.Duration, connected bool) []string { return s.expire(start.Add(after), connected) }
	if gone := look(goneAfter+time.Minute, false); gone != nil || ctx.Err() != nil {
		t.Errorf("without a server: %v, %v", gone, ctx.Err())
	}
	start = start.Add(goneAfter + time.Minute) // as if nothing had been before
	if gone := look(silentAfter, true); gone != nil || ctx.Err() != nil {
		t.Errorf("%v, %v", gone, ctx.Err())
	}
	if gone := look(silentAfter+1, true); gone != nil || ctx.Err() == nil || s.queues["new"] != nil {
		t.Errorf("%v, %v", gone, ctx.Err())
	}
	if gone := look(goneAfter, true); gone != nil {
		t.Errorf("too early: %v", gone)
	}
	if gone := look(goneAfter+1, true); len(gone) != 2 {
		t.Errorf("%v", gone)
	}
}
