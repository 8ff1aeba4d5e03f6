package exchange

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"dmebench/internal/platform/clock"
)

var key = []byte("a key of the run, of 32 bytes...")

// portAt opens a port on a clock that is ahead of this host's by an offset.
func portAt(t testing.TB, name string, key []byte, ahead time.Duration) *Port {
	t.Helper()
	c := clock.New()
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
	if a.Refused().Repeated == 0 || b.Refused().Repeated == 0 {
		t.Errorf("repetitions were not noticed: %+v, %+v", a.Refused(), b.Refused())
	}
}

// Who has not the key, or has another, gets no answer, whatever he sends; a question
// that is repeated later gets none; one that is led to another host gets none. No
// answer is longer than its question.
func TestStrangers(t *testing.T) {
	a, b, c := portAt(t, "a", key, 0), portAt(t, "b", key, 0), portAt(t, "c", key, 0)
	thief := portAt(t, "a", []byte("another key of the same length.."), 0)
	if path, err := thief.Probe(t.Context(), Peer{"b", b.Address()}, 1); err == nil || len(path.Exchanges) > 0 || path.Lost != 1 {
		t.Errorf("a wrong key: %+v, %v", path, err)
	} else if !strings.Contains(err.Error(), "UDP must pass") {
		t.Error(err)
	}
	if got := b.Refused(); got != (Refused{Strangers: 1}) {
		t.Errorf("%+v", got)
	}
	misled := newWire(t, c, faithful)
	if path, err := a.Probe(t.Context(), misled.peer("b"), 1000); err == nil || len(path.Exchanges) > 0 || path.Sent != tries {
		t.Errorf("another host answers: %+v, %v", path, err)
	}
	if got := c.Refused(); got.Strangers != tries {
		t.Errorf("%+v", got)
	}

	// An answer that was changed on its way is none.
	changed := newWire(t, b, func(datagram []byte, back bool, pass func([]byte)) {
		if back {
			datagram[20]++
		}
		pass(datagram)
	})
	if path, err := a.Probe(t.Context(), changed.peer("b"), 1); err == nil || len(path.Exchanges) > 0 || a.Refused().Strangers != 1 {
		t.Errorf("a changed answer: %+v, %v, %+v", path, err, a.Refused())
	}

	var heard [][]byte
	w := newWire(t, b, func(datagram []byte, back bool, pass func([]byte)) {
		if !back {
			heard = append(heard, datagram)
		}
		pass(datagram)
	})
	if _, err := a.Probe(t.Context(), w.peer("b"), 200); err != nil {
		t.Fatal(err)
	}
	w.stop()
	if w.largest[0] != length || w.largest[1] > w.largest[0] {
		t.Errorf("questions of %d bytes, answers of %d", w.largest[0], w.largest[1])
	}

	// The stranger repeats all that he has heard, the early ones and the late, and
	// what he makes of it.
	stranger, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.MustParseAddrPort(b.Address())))
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	rng := rand.New(rand.NewPCG(3, 4))
	before, sent := b.Refused(), uint64(0)
	for _, datagram := range heard {
		changed := append([]byte(nil), datagram...)
		changed[rng.IntN(len(changed))] ^= 1 << rng.IntN(8)
		for _, x := range [][]byte{datagram, changed, datagram[:len(datagram)-1], append(datagram, 0), {}, []byte("GET / HTTP/1.1\r\n\r\n")} {
			if _, err := stranger.Write(x); err != nil {
				t.Fatal(err)
			}
			sent++
		}
		// The port has read all that when it has answered a question that came later.
		if _, err := a.Probe(t.Context(), Peer{"b", b.Address()}, 1); err != nil {
			t.Fatal(err)
		}
	}
	got := b.Refused()
	got.Strangers, got.Repeated = got.Strangers-before.Strangers, got.Repeated-before.Repeated
	// A bit of an answer's kind makes an answer to nobody.
	if got.Repeated < uint64(len(heard)) || got.Repeated+got.Strangers != sent {
		t.Errorf("of %d datagrams %+v were refused", sent, got)
	}
	_ = stranger.SetReadDeadline(time.Now())
	if n, err := stranger.Read(make([]byte, 100)); err == nil {
		t.Errorf("the stranger got an answer of %d bytes", n)
	}
}

func TestRepetitionsAreKnown(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var s session
	seen := map[uint64]bool{0: true}
	var high uint64
	for range 20000 {
		number := max(high, 100) - 100 + rng.Uint64N(120)
		if rng.IntN(100) == 0 {
			number += rng.Uint64N(200)
		}
		want := !seen[number] && number+64 >= high
		if got := s.fresh(number); got != want {
			t.Fatalf("number %d after %d is fresh: %v, want %v", number, high, got, want)
		}
		seen[number] = seen[number] || want
		if want {
			high = max(high, number)
		}
	}
}

// A host that has the key cannot make another one work without bounds.
func TestRatesAreBounded(t *testing.T) {
	s := session{tokens: questionBurst, at: time.Unix(0, 0)}
	allowed := 0
	for k := range 50_000 { // in one second
		if s.allowed(time.Unix(0, int64(k)*20_000)) {
			allowed++
		}
	}
	if want := questionBurst + questionsPerS; allowed < want-2 || allowed > want+2 {
		t.Errorf("%d questions in a second, want %d", allowed, want)
	}

	b := portAt(t, "b", key, 0)
	sealer, sessions := newSealer(key), map[uint64]*session{}
	nowhere := netip.MustParseAddrPort(portAt(t, "nobody", key, 0).Address())
	for k := range uint64(mostSessions + 7) {
		d := append([]byte(nil), sealer.seal(datagram{kind: isQuestion, session: k, number: 1}, "b")...)
		b.datagram(d, nowhere, 0, newSealer(key), sessions)
	}
	if len(sessions) != mostSessions || b.Refused().TooMany != 7 {
		t.Errorf("%d sessions, %+v", len(sessions), b.Refused())
	}

	const asked = 10_000
	begin, answered := time.Now(), 0
	sessions = map[uint64]*session{}
	for k := range uint64(asked) {
		d := append([]byte(nil), sealer.seal(datagram{kind: isQuestion, session: 1, number: k + 1}, "b")...)
		if b.datagram(d, nowhere, 0, newSealer(key), sessions) {
			answered++
		}
	}
	if most := questionBurst + questionsPerS*time.Since(begin).Seconds() + 1; float64(answered) > most {
		t.Errorf("%d questions of one session were answered in %v; want no more than %.0f", answered, time.Since(begin), most)
	}
	if got := b.Refused().TooMany; got != uint64(7+asked-answered) {
		t.Errorf("%d were refused", got)
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

func TestMemoryOfALinkIsBounded(t *testing.T) {
	var l Link
	for k := range int64(3 * mostDelays) {
		l.delay(1000 + k%1000)
		if len(l.delays) > mostDelays {
			t.Fatal(len(l.delays))
		}
	}
	if r := l.RoundTrips(); r.Min != 1000 || r.Median < 1490 || r.Median > 1510 || r.P99 < 1980 || r.P99 > 1999 {
		t.Errorf("%+v", r)
	}
}

func FuzzDatagram(f *testing.F) {
	f.Add(append([]byte(nil), newSealer(key).seal(datagram{kind: isQuestion, session: 1, number: 2}, "another")...))
	f.Add([]byte{byte(isAnswer)})
	b := portAt(f, "b", key, 0)
	f.Fuzz(func(t *testing.T, datagram []byte) {
		if b.datagram(datagram, netip.MustParseAddrPort("127.0.0.1:9"), 0, newSealer(key), map[uint64]*session{}) {
			t.Errorf("%x was believed", datagram)
		}
	})
}
