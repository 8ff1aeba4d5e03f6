package workqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/internal/platform/launch"
)

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
	say := func(what, text string) { _ = c.conn.Publish(m.Reply+what, []byte(text)) } // who hears nothing does without
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
	case o.ctx.Err() != nil: // nobody wants it any more
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

// carryOut has the process do a task, and starts it where there is none. An error says
// that there is no answer: the process has died, or was ended because ctx has.
func (c *core) carryOut(ctx context.Context, b []byte) (answer json.RawMessage, err error) {
	if !json.Valid(b) {
		return json.Marshal(Answer{Error: "workqueue: what came is not a task"})
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
		text := fmt.Sprintf("its result is of %d bytes, and the NATS server takes messages of %d; raise its max_payload, or do without agents",
			len(answer), c.conn.MaxPayload())
		answer, _ = json.Marshal(Answer{Error: text})
		_ = persist(giveUp, hand)
	}
}
