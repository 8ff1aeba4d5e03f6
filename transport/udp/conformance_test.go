package udp

import (
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"dmebench/internal/testkit"
	"dmebench/transport"
	"dmebench/transport/link"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

// patient are limits with which no test depends on how fast the machine is:
// peers answer in the end. Where a death is to be noticed, the knobs say how soon.
func patient(k transporttest.Knobs) limits {
	l := defaultLimits()
	l.silence, l.drain = 2*time.Minute, 20*time.Second
	l.idle = 200 * time.Millisecond // so that they take less time
	if k.Silence > 0 {
		l.silence, l.tries, l.falsely = k.Silence, 3, 1e-4
	}
	if k.Backlog > 0 {
		l.backlog = k.Backlog
	}
	if k.Drain > 0 {
		l.drain = k.Drain
	}
	return l
}

func subject(name string, o Options) transporttest.Subject {
	guarantees := GuaranteesOf(o.Layer)
	guarantees.Broadcast = o.Multicast
	return transporttest.Subject{
		Name:       name,
		Guarantees: guarantees,
		Open: func(c transport.Config, k transporttest.Knobs) (transport.Transport, error) {
			l := patient(k)
			if o.Between != nil {
				l.ackDelay = 2 * time.Millisecond // retransmission is early, and these tests take less time
			}
			tr, err := listen(c, o, l)
			if err != nil || !o.Multicast {
				return tr, err
			}
			return Multicasting{tr}, nil
		},
		LargestFrame: LargestFrame(o.Layer),
		Patience:     2 * time.Minute, // losses take their time where a race detector and a crowd take theirs
		NoticesDeath: o.Layer != Raw, Connectionless: true,
		AllocatesNothing: o.Layer != Raw && o.Between == nil && !o.Multicast,
		Stranger:         func(addr string) (net.Conn, error) { return net.Dial("udp", addr) },
	}
}

func subjects() []transporttest.Subject {
	var all []transporttest.Subject
	for _, l := range Layers() {
		all = append(all, subject("udp-"+string(l), Options{Layer: l}))
	}
	for _, l := range []Layer{Reliable, FIFO} {
		all = append(all, subject("lossy-udp-"+string(l), Options{Layer: l, Between: bad}))
	}
	if runtime.GOOS == "linux" {
		all = append(all,
			subject("udp-multicast-raw", Options{Layer: Raw, Multicast: true}),
			subject("lossy-udp-multicast-reliable", Options{Layer: Reliable, Multicast: true, Between: crackle}),
			subject("lossy-udp-multicast-fifo", Options{Layer: FIFO, Multicast: true, Between: crackle}),
		)
	}
	return all
}

// bad is a network between raw and the layers above that loses, repeats and
// reorders.
func bad(t transport.Transport) transport.Transport {
	return link.Wrap(t, link.Config{Seed: 1, LargestFrame: LargestFrame(Raw), All: link.Conditions{
		Loss: 0.05, Duplication: 0.05, Reordering: 0.1, Holding: 2 * time.Millisecond,
	}})
}

func TestConformance(t *testing.T) {
	for _, s := range subjects() {
		t.Run(s.Name, func(t *testing.T) {
			if (strings.Contains(s.Name, "lossy") || s.Name == "udp-reliable") && !testkit.Long() {
				s.Parts = []string{"Burst", "Broadcast", "SlowReader", "CloseDrains", "Restart"} // where losses and the lack of an order matter most
			}
			transporttest.Run(t, s)
		})
	}
}

// A datagram is taken from the incarnation that is there, for this one; what comes too
// early is dropped, and what comes too late is refused, also where it is genuine.
func TestDatagramsOfOtherIncarnations(t *testing.T) {
	key := transporttest.NewKey()
	var frames []peers.Frame
	r, _ := listener(key, collector{&frames})
	next := *r.Top().At(1)
	next.Incarnation = 2
	r.Top().Install(&next)
	for _, c := range []struct {
		from, to           uint32
		delivered, refused int
	}{
		{1, 1, 0, 1}, {2, 1, 1, 0}, {3, 1, 0, 0}, {2, 2, 0, 1}, {2, 0, 1, 0}, {1, 0, 0, 1}, {0, 1, 0, 1},
	} {
		frames = nil
		refused := r.refused.Load()
		s := newSealer(&key, 2, c.from)
		r.datagramArrived(s.finish(peers.AppendFrame(s.begin(nil, c.to), 2, 1, []byte("x"))))
		if got := r.refused.Load() - refused; len(frames) != c.delivered || got != uint64(c.refused) {
			t.Errorf("from %d to %d: %d delivered, %d refused; want %d, %d", c.from, c.to, len(frames), got, c.delivered, c.refused)
		}
	}
	next.State.over = true
	refused := r.refused.Load()
	s := newSealer(&key, 2, 2)
	r.datagramArrived(s.finish(peers.AppendFrame(s.begin(nil, 1), 2, 1, []byte("x"))))
	if r.refused.Load() != refused+1 {
		t.Error("a datagram of a process that was expelled is not refused")
	}
}

// TestMain lets the test binary become a peer of the conformance suite.
func TestMain(m *testing.M) {
	os.Exit(transporttest.Main(m, subjects()...))
}

// BenchmarkTransport measures within one process. How the transport compares with bare
// sockets between processes, 'dmebench ping --transport udp' measures.
func BenchmarkTransport(b *testing.B) {
	for _, l := range []Layer{Reliable, FIFO} {
		b.Run(string(l), func(b *testing.B) { transporttest.Benchmark(b, subject("udp-"+string(l), Options{Layer: l})) })
	}
}
