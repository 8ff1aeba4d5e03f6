package ping

import (
	"net"
	"net/netip"
)

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
	addr, err := net.ResolveUDPAddr("udp", listenAt)
	if err != nil {
		return nil, err
	}
	conn, err := net.ListenUDP("udp", addr)
	if err != nil {
		return nil, err
	}
	// The kernel grants what its limits allow.
	_, _ = conn.SetReadBuffer(socketBuffer), conn.SetWriteBuffer(socketBuffer)
	return &bareUDP{conn: conn, receive: receive, size: o.Size}, nil
}

func (b *bareUDP) address() string { return b.conn.LocalAddr().String() }

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

func (b *bareUDP) flush() error { return nil }

func (b *bareUDP) stream(to int) writer { return &bareUDPStream{b, to} }

func (b *bareUDP) close() { b.conn.Close() }

type bareUDPStream struct {
	*bareUDP
	to int
}

func (s *bareUDPStream) write(m []byte) error { return s.send(s.to, m) }
