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

// alone opens and starts the transport of nodes 1 and 2 of four. Nodes 3 and 4
// live at a listener that the test plays the part of.
func alone(t *testing.T, l limits) (*Transport, *transporttest.Events, net.Listener) {
	t.Helper()
	transporttest.NoLeaks(t)
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
		if err := transporttest.Next(t, "Down", e.Downs); !strings.HasPrefix(err.Error(), node) || !strings.Contains(err.Error(), what) {
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
			if got := transporttest.Next(t, "the frame before", e.Frames); got != "4>2 before" {
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
	if got := transporttest.Next(t, "the genuine frame", e.Frames); got != "3>2 genuine" {
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
	transporttest.Next(t, "a frame", e.Frames)
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
	transporttest.Next(t, "a frame on the first connection", e.Frames)
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
	transporttest.Next(t, "the first frame", e.Frames)
	if err := tr.Send(1, 3, []byte("x")); err != nil {
		t.Fatal(err)
	}
	outbound := acceptAs(t, other)
	write(t, inbound, peers.AppendFrame(nil, 3, 1, []byte("last")))
	outbound.SetLinger(0)
	outbound.Close()
	wantDowns(t, e, "connection lost")
	if got := transporttest.Next(t, "the last frame", e.Frames); got != "3>1 last" {
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

// A connection of an incarnation that is over is refused, whenever it is made; one of
// an incarnation that nobody has announced waits.
func TestConnectionsOfOtherIncarnations(t *testing.T) {
	tr, e, other := alone(t, defaultLimits())
	first := dialAs(t, tr, 3)
	first.Write(peers.AppendFrame(nil, 3, 1, []byte("of the first")))
	if got := transporttest.Next(t, "a frame", e.Frames); got != "3>1 of the first" {
		t.Error(got)
	}
	second := dialIn(t, tr, 3, 2)
	second.Write(peers.AppendFrame(nil, 3, 1, []byte("of the second")))
	const rest = 900
	var b []byte
	for range rest {
		b = peers.AppendFrame(b, 3, 1, []byte("and another"))
	}
	first.Write(b)
	first.Close()
	if err := tr.Readmit(3, other.Addr().String(), 2); err != nil {
		t.Fatal(err)
	}
	if n := countOf(e.Frames, "3>1 and another", rest); n != rest {
		t.Errorf("%d of %d frames that had come from the first were delivered before Readmit returned", n, rest)
	}
	if len(e.Downs) != 2 {
		t.Errorf("Readmit has returned after Down of %d nodes, want 2", len(e.Downs))
	}
	if got := transporttest.Next(t, "a frame", e.Frames); got != "3>1 of the second" {
		t.Error(got)
	}
	if err := tr.Readmit(3, other.Addr().String(), 3); err != nil {
		t.Fatal(err)
	}
	refused := tr.Counters().RefusedConns
	late := dialIn(t, tr, 3, 1)
	late.Write(peers.AppendFrame(nil, 3, 1, []byte("of the first, late")))
	if _, err := late.Read(make([]byte, 100)); err == nil {
		t.Error("something is said to the one that is over")
	}
	if n := tr.Counters().RefusedConns - refused; n != 1 {
		t.Errorf("%d connections refused, want 1", n)
	}
	if len(e.Frames) > 0 {
		t.Errorf("%q is delivered", <-e.Frames)
	}
}

// Frames take the link to the incarnation that is there, also if one before it was sent something,
// or is about to be by a Send that had found it just before.
func TestFramesGoToTheIncarnationThatIsThere(t *testing.T) {
	for name, sent := range map[string]func(tr *Transport, p *process, readmit func()){
		"before":    func(tr *Transport, p *process, readmit func()) { tr.firstUse(p); readmit() },
		"meanwhile": func(tr *Transport, p *process, readmit func()) { readmit(); tr.firstUse(p) },
	} {
		t.Run(name, func(t *testing.T) {
			tr, _, other := alone(t, defaultLimits())
			sent(tr, tr.life.Top().Of(3), func() {
				if err := tr.Readmit(3, other.Addr().String(), 2); err != nil {
					t.Fatal(err)
				}
			})
			if err := tr.Send(1, 3, []byte("x")); err != nil {
				t.Fatal(err)
			}
			if to := tr.routes[3].Load().to; to.Incarnation != 2 {
				t.Errorf("it goes to %v, incarnation %d", to, to.Incarnation)
			}
		})
	}
}

// countOf takes so many at most of what is there already, as long as it is of one kind.
func countOf(c <-chan string, s string, most int) (n int) {
	for ; n < most; n++ {
		select {
		case got := <-c:
			if got != s {
				return n
			}
		default:
			return n
		}
	}
	return n
}

// Who dials an address at which another node or incarnation lives by now learns it.
func TestAnotherProcessDoesNotAnswer(t *testing.T) {
	tr, _, _ := alone(t, defaultLimits())
	for e, elsewhere := range map[ends]bool{{3, 1, 1, 1}: false, {3, 1, 1, 2}: true, {3, 4, 1, 1}: true} {
		if _, err := dialWith(t, tr, e); errors.Is(err, errElsewhere) != elsewhere {
			t.Errorf("%+v: %v", e, err)
		}
	}
}

// TestCloseBeforeStart closes with a peer that was welcomed and waits.
func TestCloseBeforeStart(t *testing.T) {
	transporttest.NoLeaks(t)
	tr, err := Listen(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 3, Key: testKey}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	conn := dialAs(t, tr, 3)
	if err := tr.Send(1, 2, nil); err == nil {
		t.Error("Send before Start: no error")
	}
	closed := make(chan error)
	go func() { closed <- tr.Close() }()
	word := make([]byte, len(peers.Goodbye))
	if _, err := io.ReadFull(conn, word); err != nil || string(word) != peers.Goodbye {
		t.Errorf("%q, %v; want a goodbye", word, err)
	}
	write(t, conn, word)
	transporttest.Next(t, "Close", closed)
	if err := tr.Start(transport.AddressBook{"a", "b", "c"}, transporttest.NewEvents()); err == nil {
		t.Error("Start after Close: no error")
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
		if err := tr.life.Begin(top); err != nil {
			t.Fatal(err)
		}
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

// Why a process cannot be reached is said by Start, or by Down of a first use.
func TestDialErrors(t *testing.T) {
	for name, c := range map[string]struct {
		key   transport.Key
		here  Encryption
		there Encryption
		stop  bool
		says  string
	}{
		"refused":              {testKey, Off, Off, true, "is its worker running?"},
		"wrong key":            {transporttest.NewKey(), Off, Off, false, "does that address belong to another run?"},
		"wrong key, encrypted": {transporttest.NewKey(), On, On, false, "does that address belong to another run?"},
		"it alone encrypts":    {testKey, Off, On, false, errUnanswered.Error()},
		"it does not encrypt":  {testKey, On, Off, false, errUnanswered.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			there := mustListen(t, transport.Config{Local: []dme.NodeID{2}, Nodes: 2, Key: c.key}, Options{Encryption: c.there})
			if c.stop {
				there.Close()
			}
			for _, peers := range [][]dme.NodeID{{2}, nil} {
				tr := mustListen(t, transport.Config{Local: []dme.NodeID{1}, Nodes: 2, Key: testKey, Peers: peers}, Options{Encryption: c.here})
				e := transporttest.NewEvents()
				err := tr.Start(transport.AddressBook{tr.Addr(), there.Addr()}, e)
				if peers == nil {
					if err = tr.Send(1, 2, []byte("x")); err == nil {
						err = transporttest.Next(t, "Down", e.Downs)
					}
				}
				want := "dial node 2 (" + there.Addr() + ")"
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v; want %q and %q", err, want, c.says)
				}
			}
		})
	}
}

func mustListen(t *testing.T, c transport.Config, o Options) *Transport {
	t.Helper()
	c.Listen = "127.0.0.1:0"
	tr, err := Listen(c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

// A stranger who stays silent is hung up on.
func TestStrangersHaveTheirTime(t *testing.T) {
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

// Left to the transport, connections are encrypted unless their listener is on the
// loopback.
func TestWhatIsEncrypted(t *testing.T) {
	for listener, want := range map[string]bool{
		"127.0.0.1:7": false, "127.8.9.1:7": false, "[::1]:7": false,
		"10.0.0.1:7": true, "0.0.0.0:7": true, "[::]:7": true, "[fe80::1]:7": true, "somewhere": true, "localhost.example:7": true,
	} {
		for e, want := range map[Encryption]bool{Auto: want, On: true, Off: false} {
			tr := &Transport{options: Options{Encryption: e}}
			if got := tr.encrypts(listener); got != want {
				t.Errorf("%s, %s: %v", listener, e, got)
			}
		}
	}
	if _, err := Listen(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 1, Key: testKey},
		Options{Encryption: "perhaps"}); err == nil {
		t.Error("encryption 'perhaps' is taken")
	}
}
