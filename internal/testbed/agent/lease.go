package agent

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/host"
	"dmebench/internal/testbed/doctor"
)

// lease is a coordinator's right to this host, for one run.
type lease struct {
	agent  *agent
	id     string
	holder string
	part   host.Part
	host   *host.Local
	ctx    context.Context // of its requests; ends with it
	cancel context.CancelFunc

	readings []host.Reading // of opRead, which is carried out once at a time
	load     *load
	survey   survey
	expiry   *time.Timer // set anew by each sign of the coordinator
	gate     atomic.Pointer[doctor.Gate]
	watchers sync.WaitGroup // for the ends of its processes
	once     sync.Once

	// use is held for reading while a request is carried out, and for writing while the
	// host is closed; then over is set.
	use  sync.RWMutex
	over bool

	mu        sync.Mutex
	sequence  uint64 // of the latest request
	processes []launch.Process
	endings   []ending
	rests     map[uint64][]byte // of large answers, by the number of the request
}

// readyWithin bounds how long it takes until this host does nothing else any more. The
// coordinator does not know of its lease before.
const readyWithin = 10 * time.Second

// begin makes the host ready for a run. It is called with the agent's lock held.
func (a *agent) begin(q *openRequest, sequence uint64) (*lease, error) {
	l := &lease{
		agent: a, id: rand.Text(), holder: q.Holder, part: q.Part, sequence: sequence,
		host:     &host.Local{Label: a.Name, Address: net.JoinHostPort(a.Address, "0")},
		readings: make([]host.Reading, q.Part.Nodes), rests: make(map[uint64][]byte),
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	if _, err := l.host.Open(l.ctx, l.part); err != nil {
		l.cancel()
		return nil, err
	}
	l.load = &load{cores: a.cores, workers: l.alive, since: use(nil), least: environment.AvailableMemory()}
	l.expiry = time.AfterFunc(readyWithin+LeaseTime, func() {
		l.end(fmt.Sprintf("nothing was heard from its coordinator for %v", LeaseTime))
	})
	return l, nil
}

// inOrder notes a sign of the coordinator, and reports whether the request is a new one.
func (l *lease) inOrder(sequence uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if sequence <= l.sequence {
		return false
	}
	l.sequence = sequence
	l.expiry.Reset(LeaseTime)
	return true
}

// end kills what is left of the run on this host, and frees the agent. why is empty if the
// coordinator wants it; otherwise the coordinator hears of it, if it is there. It returns once all
// that is done, in any goroutine.
func (l *lease) end(why string) {
	l.once.Do(func() {
		a := l.agent
		l.expiry.Stop()
		l.cancel()
		for _, p := range l.alive() {
			p.Kill() // so that no request waits for one
		}
		l.use.Lock()
		l.over = true
		l.survey.close()
		err := l.host.Close()
		l.use.Unlock()
		if g := l.gate.Load(); g != nil {
			g.Close() // no request is carried out any more
		}
		l.watchers.Wait()
		if why != "" {
			l.inform(event{Freed: why})
		}
		a.mu.Lock()
		a.lease, a.ticket = nil, rand.Text()
		if why == "" {
			a.reserved = reservation{l.holder, l.id, time.Now().Add(reserveFor)}
		}
		a.later = time.AfterFunc(restBetween, a.takeTasks)
		a.mu.Unlock()
		switch {
		case err != nil:
			a.log("free again: %v", err)
		case why != "":
			a.log("free again: %s; the workers of %q are killed", why, l.holder)
		default:
			a.log("free again")
		}
	})
}

func (l *lease) alive() []launch.Process {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []launch.Process
	for _, p := range l.processes {
		select {
		case <-p.Ended():
		default:
			all = append(all, p)
		}
	}
	return all
}

func (l *lease) process(number int) (launch.Process, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number < 1 || number > len(l.processes) {
		return nil, fmt.Errorf("agent: there is no process %d", number)
	}
	return l.processes[number-1], nil
}

func (l *lease) start(q startRequest) (s started, err error) {
	if err := q.check(l.part.Nodes); err != nil {
		return s, err
	}
	if n := len(l.alive()); n >= l.part.Nodes {
		return s, fmt.Errorf("agent: start: there are %d workers already, for %d nodes", n, l.part.Nodes)
	}
	if err := l.agent.replaced(); err != nil {
		return s, err
	}
	w := host.Worker{Name: fmt.Sprintf("worker %d", q.Worker), GOMAXPROCS: q.Procs}
	w.Boot.Broker, w.Boot.Run, w.Boot.Worker = l.agent.Broker, q.Run, q.Worker
	p, err := l.host.Start(l.ctx, w)
	if err != nil {
		return s, err
	}
	l.mu.Lock()
	l.processes = append(l.processes, p)
	s = started{Process: len(l.processes), PID: p.PID()}
	l.mu.Unlock()
	l.watchers.Go(func() {
		<-p.Ended()
		l.mu.Lock()
		defer l.mu.Unlock()
		e := ending{Process: s.Process, Outcome: p.Outcome(), Stderr: p.Stderr()}
		l.endings = append(l.endings, e)
		l.inform(event{Ended: &e})
	})
	return s, nil
}

// ended returns the ends of processes that the coordinator has not heard of.
func (l *lease) ended(heard int) ([]ending, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.endings[min(max(heard, 0), len(l.endings)):]), nil
}

// close ends the lease as its coordinator wants it.
func (l *lease) close(heard int) ([]ending, error) {
	l.end("")
	all, err := l.ended(heard)
	for k := range all {
		all[k].Stderr = nil
	}
	return all, err
}

// inform sends an event to the coordinator. An event that is lost is sent again when it
// renews the lease.
func (l *lease) inform(e event) {
	_ = l.agent.conn.Publish(eventsOf(l.agent.instance, l.id), encode(e))
}

// reservation keeps an agent, after a run, for the coordinator that had it: no other comes between
// the runs of a sweep. The coordinator gives it up when it ends.
type reservation struct {
	holder string
	lease  string // the one before, by which the coordinator gives it up
	until  time.Time
}

// reserveFor is how long a coordinator has for what it does between two runs.
const reserveFor = LeaseTime

// reservedFor returns the coordinator the agent is reserved for; "" for none. It is called with the
// agent's lock held.
func (a *agent) reservedFor() string {
	if time.Now().Before(a.reserved.until) {
		return a.reserved.holder
	}
	return ""
}

// giveUp ends a reservation, if it is of that lease.
func (a *agent) giveUp(lease string) bool {
	a.mu.Lock()
	mine := lease != "" && a.reserved.lease == lease
	if mine {
		a.reserved = reservation{}
	}
	a.mu.Unlock()
	if mine {
		a.takeTasks() // no run follows for which it would rest
	}
	return mine
}

// restBetween is how long an agent waits after a run before it takes tasks again: the
// next run of a sweep would have to wait until they are given back.
const restBetween = 2 * time.Second

// takeTasks does tasks of work queues while the agent is free.
func (a *agent) takeTasks() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lease == nil && !a.ending {
		a.tasks.Employ(a.cores)
	}
}

// leaveTasks gives back what is being done, and returns a function that waits for that.
// It is called with the agent's lock held.
func (a *agent) leaveTasks() (wait func()) {
	a.later.Stop()
	return a.tasks.Employ(0)
}
