package nats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"

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

// mute is a broker that answers the first ping, the one of a connection's beginning,
// and no other. It goes on sending something until it is told to be silent.
func mute(t *testing.T, silent *atomic.Bool) (url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "INFO {\"server_id\":\"mute\",\"version\":\"2.10.0\",\"proto\":1,\"max_payload\":1048576}\r\n")
		lines := bufio.NewScanner(conn)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "PING") {
		}
		fmt.Fprint(conn, "PONG\r\n")
		go func() {
			for !silent.Load() {
				if _, err := fmt.Fprint(conn, "+OK\r\n"); err != nil {
					return
				}
				time.Sleep(time.Millisecond)
			}
		}()
		for lines.Scan() {
		}
	}()
	return "nats://" + l.Addr().String()
}

// A connection on which data flows lives, however long an answer takes; one on which
// nothing comes any more is ended.
func TestAConnectionIsJudgedByWhatComes(t *testing.T) {
	noLeaks(t)
	var silent atomic.Bool
	lost := make(chan error, 10)
	const interval = 300 * time.Millisecond
	b := Broker{URL: mute(t, &silent)}
	c, err := b.connect("test", &wire{interval: interval}, func(err error) { lost <- err })
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	select {
	case err := <-lost:
		t.Fatalf("while data flows: %v", err)
	case <-time.After((pingsLost + 5) * interval):
	}
	silent.Store(true)
	err = next(t, "the end of a connection on which nothing comes", lost)
	if !strings.Contains(err.Error(), "nothing has come from the broker") {
		t.Error(err)
	}
}

// JetStream takes no more memory than it was given, keeps nothing in files, and leaves
// no folder behind.
func TestJetStreamIsBounded(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s, err := StartServer(2)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.EnableJetStream(1 << 20); err != nil {
		t.Fatal(err)
	}
	c, err := s.Broker().Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name string
		in   jetstream.StorageType
		size int64
		fits bool
	}{
		{"small", jetstream.MemoryStorage, 1 << 19, true},
		{"large", jetstream.MemoryStorage, 1 << 20, false},
		{"file", jetstream.FileStorage, 1 << 10, false},
	} {
		_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: x.name, Subjects: []string{x.name}, Storage: x.in, MaxBytes: x.size})
		if (err == nil) != x.fits {
			t.Errorf("%s: %v", x.name, err)
		}
	}
	if left, err := os.ReadDir(dir); len(left) != 1 || err != nil {
		t.Errorf("%v, %v: a folder is expected while it runs", left, err)
	}
	s.Close()
	if left, err := os.ReadDir(dir); len(left) != 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestJetStreamNeedsAFolder(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	s, err := StartServer(1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.EnableJetStream(1 << 20); err == nil {
		t.Error("it has none")
	}
}
