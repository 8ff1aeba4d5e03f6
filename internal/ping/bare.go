package ping

import (
	"fmt"
	"net"
	"net/netip"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/transport/nats"

	"dmebench/internal/launch"
)

// bareSides are the least that does what a network does.
var bareSides = map[string]func(*order, receiver) (endpoint, error){
	"tcp": openBareTCP, "udp": openBareUDP, "nats": openBareNATS,
}

// socketBuffer is the size in bytes of a socket's buffers that is asked for, as
// the transport does.
const socketBuffer = 4 << 20

// bareUDP sends a datagram for each message, and neither notices nor repairs
// anything.
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

// bareNATS is the client library alone, as its documentation shows it.
type bareNATS struct {
	conn     *natsgo.Conn
	self     string
	subjects []string // by process
}

func openBareNATS(o *order, receive receiver) (endpoint, error) {
	conn, err := nats.Admit(func() (*natsgo.Conn, error) { return natsgo.Connect(o.Broker.URL, natsgo.Token(o.Broker.Token)) })
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
