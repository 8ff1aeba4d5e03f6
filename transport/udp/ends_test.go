package udp

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/link"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

// journal keeps what a handler is told.
type journal struct {
	mu     sync.Mutex
	frames []string
	downs  []dme.NodeID
	cause  error
}

func newJournal() *journal { return new(journal) }

func (j *journal) Frame(_, _ dme.NodeID, b []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.frames = append(j.frames, string(b))
}

func (j *journal) Down(peer dme.NodeID, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.downs, j.cause = append(j.downs, peer), err
}

// wait waits until a condition holds of the journal.
func (j *journal) wait(t *testing.T, what string, holds func() bool) {
	t.Helper()
	transporttest.Eventually(t, what, func() bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		return holds()
	})
}

func noLeaks(t testing.TB) { transporttest.NoLeaks(t) }

// openAll opens and starts a run's processes, of so many nodes each, which know all
// nodes as peers.
func openAll(tb testing.TB, l limits, o func(process int) Options, key transport.Key, h func(process int) transport.Handler,
	nodes ...int) (ts []*Transport) {
	tb.Helper()
	total := 0
	for _, n := range nodes {
		total += n
	}
	var all []dme.NodeID
	for id := range total {
		all = append(all, dme.NodeID(id+1))
	}
	var book transport.AddressBook
	for i, n := range nodes {
		local := all[len(book):][:n]
		tr, err := listen(transport.Config{Listen: "127.0.0.1:0", Local: local, Nodes: total, Key: key, Peers: all}, o(i), l)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { tr.Close() })
		ts = append(ts, tr)
		for range n {
			book = append(book, tr.Addr())
		}
	}
	for i, tr := range ts {
		if err := tr.Start(book, h(i)); err != nil {
			tb.Fatal(err)
		}
	}
	return ts
}

// openPair opens and starts two processes of a node each.
func openPair(tb testing.TB, o Options, h transport.Handler) []*Transport {
	tb.Helper()
	return openAll(tb, patient(transporttest.Knobs{}), func(int) Options { return o }, transporttest.NewKey(),
		func(int) transport.Handler { return h }, 1, 1)
}

// muted is a wrapper that loses everything once it is told to.
type muted struct {
	transport.Transport
	mute *atomic.Bool
}

func (m muted) Send(from, to dme.NodeID, b []byte) error {
	if m.mute.Load() {
		return nil
	}
	return m.Transport.Send(from, to, b)
}

// silenced opens processes of the given numbers of nodes, of which the second
// falls silent when told to: nothing that it sends arrives any more.
func silenced(t *testing.T, l limits, h func(process int) transport.Handler, nodes ...int) (ts []*Transport, mute *atomic.Bool) {
	mute = new(atomic.Bool)
	options := func(process int) (o Options) {
		if process == 1 {
			o.Between = func(tr transport.Transport) transport.Transport { return muted{tr, mute} }
		}
		return o
	}
	return openAll(t, l, options, transporttest.NewKey(), h, nodes...), mute
}

// No port is closed here: the process is there, and nothing is heard of it.
func TestSilenceIsDeath(t *testing.T) {
	for _, c := range []struct {
		name    string
		waiting bool // data wait for an acknowledgement
	}{{"while data wait", true}, {"between two frames", false}} {
		t.Run(c.name, func(t *testing.T) {
			noLeaks(t)
			l := patient(transporttest.Knobs{})
			l.silence, l.idle, l.drain, l.tries = time.Second, 50*time.Millisecond, 100*time.Millisecond, 3
			js := []*journal{newJournal(), newJournal(), newJournal()}
			ts, mute := silenced(t, l, func(i int) transport.Handler { return js[i] }, 1, 2, 1)
			send := func(tr *Transport, from, to dme.NodeID) {
				t.Helper()
				if err := tr.Send(from, to, []byte("x")); err != nil {
					t.Fatal(err)
				}
				tr.Flush()
			}
			send(ts[0], 1, 2)
			send(ts[0], 1, 4)
			send(ts[1], 3, 1)
			js[1].wait(t, "a frame", func() bool { return len(js[1].frames) == 1 })
			js[2].wait(t, "a frame", func() bool { return len(js[2].frames) == 1 })
			js[0].wait(t, "a frame", func() bool { return len(js[0].frames) == 1 })
			mute.Store(true)
			if c.waiting {
				send(ts[0], 1, 2)
			}
			js[0].wait(t, "Down", func() bool { return len(js[0].downs) == 2 })
			for range 5 {
				send(ts[0], 1, 3) // to the dead, which is no error
			}
			send(ts[0], 1, 4)
			js[2].wait(t, "a frame", func() bool { return len(js[2].frames) == 2 })
			begin := time.Now()
			ts[0].Close()
			slices.Sort(js[0].downs)
			if !slices.Equal(js[0].downs, []dme.NodeID{2, 3}) {
				t.Errorf("Down of %v, want once for 2 and 3", js[0].downs)
			}
			if err := js[0].cause; err == nil || !strings.Contains(err.Error(), "silent for ") {
				t.Errorf("%v", err)
			}
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("Close took %v", took)
			}
		})
	}
}

// A process that is never there: there is a socket, but nobody reads it.
func TestNobodyReads(t *testing.T) {
	noLeaks(t)
	l := patient(transporttest.Knobs{})
	l.silence, l.tries = 500*time.Millisecond, 3
	other, err := listenRaw(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{2}, Nodes: 2, Key: transport.Key{1}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tr, err := listen(transport.Config{
		Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 2, Key: transport.Key{1}, Peers: []dme.NodeID{2},
	}, Options{}, l)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	j := newJournal()
	if err := tr.Start(transport.AddressBook{tr.Addr(), other.Addr()}, j); err != nil {
		t.Fatal(err)
	}
	j.wait(t, "Down", func() bool { return len(j.downs) == 1 })
	if !strings.Contains(j.cause.Error(), "silent for ") || !strings.Contains(j.cause.Error(), "node 2") {
		t.Errorf("%v", j.cause)
	}
}

type stuckHandler struct{ gate, entered chan struct{} }

func (h stuckHandler) Frame(_, _ dme.NodeID, _ []byte) {
	select {
	case h.entered <- struct{}{}:
	default:
	}
	<-h.gate
}
func (h stuckHandler) Down(dme.NodeID, error) {}

func TestMisconfiguration(t *testing.T) {
	noLeaks(t)
	good := transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 2, Key: transport.Key{1}}
	if tr, err := Listen(good, Options{Layer: "perfect"}); err == nil {
		tr.Close()
		t.Error("an unknown layer: no error")
	}
	for _, address := range []string{"x:y", "[::1]:9"} {
		tr, err := Listen(good, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Start(transport.AddressBook{tr.Addr(), address}, newJournal()); err == nil {
			t.Errorf("an address book with %s: no error", address)
		}
		tr.Close()
	}
}

// impairedRaw is a layer below that says what is done to its links.
type impairedRaw struct {
	transport.Transport
	x transport.Impairment
}

func (r *impairedRaw) Impairment(_, _ dme.NodeID) transport.Impairment { return r.x }

// suspect is the link with a peer that was asked at the instant 1 and never answers.
func suspect(t *testing.T, processes int, c transport.Config, x transport.Impairment) *association {
	t.Helper()
	c.Nodes, c.Local = processes, []dme.NodeID{1}
	book := make(transport.AddressBook, processes)
	for i := range book {
		book[i] = "of " + dme.NodeID(i+1).String()
	}
	top, err := peers.NewTopology[association]("udp", book, &c)
	if err != nil {
		t.Fatal(err)
	}
	r := &reliable{below: &impairedRaw{x: x}, config: c, limits: defaultLimits()}
	if err := r.Begin(top); err != nil {
		t.Fatal(err)
	}
	l := &association{t: r, process: top.At(1), asked: 1}
	return l
}

// giveUp lets attempts fail, whose timeouts are over every so often and are seen so
// late, and returns after how many the peer is taken for dead; 0 if not within many.
func giveUp(l *association, every, late time.Duration) (attempts int, after time.Duration) {
	now := instant(1)
	for attempts = 1; attempts <= 5000; attempts++ {
		now += every
		l.out.timeout = now
		if l.dead(now+late, 0) {
			return attempts, now
		}
	}
	return 0, 0
}

func TestSuspicionGoesByWhatWasTried(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		name             string
		processes        int
		patience         time.Duration
		x                transport.Impairment
		every, late      time.Duration
		attempts         int // 0: never
		longest, soonest time.Duration
	}{
		{"seldom asked", 2, 0, transport.Impairment{}, second, 0, 8, 9 * second, 8 * second},
		{"often asked", 2, 0, transport.Impairment{}, second / 10, 0, 50, 6 * second, 5 * second},
		{"among a thousand", 1000, 0, transport.Impairment{}, second, 0, 39, 40 * second, 39 * second},
		{"which this process sees late", 1000, 0, transport.Impairment{}, second, 2 * asleep, 0, 0, 0},
		{"loss of 0.3 each way", 2, 0, transport.Impairment{Loss: 0.51}, second, 0, 42, 43 * second, 40 * second},
		{"loss of 0.2 each way", 2, 0, transport.Impairment{Loss: 0.36}, second, 0, 28, 29 * second, 27 * second},
		{"partition", 2, 0, transport.Impairment{Loss: 1}, second, 0, 0, 0, 0},
		{"delay of 6 s each way", 2, 0, transport.Impairment{Delay: 12 * second}, second, 0, 17, 18 * second, 17 * second},
		{"a pause of 30 s is to come", 2, 30 * second, transport.Impairment{}, second, 0, 35, 36 * second, 35 * second},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := suspect(t, c.processes, transport.Config{Patience: c.patience}, c.x)
			attempts, after := giveUp(l, c.every, c.late)
			if attempts != c.attempts || after > c.longest || after < c.soonest {
				t.Errorf("dead after %d attempts and %v; want %d, and from %v to %v", attempts, after, c.attempts, c.soonest, c.longest)
			}
		})
	}
}

// What was tried while a partition lasted does not count after it.
func TestSuspicionBeginsAnewAfterAPartition(t *testing.T) {
	l := suspect(t, 2, transport.Config{}, transport.Impairment{Loss: 1})
	below := l.t.below.(*impairedRaw)
	now := instant(1)
	try := func(times int) (dead bool) {
		for range times {
			now += time.Second
			l.out.timeout = now
			dead = dead || l.dead(now, 0)
		}
		return dead
	}
	if try(100) {
		t.Error("dead for a partition")
	}
	below.x = transport.Impairment{Loss: 0.1}
	if enough := l.t.enough(0.1); try(enough-1) || !try(1) {
		t.Errorf("not dead after just the %d attempts since the partition ended", enough)
	}
	if err := l.silent(now); !strings.Contains(err.Error(), "12 attempts") || !strings.Contains(err.Error(), "can explain") {
		t.Errorf("%v; want the attempts and what was injected", err)
	}
}

// A partition that lasts longer than a peer may be silent is no death: what waited
// arrives once it is healed.
func TestAPartitionIsNoDeath(t *testing.T) {
	noLeaks(t)
	l := defaultLimits()
	l.silence, l.tries, l.idle = time.Second, 3, 50*time.Millisecond
	var cut link.Cut
	o := Options{Between: func(r transport.Transport) transport.Transport {
		return link.Wrap(r, link.Config{Cut: &cut, LargestFrame: LargestFrame(Raw)})
	}}
	j := newJournal()
	ts := openAll(t, l, func(int) Options { return o }, transporttest.NewKey(), func(int) transport.Handler { return j }, 1, 1)
	send := func(s string) {
		if err := ts[0].Send(1, 2, []byte(s)); err != nil {
			t.Fatal(err)
		}
		ts[0].Flush()
	}
	arrived := func(n int) func() bool { return func() bool { return len(j.frames) == n } }
	send("before")
	j.wait(t, "a frame", arrived(1))
	if err := cut.Partition(1, [][]dme.NodeID{{1}, {2}}); err != nil {
		t.Fatal(err)
	}
	send("meanwhile")
	// Longer than both would have waited, with all the attempts that they need.
	time.Sleep(4 * l.silence)
	cut.Heal(1)
	j.wait(t, "the frame that waited", arrived(2))
	if len(j.downs) > 0 {
		t.Errorf("down: %v, %v", j.downs, j.cause)
	}
}
