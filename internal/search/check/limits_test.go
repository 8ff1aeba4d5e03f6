package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/internal/testkit"
)

// A search that is cancelled, or has no more time, says so.
func TestLimits(t *testing.T) {
	o := Options{Nodes: 4, Requests: 400, Schedules: 1 << 40}
	for name, search := range map[string]func(context.Context, *dme.Algorithm, Options) (Report, error){
		"random": Random, "exhaustive": Exhaustive,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancelled := o
		cancelled.Progress = func(done uint64) {
			if done > 100 {
				cancel()
			}
		}
		r, err := search(ctx, ricartagrawala.Algorithm(), cancelled)
		if err != nil || r.Complete || r.Stopped != "interrupted" || r.Schedules+r.States <= 100 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		late := o
		late.Time = time.Millisecond
		if r, err := search(t.Context(), ricartagrawala.Algorithm(), late); err != nil || r.Complete || r.Stopped != "out of time" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := New(ricartagrawala.Algorithm(), Options{Nodes: 3, Unlimited: true})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Liveness(ctx); err != nil || r.Verdict != Incomplete || r.Stopped != "interrupted" {
		t.Errorf("%s, %q, %v", r.Verdict, r.Stopped, err)
	}
}

// One schedule of many nodes may take minutes: it ends soon after its context, and what it left is not called done.
func TestSchedulesEndWithTheirContext(t *testing.T) {
	s, err := New(ricartagrawala.Algorithm(), Defaults(ricartagrawala.Algorithm(), 8, nil))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for k := range int64(2 * starvingTurn) {
		if one, broken := s.schedule(ctx, k, nil); broken != nil || len(one.taken) > stepsPerLook {
			t.Errorf("schedule %d goes on for %d steps: %v", k, len(one.taken), broken)
		}
	}
	if p := s.Part(ctx, 0, 1); p.Done > 0 {
		t.Errorf("%+v", p)
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
		{ricartagrawala.Algorithm(), 3, 60},    // many states
		{ricartagrawala.Algorithm(), 100, 100}, // wide ones
		{lamport.Algorithm(), 4, 200},          // many components, too
		{maekawa.Algorithm(), 13, 100},
		{maekawa.Algorithm(), 200, 200},
	} {
		if i > 1 && !testkit.Long() {
			break
		}
		for workers := 1; workers <= 3; workers += 2 {
			t.Run(fmt.Sprintf("%s on %d nodes, workers %d", c.a.Name, c.nodes, workers), func(t *testing.T) {
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
					t.Errorf("%+v", r)
				}
				if last := x.memory.held.Load(); last > limit*9/8 {
					t.Errorf("holds %v", Bytes(last))
				}
				// Of several workers the others go on meanwhile.
				if workers == 1 && (live < held*2/3 || live > held*3/2) {
					t.Errorf("holds %.3g bytes and takes them for %.3g", live, held)
				}
			})
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
		{Part{First: 1, Done: 3}, nil, "a part of 3 schedules from 1 on, in place of those from 0 to 10"},
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
