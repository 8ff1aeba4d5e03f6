package link

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

// recorder is a transport that keeps what is sent through it.
type recorder struct {
	transport.Readmitter // nil: nobody ends

	mu      sync.Mutex
	frames  []recorded
	flushed int // frames of which the last flush knew
	closed  bool
	arrived chan struct{} // gets something when frames have been flushed
	counts  transport.Counters
	handler transport.Handler
}

type recorded struct {
	link Link
	body string
	at   time.Time
}

func newRecorder() *recorder { return &recorder{arrived: make(chan struct{}, 1)} }

func (r *recorder) Addr() string { return "here" }

func (r *recorder) Start(_ transport.AddressBook, h transport.Handler) error {
	r.handler = h
	return nil
}

func (r *recorder) Send(from, to dme.NodeID, b []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return transport.ErrClosed
	case from != 1 && from != 2 || to < 1 || to > 4:
		return fmt.Errorf("recorder: from %d to %d", from, to)
	}
	r.counts.Frames++
	r.frames = append(r.frames, recorded{Link{from, to}, string(bytes.Clone(b)), time.Now()})
	return nil
}

func (r *recorder) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flushed = len(r.frames)
	select {
	case r.arrived <- struct{}{}:
	default:
	}
	return nil
}

func (r *recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return nil
}

func (r *recorder) Counters() transport.Counters {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// wait returns the frames of a link once n have been sent and flushed.
func (r *recorder) wait(t *testing.T, l Link, n int) []recorded {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		r.mu.Lock()
		var of []recorded
		for _, f := range r.frames[:r.flushed] {
			if f.link == l {
				of = append(of, f)
			}
		}
		r.mu.Unlock()
		if len(of) >= n {
			return of
		}
		select {
		case <-r.arrived:
		case <-deadline:
			t.Fatalf("waited in vain for %d frames of %v, there are %d", n, l, len(of))
		}
	}
}

// open wraps a recorder in a process with nodes 1 and 2 of 4.
func open(t testing.TB, c Config) (*Transport, *recorder) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	r := newRecorder()
	tr := Wrap(r, c)
	t.Cleanup(func() {
		tr.Close()
		if !r.closed {
			t.Error("the transport beneath was not closed")
		}
		goleak.VerifyNone(t, before)
	})
	if err := tr.Start(transport.AddressBook{"here", "here", "there", "there"}, nil); err != nil {
		t.Fatal(err)
	}
	return tr, r
}

// delays is how many frames had to wait.
func delays(tr *Transport) uint64 {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.delayed
}

func send(t testing.TB, tr *Transport, l Link, body string) {
	t.Helper()
	if err := tr.Send(l.From, l.To, []byte(body)); err != nil {
		t.Fatal(err)
	}
}

func TestIdleLeavesEverythingAlone(t *testing.T) {
	tr, r := open(t, Config{Seed: 1})
	for i := range 100 {
		send(t, tr, Link{1, 3}, fmt.Sprint(i))
	}
	tr.Flush()
	for i, f := range r.wait(t, Link{1, 3}, 100) {
		if f.body != fmt.Sprint(i) {
			t.Fatalf("frame %d is %q", i, f.body)
		}
	}
	if got := delays(tr); got != 0 || len(r.frames) != 100 {
		t.Errorf("%d frames had to wait, %d have passed", got, len(r.frames))
	}
	if g := (&Config{Seed: 5, All: Conditions{Holding: time.Second}}).Guarantees(transport.Guarantees{Broadcast: true}); !g.Broadcast {
		t.Error("conditions that do nothing take a guarantee away")
	}
}

func TestMisuseIsAnErrorWhateverTheConditions(t *testing.T) {
	tr, _ := open(t, Config{All: Conditions{Loss: 1}, LargestFrame: 100})
	for _, l := range []Link{{0, 1}, {3, 1}, {1, 0}, {1, 5}} {
		if err := tr.Send(l.From, l.To, nil); err == nil {
			t.Errorf("Send from %d to %d: no error", l.From, l.To)
		}
	}
	if err := tr.Send(1, 2, nil); err != nil {
		t.Errorf("a frame that is lost: %v", err)
	}
	tr.Close()
	if err := tr.Send(1, 2, nil); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

var harsh = Conditions{Loss: 0.2, Duplication: 0.2, Reordering: 0.3, Jitter: time.Millisecond}

// fates sends frames on several links in the given turn and returns which
// arrived how often on each.
func fates(t *testing.T, seed uint64, turn []Link) map[Link][]int {
	const each = 300
	tr, r := open(t, Config{Seed: seed, All: harsh})
	for k := range each {
		for _, l := range turn {
			send(t, tr, l, fmt.Sprint(k))
		}
	}
	tr.Close() // lets all leave
	arrived := make(map[Link][]int)
	for _, l := range turn {
		arrived[l] = make([]int, each)
	}
	for _, f := range r.frames {
		var k int
		fmt.Sscan(f.body, &k)
		arrived[f.link][k]++
	}
	return arrived
}

func TestTheKthFrameOfALinkAlwaysMeetsTheSameFate(t *testing.T) {
	a := fates(t, 7, []Link{{1, 3}, {1, 4}, {2, 3}})
	b := fates(t, 7, []Link{{2, 3}, {1, 3}}) // other links, other turn
	for _, l := range []Link{{1, 3}, {2, 3}} {
		if !slices.Equal(a[l], b[l]) {
			t.Errorf("link %v: the same seed gives other fates", l)
		}
	}
	if slices.Equal(a[Link{1, 3}], a[Link{1, 4}]) || slices.Equal(a[Link{1, 3}], a[Link{2, 3}]) {
		t.Error("two links share their fates")
	}
	if c := fates(t, 8, []Link{{1, 3}}); slices.Equal(a[Link{1, 3}], c[Link{1, 3}]) {
		t.Error("two seeds give the same fates")
	}
}

func TestSwitchingOneConditionOnLeavesTheOthersAlone(t *testing.T) {
	with, without := harsh, harsh
	without.Loss = 0
	for k := range uint64(200) {
		a, b := with.luck(3, Link{1, 2}, k, way{}), without.luck(3, Link{1, 2}, k, way{})
		a.lost = b.lost
		if a != b {
			t.Fatalf("frame %d: %+v without loss, %+v with it", k, b, a)
		}
	}
}

func TestFrequencies(t *testing.T) {
	const n = 100_000
	var lost, repeated, reordered int
	for k := range uint64(n) {
		f := harsh.luck(1, Link{1, 2}, k, way{})
		lost += count(f.lost)
		repeated += count(f.repeated)
		reordered += count(f.reordered)
		if f.holding < 0 || f.holding > DefaultHolding || f.delay < 0 || f.delay > harsh.Jitter {
			t.Fatalf("frame %d: %+v", k, f)
		}
	}
	for _, c := range []struct {
		name string
		got  int
		p    float64
	}{{"lost", lost, 0.2}, {"repeated", repeated, 0.2}, {"reordered", reordered, 0.3}} {
		// Five standard deviations; the draws are fixed by the seed.
		if math.Abs(float64(c.got)-n*c.p) > 5*math.Sqrt(n*c.p*(1-c.p)) {
			t.Errorf("%d of %d %s, probability %v", c.got, n, c.name, c.p)
		}
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Nor does a frame without a delay pass one that waits.
func TestDelaysKeepTheOrderAndAreNeverShort(t *testing.T) {
	const n = 200
	for least, c := range map[time.Duration]Conditions{
		300 * time.Microsecond: {Delay: Delay{Mean: 300 * time.Microsecond}, Jitter: 2 * time.Millisecond},
		0:                      {Delay: Delay{Shape: Pareto, Mean: 20 * time.Microsecond, Index: 1.1}},
	} {
		tr, r := open(t, Config{All: c})
		sent := make([]time.Time, n)
		for i := range n {
			sent[i] = time.Now()
			send(t, tr, Link{1, 3}, fmt.Sprint(i))
		}
		for i, f := range r.wait(t, Link{1, 3}, n) {
			if f.body != fmt.Sprint(i) {
				t.Fatalf("%+v: frame %q leaves as number %d", c, f.body, i)
			}
			if d := f.at.Sub(sent[i]); d < least {
				t.Errorf("frame %d was delayed by %v, less than %v", i, d, least)
			}
		}
		if got := delays(tr); least > 0 && got != n {
			t.Errorf("%d of %d frames had to wait", got, n)
		}
	}
}

func TestReorderingLetsOthersPass(t *testing.T) {
	const n = 50
	c := Conditions{Reordering: 0.02, Holding: MaxDelay}
	seed, held := soleReordered(c, n)
	tr, r := open(t, Config{Seed: seed, All: c})
	tr.drain = time.Millisecond // which gives the one up
	for k := range n {
		send(t, tr, Link{1, 3}, fmt.Sprint(k))
	}
	tr.Flush()
	for _, f := range r.wait(t, Link{1, 3}, n-1) {
		if f.body == fmt.Sprint(held) {
			t.Errorf("frame %d was not held back", held)
		}
	}
}

// soleReordered finds a seed with which one of n frames is reordered, and held
// back for longer than any test takes.
func soleReordered(c Conditions, n int) (seed uint64, k int) {
	for ; ; seed++ {
		found := 0
		for i := range n {
			if f := c.luck(seed, Link{1, 3}, uint64(i), way{}); f.reordered {
				k = i
				if found++; f.holding < MaxDelay/2 {
					found = n
				}
			}
		}
		if found == 1 {
			return seed, k
		}
	}
}

func TestBandwidth(t *testing.T) {
	const n, size, rate = 20, 1000, 1_000_000 // each takes a millisecond
	tr, r := open(t, Config{Rules: []Rule{{Link: Link{1, 3}, Conditions: Conditions{Bandwidth: rate}}}})
	begin := time.Now()
	for range n {
		send(t, tr, Link{1, 3}, strings.Repeat("x", size))
		send(t, tr, Link{1, 4}, "y") // another link, which is not narrow
	}
	tr.Flush()
	if got := delays(tr); got != n {
		t.Errorf("%d of %d frames had to wait", got, n)
	}
	for i, f := range r.wait(t, Link{1, 3}, n) {
		if d, least := f.at.Sub(begin), time.Duration(i+1)*time.Millisecond; d < least {
			t.Errorf("frame %d has passed after %v, at %d bytes per second it takes %v", i, d, rate, least)
		}
	}
}

func TestPartition(t *testing.T) {
	tr, r := open(t, Config{Partitions: []Partition{{Until: time.Hour, Groups: [][]dme.NodeID{{1, 3}}}}})
	for _, l := range []Link{{1, 3}, {1, 4}, {2, 3}, {2, 4}, {1, 2}} {
		send(t, tr, l, "x")
	}
	tr.Flush()
	r.wait(t, Link{1, 3}, 1)
	r.wait(t, Link{2, 4}, 1) // nodes in no group are one side
	if len(r.frames) != 2 {
		t.Errorf("%d frames have passed, want 2", len(r.frames))
	}
	c := Config{Partitions: []Partition{{From: time.Second, Until: 2 * time.Second, Groups: [][]dme.NodeID{{1}, {2}}}}}
	for at, want := range map[time.Duration]bool{0: false, time.Second: true, 2*time.Second - 1: true, 2 * time.Second: false} {
		if got := c.separates(Link{1, 2}, at); got != want {
			t.Errorf("at %v: separated %v", at, got)
		}
	}
}

func TestBacklog(t *testing.T) {
	tr, _ := open(t, Config{All: Conditions{Delay: Delay{Mean: time.Minute}}})
	tr.backlog, tr.drain = 10_000, time.Millisecond
	var err error
	for i := 0; err == nil; i++ {
		if i > 10 {
			t.Fatal("no bound")
		}
		err = tr.Send(1, 3, make([]byte, 1000))
	}
	if !errors.Is(err, transport.ErrBacklog) || !strings.Contains(err.Error(), "node 3") {
		t.Errorf("%v", err)
	}
	if c := tr.Counters(); c.LargestBacklog > 10_000 || c.LargestBacklog == 0 {
		t.Errorf("%+v", c)
	}
	if err := tr.Send(1, 4, nil); err != nil {
		t.Errorf("another link: %v", err)
	}
}

func TestCut(t *testing.T) {
	c := Config{Cut: new(Cut)}
	if c.Idle() {
		t.Error("a network that may be cut is taken for one that leaves frames alone")
	}
	within, across := c.Conditioner(Link{1, 2}), c.Conditioner(Link{2, 3})
	passes := func(want bool) {
		t.Helper()
		if f := across.Next(0, 1); f.Partitioned == want || f.Lost == want {
			t.Errorf("across: %+v", f)
		}
		if f := within.Next(0, 1); f.Lost {
			t.Errorf("within: %+v", f)
		}
	}
	passes(true)
	if err := c.Cut.Partition(7, [][]dme.NodeID{{1, 2}}); err != nil { // 3 is of those in no group
		t.Fatal(err)
	}
	passes(false)
	if x := c.impairment(Link{2, 3}, 0); x.Loss != 1 {
		t.Errorf("%+v", x)
	}
	if err := c.Cut.Partition(8, [][]dme.NodeID{{3}, {1, 2}}); err != nil {
		t.Fatal(err)
	}
	c.Cut.Heal(7)
	passes(false) // for the other one
	c.Cut.Heal(8)
	passes(true)
	if x := c.impairment(Link{2, 3}, 0); x.Loss != 0 {
		t.Errorf("%+v", x)
	}
	for _, groups := range [][][]dme.NodeID{nil, {{1}, {1, 2}}} {
		if err := c.Cut.Partition(9, groups); err == nil {
			t.Errorf("%v: no error", groups)
		}
	}
}

func TestImpairment(t *testing.T) {
	c := Config{All: Conditions{Loss: 0.3}, Rules: []Rule{
		{Link: Link{2, 1}, Conditions: Conditions{Loss: 0.5, Delay: Delay{Mean: time.Second}}},
		{Link: Link{3, 1}, From: time.Second, Until: 2 * time.Second, Conditions: Conditions{Loss: 1}},
	}, Partitions: []Partition{{From: 5 * time.Second, Until: 12 * time.Second, Groups: [][]dme.NodeID{{1, 2}, {3, 4, 5}}}}}
	for _, x := range []struct {
		l     Link
		at    time.Duration
		loss  float64
		delay time.Duration
	}{
		{Link{1, 2}, 0, 0.65, time.Second},
		{Link{1, 3}, 0, 0.51, 0},
		{Link{1, 3}, time.Second, 1, 0},
		{Link{1, 3}, 6 * time.Second, 1, 0},
		{Link{1, 3}, 12 * time.Second, 0.51, 0},
	} {
		got := c.impairment(x.l, x.at)
		if got.Loss < x.loss-1e-9 || got.Loss > x.loss+1e-9 || got.Delay != x.delay {
			t.Errorf("%v at %v: %+v, want %v, %v", x.l, x.at, got, x.loss, x.delay)
		}
	}
	tail := Conditions{Delay: Delay{Shape: Exponential, Mean: time.Millisecond}}
	if s := tail.slowest(); s < 20*time.Millisecond || s > 22*time.Millisecond {
		t.Errorf("of exponential delays with a mean of 1 ms one in a billion is longer than %v", s)
	}
}

// What is delayed on its way to a process that has ended does not reach the one that
// takes its place, be the process there from the start or not.
func TestDelayedFramesDoNotReachTheNextIncarnation(t *testing.T) {
	const delay = 20 * time.Millisecond
	tr, r := open(t, Config{All: Conditions{Delay: Delay{Mean: delay}}})
	events := transporttest.NewEvents()
	if err := tr.Start(transport.AddressBook{"here", "here", "there", ""}, events); err != nil {
		t.Fatal(err)
	}
	send(t, tr, Link{1, 3}, "to the first")
	r.handler.Down(3, errors.New("it ended"))
	if len(events.Downs) != 1 {
		t.Error("Down is not passed on")
	}
	for _, id := range []dme.NodeID{3, 4} {
		r.handler.(transport.UpHandler).Up(id)
		begin := time.Now()
		send(t, tr, Link{1, id}, "to the next")
		f := r.wait(t, Link{1, id}, 1)[0]
		if f.body != "to the next" || f.at.Sub(begin) < delay {
			t.Errorf("%q has arrived, after %v", f.body, f.at.Sub(begin))
		}
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for l, s := range tr.links {
		if s.bytes != 0 || s.ordered != 0 {
			t.Errorf("%v: %d bytes and %d frames are still accounted for", l, s.bytes, s.ordered)
		}
	}
}
