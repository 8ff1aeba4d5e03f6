package check

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/lodhakshemkalyani"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit"
)

func TestLimits(t *testing.T) {
	big := Options{Nodes: 4, Requests: 40}
	big.States = 5000
	r, err := Exhaustive(t.Context(), ricartagrawala.Algorithm(), big)
	if err != nil || r.Complete || r.Stopped != "limit of 5000 states" || r.States < 5000 {
		t.Errorf("%+v, %v", r, err)
	}
	big.States = 0
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int64
	big.Progress = func(done uint64) {
		if calls.Add(1); done > 2000 {
			cancel()
		}
	}
	r, err = Exhaustive(ctx, ricartagrawala.Algorithm(), big)
	if err != nil || r.Complete || r.Stopped != "interrupted" || r.States <= 2000 || calls.Load() == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	many := Options{Nodes: 4, Requests: 8, Schedules: 1 << 40, Progress: func(done uint64) {
		if done > 100 {
			cancel()
		}
	}}
	r, err = Random(ctx, ricartagrawala.Algorithm(), many)
	if err != nil || r.Complete || r.Stopped != "interrupted" || r.Schedules <= 100 {
		t.Errorf("%+v, %v", r, err)
	}
	many.Progress, many.Time = nil, time.Millisecond
	for name, f := range map[string]func(context.Context, *dme.Algorithm, Options) (Report, error){
		"random": Random, "exhaustive": Exhaustive,
	} {
		many.Requests = 400
		if r, err := f(t.Context(), ricartagrawala.Algorithm(), many); err != nil || r.Complete || r.Stopped != "out of time" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestVisitedIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, twin := newVisited(rapid.IntRange(1, 2).Draw(t, "goroutines"), new(account)), map[vnet.Hash]bool{}
		// Few different halves, so that shards and places collide, some at the end.
		half := rapid.Custom(func(t *rapid.T) uint64 {
			return rapid.Uint64Range(0, 40).Draw(t, "bits") << rapid.SampledFrom([]int{0, 8, 58, 60}).Draw(t, "shift")
		})
		hash := rapid.Custom(func(t *rapid.T) vnet.Hash { return vnet.Hash{A: half.Draw(t, "a"), B: half.Draw(t, "b")} })
		for _, hashes := range rapid.SliceOfN(rapid.SliceOfN(hash, 1, 100), 0, 12).Draw(t, "adds") {
			shards := make(map[int][]int32)
			got, want := make([]bool, len(hashes)), make([]bool, len(hashes))
			for i, h := range hashes {
				if h != (vnet.Hash{}) && h != (vnet.Hash{A: 1}) { // one and the same here
					shards[v.shardOf(h)] = append(shards[v.shardOf(h)], int32(i))
					want[i], twin[h] = !twin[h], true
				}
			}
			for i, which := range shards {
				v.shards[i].add(hashes, which, got)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("of %v, %v are new and not %v", hashes, got, want)
			}
		}
	})
	v := newVisited(1, new(account))
	first, second := make([]bool, 2), make([]bool, 2)
	v.shards[0].add(make([]vnet.Hash, 2), []int32{0, 1}, first)
	v.shards[0].add(make([]vnet.Hash, 2), []int32{0, 1}, second)
	if !first[0] || first[1] || second[0] || second[1] {
		t.Error("the zero hash is not remembered")
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

func TestBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"1B": 1, "3kB": 3000, "1.5 KiB": 1536, "2MB": 2e6, "512MiB": 1 << 29, "2GB": 2e9, "1GiB": 1 << 30, "1TB": 1e12, "0.5TiB": 1 << 39,
	} {
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
	for i, c := range []struct {
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
		if i%2 == 1 && !testkit.Long() {
			continue
		}
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

// What is handed in must be what was asked for, and what it claims to have found must
// be there.
func TestPartsThatCannotBe(t *testing.T) {
	o := Options{Nodes: 3, Requests: 3, Seed: 1, Schedules: 10}
	s, err := New(maekawa.Algorithm(), o)
	if err != nil {
		t.Fatal(err)
	}
	lost := errors.New("lost")
	for _, x := range []struct {
		p    Part
		err  error
		want string
	}{
		{Part{First: 1, Done: 3}, nil, "a part of 3 schedules from 1 on, where those from 0 on to 10"},
		{Part{First: 0, Done: 0}, nil, "a part of 0"},
		{Part{First: 0, Done: 11}, nil, "a part of 11"},
		{Part{First: 0, Done: 2, Broken: true}, nil, "seed 2 broke a property elsewhere"},
		{Part{}, lost, "lost"},
	} {
		if _, err := s.Join(t.Context(), func(context.Context, int) (Part, error) { return x.p, x.err }); err == nil ||
			!strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v", x.p, err)
		}
	}
}

func TestLivenessLimits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, x := range []struct {
		ctx  context.Context
		o    Options
		want string
	}{
		{t.Context(), Options{States: 1000}, "limit of 1000 states"},
		{t.Context(), Options{Memory: 1 << 20}, "limit of 1 MiB of memory"},
		{ctx, Options{}, "interrupted"},
	} {
		x.o.Nodes, x.o.Unlimited = 3, true
		s, err := New(lodhakshemkalyani.Algorithm(), x.o)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := s.Liveness(x.ctx); err != nil || r.Verdict != Incomplete || r.Proven || r.Stopped != x.want {
			t.Errorf("%s, %q, %v; want %q", r.Verdict, r.Stopped, err, x.want)
		}
	}
}

// A link fills where nothing acknowledges what it carries.
func TestBacklog(t *testing.T) {
	backlog := func(a *dme.Algorithm, nodes int) int {
		s, err := New(a, Options{Nodes: nodes, Unlimited: true})
		if err != nil {
			t.Fatal(err)
		}
		return s.Backlog(20)
	}
	if most := backlog(suzukikasami.Algorithm(), 3); most != 20 {
		t.Errorf("suzuki-kasami: %d messages on a link; nothing acknowledges a REQUEST", most)
	}
	// The other asks and is not answered, while its REQUEST waits. So do a reply and a
	// RELEASE that were on their way.
	if most := backlog(lamport.Algorithm(), 3); most < 2 || most > 4 {
		t.Errorf("lamport: %d messages on a link", most)
	}
	if most := backlog(suzukikasami.Algorithm(), 2); most < 1 || most > 3 {
		t.Errorf("suzuki-kasami, two nodes: %d messages on a link: who is not heard gets no token", most)
	}
}
