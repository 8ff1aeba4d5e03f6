package nats

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
)

// Guarantees is what this transport promises. The one order of broadcasts is
// there where Broker.Sequenced asks for it.
var Guarantees = transport.Guarantees{Reliable: true, FIFO: true, Broadcast: true, SequencedBroadcast: true}

// limits are bounds that tests narrow.
type limits struct {
	backlog int           // bytes under way to a process
	inbox   int           // frames that wait for the handler, of all senders together
	drain   time.Duration // for the broker to take what is queued at Close
}

// Frames that wait for the handler lie in a channel, which takes 8 bytes for
// each that there is room for: less for each process where there are more of
// them on this host.
const (
	mostInbox  = 1 << 18
	leastInbox = 1 << 14
	allInboxes = 1 << 24

	reportsInbox = 1 << 12 // reports of progress
)

func defaultLimits(nodes int) limits {
	return limits{
		backlog: transport.MaxBacklog,
		inbox:   min(max(allInboxes/max(nodes, 1), leastInbox), mostInbox),
		drain:   time.Second,
	}
}

var errClosed = fmt.Errorf("nats: %w", transport.ErrClosed)

// Transport is a [transport.Transport] and a [transport.Broadcaster] over NATS.
type Transport struct {
	config transport.Config
	limits limits
	broker Broker
	prefix string
	seal   *seal
	wire   wire
	conn   *natsgo.Conn

	largest int // frame that the broker carries, bytes

	inbox   chan *natsgo.Msg // frames, in the order of their arrival
	reports chan *natsgo.Msg // progress and goodbyes
	alls    *natsgo.Subscription
	byes    *natsgo.Subscription

	top     atomic.Pointer[topology] // nil before Start
	handler transport.Handler
	monitor transport.Monitor // handler, if it is one

	mu         sync.Mutex // held while publishing: numbers are the order of publication
	frame      []byte
	broadcasts uint64 // number of the last one
	backlog    uint64 // the largest there was, bytes
	frames     uint64

	// The delivering goroutine's.
	report []byte
	order  uint64 // number of the last broadcast in the one order
	held   []held // of incarnations that nobody has announced yet

	changing  sync.Mutex           // held by Expel and Readmit
	change    atomic.Pointer[mark] // that is under way
	delivered chan struct{}        // closed when deliver has ended

	closing atomic.Bool
	closed  chan struct{}
	close   func()     // once
	ends    sync.Mutex // guards what follows; no other lock is taken under it
	begun   bool
	cause   atomic.Pointer[error] // why the transport has ended by itself
	running sync.WaitGroup

	received, refused, duplicates atomic.Uint64
}

var (
	_ transport.Transport   = (*Transport)(nil)
	_ transport.Broadcaster = (*Transport)(nil)
)

// Listen connects to the broker and subscribes: frames for this process's nodes
// wait from then on, and are delivered once Start was called. c.Listen means
// nothing here.
func Listen(c transport.Config, b Broker) (*Transport, error) {
	return listen(c, b, defaultLimits(c.Nodes))
}

func listen(c transport.Config, b Broker, l limits) (*Transport, error) {
	if err := peers.Check("nats", &c); err != nil {
		return nil, err
	}
	t := &Transport{
		config: c, limits: l, broker: b, prefix: prefix(&c.Key, b.Own),
		inbox: make(chan *natsgo.Msg, l.inbox), reports: make(chan *natsgo.Msg, reportsInbox),
		seal:   newSeal(&c.Key, b.Own),
		closed: make(chan struct{}), delivered: make(chan struct{}),
	}
	t.close = sync.OnceFunc(t.shutDown)
	var err error
	t.conn, err = b.connect("dmebench node "+processName(t.config.Local[0], t.config.Incarnation)[1:], &t.wire, t.end)
	if err != nil {
		return nil, err
	}
	t.largest = int(min(t.conn.MaxPayload()-maxOverhead, transport.MaxFrame))
	if err := t.subscribe(); err != nil {
		t.Close()
		return nil, fmt.Errorf("%w at %s: subscribe: %w", ErrBroker, b.Name(), err)
	}
	return t, nil
}

// subscribe returns once the broker knows of the subscriptions.
func (t *Transport) subscribe() (err error) {
	if _, err = t.conn.ChanSubscribe(t.Addr()+".*", t.inbox); err != nil {
		return err
	}
	if t.alls, err = t.conn.ChanSubscribe(t.prefix+toAll, t.inbox); err != nil {
		return err
	}
	if _, err = t.conn.ChanSubscribe(t.prefix+".k."+processName(t.config.Local[0], t.config.Incarnation), t.reports); err != nil {
		return err
	}
	if t.byes, err = t.conn.ChanSubscribe(t.prefix+".bye", t.reports); err != nil {
		return err
	}
	return confirmed(t.conn)
}

// confirmed waits until the broker has dealt with what it was sent, and returns
// what it has refused.
func confirmed(c *natsgo.Conn) error {
	if err := c.FlushTimeout(connectTimeout); err != nil {
		return err
	}
	return c.LastError() // set before the answer to Flush is read
}

// Addr returns what the subjects of this process's nodes begin with.
func (t *Transport) Addr() string {
	return t.prefix + "." + processName(t.config.Local[0], t.config.Incarnation)
}

// Start takes the address book and begins to deliver frames.
func (t *Transport) Start(book transport.AddressBook, h transport.Handler) error {
	top, err := newTopology(book, &t.config, t.prefix, t.broker.Sequenced)
	if err != nil {
		return err
	}
	t.ends.Lock()
	defer t.ends.Unlock()
	switch {
	case t.begun || t.closing.Load():
		return errors.New("nats: Start of a transport that has been started or closed")
	case t.cause.Load() != nil:
		return *t.cause.Load()
	}
	t.begun = true
	t.handler = h
	if t.broker.Sequenced {
		t.monitor, _ = h.(transport.Monitor)
	}
	if err := t.welcomeAll(top); err != nil {
		return err
	}
	t.top.Store(top)
	t.running.Go(t.deliver)
	t.running.Go(t.listen)
	return nil
}

// Counters returns what has been counted so far. Bytes and Writes are those of
// the connection to the broker, subjects and what the client library adds
// included; LargestBacklog is what was under way to one process, each frame
// counted as its length and 512 bytes.
func (t *Transport) Counters() transport.Counters {
	t.mu.Lock()
	defer t.mu.Unlock()
	return transport.Counters{
		Frames: t.frames, Bytes: t.wire.bytes.Load(), Writes: t.wire.writes.Load(),
		Received: t.received.Load(), Duplicates: t.duplicates.Load(), RefusedFrames: t.refused.Load(),
		LargestBacklog: t.backlog,
	}
}

// LargestFrame returns the size in bytes of the largest frame that the broker
// carries.
func (t *Transport) LargestFrame() int { return t.largest }

// end stops the transport because of a failure. It does not wait.
func (t *Transport) end(err error) {
	if !strings.HasPrefix(err.Error(), "nats: ") {
		err = fmt.Errorf("nats: %w", err)
	}
	t.ends.Lock()
	defer t.ends.Unlock()
	if t.closing.Load() || !t.cause.CompareAndSwap(nil, &err) || !t.begun {
		return
	}
	t.running.Go(func() {
		for _, id := range t.config.Local {
			t.handler.Down(id, err)
		}
	})
}

// Close stops delivery, waits about a second at most for the broker to take what
// was sent, says goodbye and frees everything. It waits for calls of the handler
// to return. Closing again waits for the first Close and does nothing.
func (t *Transport) Close() error {
	t.close()
	return nil
}

func (t *Transport) shutDown() {
	t.ends.Lock()
	t.closing.Store(true)
	t.ends.Unlock()
	close(t.closed)
	t.wakeDeliver()
	t.running.Wait()
	if t.cause.Load() == nil && t.goodbye() == nil {
		// Where the broker does not answer, nothing more can be done.
		_ = t.conn.FlushTimeout(t.limits.drain)
	}
	t.conn.Close()
}

// topology says which process hosts each node, and by which subject to reach it.
type topology struct {
	*peers.Topology[peer]
	subjects []string // by node: where its frames go; those for all under dme.None. Guarded by Transport.mu

	prefix, via string // of subjects, and of those that frames are published under
}

type process = peers.Process[peer]

// peer is what is known of a process.
type peer struct {
	out window // frames to it
	in  inflow // frames from it
}

// What stands behind the prefix in subjects.
const (
	relay = ".s" // of what the sequencer is to pass on; the subject proper follows
	toAll = ".all"
)

func newTopology(book transport.AddressBook, c *transport.Config, prefix string, sequenced bool) (*topology, error) {
	processes, err := peers.NewTopology[peer]("nats", book, c)
	if err != nil {
		return nil, err
	}
	top := &topology{Topology: processes, subjects: make([]string, len(book)+1), prefix: prefix, via: prefix}
	if sequenced {
		top.via += relay
	}
	top.subjects[dme.None] = top.via + toAll
	for p := range top.All() {
		p.State.in.open = p == top.Self || p.Incarnation <= 1 && c.Incarnation <= 1
		p.State.in.over = p.Absent
		p.State.out.left.Store(p.Absent)
		top.address(p)
	}
	return top, nil
}

// address notes under which subjects the nodes of a process are reached. For one that
// is in use, it is called with Transport.mu held.
func (top *topology) address(p *process) {
	for _, id := range p.Nodes {
		subject := p.Addr + "." + id.String()
		if rest, ours := strings.CutPrefix(subject, top.prefix); ours {
			subject = top.via + rest
		}
		top.subjects[id] = subject
	}
}
