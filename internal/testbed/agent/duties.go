package agent

import (
	"errors"
	"fmt"

	"dmebench/internal/record/entrylog"
	"dmebench/internal/runtime/noderun"
	"dmebench/runs"
)

// duty is how a request of a lease is carried out.
type duty struct {
	quick bool // it takes no time
	last  bool // it ends the lease
	do    func(l *lease, q *request, x *answer) error
}

// duties lists what a coordinator can ask for that has taken the agent.
var duties = map[op]duty{
	opRenew: {quick: true, do: func(l *lease, q *request, x *answer) error {
		x.Ended = l.ended(q.Heard)
		return nil
	}},
	opExamine: {do: (*lease).examine}, opGate: {do: (*lease).examine}, opReach: {do: (*lease).examine},
	opStart: {do: func(l *lease, q *request, x *answer) error {
		number, p, err := l.start(q)
		if err != nil {
			return err
		}
		x.Process, x.PID = number, p.PID()
		return nil
	}},
	opRead: {quick: true, do: func(l *lease, _ *request, x *answer) error {
		l.load.begin()
		if err := l.host.Read(l.ctx, l.readings); err != nil {
			return err
		}
		x.Readings = appendReadings(nil, l.readings, l.part.Local)
		return nil
	}},
	opCounts: {do: counts},
	opWaits: {quick: true, do: func(l *lease, _ *request, x *answer) error {
		w, err := l.host.Waits(l.ctx)
		x.Waits = &w
		return err
	}},
	opWitness: {quick: true, do: func(l *lease, _ *request, x *answer) error {
		w, err := l.host.Witness(l.ctx)
		x.Witness = &w
		return err
	}},
	opHold: {quick: true, do: func(l *lease, q *request, _ *answer) error { return l.host.Hold(l.ctx, q.Order) }},
	opHeld: {quick: true, do: func(l *lease, _ *request, x *answer) (err error) {
		x.Node, err = l.host.Held(l.ctx)
		return err
	}},
	opBury: {quick: true, do: func(l *lease, q *request, x *answer) error {
		if err := l.inRun(q); err != nil {
			return err
		}
		r, err := l.host.Bury(l.ctx, q.Node)
		x.Remains = &r
		return err
	}},
	opEntered: {quick: true, do: func(l *lease, q *request, x *answer) (err error) {
		if err := l.inRun(q); err != nil {
			return err
		}
		if l.part.Records == 0 {
			return errNoRecords
		}
		x.At, err = l.host.LastEntered(l.ctx, q.Node)
		return err
	}},
	opLog: {do: records},
	opKill: {quick: true, do: func(l *lease, q *request, _ *answer) error {
		p, err := l.process(q.Process)
		if err == nil {
			p.Kill()
		}
		return err
	}},
	opPause: {do: func(l *lease, q *request, _ *answer) error {
		p, err := l.process(q.Process)
		if err == nil {
			err = p.Pause()
		}
		return err
	}},
	opResume: {quick: true, do: func(l *lease, q *request, _ *answer) error {
		p, err := l.process(q.Process)
		if err == nil {
			err = p.Resume()
		}
		return err
	}},
	opStopped: {quick: true, do: func(l *lease, q *request, x *answer) error {
		p, err := l.process(q.Process)
		if err == nil {
			x.Stopped = p.Stopped()
		}
		return err
	}},
	opStderr: {quick: true, do: func(l *lease, q *request, x *answer) error {
		p, err := l.process(q.Process)
		if err == nil {
			x.Stderr = p.Stderr()
		}
		return err
	}},
	opReport: {do: func(l *lease, _ *request, x *answer) error {
		a := l.agent
		x.Host = &runs.Host{
			Name: a.name, Address: a.address, Labels: a.labels, Load: l.load.report(), Environment: a.facts.look().environment,
		}
		return nil
	}},
	opPort: {do: func(l *lease, q *request, x *answer) (err error) {
		x.Peer, err = l.survey.open(l.agent.address, l.agent.name, q.Key)
		return err
	}},
	opProbe: {do: func(l *lease, q *request, x *answer) (err error) {
		x.Probed, x.Failures, err = l.survey.probe(l.ctx, q.Peers, q.Count)
		return err
	}},
	opFollow: {do: func(l *lease, q *request, _ *answer) error { return l.survey.follow(q.Peers, q.Interval) }},
	opPaths: {do: func(l *lease, _ *request, x *answer) error {
		x.Paths, x.More = l.survey.take()
		return nil
	}},
	opClose: {last: true},
}

var (
	errOver      = errors.New("its agent has given the run up")
	errNoRecords = errors.New("agent: no records outlive the processes of this run")
)

// carryOut carries out a request, unless the lease ends before.
func (l *lease) carryOut(d duty, q *request) *answer {
	x := new(answer)
	if d.last {
		l.end("")
		for _, e := range l.endings { // nobody adds to them any more
			e.Stderr = nil
			x.Ended = append(x.Ended, e)
		}
		return x
	}
	l.use.RLock()
	defer l.use.RUnlock()
	err := errOver
	if !l.over {
		err = d.do(l, q, x)
	}
	if err != nil {
		return &answer{Error: err.Error(), Over: err == errOver}
	}
	return x
}

// inRun refuses a node that there is not.
func (l *lease) inRun(q *request) error {
	if q.Node < 1 || int(q.Node) > l.part.Nodes {
		return fmt.Errorf("agent: %s: there is no node %d", q.Op, q.Node)
	}
	return nil
}

// counts says what the nodes of this host have counted, some nodes at a time.
func counts(l *lease, q *request, x *answer) error {
	local := l.part.Local[min(max(q.From, 0), len(l.part.Local)):]
	if len(local) > piece {
		local, x.Next = local[:piece], q.From+piece
	}
	all := make([]noderun.Counts, l.part.Nodes)
	if err := l.host.Counts(l.ctx, all); err != nil {
		return err
	}
	for _, id := range local {
		x.Counts = append(x.Counts, count{id, all[id-1]})
	}
	return nil
}

// records returns what a node has recorded, some entries at a time.
func records(l *lease, q *request, x *answer) error {
	if err := l.inRun(q); err != nil {
		return err
	}
	all, err := l.host.Log(l.ctx, q.Node)
	if err != nil {
		return err
	}
	all = all[min(max(q.From, 0), len(all)):]
	if len(all) > piece {
		all, x.Next = all[:piece], q.From+piece
	}
	x.Entries = entrylog.Append(nil, all)
	return nil
}
