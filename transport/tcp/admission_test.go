package tcp

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

// TestManyDialAtOnce lets more processes dial at once than may be pending,
// where some of which strangers hold: all get in.
func TestManyDialAtOnce(t *testing.T) {
	l := defaultLimits()
	l.pending, l.minimum = 2, 20*time.Millisecond
	tr, _, _ := alone(t, l)
	for range 6 {
		conn, err := net.Dial("tcp", tr.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	const crowd = 40
	done := make(chan error, crowd)
	for range crowd {
		go func() {
			for {
				conn, err := net.Dial("tcp", tr.Addr())
				if err != nil {
					done <- err
					return
				}
				err = introduce(conn, &testKey, ends{3, 1, 1, 1})
				conn.Close()
				if !errors.Is(err, errUnanswered) {
					done <- err
					return
				}
			}
		}()
	}
	for range crowd {
		if err := next(t, "a process to get in", done); err != nil {
			t.Error(err)
		}
	}
	tr.Close()
	if got := tr.Counters().RefusedConns; got < 6 {
		t.Errorf("%d connections refused, want at least the 6 strangers", got)
	}
}

// TestStrangersAreTurnedAway waits for the handshake's deadline.
func TestStrangersAreTurnedAway(t *testing.T) {
	l := defaultLimits()
	l.handshake = 10 * time.Millisecond
	tr, _, _ := alone(t, l)
	conn, err := net.Dial("tcp", tr.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a silent stranger is kept")
	}
	if got := tr.Counters().RefusedConns; got != 1 {
		t.Errorf("%d connections refused, want 1", got)
	}
}

// FuzzInbound lets a process that knows the run's key send whatever it likes:
// only frames from its own nodes to those of this process are delivered, no more
// bytes than have come, and everything else is refused or ends the connection.
func FuzzInbound(f *testing.F) {
	f.Add(peers.AppendFrame(peers.AppendFrame(nil, 3, 1, []byte("hello")), 4, 2, nil))
	f.Add(append(peers.AppendFrame(nil, 3, 1, nil), peers.Goodbye...))
	f.Add(peers.AppendFrame(peers.AppendFrame(nil, 1, 3, []byte("not mine")), 3, 9, nil))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	top, err := peers.NewTopology[peer]("tcp", transport.AddressBook{"here", "here", "there", "there"},
		&transport.Config{Nodes: 4, Local: []dme.NodeID{1, 2}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tr := &Transport{}
		tr.top.Store(top)
		seen := &tally{t: t}
		tr.handler = seen
		in := &inbound{t: tr, from: top.At(1)}
		err := in.deliver(bytes.NewReader(b))
		if seen.bytes > len(b) {
			t.Fatalf("%d bytes are delivered out of %d", seen.bytes, len(b))
		}
		if c := tr.Counters(); c.Received != seen.frames {
			t.Fatalf("%d frames by the counters, %d delivered", c.Received, seen.frames)
		}
		if err == nil && !bytes.Contains(b, []byte(peers.Goodbye)) {
			t.Fatal("it is taken for a farewell")
		}
	})
}

// tally expects frames of nodes 3 and 4 for nodes 1 and 2.
type tally struct {
	t      *testing.T
	frames uint64
	bytes  int
}

func (y *tally) Frame(from, to dme.NodeID, b []byte) {
	if from < 3 || from > 4 || to < 1 || to > 2 {
		y.t.Fatalf("a frame from %d to %d is delivered", from, to)
	}
	y.frames++
	y.bytes += len(b)
}

func (y *tally) Down(dme.NodeID, error) {}

func TestDialErrors(t *testing.T) {
	for name, c := range map[string]struct {
		key  transport.Key
		stop bool
		says string
	}{
		"refused":   {testKey, true, "is its worker running?"},
		"wrong key": {transporttest.NewKey(), false, "does that address belong to another run?"},
	} {
		t.Run(name, func(t *testing.T) {
			peer, err := Listen(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{2}, Nodes: 2, Key: c.key}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer peer.Close()
			if c.stop {
				peer.Close()
			}
			config := transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 2, Key: testKey}

			config.Peers = []dme.NodeID{2}
			eager, err := Listen(config, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer eager.Close()
			e := transporttest.NewEvents()
			err = eager.Start(transport.AddressBook{eager.Addr(), peer.Addr()}, e)
			want := "dial node 2 (" + peer.Addr() + ")"
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Start: %v; want %q and %q", err, want, c.says)
			}

			config.Peers = nil
			lazy, err := Listen(config, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer lazy.Close()
			if err := lazy.Start(transport.AddressBook{lazy.Addr(), peer.Addr()}, e); err != nil {
				t.Fatal(err)
			}
			if err := lazy.Send(1, 2, []byte("x")); err != nil {
				t.Fatal(err)
			}
			if err := next(t, "Down", e.Downs); !strings.Contains(err.Error(), c.says) {
				t.Errorf("Down: %v", err)
			}
		})
	}
}

func TestListenChecksItsConfiguration(t *testing.T) {
	_, err := Listen(transport.Config{Listen: "127.0.0.1:0", Nodes: 2, Peers: []dme.NodeID{3}}, Options{})
	for _, want := range []string{"key is zero", "no node lives", "node 3 is not one"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func TestStartChecksTheBook(t *testing.T) {
	for name, book := range map[string]transport.AddressBook{
		"too short":          {"a:1"},
		"an empty entry":     {"a:1", "", "b:1"},
		"another node here":  {"a:1", "a:1", "b:1"},
		"a local node there": {"a:1", "b:1", "c:1"},
	} {
		tr, err := Listen(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{1, 3}, Nodes: 3, Key: testKey}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Start(book, transporttest.NewEvents()); err == nil {
			t.Errorf("%s: no error", name)
		}
		tr.Close()
	}
}
