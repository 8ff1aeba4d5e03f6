package nats

import (
	"context"
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

// Guarantees is what this transport promises; the one order of broadcasts only if Broker.Sequenced
// asks for it.
var Guarantees = transport.Guarantees{Reliable: true, FIFO: true, Broadcast: true, SequencedBroadcast: true}

// limits are bounds that tests narrow.
type limits struct {
	backlog int           // bytes under way to a process
	inbox   int           // frames that wait for the handler, of all senders together
	drain   time.Duration // for the broker to take what is queued at Close
}

// Frames that wait for the handler lie in a channel, which takes 8 bytes for each place
// room for: less for each process if there are more of them on this host.
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

// Transport is a [transport.Transport] and a [transport.Broadcaster] over NATS.
type Transport struct {
	life   life // taken before mu
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

	handler transport.Handler
	monitor transport.Monitor // handler, if it is one

	mu         sync.Mutex // held while publishing: numbers are the order of publication
	frame      []byte
	broadcasts uint64 // number of the last one
	backlog    uint64 // the largest there was, bytes
	frames     uint64
	subjects   []string // by node: where its frames go; those for all under dme.None

	// The delivering goroutine's.
	report []byte
	order  uint64 // number of the last broadcast in the one order
	held   []held // of incarnations that have not been announced yet

	change    atomic.Pointer[mark] // under way
	delivered chan struct{}        // closed when deliver has ended

	leaving context.Context // ended when Close begins
	leave   context.CancelFunc
	cause   atomic.Pointer[error] // why the transport has ended by itself

	received, refused, duplicates atomic.Uint64
}

var _ transport.Broadcaster = (*Transport)(nil)

type (
	life     = peers.Life[peer]
	topology = peers.Topology[peer]
	process  = peers.Process[peer]
)

// peer is what is known of a process.
type peer struct {
	out window // frames to it
	in  inflow // frames from it
}

// Listen connects to the broker and subscribes: frames for this process's nodes
// wait from then on. c.Listen means nothing here.
func Listen(c transport.Config, b Broker) (*Transport, error) {
	return listen(c, b, defaultLimits(c.Nodes))
}

func listen(c transport.Config, b Broker, l limits) (*Transport, error) {
	if err := peers.Check("nats", &c); err != nil {
		return nil, err
	}
	t := &Transport{
		life: life{Name: "nats"}, config: c, limits: l, broker: b, prefix: prefix(&c.Key, b.Own),
		inbox: make(chan *natsgo.Msg, l.inbox), reports: make(chan *natsgo.Msg, reportsInbox),
		seal: newSeal(&c.Key, b.Own), delivered: make(chan struct{}),
	}
	t.leaving, t.leave = context.WithCancel(context.Background())
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

func (t *Transport) Addr() string {
	return t.prefix + "." + processName(t.config.Local[0], t.config.Incarnation)
}

// Start takes the address book and begins to deliver frames.
func (t *Transport) Start(book transport.AddressBook, h transport.Handler) error {
	top, err := peers.NewTopology[peer]("nats", book, &t.config)
	if err != nil {
		return err
	}
	t.life.Mu.Lock()
	defer t.life.Mu.Unlock()
	if cause := t.cause.Load(); cause != nil {
		return *cause
	}
	t.mu.Lock() // until all are welcomed, nothing else is sent
	defer t.mu.Unlock()
	if err := t.locate(top); err != nil {
		return err
	}
	t.handler = h
	if t.broker.Sequenced {
		t.monitor, _ = h.(transport.Monitor)
	}
	for p := range top.All() {
		if p.State.in.open || p.Absent {
			continue
		}
		if err := t.welcome(p); err != nil {
			return err
		}
	}
	t.life.Running.Go(t.deliver)
	t.life.Running.Go(t.listen)
	return nil
}

// locate begins, and notes how the nodes are reached and what comes from them.
func (t *Transport) locate(top *topology) error {
	if err := t.life.Begin(top); err != nil {
		return err
	}
	t.subjects = make([]string, t.config.Nodes+1)
	t.subjects[dme.None] = t.via(t.prefix + toAll)
	for p := range top.All() {
		p.State.in.open = p == top.Self || p.Incarnation <= 1 && t.config.Incarnation <= 1
		p.State.in.over = p.Absent
		p.State.out.left.Store(p.Absent)
		t.address(p)
	}
	return nil
}

// Counters returns what has been counted so far. Bytes and Writes are those of
// the connection to the broker; LargestBacklog is what was under way to one process,
// each frame counted as its length and 512 bytes.
func (t *Transport) Counters() transport.Counters {
	t.mu.Lock()
	defer t.mu.Unlock()
	return transport.Counters{
		Frames: t.frames, Bytes: t.wire.bytes.Load(), Writes: t.wire.writes.Load(),
		Received: t.received.Load(), Duplicates: t.duplicates.Load(), RefusedFrames: t.refused.Load(),
		LargestBacklog: t.backlog,
	}
}

// LargestFrame is the size in bytes of the largest frame that the broker carries.
func (t *Transport) LargestFrame() int { return t.largest }

// end stops the transport because of a failure. It does not wait.
func (t *Transport) end(err error) {
	if !strings.HasPrefix(err.Error(), "nats: ") {
		err = fmt.Errorf("nats: %w", err)
	}
	t.life.Mu.Lock()
	defer t.life.Mu.Unlock()
	if t.life.Closing() || !t.cause.CompareAndSwap(nil, &err) || t.life.Top() == nil {
		return
	}
	t.life.Running.Go(func() {
		for _, id := range t.config.Local {
			t.handler.Down(id, err)
		}
	})
}

// Close stops delivery, waits about a second at most for the broker to take what
// was sent, says goodbye and frees everything.
func (t *Transport) Close() error { return t.life.Close(t.shutDown) }

func (t *Transport) shutDown() {
	t.leave()
	t.wakeDeliver()
	t.life.Running.Wait()
	if t.cause.Load() == nil && t.goodbye() == nil {
		// If the broker does not answer, nothing more can be done.
		_ = t.conn.FlushTimeout(t.limits.drain)
	}
	t.conn.Close()
}

// Subjects, after the prefix.
const (
	relay = ".s" // of what the sequencer is to pass on; the subject proper follows
	toAll = ".all"
)

// via returns the subject under which is published what is meant for another.
func (t *Transport) via(subject string) string {
	rest, ours := strings.CutPrefix(subject, t.prefix)
	if !ours || !t.broker.Sequenced {
		return subject
	}
	return t.prefix + relay + rest
}

// address notes under which subjects the nodes of a process are reached. It is called
// with mu held.
func (t *Transport) address(p *process) {
	for _, id := range p.Nodes {
		t.subjects[id] = t.via(p.Addr + "." + id.String())
	}
}
