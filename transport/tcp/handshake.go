package tcp

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
)

// The handshake, after which frames follow at once:
//
//	dialer    hello      magic, version, a nonce, the first node of the dialing
//	                     process and one of the process that it means to reach,
//	                     and the incarnations of both
//	listener  challenge  a nonce, and Derive("tcp listener", hello, nonce)
//	dialer    proof      Derive("tcp dialer", hello, nonce)
//	listener  welcome    the connection is known here: it ends by a goodbye or a death
//
// Each proof covers both nonces, so a recorded one fits no other connection,
// and names the role of the prover, so a listener's is no dialer's. It covers
// the node and the incarnation that were meant too: a book with a wrong address shows
// here, and a process that came to an address of one that is no more.
const (
	magic         = "dmebench"
	version       = 2
	nonceSize     = 16
	proofSize     = sha256.Size
	helloSize     = len(magic) + 1 + nonceSize + endsSize
	endsSize      = 4 * 4
	challengeSize = nonceSize + proofSize
	welcome       = "w"
	elsewhere     = "e" // instead of the welcome: that node does not live here
)

var (
	errUnanswered = errors.New("closed before it answered")
	errWrongKey   = errors.New("the other side does not know the run's key; does that address belong to another run?")
	errForeign    = errors.New("the other side does not speak this protocol and version")
	errElsewhere  = errors.New("does not live at that address; is the address book wrong?")
)

type ends struct {
	From, To                       dme.NodeID
	FromIncarnation, ToIncarnation uint32
}

func introduce(conn io.ReadWriter, key *transport.Key, e ends) error {
	hello := make([]byte, 0, helloSize+nonceSize)
	hello = append(hello, magic...)
	hello = append(hello, version)
	hello = hello[:len(hello)+nonceSize]
	rand.Read(hello[len(hello)-nonceSize:])
	hello, _ = binary.Append(hello, binary.BigEndian, e) // never fails: the size is fixed
	var challenge [challengeSize]byte
	if err := ask(conn, hello, challenge[:]); err != nil {
		return err
	}
	transcript := append(hello, challenge[:nonceSize]...)
	if !hmac.Equal(challenge[nonceSize:], prove(key, "listener", transcript)) {
		return errWrongKey
	}
	var answer [len(welcome)]byte
	if err := ask(conn, prove(key, "dialer", transcript), answer[:]); err != nil {
		return err
	}
	switch string(answer[:]) {
	case welcome:
		return nil
	case elsewhere:
		return fmt.Errorf("node %d: %w", e.To, errElsewhere)
	default:
		return errForeign
	}
}

func ask(conn io.ReadWriter, question, answer []byte) error {
	_, err := conn.Write(question)
	if err == nil {
		_, err = io.ReadFull(conn, answer)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUnanswered, err)
	}
	return nil
}

// receive is the listener's half, but for the welcome. It returns the dialer; no error means that
// it knows the run's key.
func receive(conn io.ReadWriter, c *transport.Config) (ends, error) {
	transcript := make([]byte, helloSize+nonceSize)
	hello := transcript[:helloSize]
	if _, err := io.ReadFull(conn, hello); err != nil {
		return ends{}, err
	}
	if string(hello[:len(magic)]) != magic || hello[len(magic)] != version {
		return ends{}, errForeign
	}
	var e ends
	_, _ = binary.Decode(hello[helloSize-endsSize:], binary.BigEndian, &e)
	nonce := transcript[helloSize:]
	rand.Read(nonce)
	if _, err := conn.Write(append(nonce, prove(&c.Key, "listener", transcript)...)); err != nil {
		return ends{}, err
	}
	var proof [proofSize]byte
	if _, err := io.ReadFull(conn, proof[:]); err != nil {
		return ends{}, err
	}
	if !hmac.Equal(proof[:], prove(&c.Key, "dialer", transcript)) {
		return ends{}, errWrongKey
	}
	if !slices.Contains(c.Local, e.To) || e.ToIncarnation != c.Incarnation {
		io.WriteString(conn, elsewhere)
		return ends{}, fmt.Errorf("node %d, incarnation %d: %w", e.To, e.ToIncarnation, errElsewhere)
	}
	return e, nil
}

func prove(key *transport.Key, role string, transcript []byte) []byte {
	return key.Derive("tcp "+role, transcript...)
}

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
