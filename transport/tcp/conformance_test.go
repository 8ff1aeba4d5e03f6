package tcp

import (
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

// subjects are the transport as it is on the loopback, and encrypted.
var subjects = []transporttest.Subject{subject("tcp", Options{}), subject("tcp-tls", Options{Encryption: On})}

func subject(name string, o Options) transporttest.Subject {
	return transporttest.Subject{
		Name:       name,
		Guarantees: Guarantees,
		Open: func(c transport.Config, k transporttest.Knobs) (transport.Transport, error) {
			l := defaultLimits()
			l.drain = 20 * time.Second // peers answer, but perhaps not on a busy machine
			if k.Backlog > 0 {
				l.backlog = k.Backlog
			}
			return listen(c, o, l)
		},
		NoticesDeath: true,
		Stranger:     func(addr string) (net.Conn, error) { return net.Dial("tcp", addr) },
	}
}

func TestMain(m *testing.M) { os.Exit(transporttest.Main(m, subjects...)) }

func TestConformance(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.Name, func(t *testing.T) { transporttest.Run(t, s) })
	}
}

// A connection of an incarnation that is over is refused, whenever it is made; one of
// an incarnation that nobody has announced waits.
func TestConnectionsOfOtherIncarnations(t *testing.T) {
	tr, e, other := alone(t, defaultLimits())
	first := dialAs(t, tr, 3)
	first.Write(peers.AppendFrame(nil, 3, 1, []byte("of the first")))
	if got := next(t, "a frame", e.Frames); got != "3>1 of the first" {
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
	if got := next(t, "a frame", e.Frames); got != "3>1 of the second" {
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
	for _, err := range []error{
		tr.Readmit(3, "x", 3), tr.Readmit(3, "", 4), tr.Readmit(1, "x", 2),
		tr.Readmit(9, "x", 2), tr.Expel(2, errors.New("x")),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "tcp: ") {
			t.Errorf("misuse: %v", err)
		}
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

// Who dials an address at which another incarnation lives by now learns it.
func TestAnotherIncarnationDoesNotAnswer(t *testing.T) {
	tr, _, _ := alone(t, defaultLimits())
	for _, to := range []uint32{1, 2} {
		err := dial(t, tr, ends{from: 3, to: 1, fromIncarnation: 1, toIncarnation: to})
		if errors.Is(err, errElsewhere) != (to != 1) {
			t.Errorf("to incarnation %d: %v", to, err)
		}
	}
}

// Segments are counted while a connection lives and after it: those with frames,
// and at the other end those that acknowledge them.
func TestPackets(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing is known of them here")
	}
	var ts [2]*Transport
	var book transport.AddressBook
	es := [2]*transporttest.Events{transporttest.NewEvents(), transporttest.NewEvents()}
	for i := range ts {
		tr, err := Listen(transport.Config{
			Listen: "127.0.0.1:0", Local: []dme.NodeID{dme.NodeID(i + 1)}, Nodes: 2, Key: testKey,
		}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tr.Close() })
		ts[i], book = tr, append(book, tr.Addr())
	}
	for i, tr := range ts {
		if err := tr.Start(book, es[i]); err != nil {
			t.Fatal(err)
		}
	}
	const frames = 50
	send := func() (sender, receiver uint64) {
		t.Helper()
		for range frames {
			if err := ts[0].Send(1, 2, []byte("x")); err != nil {
				t.Fatal(err)
			}
			ts[0].Flush()
			next(t, "a frame", es[1].Frames)
		}
		return ts[0].Counters().Packets, ts[1].Counters().Packets
	}
	first, acks := send()
	second, moreAcks := send()
	if second-first < frames { // each frame was awaited: none shares a segment
		t.Errorf("%d segments for %d frames that were sent one by one", second-first, frames)
	}
	if acks == 0 || moreAcks < acks {
		t.Errorf("the receiver has sent %d segments, and then %d", acks, moreAcks)
	}
	ts[1].Close()
	ts[0].Close()
	for i, least := range []uint64{second, moreAcks} {
		if got := ts[i].Counters().Packets; got < least {
			t.Errorf("process %d: %d segments by the counters after Close, %d before", i+1, got, least)
		}
	}
}
