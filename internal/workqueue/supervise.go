package workqueue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"dmebench/internal/task"
)

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
		case w.answer <- task.Answer{Error: fmt.Sprintf("task %s was given to agents %d times, and none answered; "+
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
