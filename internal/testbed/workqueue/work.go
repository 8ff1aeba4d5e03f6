package workqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"dmebench/internal/platform/launch"
)

// What an agent waits for.
const (
	// fetchWait is how long it waits for a task of one queue before it asks another.
	fetchWait = 500 * time.Millisecond

	// leaveWait is how long what is done may take to be delivered when the agent is to leave.
	leaveWait = 3 * time.Second

	// endWait is how long a process may take to leave.
	endWait = time.Second
)

// work takes tasks and does them, one at a time, until ctx ends.
func (s *taker) work(ctx context.Context) {
	c := &core{taker: s}
	defer c.close()
	for ctx.Err() == nil {
		if o, m := s.next(ctx); m != nil {
			c.do(ctx, o, m)
		}
	}
}

// next waits for a task of any queue, but not for long.
func (s *taker) next(ctx context.Context) (*offer, jetstream.Msg) {
	open, changed := s.offers()
	if len(open) == 0 {
		select {
		case <-changed:
		case <-ctx.Done():
		}
		return nil, nil
	}
	for _, o := range open[1:] {
		if batch, err := o.tasks.FetchNoWait(1); err == nil {
			if m := <-batch.Messages(); m != nil {
				return o, m
			}
		}
	}
	// All others have nothing: wait for this one.
	o := open[0]
	batch, err := o.tasks.Fetch(1, jetstream.FetchMaxWait(fetchWait))
	if err == nil {
		select {
		case m := <-batch.Messages():
			if m != nil {
				return o, m
			}
			err = batch.Error()
		case <-ctx.Done():
			for m := range batch.Messages() { // what the server sends before it hears of it
				s.giveBack(o, m)
			}
			return nil, nil
		}
	}
	if err != nil { // no server, or no queue any more
		select {
		case <-time.After(fetchWait):
		case <-o.ctx.Done():
		case <-ctx.Done():
		}
	}
	return nil, nil
}

// core does tasks in a process of its own, which it keeps from one to the next.
type core struct {
	*taker
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
func (c *core) do(ctx context.Context, o *offer, m jetstream.Msg) {
	working, done := context.WithCancel(o.ctx)
	defer context.AfterFunc(ctx, done)()
	keep(working, m, o.lease)
	answer, err := c.carryOut(working, m.Data())
	c.delivery.Wait()
	if err != nil && o.ctx.Err() == nil && ctx.Err() == nil && !lastTime(m) {
		done()
		_ = m.Nak() // somebody else may be able to
		return
	}
	switch {
	case o.ctx.Err() != nil:
		done()
	case err != nil && ctx.Err() != nil:
		done()
		c.giveBack(o, m)
	default:
		if err != nil {
			answer, _ = json.Marshal(Answer{Error: fmt.Sprintf("given to agents %d times; at last, on %s, %v", maxDeliver, c.me.Host, err)})
		}
		c.delivery.Go(func() {
			defer done()
			c.deliver(ctx, o, m, answer)
		})
	}
}

// lastTime reports whether a task will not be given out again.
func lastTime(m jetstream.Msg) bool {
	about, err := m.Metadata()
	return err == nil && about.NumDelivered >= maxDeliver
}

// keep tells the server until ctx ends that a task is being done.
func keep(ctx context.Context, m jetstream.Msg, lease time.Duration) {
	tick := time.NewTicker(max(lease/3, time.Millisecond))
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = m.InProgress()
			case <-ctx.Done():
				return
			}
		}
	}()
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

// deliver stores an answer, and then acknowledges the task. It tries until the queue is over,
// or for a while when the agent is to leave.
func (c *core) deliver(ctx context.Context, o *offer, m jetstream.Msg, answer []byte) {
	giveUp, cancel := context.WithCancel(o.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(leaveWait, cancel) })()
	name := lastToken(m.Subject())
	store := func(ctx context.Context) error {
		_, err := c.js.Publish(ctx, answerTopic(o.id)+name, answer, jetstream.WithMsgID("answer "+name))
		return err
	}
	err := persist(giveUp, store)
	if errors.Is(err, natsgo.ErrMaxPayload) {
		text := fmt.Sprintf("its result is of %d bytes, and the NATS server takes messages of %d; raise its max_payload, or do without agents",
			len(answer), c.conn.MaxPayload())
		answer, _ = json.Marshal(Answer{Error: text})
		err = persist(giveUp, store)
	}
	if err == nil {
		_ = m.Ack() // else it is given out again, and the second answer is dropped
	}
}

// giveBack hands a task in again, as one that has not been given out yet, and acknowledges
// the old one: that the agent leaves is no fault of the task.
func (s *taker) giveBack(o *offer, m jetstream.Msg) {
	ctx, cancel := context.WithTimeout(o.ctx, leaveWait)
	defer cancel()
	if _, err := s.js.Publish(ctx, m.Subject(), m.Data()); err != nil {
		_ = m.Nak()
		return
	}
	_ = m.Ack()
}
