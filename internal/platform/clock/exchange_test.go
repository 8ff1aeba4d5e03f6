package clock

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"dmebench/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Beside(8)
	os.Exit(m.Run())
}

var key = []byte("a key of the run, of 32 bytes...")

// portAt opens a port on a clock that is ahead of this host's by an offset.
func portAt(t testing.TB, name string, key []byte, ahead time.Duration) *Port {
	t.Helper()
	c := New()
	p, err := listen(&net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, name, key, func() int64 { return c.Now() + int64(ahead) }, c.Error())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// a wire carries datagrams from one who asks to a port and back, as told.
type wire struct {
	*net.UDPConn
	to   netip.AddrPort
	fate func(b []byte, back bool, pass func([]byte)) // passes it, or not, or what else; from one goroutine

	largest [2]int // datagrams that came, there and back
	done    sync.WaitGroup
}

func newWire(t testing.TB, to *Port, fate func(b []byte, back bool, pass func([]byte))) *wire {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{UDPConn: conn, to: netip.MustParseAddrPort(to.Address()), fate: fate}
	w.done.Go(w.carry)
	t.Cleanup(w.stop)
	return w
}

// stop ends it: what its goroutine noted may be read then.
func (w *wire) stop() {
	_ = w.Close()
	w.done.Wait()
}

func (w *wire) carry() {
	var asker netip.AddrPort
	for {
		b := make([]byte, 1500)
		n, from, err := w.ReadFromUDPAddrPort(b)
		if err != nil {
			return
		}
		back, to := from == w.to, w.to
		if back {
			to = asker
			w.largest[1] = max(w.largest[1], n)
		} else {
			asker = from
			w.largest[0] = max(w.largest[0], n)
		}
		w.fate(b[:n], back, func(b []byte) { _, _ = w.WriteToUDPAddrPort(b, to) })
	}
}

func (w *wire) peer(name string) Peer { return Peer{name, w.LocalAddr().String()} }

func faithful(b []byte, _ bool, pass func([]byte)) { pass(b) }

// right checks what exchanges say of a clock that is ahead by an offset, each and
// all together.
func right(t *testing.T, path Path, ahead time.Duration) {
	t.Helper()
	var link Link
	link.Add(path)
	for _, e := range path.Exchanges {
		offset, bound := e.Offset()
		if off := offset - int64(ahead); off < -bound || off > bound || bound <= 0 {
			t.Errorf("an offset of %d ± %d, and is %d", offset, bound, ahead)
		}
		offset, bound = link.Clock.Offset(e.Sent)
		if off := offset - int64(ahead); off < -bound || off > bound {
			t.Errorf("together an offset of %d ± %d, and is %d", offset, bound, ahead)
		}
	}
}

// A clock that is 50 ms off is found to be, within the bound, from either side.
func TestClocksAreCompared(t *testing.T) {
	for _, ahead := range []time.Duration{0, 50 * time.Millisecond, -time.Hour} {
		a, b := portAt(t, "a", key, 0), portAt(t, "b", key, ahead)
		there, err := a.Probe(t.Context(), Peer{"b", b.Address()}, 20)
		if err != nil {
			t.Fatal(err)
		}
		back, err := b.Probe(t.Context(), Peer{"a", a.Address()}, 20)
		if err != nil {
			t.Fatal(err)
		}
		right(t, there, ahead)
		right(t, back, -ahead)
		var both Link
		both.Add(there)
		both.AddReverse(back)
		offset, bound := both.Clock.Offset(there.Exchanges[0].Sent)
		if off := offset - int64(ahead); off < -bound || off > bound {
			t.Errorf("an offset of %d ± %d from both sides, and is %d", offset, bound, ahead)
		}
		if r := both.RoundTrips(); r.Sent != 20 || r.Lost != there.Lost || r.Min <= 0 || r.Median < r.Min || r.P99 < r.Median {
			t.Errorf("%+v", r)
		}
	}
}

// A way back that takes 5 ms longer than the way there shifts what seems to be the
// offset, and the bound says so.
func TestTheBoundCoversAnyDelay(t *testing.T) {
	const late = 5 * time.Millisecond
	a, b := portAt(t, "a", key, 0), portAt(t, "b", key, time.Second)
	w := newWire(t, b, func(datagram []byte, back bool, pass func([]byte)) {
		if back {
			<-time.After(late)
		}
		pass(datagram)
	})
	path, err := a.Probe(t.Context(), w.peer("b"), 5)
	if err != nil {
		t.Fatal(err)
	}
	right(t, path, time.Second)
	for _, e := range path.Exchanges {
		if offset, bound := e.Offset(); bound < int64(late)/2 || offset > int64(time.Second) {
			t.Errorf("offset %d ± %d", offset, bound)
		}
	}
}

// What is lost, there or back, is counted; what comes twice counts once.
func TestLossAndRepetition(t *testing.T) {
	t.Parallel()
	a, b := portAt(t, "a", key, 0), portAt(t, "b", key, 0)
	rng := rand.New(rand.NewPCG(1, 2))
	w := newWire(t, b, func(datagram []byte, _ bool, pass func([]byte)) {
		if rng.IntN(4) == 0 {
			return
		}
		pass(datagram)
		pass(datagram)
	})
	ctx, cancel := context.WithCancel(t.Context())
	var got Path
	var reports int
	err := a.Follow(ctx, w.peer("b"), 5*time.Millisecond, func(p Path) {
		got.Sent, got.Lost = got.Sent+p.Sent, got.Lost+p.Lost
		got.Exchanges = append(got.Exchanges, p.Exchanges...)
		if reports++; len(got.Exchanges) >= 300 && got.Lost > 0 {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Lost == 0 || got.Sent != got.Lost+len(got.Exchanges) || reports < 100 {
		t.Errorf("%d exchanges were begun, %d lost, %d made, in %d reports", got.Sent, got.Lost, len(got.Exchanges), reports)
	}
	right(t, got, 0)
}

// Whoever has no key, or another, gets no answer; a question that is led to another host
// gets none, and an answer that was changed on its way is none. No answer is longer than
// its question.
func TestStrangers(t *testing.T) {
	t.Parallel()
	a, b, c := portAt(t, "a", key, 0), portAt(t, "b", key, 0), portAt(t, "c", key, 0)
	thief := portAt(t, "a", []byte("another key of the same length.."), 0)
	changed := newWire(t, b, func(datagram []byte, back bool, pass func([]byte)) {
		if back {
			datagram[20]++
		}
		pass(datagram)
	})
	for name, x := range map[string]struct {
		from *Port
		to   Peer
	}{
		"a wrong key":          {thief, Peer{"b", b.Address()}},
		"another host answers": {a, newWire(t, c, faithful).peer("b")},
		"a changed answer":     {a, changed.peer("b")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, err := x.from.Probe(t.Context(), x.to, 1)
			if err == nil || len(path.Exchanges) > 0 || path.Lost != 1 || !strings.Contains(err.Error(), "UDP must pass") {
				t.Errorf("%+v, %v", path, err)
			}
		})
	}

	w := newWire(t, b, faithful)
	if _, err := a.Probe(t.Context(), w.peer("b"), 200); err != nil {
		t.Fatal(err)
	}
	w.stop()
	if w.largest[0] != length || w.largest[1] > w.largest[0] {
		t.Errorf("questions of %d bytes, answers of %d", w.largest[0], w.largest[1])
	}
}

func TestEndOfAProbe(t *testing.T) {
	a, b := portAt(t, "a", key, 0), portAt(t, "b", key, 0)
	asked := make(chan struct{}, 100)
	w := newWire(t, b, func(_ []byte, _ bool, _ func([]byte)) { asked <- struct{}{} })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if path, err := a.Probe(ctx, w.peer("b"), 3); err != context.Canceled || path.Sent != path.Lost+len(path.Exchanges) {
		t.Errorf("%+v, %v", path, err)
	}
	go func() { <-asked; _ = a.Close() }()
	if _, err := a.Probe(t.Context(), w.peer("b"), 3); err != errClosed {
		t.Error(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := a.Follow(t.Context(), w.peer("b"), time.Hour, func(Path) {}); err != errClosed {
		t.Error(err)
	}
	if len(a.asked) != 0 {
		t.Errorf("%d questions are still waited for", len(a.asked))
	}
}

func TestWhatIsRefusedAtOnce(t *testing.T) {
	if _, err := Listen("127.0.0.1:0", "a", []byte("short")); err == nil {
		t.Error("a short key")
	}
	if _, err := Listen("nowhere", "a", key); err == nil {
		t.Error("an address without a port")
	}
	a := portAt(t, "a", key, 0)
	if _, err := a.Probe(t.Context(), Peer{"b", "nowhere"}, 1); err == nil || !strings.Contains(err.Error(), "host b") {
		t.Error(err)
	}
}

func FuzzDatagram(f *testing.F) {
	f.Add(datagram{Kind: isQuestion, Session: 1, Number: 2}.sealed(key, "another"))
	f.Add([]byte{byte(isAnswer)})
	b := portAt(f, "b", key, 0)
	f.Fuzz(func(t *testing.T, datagram []byte) {
		if b.datagram(datagram, netip.MustParseAddrPort("127.0.0.1:9"), 0) {
			t.Errorf("%x was believed", datagram)
		}
	})
}
