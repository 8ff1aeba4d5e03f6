package tcp

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

func next[T any](t *testing.T, what string, c <-chan T) (x T) {
	t.Helper()
	select {
	case x = <-c:
	case <-time.After(20 * time.Second):
		t.Fatalf("waited in vain for %s", what)
	}
	return x
}

// alone opens and starts the transport of nodes 1 and 2 of four. Nodes 3 and 4
// live at a listener that the test plays the part of.
func alone(t *testing.T, l limits) (*Transport, *transporttest.Events, net.Listener) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	tr, err := listen(transport.Config{
		Listen: "127.0.0.1:0", Local: []dme.NodeID{1, 2}, Nodes: 4, Key: testKey,
	}, Options{}, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	e := transporttest.NewEvents()
	there := other.Addr().String()
	if err := tr.Start(transport.AddressBook{tr.Addr(), tr.Addr(), there, there}, e); err != nil {
		t.Fatal(err)
	}
	return tr, e, other
}

var testKey = transport.Key{1, 2, 3}

// dialAs makes the connection of the process of node 3.
func dialAs(t *testing.T, tr *Transport, node dme.NodeID) *net.TCPConn {
	t.Helper()
	return dialIn(t, tr, node, 1)
}

// dialIn is dialAs by a later incarnation.
func dialIn(t *testing.T, tr *Transport, node dme.NodeID, incarnation uint32) *net.TCPConn {
	t.Helper()
	conn, err := dialWith(t, tr, ends{node, 1, incarnation, 1})
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// dial tries a handshake.
func dial(t *testing.T, tr *Transport, e ends) error {
	_, err := dialWith(t, tr, e)
	return err
}

func dialWith(t *testing.T, tr *Transport, e ends) (*net.TCPConn, error) {
	t.Helper()
	conn, err := net.Dial("tcp", tr.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn.(*net.TCPConn), introduce(conn, &testKey, e)
}

// acceptAs takes the connection to the process of nodes 3 and 4.
func acceptAs(t *testing.T, other net.Listener) *net.TCPConn {
	t.Helper()
	other.(*net.TCPListener).SetDeadline(time.Now().Add(20 * time.Second))
	conn, err := other.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := receive(conn, &transport.Config{Key: testKey, Local: []dme.NodeID{3}, Incarnation: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, welcome); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

func write(t *testing.T, conn net.Conn, b []byte) {
	t.Helper()
	if _, err := conn.Write(b); err != nil {
		t.Fatal(err)
	}
}

// wantDowns expects one Down for each of nodes 3 and 4, with an error that
// contains what.
func wantDowns(t *testing.T, e *transporttest.Events, what string) {
	t.Helper()
	for _, node := range []string{"node 3: ", "node 4: "} {
		if err := next(t, "Down", e.Downs); !strings.HasPrefix(err.Error(), node) || !strings.Contains(err.Error(), what) {
			t.Errorf("Down: %v; want %sand something with %q", err, node, what)
		}
	}
}

func TestMalformedStreamIsDown(t *testing.T) {
	for name, c := range map[string]struct {
		wire []byte
		says string
	}{
		"oversized": {[]byte{0xff, 0xff, 0xff, 0x7f, 3, 1}, transport.ErrFrameTooLarge.Error()},
		"endless":   {[]byte{0xff, 0xff, 0xff, 0xff, 0xff}, peers.ErrMalformed.Error()},
		"cut off":   {peers.AppendFrame(nil, 3, 1, []byte("hello"))[:5], io.ErrUnexpectedEOF.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			tr, e, _ := alone(t, defaultLimits())
			conn := dialAs(t, tr, 3)
			write(t, conn, append(peers.AppendFrame(nil, 4, 2, []byte("before")), c.wire...))
			conn.CloseWrite()
			if got := next(t, "the frame before", e.Frames); got != "4>2 before" {
				t.Errorf("delivered %q", got)
			}
			wantDowns(t, e, c.says)
			if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the connection stays open")
			}
			want := uint64(1)
			if name == "cut off" {
				want = 0
			}
			if got := tr.Counters().RefusedFrames; got != want {
				t.Errorf("%d frames refused, want %d", got, want)
			}
		})
	}
}

func TestForeignFramesAreRefused(t *testing.T) {
	tr, e, _ := alone(t, defaultLimits())
	conn := dialAs(t, tr, 3)
	var b []byte
	for _, p := range [][2]dme.NodeID{{1, 1}, {5, 1}, {0, 1}, {3, 3}, {3, 0}, {3, 9}, {1 << 31, 1}} {
		b = peers.AppendFrame(b, p[0], p[1], []byte("forged"))
	}
	write(t, conn, peers.AppendFrame(b, 3, 2, []byte("genuine")))
	if got := next(t, "the genuine frame", e.Frames); got != "3>2 genuine" {
		t.Errorf("delivered %q", got)
	}
	if got := tr.Counters().RefusedFrames; got != 7 {
		t.Errorf("%d frames refused, want 7", got)
	}
}

func TestSecondConnectionIsRefused(t *testing.T) {
	tr, e, _ := alone(t, defaultLimits())
	first := dialAs(t, tr, 3)
	write(t, first, peers.AppendFrame(nil, 3, 1, []byte("a")))
	next(t, "a frame", e.Frames)
	for _, node := range []dme.NodeID{3, 4, 5} {
		conn := dialAs(t, tr, node)
		if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a connection of node %d stays open", node)
		}
	}
	if got := tr.Counters().RefusedConns; got != 3 {
		t.Errorf("%d connections refused, want 3", got)
	}
	write(t, first, peers.AppendFrame(nil, 3, 1, []byte("b")))
	next(t, "a frame on the first connection", e.Frames)
}

func TestNoiseAgainstTheDirectionIsDown(t *testing.T) {
	tr, e, other := alone(t, defaultLimits())
	if err := tr.Send(1, 3, []byte("x")); err != nil {
		t.Fatal(err)
	}
	write(t, acceptAs(t, other), []byte("noise"))
	wantDowns(t, e, "against the direction")
}

// TestFramesBeforeDown loses the link to a process whose own connection still
// holds frames: they come first, and nothing comes after Down.
func TestFramesBeforeDown(t *testing.T) {
	tr, e, other := alone(t, defaultLimits())
	inbound := dialAs(t, tr, 3)
	write(t, inbound, peers.AppendFrame(nil, 3, 1, []byte("first")))
	next(t, "the first frame", e.Frames)
	if err := tr.Send(1, 3, []byte("x")); err != nil {
		t.Fatal(err)
	}
	outbound := acceptAs(t, other)
	write(t, inbound, peers.AppendFrame(nil, 3, 1, []byte("last")))
	outbound.SetLinger(0)
	outbound.Close()
	wantDowns(t, e, "connection lost")
	if got := next(t, "the last frame", e.Frames); got != "3>1 last" {
		t.Errorf("delivered %q", got)
	}
	inbound.Write(peers.AppendFrame(nil, 3, 1, []byte("late"))) // may fail: closed
	if _, err := io.ReadAll(inbound); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection of a process that is down stays open")
	}
	if len(e.Frames) > 0 {
		t.Errorf("delivered %q after Down", <-e.Frames)
	}
	if err := tr.Send(1, 3, []byte("x")); err != nil {
		t.Errorf("to a process that is down: %v", err)
	}
}
