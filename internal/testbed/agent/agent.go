// Package agent takes hosts into runs that a coordinator elsewhere leads.
//
// An [Agent] is a process that offers its host: it joins a NATS server, says what the host is
// ([Info]), and starts and ends workers for one coordinator at a time. A [Fleet] is the
// coordinator's end: it finds the agents, and its [Remote] hosts are what package coordinator leads
// a run through.
//
// A coordinator takes an agent for one run, by a lease, and renews it all the time. An agent that
// has heard nothing from its coordinator for [LeaseTime] kills the run's workers and is free again,
// whether the coordinator, the server or the network has failed. Its workers are children of the
// agent, which see their standard input end when the agent dies. One that stands still leaves them
// running: they ask the coordinator itself whether they may go on, and end without an answer.
//
// # Access
//
// Every client of the server can ask agents to take part in runs: that is the measure of trust. An
// agent starts nothing but the program that it is itself, as a worker, with typed values that were
// checked: no command line, file name or environment comes from outside. The connection is
// encrypted unless the server is on this host's loopback. A lease is known by a random number that
// the agent draws, its requests are numbered, and it is taken with a ticket that holds once: what
// was recorded of an earlier run, or of this one, and is sent again has no effect. A request that
// cannot be read, or is of no lease, is refused and counted.
//
// # Subjects
//
//	dmebench.agents               who is there?
//	dmebench.agent.INSTANCE       requests to one agent process
//	dmebench.agent.INSTANCE.LEASE what it tells the lease's coordinator unasked
//
// Questions and answers are a line of JSON that says what they belong to, and more JSON. A large
// answer comes in pieces, each of which is asked for.
package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/environment"
	"dmebench/internal/testbed/workqueue"
	"dmebench/transport/nats"
)

// Agent offers this host to coordinators.
type Agent struct {
	Broker  nats.Broker       // where coordinators are met, and the control plane of runs
	Name    string            // of the host, in results; "" for the one that it has
	Address string            // by which other hosts reach it; "" for that of the connection to the broker
	Labels  map[string]string // by which coordinators choose hosts
	Log     io.Writer         // a line for each event; nil for none

	program environment.Program // in place of this one, in tests
}

const (
	reconnectPause = 500 * time.Millisecond // between attempts to reach a server that is gone
	reconnectLate  = 250 * time.Millisecond // at most, so that not all come at once

	// A server that is gone without a word is missed after about three of these.
	askServer = 2 * time.Second
)

// connection is how agents and coordinators are connected: it comes back by itself. One that
// need not be encrypted does not follow what the server says of other servers: they may be
// on other hosts.
func connection(b nats.Broker, name string) []natsgo.Option {
	all := []natsgo.Option{
		natsgo.Name("dmebench " + name), natsgo.MaxReconnects(-1), natsgo.ReconnectBufSize(-1),
		natsgo.ReconnectWait(reconnectPause), natsgo.ReconnectJitter(reconnectLate, reconnectLate),
		natsgo.PingInterval(askServer), natsgo.MaxPingsOutstanding(2),
	}
	if plain, err := unencrypted(b); err != nil || plain != nil {
		all = append(all, natsgo.IgnoreDiscoveredServers())
	}
	return all
}

// unencrypted returns the servers of a broker to which no connection insists on TLS.
func unencrypted(b nats.Broker) (all []*url.URL, err error) {
	for s := range strings.SplitSeq(b.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil {
			return nil, fmt.Errorf("%w: %s: want nats://HOST:PORT or tls://HOST:PORT", nats.ErrBroker, b.Name())
		}
		if u.Scheme != "tls" && len(b.CA)+len(b.Cert) == 0 {
			all = append(all, u)
		}
	}
	return all, nil
}

// CheckBroker refuses a server to which a connection would not be encrypted, unless it
// is on this host's loopback.
func CheckBroker(b nats.Broker) error {
	plain, err := unencrypted(b)
	for _, u := range plain {
		if !loopback(u.Hostname()) {
			return fmt.Errorf("%w at %s: it is not on this host's loopback, and the connection to it would not be encrypted: "+
				"credentials and keys pass there; write tls://%s, and give --creds a file with the authority of its certificate "+
				"if the system does not know it", nats.ErrBroker, b.Name(), u.Host)
		}
	}
	return err
}

// Serve offers the host until ctx ends, and then returns nil. It begins as soon as
// the server is there, and comes back whenever the server does. An error says that
// it cannot begin, or that the server does not let it in any more.
func (x Agent) Serve(ctx context.Context) error {
	a := &agent{
		Agent: x, instance: rand.Text(), cores: cores(), clock: clock.New(),
		later: time.NewTimer(0), closed: make(chan struct{}), ticket: rand.Text(),
	}
	a.work.SetLimit(busyAtMost)
	if err := a.prepare(); err != nil {
		return err
	}
	if err := a.connect(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer a.conn.Close()
	var err error
	if a.tasks, err = workqueue.NewTaker(a.conn, a.Name); err != nil {
		return err
	}
	defer a.tasks.Close()
	if err := a.listen(); err != nil {
		return err
	}
	a.takeTasks()
	a.log("ready at %s: address %s, %d cores, %s", a.Broker.Name(), a.Address, a.cores, a.program)
	select {
	case <-ctx.Done():
	case <-a.closed:
		err = fmt.Errorf("agent: the connection to %s is closed for good: %w", a.Broker.Name(), a.conn.LastError())
	}
	a.stop()
	return err
}

// agent is an Agent at work.
type agent struct {
	Agent
	instance string
	cores    int
	clock    *clock.Clock
	conn     *natsgo.Conn
	closed   chan struct{} // the connection will not come back
	refused  atomic.Uint64
	work     errgroup.Group // the requests that are being carried out

	mu     sync.Mutex
	ticket string
	lease  *lease           // nil if the agent is free
	tasks  *workqueue.Taker // done while the agent is free
	later  *time.Timer      // when that is taken up again

	reserved reservation
	ending   bool

	logging sync.Mutex
}

// busyAtMost bounds the requests that are carried out at a time.
const busyAtMost = 256

// prepare completes what was not given, and checks what was.
func (a *agent) prepare() error {
	errs := []error{CheckBroker(a.Broker)}
	var err error
	if a.Name == "" {
		if a.Name, err = os.Hostname(); err != nil {
			errs = append(errs, fmt.Errorf("agent: cannot find this host's name: %w; give it by --name", err))
		}
	}
	errs = append(errs, CheckName(a.Name))
	if a.Address != "" {
		errs = append(errs, checkAddress(a.Address))
	}
	if a.program == (environment.Program{}) {
		a.program, err = environment.ThisProgram()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// cores is how many processors processes on this host may use at a time: in a container
// not all of them.
func cores() int {
	n := runtime.NumCPU()
	if quota, limited := environment.CPUQuota(); limited {
		n = min(n, max(1, int(math.Ceil(quota))))
	}
	return n
}

// replaced reports whether the program's file is another than in the beginning: workers
// would be of another build than announced.
func (a *agent) replaced() error {
	if workqueue.Replaced() {
		return errors.New("agent: the program's file was replaced or removed since this agent was started; restart the agent")
	}
	return nil
}

// connect waits until the server is there. It fails if waiting does not help.
func (a *agent) connect(ctx context.Context) error {
	opts := append(connection(a.Broker, "agent "+a.Name),
		natsgo.DisconnectErrHandler(func(_ *natsgo.Conn, err error) {
			if err == nil {
				return // closed by this process
			}
			a.log("the connection to %s is lost: %v; reconnecting", a.Broker.Name(), err)
		}),
		natsgo.ReconnectHandler(func(*natsgo.Conn) { a.log("the connection to %s is back", a.Broker.Name()) }),
		natsgo.ClosedHandler(func(*natsgo.Conn) { close(a.closed) }),
		natsgo.ErrorHandler(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) { a.log("%v", err) }))
	for waiting := false; ; {
		var err error
		if a.conn, err = a.Broker.Dial(opts...); err == nil {
			return nil
		}
		if !mayCome(err) {
			return err
		}
		if !waiting {
			a.log("%v; waiting for it", err)
			waiting = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(reconnectPause):
		}
	}
}

// mayCome reports whether a server that could not be reached may yet be there: it is
// not that it is the wrong one, or does not want this agent.
func mayCome(err error) bool {
	var network *net.OpError
	var name *net.DNSError
	return errors.Is(err, natsgo.ErrNoServers) || errors.Is(err, natsgo.ErrTimeout) || errors.Is(err, io.EOF) ||
		errors.As(err, &name) || errors.As(err, &network) && network.Op != "remote error" // TLS reports alerts so
}

func (a *agent) listen() error {
	if a.Address == "" {
		address, _, err := net.SplitHostPort(a.conn.LocalAddr())
		if err != nil {
			return fmt.Errorf("agent: cannot tell by which address other hosts reach this one: %w; give it by --address", err)
		}
		a.Address = address
	}
	for _, subject := range []string{discovery, subjectOf(a.instance)} {
		if _, err := a.conn.Subscribe(subject, a.asked); err != nil {
			return fmt.Errorf("agent: %w", err)
		}
	}
	if err := a.conn.Flush(); err != nil && !a.conn.IsReconnecting() {
		return fmt.Errorf("agent: %w", err)
	}
	return nil
}

func (a *agent) stop() {
	a.mu.Lock()
	a.ending = true
	l := a.lease
	wait := a.leaveTasks()
	a.mu.Unlock()
	wait()
	if l != nil {
		l.end("the agent was asked to end")
		_ = a.conn.FlushTimeout(time.Second) // so that its coordinator hears of it
	}
	_ = a.work.Wait()
}

func (a *agent) log(format string, args ...any) {
	if a.Log == nil {
		return
	}
	a.logging.Lock()
	defer a.logging.Unlock()
	fmt.Fprintf(a.Log, "agent %s: %s\n", a.Name, fmt.Sprintf(format, args...))
}
