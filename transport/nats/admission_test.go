package nats

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	natsgo "github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"

	"github.com/nats-io/nats-server/v2/server"

	"dmebench/transport"
	"dmebench/transport/transporttest"
)

// crowd opens connections that say nothing.
func crowd(t *testing.T, s *Server, n int) {
	t.Helper()
	address := strings.TrimPrefix(s.Broker().URL, "nats://")
	for range n {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
}

// descriptors is what a crowd may take: two for each of its connections are this
// process's.
func descriptors(t *testing.T) int {
	t.Helper()
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		t.Fatal(err)
	}
	return int(min(uint64(r.Cur), 1<<20))
}

// Strangers who connect and say nothing do not take the places of the run's processes.
func TestACrowdOfStrangers(t *testing.T) {
	noLeaks(t)
	s, err := StartServer(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	crowd(t, s, min(2000, descriptors(t)/8))
	e := transporttest.NewEvents()
	all := mesh(t, s.Broker(), defaultLimits(2), 2, 1, func(int) transport.Handler { return e })
	mustSend(t, all[0], 1, 2, "hello")
	if f := next(t, "a frame", e.Frames); f != "1>2 hello" {
		t.Errorf("%q", f)
	}
}

// Where strangers have taken all places, the run's processes wait until those are
// thrown out.
func TestTheRunOutlastsStrangers(t *testing.T) {
	noLeaks(t)
	const room = 50
	s, err := embed(0, room, &server.Options{Host: serverHost, Port: server.RANDOM_PORT})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	crowd(t, s, room+spareConns)
	eventually(t, "all places to be taken", func() bool { return s.server.NumClients() == room+spareConns })
	b := s.Broker()
	b.Own = false
	if err := b.Check(); !errors.Is(err, ErrBroker) {
		t.Fatalf("who does not wait: %v", err)
	}
	if err := s.Broker().Check(); err != nil {
		t.Errorf("who waits: %v", err)
	}
}

// That there is no place is known however the library learns of it.
func TestWhoFindsNoPlaceTriesAgain(t *testing.T) {
	for _, failure := range []error{
		natsgo.ErrMaxConnectionsExceeded, errors.New("nats: Maximum Connections Exceeded"), io.EOF,
		&net.OpError{Op: "write", Err: unix.EPIPE}, &net.OpError{Op: "read", Err: unix.ECONNRESET},
	} {
		attempts := 0
		if _, err := Admit(func() (*natsgo.Conn, error) {
			if attempts++; attempts < 3 {
				return nil, failure
			}
			return nil, nil
		}); err != nil || attempts != 3 {
			t.Errorf("%v after %d attempts at what ends with %v", err, attempts, failure)
		}
	}
}

// Nobody tries again what cannot succeed.
func TestWhatIsNotTriedAgain(t *testing.T) {
	for _, failure := range []error{natsgo.ErrAuthorization, natsgo.ErrNoServers, unix.ECONNREFUSED} {
		attempts := 0
		_, err := Admit(func() (*natsgo.Conn, error) {
			attempts++
			return nil, failure
		})
		if !errors.Is(err, failure) || attempts != 1 {
			t.Errorf("%v after %d attempts at what ends with %v", err, attempts, failure)
		}
	}
}

// Whoever takes too long to show the token is told so, and may try again.
func TestALatecomerIsKnown(t *testing.T) {
	s := otherServer(t, &server.Options{Authorization: "secret", AuthTimeout: 0.1})
	_, err := natsgo.Connect(s.ClientURL(), natsgo.Token("secret"), natsgo.SetCustomDialer(hesitant{}))
	if err == nil || !crowded(err) {
		t.Errorf("%v is taken for final", err)
	}
}

// hesitant dials, and sends nothing before the server has given up.
type hesitant struct{}

func (hesitant) Dial(network, address string) (net.Conn, error) {
	c, err := net.Dial(network, address)
	return &hesitantConn{Conn: c}, err
}

type hesitantConn struct {
	net.Conn
	last io.Reader // what the server has said before it hung up; nil before that
}

func (c *hesitantConn) Write(b []byte) (int, error) {
	said, err := io.ReadAll(c.Conn)
	c.last = bytes.NewReader(said)
	return len(b), err
}

func (c *hesitantConn) Read(b []byte) (int, error) {
	if c.last != nil {
		return c.last.Read(b)
	}
	return c.Conn.Read(b)
}
