package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"dmebench/transport/peers"
)

// connect dials a process and shakes hands with it. A refusal is final, since every
// process listens before the address book is known.
func (t *Transport) connect(ctx context.Context, to *process) (*net.TCPConn, net.Conn, error) {
	select {
	case t.dialing <- struct{}{}:
		defer func() { <-t.dialing }()
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("tcp: dial %v: %w", to, context.Cause(ctx))
	}
	ctx, cancel := context.WithTimeout(ctx, t.limits.connect)
	defer cancel()
	dialer := net.Dialer{KeepAlive: -1}
	c, err := dialer.DialContext(ctx, "tcp", to.Addr)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, nil, fmt.Errorf("tcp: dial %v: %w; is its worker running?", to, err)
	case err != nil:
		return nil, nil, fmt.Errorf("tcp: dial %v: %w", to, err)
	}
	conn := c.(*net.TCPConn)
	s, err := t.introduce(ctx, conn, to)
	if err != nil {
		abort(conn)
		return nil, nil, fmt.Errorf("tcp: dial %v: %w", to, err)
	}
	return conn, s, nil
}

func (t *Transport) introduce(ctx context.Context, conn *net.TCPConn, to *process) (net.Conn, error) {
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	s, err := t.newSession(conn, to.Addr, tls.Client)
	if err == nil {
		err = introduce(s, &t.config.Key, ends{
			From: t.config.Local[0], To: to.Node(),
			FromIncarnation: t.config.Incarnation, ToIncarnation: to.Incarnation,
		})
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s, t.prepare(conn)
}

func (t *Transport) prepare(conn *net.TCPConn) error {
	return errors.Join(conn.SetDeadline(time.Time{}), conn.SetNoDelay(true), peers.NoticeSilence(conn, t.config.Patience))
}

// abort closes a connection by a reset, which leaves no TIME_WAIT behind: a sweep of meshes
// would use up all ports.
func abort(conn *net.TCPConn) {
	conn.SetLinger(0)
	conn.Close()
}

// packets is how many segments this side of a connection has sent, as far as it was read.
type packets uint64

func (p *packets) read(conn *net.TCPConn) uint64 {
	if conn != nil {
		*p = max(*p, packets(peers.SegmentsSent(conn)))
	}
	return uint64(*p)
}
