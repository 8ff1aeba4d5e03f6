package tcp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
)

// Guarantees is what this transport promises.
var Guarantees = transport.Guarantees{Reliable: true, FIFO: true}

// How many connections are being made at a time. Encrypted ones take half a
// millisecond of a core each.
const (
	dials    = 32
	securely = 4
)

// limits are bounds that tests narrow.
type limits struct {
	backlog   int           // bytes queued on a link
	handshake time.Duration // for the listener's half
	connect   time.Duration // for a dial with its handshake
	delivery  time.Duration // for delivering what a dead process had sent
	drain     time.Duration // for the peers to take what is queued at Close
}

func defaultLimits() limits {
	return limits{
		backlog: transport.MaxBacklog, handshake: 5 * time.Second,
		connect: 10 * time.Second, delivery: time.Second, drain: time.Second,
	}
}

type process = peers.Process[peer]

// peer is guarded by Transport.Mu.
type peer struct {
	link  *link    // to it; nil before the first use
	in    *inbound // from it; nil before it has dialed
	fate  fate
	cause error // why the link to it broke, if that was noticed first

	arriving  bool           // its handler's Up is being called
	expelled  bool           // announced to this process as ended
	reporting sync.WaitGroup // of Down
}

type fate uint8

const (
	alive  fate = iota
	left        // said goodbye
	absent      // not here yet
	down        // vanished
)

// Transport is a [transport.Transport] over TCP.
type Transport struct {
	life     life // its Mu guards links, inbounds and the fates of processes; no other lock is taken under it
	config   transport.Config
	options  Options
	identity func() (*tls.Config, error) // for what is encrypted
	limits   limits
	listener net.Listener

	handler transport.Handler // set before started is closed
	started chan struct{}

	// routes has the link to each node's process; nil before the first use. A Send cannot lock the
	// link before it has loaded all that leads there, one after the other: that is little.
	routes  []atomic.Pointer[link]
	dirty   peers.Dirty[link]
	dialing chan struct{} // a place for each dial under way

	leaving context.Context // ended when Close begins
	leave   context.CancelFunc
	ctx     context.Context // ended when Close gives up waiting
	cancel  context.CancelFunc

	links      []*link
	inbounds   []*inbound
	readmitted chan struct{} // closed when a process has been readmitted, and made again

	received, refusedConns, refusedFrames atomic.Uint64
}

type life = peers.Life[peer]

type Options struct {
	Encryption Encryption // Auto by default
}

// Listen opens a transport, which accepts connections from then on. c.Listen should name an
// address at which the other processes can reach this one.
func Listen(c transport.Config, o Options) (*Transport, error) { return listen(c, o, defaultLimits()) }

func listen(c transport.Config, o Options, l limits) (*Transport, error) {
	o.Encryption = cmp.Or(o.Encryption, Auto)
	if !slices.Contains(Encryptions(), o.Encryption) {
		return nil, fmt.Errorf("tcp: encryption %q: want one of %v", o.Encryption, Encryptions())
	}
	if err := peers.Check("tcp", &c); err != nil {
		return nil, err
	}
	lc := net.ListenConfig{KeepAlive: -1}
	listener, err := lc.Listen(context.Background(), "tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("tcp: listen: %w", err)
	}
	t := &Transport{
		life: life{Name: "tcp"}, config: c, options: o, limits: l, listener: listener,
		routes:     make([]atomic.Pointer[link], c.Nodes+1),
		started:    make(chan struct{}),
		readmitted: make(chan struct{}),
		dialing:    make(chan struct{}, dials),
	}
	if t.encrypts(t.Addr()) {
		t.dialing = make(chan struct{}, securely)
	}
	t.identity = sync.OnceValues(func() (*tls.Config, error) { return newIdentity(&t.config.Key) })
	t.leaving, t.leave = context.WithCancel(context.Background())
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.life.Running.Go(t.accept)
	return t, nil
}

// Addr returns the address that the transport listens on.
func (t *Transport) Addr() string { return t.listener.Addr().String() }

// Start connects to the configuration's peers and begins to deliver frames. It fails if one
// of the peers cannot be reached; a later incarnation does not wait for them.
func (t *Transport) Start(book transport.AddressBook, h transport.Handler) error {
	top, err := peers.NewTopology[peer]("tcp", book, &t.config)
	if err != nil {
		return err
	}
	for p := range top.All() {
		if p.Absent {
			p.State.fate = absent
		}
	}
	t.life.Mu.Lock()
	if err := t.life.Begin(top); err != nil {
		t.life.Mu.Unlock()
		return err
	}
	t.handler = h
	close(t.started)
	t.life.Mu.Unlock()

	known := make(map[*process]bool)
	for _, id := range t.config.Peers {
		known[top.Of(id)] = true
	}
	if t.config.Incarnation > 1 {
		for p := range known {
			if _, err := t.firstUse(p); err != nil {
				return err
			}
		}
		return nil
	}
	results := make(chan error, len(known))
	for p := range known {
		if _, err := t.openLink(p, func(err error) { results <- err }); err != nil {
			results <- err
		}
	}
	var errs []error
	for range known {
		if err := <-results; err != nil {
			errs = append(errs, err)
		}
	}
	const shown = 4 // of perhaps a thousand that are alike
	if more := len(errs) - shown; more > 0 {
		errs = append(errs[:shown], fmt.Errorf("tcp: %d more peers could not be reached", more))
	}
	return errors.Join(errs...)
}

// openLink returns the link to p, and makes it if there is none. report is called when the
// connection is there or has failed; it must not wait.
func (t *Transport) openLink(p *process, report func(error)) (*link, error) {
	t.life.Mu.Lock()
	defer t.life.Mu.Unlock()
	if t.life.Closing() {
		return nil, t.life.Closed()
	}
	if l := p.State.link; l != nil {
		// The caller that asked for the connection gets what it needs: a link that queues until the
		// connection is there, and Down if it never is.
		report(nil)
		return l, nil
	}
	l := newLink(t, p)
	if p.State.fate != alive || p.State.expelled {
		l.gone = true
		l.cancel()
		report(nil)
	} else {
		t.life.Running.Go(func() { l.run(report) })
	}
	t.links = append(t.links, l)
	p.State.link = l
	if t.life.Top().Of(p.Node()) == p { // else another incarnation has taken its place
		t.route(p, l)
	}
	return l, nil
}

// route has frames to the nodes of a process take a link. It is called with Mu held.
func (t *Transport) route(p *process, l *link) {
	for _, id := range p.Nodes {
		t.routes[id].Store(l)
	}
}

func (t *Transport) Send(from, to dme.NodeID, b []byte) error {
	if int(to) < len(t.routes) && len(b) <= transport.MaxFrame && !t.life.Closing() {
		if l := t.routes[to].Load(); l != nil && t.life.Top().Lives(from) {
			return l.send(from, to, b)
		}
	}
	p, err := t.life.Route(from, to, len(b), transport.MaxFrame)
	if err != nil {
		return err
	}
	l, err := t.firstUse(p)
	if err != nil {
		return err
	}
	return l.send(from, to, b)
}

func (t *Transport) firstUse(p *process) (*link, error) {
	return t.openLink(p, func(err error) {
		if err != nil {
			t.lostLink(p, err)
		}
	})
}

// Flush writes what is queued as far as the sockets take it at once, or has a goroutine begin to.
func (t *Transport) Flush() error {
	if t.life.Closing() {
		return t.life.Closed()
	}
	t.flush()
	return nil
}

func (t *Transport) flush() { t.dirty.Drain((*link).flush) }

func (t *Transport) Counters() transport.Counters {
	c := transport.Counters{
		Received:      t.received.Load(),
		RefusedConns:  t.refusedConns.Load(),
		RefusedFrames: t.refusedFrames.Load(),
	}
	t.life.Mu.Lock()
	links, inbounds := t.links, t.inbounds
	t.life.Mu.Unlock()
	for _, l := range links {
		l.mu.Lock()
		l.noteBacklog()
		c = c.Plus(l.counters)
		c.Packets += l.packets.read(l.conn)
		l.mu.Unlock()
	}
	for _, in := range inbounds {
		in.mu.Lock()
		c.Packets += in.packets.read(in.conn)
		in.mu.Unlock()
	}
	return c
}
