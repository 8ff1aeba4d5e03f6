//go:build !linux

package udp

import (
	"errors"
	"net"
	"net/netip"

	"dmebench/transport"
)

// socket is a UDP socket through the standard library.
type socket struct {
	conn           *net.UDPConn
	received, sent int // bytes of buffer granted
}

func newSocket(conn *net.UDPConn) (*socket, error) {
	s := &socket{conn: conn}
	if s.conn.SetReadBuffer(bufferSize) == nil {
		s.received = bufferSize
	}
	if s.conn.SetWriteBuffer(bufferSize) == nil {
		s.sent = bufferSize
	}
	return s, nil
}

func (s *socket) multicastBy(netip.Addr) error {
	return errors.New("it is done on Linux only")
}

func (s *socket) receive(datagram func([]byte), done func()) error {
	b := make([]byte, 1<<16)
	for {
		n, _, err := s.conn.ReadFromUDPAddrPort(b)
		if err != nil {
			return err
		}
		datagram(b[:n])
		done()
	}
}

func (s *socket) drops() uint64 { return 0 }

func (s *socket) close() { s.conn.Close() }

type sockaddr = netip.AddrPort

func (s *socket) sockaddr(at netip.AddrPort) (sockaddr, error) { return at, nil }

type outbox struct {
	socket  *socket
	packets [heldPackets]packet
	queued  int // of packets
}

func newOutbox(s *socket) *outbox { return &outbox{socket: s} }

func (o *outbox) send(c *transport.Counters) {
	for _, p := range o.packets[:o.queued] {
		c.Writes++
		if _, err := o.socket.conn.WriteToUDPAddrPort(p.b, p.way.to); err == nil {
			c.Packets++
			c.Bytes += uint64(len(p.b))
		}
	}
}
