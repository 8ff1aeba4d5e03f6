package agent

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	natsgo "github.com/nats-io/nats.go"
)

// found answers who is looking for agents.
func (a *agent) found(m *natsgo.Msg) {
	received := a.clock.Now()
	if q, err := readRequest(m.Data); err != nil || q.Op != opDescribe {
		a.refuse(m, received, errUnreadable, false)
		return
	}
	a.reply(m, received, &answer{Info: a.describe()})
}

// asked carries out a request. Those that take no time are carried out in the order in
// which they come; others at the same time.
func (a *agent) asked(m *natsgo.Msg) {
	received := a.clock.Now()
	q, err := readRequest(m.Data)
	if err != nil {
		a.refuse(m, received, err, false)
		return
	}
	switch q.Op {
	case opDescribe:
		a.reply(m, received, &answer{Info: a.describe()})
		return
	case opOpen:
		l, ready, err := a.open(&q)
		if err != nil {
			a.reply(m, received, &answer{Error: err.Error()})
			return
		}
		a.work.Go(func() {
			ready()
			l.renew()
			a.reply(m, received, &answer{Lease: l.id})
		})
		return
	}
	if q.Op == opGiveUp && a.giveUp(q.Lease) {
		a.reply(m, received, new(answer))
		return
	}
	l := a.current()
	d, known := duties[q.Op]
	switch {
	case !known:
		a.refuse(m, received, fmt.Errorf("%w: there is no %q", errUnreadable, q.Op), false)
	case l == nil || l.id != q.Lease:
		a.refuse(m, received, errors.New("the lease of this agent is over, or was never given"), true)
	case !l.inOrder(q.Sequence):
		a.refuse(m, received, errors.New("agent: the request was made before"), false)
	case d.quick:
		a.reply(m, received, l.carryOut(d, &q))
	default:
		select {
		case a.busy <- struct{}{}:
		default:
			a.reply(m, received, &answer{Error: fmt.Sprintf("agent: more than %d requests at a time", busyAtMost)})
			return
		}
		a.work.Go(func() {
			defer func() { <-a.busy }()
			a.reply(m, received, l.carryOut(d, &q))
		})
	}
}

// refuse counts a request that has no effect.
func (a *agent) refuse(m *natsgo.Msg, received int64, why error, over bool) {
	a.refused.Add(1)
	a.reply(m, received, &answer{Error: why.Error(), Over: over})
}

// inbox begins the subjects on which answers are awaited. An agent says nothing on
// others at the wish of whoever asks.
const inbox = "_INBOX."

// reply answers. The bounds of the times hold for the clocks of all processes of this
// host.
func (a *agent) reply(m *natsgo.Msg, received int64, x *answer) {
	if !strings.HasPrefix(m.Reply, inbox) {
		return
	}
	e := int64(a.clock.Error())
	x.Received, x.Answered = received+e, a.clock.Now()-e
	b, err := json.Marshal(x)
	if err == nil {
		err = a.conn.Publish(m.Reply, b)
	}
	if errors.Is(err, natsgo.ErrMaxPayload) {
		b, _ = json.Marshal(&answer{Received: x.Received, Answered: x.Answered,
			Error: fmt.Sprintf("agent: the answer has %d bytes, and the server passes on %d at most", len(b), a.conn.MaxPayload())})
		err = a.conn.Publish(m.Reply, b)
	}
	if err != nil && !a.conn.IsReconnecting() { // then it is lost; whoever asked hears nothing, as of any answer that is lost
		a.log("an answer cannot be sent: %v", err)
	}
}

// open begins a lease, for whoever shows the ticket of the latest description. ready
// waits until this host does nothing else any more.
func (a *agent) open(q *request) (l *lease, ready func(), err error) {
	if err := checkPart(q.Part); err != nil {
		return nil, nil, err
	}
	if len(q.Holder) == 0 || len(q.Holder) > 256 {
		return nil, nil, errors.New("agent: open: it is not said who asks")
	}
	if err := a.replaced(); err != nil {
		return nil, nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.ending:
		return nil, nil, errors.New("agent: it is about to end")
	case a.lease != nil:
		return nil, nil, fmt.Errorf("agent: it is in use by %s", a.lease.holder)
	case a.reservedFor() != "" && a.reserved.holder != q.Holder:
		return nil, nil, fmt.Errorf("agent: it is in use by %s, between two runs", a.reserved.holder)
	case q.Ticket != a.ticket:
		a.refused.Add(1)
		return nil, nil, errors.New("agent: open: the ticket is of an earlier description")
	}
	if l, err = a.begin(q); err != nil {
		return nil, nil, err
	}
	a.lease, a.ticket, a.reserved = l, rand.Text(), reservation{}
	ready = a.leaveTasks()
	what := fmt.Sprintf("for %d of %d nodes", len(l.part.Local), l.part.Nodes)
	if len(l.part.Local) == 0 && l.part.Nodes == 1 {
		what = "for an examination"
	}
	a.log("taken by %q %s", l.holder, what)
	return l, ready, nil
}

// current returns the lease; nil where there is none.
func (a *agent) current() *lease {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lease
}
