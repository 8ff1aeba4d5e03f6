package check

import (
	"context"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
)

// Where there are bits enough a search that keeps only these visits all states
// that there are, with any number of workers; it never calls that a proof.
func TestBitstate(t *testing.T) {
	for _, c := range []struct {
		a *dme.Algorithm
		o Options
	}{
		{ricartagrawala.Algorithm(), Options{Nodes: 3, Requests: 5}},
		{lamport.Algorithm(), Options{Nodes: 2, Requests: 6}},
		{suzukikasami.Algorithm(), Options{Nodes: 3, Requests: 5, Unordered: true}},
		{ricartagrawala.Algorithm(), Options{Nodes: 3, Requests: 5, Reduce: true, WithoutInvariants: true}},
	} {
		want, err := Exhaustive(t.Context(), c.a, c.o)
		if err != nil || !want.Complete {
			t.Fatal(err, want.Stopped)
		}
		c.o.Bitstate = 4 << 20
		for workers := 1; workers <= 3; workers++ {
			c.o.Workers = workers
			r, err := Exhaustive(t.Context(), c.a, c.o)
			if err != nil || r.Violation != nil {
				t.Fatalf("%s: %v, %v", c.a.Name, r.Violation, err)
			}
			exact := r.States == want.States && r.Steps == want.Steps
			if workers > 1 { // who reach a state at the same time may both take it for new
				exact = r.States >= want.States && r.States <= want.States+want.States/50
			}
			if !exact || r.Reduced != c.o.Reduce {
				t.Errorf("%s, %d workers: %d states, %d steps; want %d, %d", c.a.Name, workers, r.States, r.Steps, want.States, want.Steps)
			}
			if r.Complete || !strings.Contains(r.Stopped, "taken for an old one, at the end with probability") {
				t.Errorf("%s: complete %v, %q", c.a.Name, r.Complete, r.Stopped)
			}
		}
	}
}

// With too few bits states are left out, and as many as the search says: the
// probability of the last is an upper bound for all before it.
func TestBitstateLeavesOut(t *testing.T) {
	o := Options{Nodes: 3, Requests: 6, Workers: 1}
	want, err := Exhaustive(t.Context(), ricartagrawala.Algorithm(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Bitstate = 12 << 10 // about 3 bits for each state
	r, err := Exhaustive(t.Context(), ricartagrawala.Algorithm(), o)
	if err != nil || r.Violation != nil || r.Complete {
		t.Fatal(err, r.Violation, r.Complete)
	}
	b := r.Bitstate
	bits := float64(8 * b.Size)
	// The part that n states fill, of 3 bits each, is 1 − e^(−3n/bits).
	if full := 1 - math.Exp(-3*float64(r.States)/bits); math.Abs(b.Filled-full) > 0.05 || math.Abs(b.Last-math.Pow(b.Filled, 3)) > 1e-9 {
		t.Errorf("%+v, want %.3f filled", b, full)
	}
	if r.States >= want.States || float64(r.States) < float64(want.States)*(1-b.Last)/4 {
		t.Errorf("%d states of %d, with an omission of %.2g at the end", r.States, want.States, b.Last)
	}
}

// A violation is found, and the way to it is one that nodes go.
func TestBitstateFindsViolations(t *testing.T) {
	for _, c := range []struct {
		a *dme.Algorithm
		o Options
	}{
		{ricartagrawala.Algorithm(), Options{Nodes: 2, Requests: 2, Lose: 1}},
		{nonAtomic(), Options{Nodes: 2, Requests: 4}},
		{suzukikasami.Algorithm(), Options{Nodes: 3, Requests: 3, Lose: 1}},
		{library(), Options{Nodes: 3, Requests: 3, Reduce: true, WithoutInvariants: true}},
		{anarchy(), Options{Nodes: 3, Requests: 3, Reduce: true, WithoutInvariants: true}},
	} {
		want, err := Exhaustive(t.Context(), c.a, c.o)
		if err != nil || want.Violation == nil {
			t.Fatal(c.a.Name, err, want.Stopped)
		}
		for c.o.Workers = 1; c.o.Workers <= 2; c.o.Workers++ {
			c.o.Bitstate = 1 << 20
			r, err := Exhaustive(t.Context(), c.a, c.o)
			if err != nil || r.Violation == nil || r.Violation.Property != want.Violation.Property || r.Trace == nil {
				t.Errorf("%s: %v, %v, want %v", c.a.Name, r.Violation, err, want.Violation)
			}
		}
	}
}

// The bits of states have to leave room for the rest.
func TestBitstateLeavesRoom(t *testing.T) {
	for bits, ok := range map[Bytes]bool{1 << 20: true, 2 << 20: false, 3 << 20: false} {
		_, err := New(lamport.Algorithm(), Options{Nodes: 2, Requests: 2, Bitstate: bits, Memory: 2 << 20})
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "leave room for the rest") {
			t.Errorf("%v of bits in 2 MiB: %v", bits, err)
		}
	}
}

// Who has nothing to do waits for what another gives, in the order last come, first
// served; once all wait, or the search is over, there is nothing any more.
func TestWorkIsShared(t *testing.T) {
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: 2, Requests: 2, Workers: 2, Bitstate: 1 << 10})
	fresh := func() *depthFirst {
		d := &depthFirst{exhaustive: newExhaustive(s, 2)}
		d.change = sync.NewCond(&d.mu)
		return d
	}
	waits := func(d *depthFirst) chan *way {
		got := make(chan *way, 1)
		go func() { got <- d.take() }()
		for d.wanted.Load() == 0 {
			select {
			case job := <-got:
				t.Fatalf("there is nothing to do, and %v is done", job)
			default:
				runtime.Gosched()
			}
		}
		return got
	}
	one, two := &way{before: []int{1}}, &way{before: []int{2}}
	d := fresh()
	got := waits(d)
	d.give(one)
	if job := <-got; job != one || d.wanted.Load() != 0 || d.idle.Load() != 0 {
		t.Errorf("%v is to do; %d wanted, %d idle", job, d.wanted.Load(), d.idle.Load())
	}
	d.jobs = []*way{one, two}
	if d.take() != two || d.take() != one {
		t.Error("what came last is not done first")
	}
	got = waits(d)
	if job := d.take(); job != nil || <-got != nil {
		t.Errorf("all wait, and %v is to do", job)
	}
	d = fresh()
	got = waits(d)
	d.stop()
	if job := <-got; job != nil {
		t.Errorf("the search is over, and %v is to do", job)
	}
	d = fresh()
	d.jobs = []*way{one}
	if d.stop(); d.take() != nil {
		t.Error("the search is over, and something is to do")
	}
}

// A search that was ended says so, and not that bits may have hidden a state.
func TestBitstateThatIsEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := Exhaustive(ctx, lamport.Algorithm(), Options{Nodes: 3, Requests: 6, Bitstate: 1 << 20})
	if err != nil || r.Complete || r.Stopped == "" || strings.Contains(r.Stopped, "probability") {
		t.Errorf("complete %v, stopped by %q, %v", r.Complete, r.Stopped, err)
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]Bytes{"1B": 1, "1.5 KiB": 1536, "512MiB": 1 << 29, "2GB": 2e9, "0.5TiB": 1 << 39} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
		if again, err := ParseBytes(want.String()); err != nil || float64(again) < 0.999*float64(want) || float64(again) > 1.001*float64(want) {
			t.Errorf("%d is written %v, which is read as %d, %v", want, want, again, err)
		}
	}
	for _, text := range []string{"", "B", "12", "-1GiB", "0.4B", "NaNMB", "1e300GiB", "infB", "1 XB"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

// A search stops before it holds more than it may, and what it says it holds is
// what it does hold: at any width of its states and with one worker or more.
func TestMemoryIsBounded(t *testing.T) {
	for _, c := range []struct {
		a        *dme.Algorithm
		nodes    int
		requests int
	}{
		{ricartagrawala.Algorithm(), 3, 60}, // many states
		{lamport.Algorithm(), 4, 200},       // many components, too
		{maekawa.Algorithm(), 13, 100},
		{ricartagrawala.Algorithm(), 100, 100}, // wide ones
		{maekawa.Algorithm(), 200, 200},
	} {
		for workers := 1; workers <= 3; workers += 2 {
			const limit = 48 << 20
			s, err := New(c.a, Options{Nodes: c.nodes, Requests: c.requests, Memory: limit, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			x := newExhaustive(s, workers)
			before := liveHeap()
			live, held := 0.0, 0.0
			s.Progress = func(uint64) {
				if now := x.memory.held.Load(); live == 0 && now > limit/2 {
					live, held = liveHeap()-before, float64(now)
				}
			}
			x.run(t.Context())
			r := x.report(t.Context())
			if r.Complete || r.Stopped != "limit of 48 MiB of memory" {
				t.Errorf("%s, N=%d, %d workers: %+v", c.a.Name, c.nodes, workers, r)
			}
			if last := x.memory.held.Load(); last > limit*9/8 {
				t.Errorf("%s, N=%d, %d workers: holds %v", c.a.Name, c.nodes, workers, Bytes(last))
			}
			// Of several workers the others go on meanwhile.
			if workers == 1 && (live < held*2/3 || live > held*3/2) {
				t.Errorf("%s, N=%d, %d workers: holds %.3g bytes and takes them for %.3g", c.a.Name, c.nodes, workers, live, held)
			}
		}
	}
}

func liveHeap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// The account holds what a batch takes: of one that is used again, its origins only.
func TestBatchesAreOnTheAccount(t *testing.T) {
	s := searchOf(t, ricartagrawala.Algorithm(), Options{Nodes: 3, Requests: 3})
	x := newExhaustive(s, 1)
	before := x.memory.held.Load()
	b := x.newBatch()
	origins := int64(unsafe.Sizeof(*b.origins))
	want := origins + int64(cap(b.vectors))*int64(unsafe.Sizeof(b.vectors[:1][0])) + int64(cap(b.hashes))*int64(unsafe.Sizeof(b.hashes[:1][0]))
	if got := x.memory.held.Load() - before; got != want {
		t.Errorf("a batch of %d bytes is on the account with %d", want, got)
	}
	x.recycle(b)
	before = x.memory.held.Load()
	if x.newBatch() != b {
		t.Error("a batch is not used again")
	}
	if got := x.memory.held.Load() - before; got != origins {
		t.Errorf("%d bytes for a batch that was there, want %d", got, origins)
	}
}

// A graph that is about to double its index has room for the new one on its account.
func TestGrowthIsOnTheAccount(t *testing.T) {
	s := searchOf(t, ricartagrawala.Algorithm(), Options{Nodes: 2, Unlimited: true, States: math.MaxUint64})
	g := newGraph(s)
	limit := func(states int) int {
		g.states.count = states
		if stopped := g.limit(t.Context()); stopped != "" {
			t.Fatal(stopped)
		}
		return g.held
	}
	half := len(g.index) / 2
	room := 2 * len(g.index) * int(unsafe.Sizeof(g.index[0]))
	if got := limit(half+1) - limit(half); got != room {
		t.Errorf("%d bytes for an index of %d", got, room)
	}
}
