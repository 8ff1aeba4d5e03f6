package udp

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"time"

	"dmebench/transport"
)

// DatagramSize is how many bytes of a datagram a transport fills that does not listen
// on the loopback and is not told otherwise; the headers of UDP and IP come on top.
const DatagramSize = networkDatagram

// Granted opens a socket as a transport does, closes it, and returns the sizes in bytes
// of the buffers that the system grants it, and the size that is asked for.
func Granted(listen string) (receive, send, asked int, err error) {
	s, err := openSocket(listen)
	if err != nil {
		return 0, 0, bufferSize, fmt.Errorf("udp: listen: %w", err)
	}
	defer s.close()
	return s.received, s.sent, bufferSize, nil
}

// TryMulticast sends a few datagrams to a multicast group as a transport with
// Options.Multicast that listens at that address does, and waits for one of them to
// arrive here again, until the deadline.
func TryMulticast(listen string, deadline time.Time) error {
	s, err := openSocket(listen)
	if err != nil {
		return fmt.Errorf("udp: listen: %w", err)
	}
	defer s.close()
	var key transport.Key
	_, _ = rand.Read(key[:]) // it never fails
	g, err := join(groupOf(&key), s)
	if err != nil {
		return err
	}
	defer g.socket.close()
	mark := key.Derive("multicast probe")
	for range 3 {
		if _, err := s.conn.WriteToUDP(mark, net.UDPAddrFromAddrPort(g.at)); err != nil {
			return fmt.Errorf("udp: send to %v from %v: %w", g.at, s.conn.LocalAddr(), err)
		}
	}
	if err := g.socket.conn.SetReadDeadline(deadline); err != nil {
		return err
	}
	b := make([]byte, len(mark)+1)
	for {
		n, _, err := g.socket.conn.ReadFromUDP(b)
		if err != nil {
			return fmt.Errorf("udp: what was sent to %v from %v did not arrive: %w", g.at, s.conn.LocalAddr(), err)
		}
		if bytes.Equal(b[:n], mark) {
			return nil
		}
	}
}
