package check

import (
	"math"
	"runtime"
	"testing"
	"unsafe"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
)

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
