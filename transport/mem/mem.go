// Package mem carries frames inside one Go process, for tests of what uses a
// transport: reliable, and in order between each pair of nodes, without a socket.
//
// The processes of a run are the transports that have [Listen]ed on one [Network].
// A frame is copied into its receiver's queue, and one goroutine of the receiver
// calls the handler. What a process that closes has sent before still arrives. Nobody notices
// here that a process has ended, so Handler.Down is called for those only that
// [Transport.Expel] and [Transport.Readmit] speak of.
package mem

import (
	"fmt"
	"sync"
	"sync/atomic"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
)

type process = peers.Process[link]

var Guarantees = transport.Guarantees{Reliable: true, FIFO: true}

const accountedFrame = 64

// Network joins the processes of a run. The zero value is ready for use.
type Network struct {
	mu        sync.Mutex
	processes map[string]*Transport
	last      int // number of the latest address
}

type Transport struct {
	life    life // its Mu guards queue
	network *Network
	config  transport.Config
	addr    string
	backlog int // bound on the bytes queued here from each process

	handler transport.Handler
	arrival sync.Cond // something is queued, or this process closes
	queue   []delivery
	held    []delivery    // of incarnations that nobody has announced; the delivering goroutine's
	ended   chan struct{} // closed when nothing is delivered any more

	frames, bytes, received, strangers, refused, largest atomic.Uint64
}

type life = peers.Life[link]

// link is the way to a process, as its sender sees it.
type link struct {
	once   sync.Once
	to     *Transport // nil where nobody listens there, or with another key
	queued atomic.Int64
	down   atomic.Bool // frames to it are dropped
}

// delivery is a frame on its way, or something else that is to be done in its place.
type delivery struct {
	from, to    dme.NodeID
	incarnation uint32 // of the sending process
	body        []byte
	link        *link
	do          func() // nil for a frame
}

// Listen opens a transport on a network. c.Listen means nothing here.
func Listen(n *Network, c transport.Config) (*Transport, error) {
	return listen(n, c, transport.MaxBacklog)
}

func listen(n *Network, c transport.Config, backlog int) (*Transport, error) {
	if err := peers.Check("mem", &c); err != nil {
		return nil, err
	}
	t := &Transport{network: n, config: c, backlog: backlog, ended: make(chan struct{})}
	t.life.Name, t.arrival.L = "mem", &t.life.Mu
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last++
	t.addr = fmt.Sprintf("mem:%d", n.last)
	if n.processes == nil {
		n.processes = make(map[string]*Transport)
	}
	n.processes[t.addr] = t
	return t, nil
}

func (n *Network) at(addr string, key transport.Key) *Transport {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.processes[addr]
	if t != nil && t.config.Key != key {
		t.strangers.Add(1)
		return nil
	}
	return t
}

func (t *Transport) Addr() string { return t.addr }

func (t *Transport) Start(book transport.AddressBook, h transport.Handler) error {
	top, err := peers.NewTopology[link]("mem", book, &t.config)
	if err != nil {
		return err
	}
	for p := range top.All() {
		p.State.down.Store(p.Absent)
	}
	t.life.Mu.Lock()
	defer t.life.Mu.Unlock()
	if err := t.life.Begin(top); err != nil {
		return err
	}
	t.handler = h
	t.life.Running.Go(t.deliver)
	return nil
}

func (t *Transport) Send(from, to dme.NodeID, b []byte) error {
	top, err := t.life.Ready()
	if err != nil {
		return err
	}
	p, err := top.Route(from, to, len(b), transport.MaxFrame)
	if err != nil {
		return err
	}
	l := &p.State
	if !l.down.Load() {
		l.once.Do(func() { l.to = t.network.at(p.Addr, t.config.Key) })
	}
	if l.to != nil && !l.down.Load() {
		size := int64(len(b) + accountedFrame)
		queued := l.queued.Add(size)
		if queued > int64(t.backlog) {
			l.queued.Add(-size)
			return top.Full(p, int(queued-size), t.backlog)
		}
		peers.Raise(&t.largest, uint64(queued))
		l.to.enqueue(delivery{from: from, to: to, incarnation: top.Self.Incarnation, body: append([]byte(nil), b...), link: l})
	}
	t.frames.Add(1)
	t.bytes.Add(uint64(len(b)))
	return nil
}

func (t *Transport) enqueue(d delivery) {
	t.life.Mu.Lock()
	defer t.life.Mu.Unlock()
	if t.life.Closing() {
		d.settle()
		return
	}
	t.queue = append(t.queue, d)
	t.arrival.Signal()
}

func (d *delivery) settle() {
	if d.link != nil {
		d.link.queued.Add(-int64(len(d.body) + accountedFrame))
	}
}

func (t *Transport) deliver() {
	defer close(t.ended)
	var batch []delivery
	for !t.life.Closing() {
		t.life.Mu.Lock()
		for len(t.queue) == 0 && !t.life.Closing() {
			t.arrival.Wait()
		}
		batch, t.queue = t.queue, batch[:0]
		t.life.Mu.Unlock()
		for _, d := range batch {
			if t.life.Closing() {
				return
			}
			t.take(d)
		}
		clear(batch) // the bodies are not kept
	}
}

// take delivers a frame of an incarnation that is there, keeps one that is not yet,
// and refuses one that is over.
func (t *Transport) take(d delivery) {
	if d.do != nil {
		d.do()
		return
	}
	switch p := t.life.Top().Of(d.from); {
	case p == nil, d.incarnation < p.Incarnation, d.incarnation == p.Incarnation && p.State.down.Load():
		t.refused.Add(1)
	case d.incarnation > p.Incarnation:
		t.held = append(t.held, d)
		return
	default:
		t.received.Add(1)
		t.handler.Frame(d.from, d.to, d.body)
	}
	d.settle()
}

func (t *Transport) Flush() error {
	if t.life.Closing() {
		return t.life.Closed()
	}
	return nil
}

func (t *Transport) Counters() transport.Counters {
	frames := t.frames.Load()
	return transport.Counters{
		Frames: frames, Bytes: t.bytes.Load(), Writes: frames, Received: t.received.Load(),
		RefusedConns: t.strangers.Load(), RefusedFrames: t.refused.Load(),
		LargestBacklog: t.largest.Load(),
	}
}

func (t *Transport) Close() error { return t.life.Close(t.shutDown) }

func (t *Transport) shutDown() {
	t.life.Mu.Lock()
	t.queue = nil
	t.arrival.Signal()
	t.life.Mu.Unlock()
	t.life.Running.Wait()
	t.network.mu.Lock()
	defer t.network.mu.Unlock()
	delete(t.network.processes, t.addr)
}

func (t *Transport) Expel(peer dme.NodeID, cause error) error {
	return t.inOrder(peer, func(p *process) error {
		t.expel(p, cause)
		return nil
	})
}

func (t *Transport) Readmit(peer dme.NodeID, addr string, incarnation uint32) error {
	return t.inOrder(peer, func(p *process) error {
		top := t.life.Top()
		return top.Replace(p, addr, incarnation, !p.State.down.Load(), func(cause error) { t.expel(p, cause) }, func(next *process) error {
			top.Install(next)
			peers.Up(t.handler, next.Nodes, t.life.Closing)
			early := t.held
			t.held = nil
			for _, d := range early {
				t.take(d)
			}
			return nil
		})
	})
}

// inOrder calls f with the process of peer in place of a frame: after all that has come before.
func (t *Transport) inOrder(peer dme.NodeID, f func(*process) error) error {
	return t.life.Change(peer, func(p *process) error {
		done := make(chan error, 1)
		t.enqueue(delivery{do: func() { done <- f(p) }})
		select {
		case err := <-done:
			return err
		case <-t.ended:
			return nil
		}
	})
}

func (t *Transport) expel(p *process, cause error) {
	if p.State.down.Swap(true) {
		return
	}
	for _, id := range p.Nodes {
		t.handler.Down(id, cause)
	}
}
