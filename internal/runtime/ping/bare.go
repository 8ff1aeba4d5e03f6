package ping

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/internal/platform/launch"
)

// bareSides are the least that does what a network does.
var bareSides = map[string]func(*order, receiver) (endpoint, error){
	"tcp": openBareTCP, "udp": openBareUDP, "nats": openBareNATS,
}

const socketBuffer = 4 << 20

type bareUDP struct {
	conn    *net.UDPConn
	receive receiver
	size    int
	book    []netip.AddrPort
}

func openBareUDP(o *order, receive receiver) (endpoint, error) {
	conn, err := net.ListenPacket("udp", launch.Loopback)
	if err != nil {
		return nil, err
	}
	udp := conn.(*net.UDPConn)
	// The kernel grants what its limits allow.
	_, _ = udp.SetReadBuffer(socketBuffer), udp.SetWriteBuffer(socketBuffer)
	return &bareUDP{conn: udp, receive: receive, size: o.Size}, nil
}

func (b *bareUDP) start(book []string, _ []int) error {
	for _, s := range book {
		addr, err := netip.ParseAddrPort(s)
		if err != nil {
			return err
		}
		b.book = append(b.book, addr)
	}
	go b.read()
	return nil
}

func (b *bareUDP) read() {
	buf := make([]byte, b.size+1)
	for {
		n, _, err := b.conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		b.receive(buf[:n])
	}
}

func (b *bareUDP) send(to int, m []byte) error {
	_, err := b.conn.WriteToUDPAddrPort(m, b.book[to])
	return err
}

func (b *bareUDP) address() string               { return b.conn.LocalAddr().String() }
func (b *bareUDP) stream(to int, m []byte) error { return b.send(to, m) }
func (b *bareUDP) flush() error                  { return nil }
func (b *bareUDP) lossy() bool                   { return true }
func (b *bareUDP) close()                        { b.conn.Close() }

type bareNATS struct {
	conn     *natsgo.Conn
	self     string
	subjects []string // by process
}

func openBareNATS(o *order, receive receiver) (endpoint, error) {
	conn, err := natsgo.Connect(o.Broker.URL, natsgo.Token(o.Broker.Token), natsgo.Timeout(startTimeout))
	if err != nil {
		return nil, err
	}
	b := &bareNATS{conn: conn, self: fmt.Sprintf("ping.%d", o.Index)}
	_, err = conn.Subscribe(b.self, func(m *natsgo.Msg) { receive(m.Data) })
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return b, nil
}

func (b *bareNATS) start(book []string, _ []int) error {
	b.subjects = book
	return nil
}

func (b *bareNATS) address() string               { return b.self }
func (b *bareNATS) send(to int, m []byte) error   { return b.conn.Publish(b.subjects[to], m) }
func (b *bareNATS) stream(to int, m []byte) error { return b.send(to, m) }
func (b *bareNATS) flush() error                  { return nil }
func (b *bareNATS) lossy() bool                   { return false }
func (b *bareNATS) close()                        { b.conn.Close() }

// header is the length of a message, which precedes it on a connection.
const header = 4

// bareTCP is a loop around plain sockets of the net package, with TCP_NODELAY,
// which is its default: read what is there, handle it, write what that caused.
// Like the transport it has a connection for each ordered pair of processes that
// talk, dialed by the sender.
type bareTCP struct {
	order    *order
	receive  receiver
	listener net.Listener
	links    []*bareLink // by process; nil if nothing is sent
}

func openBareTCP(o *order, receive receiver) (endpoint, error) {
	listener, err := net.Listen("tcp", launch.Loopback)
	if err != nil {
		return nil, err
	}
	return &bareTCP{o, receive, listener, make([]*bareLink, o.Processes)}, nil
}

func (b *bareTCP) address() string { return b.listener.Addr().String() }

func (b *bareTCP) start(book []string, to []int) error {
	go b.accept()
	for _, peer := range to {
		conn, err := net.Dial("tcp", book[peer])
		if err != nil {
			return fmt.Errorf("connect to process %d: %w", peer, err)
		}
		b.links[peer] = &bareLink{conn: conn.(*net.TCPConn)}
	}
	return nil
}

func (b *bareTCP) accept() {
	for {
		conn, err := b.listener.Accept()
		if err != nil {
			return
		}
		go b.read(conn)
	}
}

func (b *bareTCP) read(conn net.Conn) {
	defer conn.Close()
	// By hand: calls of a bufio.Reader for each message would cost a fifth of a
	// stream's speed.
	whole := header + b.order.Size
	buf := make([]byte, max(64<<10, 2*whole))
	end := 0
	for {
		n, err := conn.Read(buf[end:])
		if err != nil {
			return
		}
		end += n
		at := 0
		for ; end-at >= whole; at += whole {
			if int(binary.LittleEndian.Uint32(buf[at:])) != b.order.Size {
				return
			}
			b.receive(buf[at+header : at+whole])
		}
		end = copy(buf, buf[at:end])
		if b.flush() != nil {
			return
		}
	}
}

func (b *bareTCP) send(to int, m []byte) error {
	l := b.links[to]
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = appendFramed(l.queue, m)
	return nil
}

func (b *bareTCP) stream(to int, m []byte) error {
	l := b.links[to]
	if l.coalescer == nil {
		l.coalescer = new(coalescer)
		l.coalescer.filled.L = &l.coalescer.mu
		go l.coalescer.run(l.conn)
	}
	return l.coalescer.write(m)
}

func (b *bareTCP) flush() error {
	for _, l := range b.links {
		if l == nil {
			continue
		}
		if err := l.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bareTCP) lossy() bool { return false }

// close resets the connections: the thousands of a long measurement would
// otherwise stay behind in the kernel for a minute.
func (b *bareTCP) close() {
	b.listener.Close()
	for _, l := range b.links {
		if l != nil {
			_ = l.conn.SetLinger(0)
			l.conn.Close()
		}
	}
}

type bareLink struct {
	conn      *net.TCPConn
	coalescer *coalescer // of streams

	mu    sync.Mutex
	queue []byte
}

func (l *bareLink) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return nil
	}
	_, err := l.conn.Write(l.queue)
	l.queue = l.queue[:0]
	return err
}

func appendFramed(b, m []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(m))), m...)
}

// coalescer is the plainest fast writer: two buffers, swapped under a mutex by a
// goroutine that writes the one while the other fills.
type coalescer struct {
	mu     sync.Mutex
	filled sync.Cond
	queue  []byte
	err    error
}

func (c *coalescer) run(w io.Writer) {
	var out []byte
	for {
		c.mu.Lock()
		for len(c.queue) == 0 {
			c.filled.Wait()
		}
		out, c.queue = c.queue, out[:0]
		c.mu.Unlock()
		if _, err := w.Write(out); err != nil {
			c.mu.Lock()
			c.err = err
			c.mu.Unlock()
			return
		}
	}
}

func (c *coalescer) write(m []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		c.filled.Signal()
	}
	c.queue = appendFramed(c.queue, m)
	return c.err
}
