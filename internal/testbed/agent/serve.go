package agent

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/host"
	"dmebench/internal/testbed/doctor"
)

type duty struct {
	op    string
	quick bool // takes no time
	do    func(l *lease, body []byte) (any, error)
}

// slow is a duty that takes time, so that others are carried out meanwhile.
func slow[Q, A any](to question[Q, A], do func(*lease, Q) (A, error)) duty {
	return duty{op: string(to), do: func(l *lease, body []byte) (any, error) {
		var q Q
		if err := decode(body, &q); err != nil {
			return nil, err
		}
		return do(l, q)
	}}
}

func quick[Q, A any](to question[Q, A], do func(*lease, Q) (A, error)) duty {
	d := slow(to, do)
	d.quick = true
	return d
}

func toProcess[A any](do func(launch.Process) (A, error)) func(*lease, int) (A, error) {
	return func(l *lease, number int) (a A, err error) {
		p, err := l.process(number)
		if err != nil {
			return a, err
		}
		return do(p)
	}
}

// duties lists what the coordinator that has taken the agent can ask.
var duties = []duty{
	quick(askRenew, func(l *lease, heard int) ([]ending, error) { l.load.look(); return l.ended(heard) }),
	slow(askClose, (*lease).close),

	slow(askStart, (*lease).start),
	quick(askKill, toProcess(func(p launch.Process) (nothing, error) { p.Kill(); return nothing{}, nil })),
	slow(askPause, toProcess(func(p launch.Process) (nothing, error) { return nothing{}, p.Pause() })),
	quick(askResume, toProcess(func(p launch.Process) (nothing, error) { return nothing{}, p.Resume() })),
	quick(askStopped, toProcess(func(p launch.Process) (bool, error) { return p.Stopped(), nil })),
	quick(askStderr, toProcess(func(p launch.Process) ([]string, error) { return p.Stderr(), nil })),

	quick(askRead, func(l *lease, _ nothing) ([]byte, error) {
		l.load.begin()
		err := l.host.Read(l.ctx, l.readings)
		return appendReadings(nil, l.readings, l.part.Local), err
	}),
	quick(askWitness, func(l *lease, waits bool) (host.Witness, error) { return l.host.Witness(l.ctx, waits) }),
	quick(askHold, func(l *lease, order uint64) (nothing, error) { return nothing{}, l.host.Hold(l.ctx, order) }),
	quick(askRemove, func(l *lease, id dme.NodeID) (control.Left, error) {
		if id < 1 || int(id) > l.part.Nodes {
			return control.Left{}, fmt.Errorf("agent: remove: there is no node %d", id)
		}
		return l.host.Remove(l.ctx, id)
	}),
	slow(askReport, func(l *lease, _ nothing) (host.Report, error) {
		r, err := l.host.Report(l.ctx)
		a := l.agent
		r.Host.Name, r.Host.Address, r.Host.Labels = a.Name, a.Address, a.Labels
		r.Host.Load, r.Host.Environment = l.load.report(), environment.Describe()
		return r, err
	}),

	slow(askPort, func(l *lease, key []byte) (clock.Peer, error) {
		return l.survey.open(l.agent.Address, l.agent.Name, key)
	}),
	slow(askProbe, func(l *lease, q probeRequest) (probed, error) { return l.survey.probe(l.ctx, q.Peers, q.Count) }),
	slow(askFollow, func(l *lease, q followRequest) (nothing, error) {
		return nothing{}, l.survey.follow(q.Peers, q.Interval)
	}),
	slow(askPaths, func(l *lease, _ nothing) (map[string]clock.Path, error) { return l.survey.take(), nil }),

	slow(askExamine, func(l *lease, n doctor.Need) ([]doctor.Finding, error) {
		return doctor.Examine(l.ctx, doctor.Options{Need: n, Listen: l.host.Listen(), Several: true}), nil
	}),
	slow(askGate, (*lease).openGate), slow(askReach, (*lease).reach),
}

var errOver = errors.New("its agent has given up the run")

// asked carries out a request. Those that take no time are carried out in the order in
// which they come; others at the same time.
func (a *agent) asked(m *natsgo.Msg) {
	received := a.clock.Now()
	q, body, err := readRequest(m.Data)
	switch {
	case err != nil:
		a.refuse(m, received, err, false)
		return
	case q.Op == string(askDescribe):
		a.reply(m, received, answer{}, encode(a.describe()))
		return
	case m.Subject == discovery:
		a.refuse(m, received, errUnreadable, false)
		return
	case q.Op == string(askOpen):
		l, ready, err := a.open(q.Sequence, body)
		if err != nil {
			a.reply(m, received, answer{Error: err.Error()}, nil)
			return
		}
		a.work.Go(func() error {
			ready()
			l.expiry.Reset(LeaseTime)
			a.reply(m, received, answer{}, encode(l.id))
			return nil
		})
		return
	case q.Op == string(askGiveUp) && a.giveUp(q.Lease):
		a.reply(m, received, answer{}, encode(nothing{}))
		return
	}
	a.mu.Lock()
	l := a.lease
	a.mu.Unlock()
	var d duty
	k := slices.IndexFunc(duties, func(d duty) bool { return d.op == q.Op })
	known := k >= 0
	if known {
		d = duties[k]
	}
	switch {
	case !known && q.Op != string(askRest):
		a.refuse(m, received, fmt.Errorf("%w: there is no %q", errUnreadable, q.Op), false)
	case l == nil || l.id != q.Lease:
		a.refuse(m, received, errors.New("the lease of this agent is over, or was never given"), true)
	case !l.inOrder(q.Sequence):
		a.refuse(m, received, errors.New("agent: the request was made before"), false)
	case d.quick || !known:
		l.answer(m, received, d, &q, body)
	case !a.work.TryGo(func() error { l.answer(m, received, d, &q, body); return nil }):
		a.reply(m, received, answer{Error: fmt.Sprintf("agent: more than %d requests at a time", busyAtMost)}, nil)
	}
}

// refuse counts a request that has no effect.
func (a *agent) refuse(m *natsgo.Msg, received int64, why error, over bool) {
	a.refused.Add(1)
	a.reply(m, received, answer{Error: why.Error(), Over: over}, nil)
}

// reply answers. The bounds of the times hold for the clocks of all processes of this
// host.
func (a *agent) reply(m *natsgo.Msg, received int64, x answer, body []byte) {
	if !strings.HasPrefix(m.Reply, natsgo.InboxPrefix) {
		return // strangers cannot make it publish on other subjects
	}
	e := int64(a.clock.Error())
	x.Received, x.Answered = received+e, a.clock.Now()-e
	err := a.conn.Publish(m.Reply, message(x, body))
	if err != nil && !a.conn.IsReconnecting() { // then it is lost, and not missed more than any answer that is lost
		a.log("cannot send an answer: %v", err)
	}
}

// open begins a lease, for a coordinator that shows the ticket of the latest description.
// ready waits until this host does nothing else any more.
func (a *agent) open(sequence uint64, body []byte) (l *lease, ready func(), err error) {
	var q openRequest
	if err := decode(body, &q); err != nil {
		return nil, nil, err
	}
	if err := checkPart(&q.Part); err != nil {
		return nil, nil, err
	}
	if len(q.Holder) == 0 || len(q.Holder) > 256 {
		return nil, nil, errors.New("agent: open: the request does not name its coordinator")
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
	if l, err = a.begin(&q, sequence); err != nil {
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

// answer carries out a request, unless the lease ends before. Of a large answer the
// coordinator gets the first piece, and asks for the rest.
func (l *lease) answer(m *natsgo.Msg, received int64, d duty, q *request, body []byte) {
	x, all := answer{Rest: q.Sequence}, []byte(nil)
	var err error
	if q.Op == string(askRest) {
		all, err = l.rest(body, &x.Rest)
	} else {
		all, err = l.carryOut(d, body)
	}
	if err != nil {
		l.agent.reply(m, received, answer{Error: err.Error(), Over: err == errOver}, nil)
		return
	}
	l.mu.Lock()
	if n := maxPiece; len(all) > n {
		l.rests[x.Rest], all = all[n:], all[:n]
	} else {
		delete(l.rests, x.Rest)
		x.Rest = 0
	}
	l.mu.Unlock()
	l.agent.reply(m, received, x, all)
}

// carryOut returns the whole answer.
func (l *lease) carryOut(d duty, body []byte) ([]byte, error) {
	if d.op != string(askClose) { // close waits for all others
		l.use.RLock()
		defer l.use.RUnlock()
		if l.over {
			return nil, errOver
		}
	}
	x, err := d.do(l, body)
	if err != nil {
		return nil, err
	}
	return encode(x), nil
}

// rest returns what is left of an answer, and its number.
func (l *lease) rest(body []byte, number *uint64) ([]byte, error) {
	if err := decode(body, number); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	all, ok := l.rests[*number]
	if !ok {
		return nil, fmt.Errorf("agent: there is no rest of an answer to request %d", *number)
	}
	return all, nil
}
