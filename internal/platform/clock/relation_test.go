package clock

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// simulated is a clock whose rate changes now and then, by no more than half of
// MaxDrift off true time, and that can be set.
type simulated struct {
	from  []int64 // true times, ascending
	shows []int64 // at these
	ppm   []int64 // until the next
}

func drawClock(t *rapid.T, name string, length int64) *simulated {
	c := &simulated{}
	at, shows := int64(0), rapid.Int64Range(0, 1e12).Draw(t, name+" origin")
	for at < length {
		ppm := rapid.Int64Range(-500, 500).Draw(t, name+" ppm")
		c.from, c.shows, c.ppm = append(c.from, at), append(c.shows, shows), append(c.ppm, ppm)
		next := at + rapid.Int64Range(1e6, length).Draw(t, name+" period")
		shows = c.read(next)
		at = next
	}
	return c
}

func (c *simulated) read(at int64) int64 {
	i := sort.Search(len(c.from), func(i int) bool { return c.from[i] > at }) - 1
	passed := at - c.from[i]
	return c.shows[i] + passed + passed/1e6*c.ppm[i] + passed%1e6*c.ppm[i]/1e6
}

// exchange begins at a true time; the parts of it take as long as said.
func exchange(here, there *simulated, at, out, hold, back int64) Exchange {
	return Exchange{here.read(at), there.read(at + out), there.read(at + out + hold), here.read(at + out + hold + back)}
}

// Whatever clocks do within MaxDrift and networks with delays, what a relation says
// is within its bound of the truth, at the time of an exchange, between two, before
// and after; and the drift it tells is.
func TestBoundsAreSure(t *testing.T) {
	var tight, all int
	rapid.Check(t, func(t *rapid.T) {
		const length = 20e9
		here, there := drawClock(t, "here", length), drawClock(t, "there", length)
		r := new(Relation)
		delay := rapid.Int64Range(1, rapid.SampledFrom([]int64{20e3, 1e6, 500e6}).Draw(t, "scale"))
		n := rapid.IntRange(1, 60).Draw(t, "exchanges")
		first, last := int64(math.MaxInt64), int64(0)
		for range n {
			at := rapid.Int64Range(0, length).Draw(t, "at")
			out, hold, back := delay.Draw(t, "out"), rapid.Int64Range(0, 1e6).Draw(t, "hold"), delay.Draw(t, "back")
			if rapid.Bool().Draw(t, "reverse") {
				r.AddReverse(exchange(there, here, at, out, hold, back))
			} else {
				r.Add(exchange(here, there, at, out, hold, back))
			}
			first, last = min(first, at), max(last, at+out+hold+back)
		}
		if c := r.Contradiction(); c != 0 {
			t.Fatalf("clocks that drift as they may seem to have been set by %v", c)
		}
		for range 50 {
			at := rapid.Int64Range(0, length).Draw(t, "asked")
			x, y := here.read(at), there.read(at)
			offset, bound := r.Offset(x)
			if off := (y - x) - offset; bound < 0 || off < -bound || off > bound {
				t.Fatalf("offset %d ± %d, and is %d", offset, bound, y-x)
			}
			if z := r.There(x); z-y < -bound || z-y > bound {
				t.Fatalf("%d there, ± %d, and is %d", z, bound, y)
			}
			give := rapid.Int64Range(0, 1e9).Draw(t, "give")
			if z, wide := r.Within(max(0, x-give), give); z-y < -wide || z-y > wide {
				t.Fatalf("%d there, ± %d, and is %d", z, wide, y)
			}
			z, wide := r.Here(y)
			if z-x < -wide || z-x > wide || wide > bound+bound/100+100+4*int64(MaxDrift.Seconds()*float64(bound)) {
				t.Fatalf("%d here, ± %d (%d), and is %d", z, wide, bound, x)
			}
			if all++; bound < 5e6 {
				tight++
			}
		}
		if ppm, bound, ok := r.Drift(); ok {
			// The mean over the exchanges is that between two instants among them.
			if bound < 0 || math.Abs(ppm)-bound > 1001 {
				t.Fatalf("a drift of %f ± %f ppm", ppm, bound)
			}
		}
	})
	if tight*10 < all {
		t.Errorf("only %d of %d bounds are below 5 ms: the test says little", tight, all)
	}
}

// A constant drift is found, to within its bound, and the bound becomes useful.
func TestDrift(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, ppm := range []int64{-900, -40, 0, 12, 500} {
		here := &simulated{from: []int64{0}, shows: []int64{5e9}, ppm: []int64{0}}
		there := &simulated{from: []int64{0}, shows: []int64{77e9}, ppm: []int64{ppm}}
		r := new(Relation)
		for at := int64(0); at < 60e9; at += 200e6 {
			r.Add(exchange(here, there, at, 20e3+rng.Int64N(200e3), 1000, 20e3+rng.Int64N(200e3)))
		}
		got, bound, ok := r.Drift()
		if !ok || math.Abs(got-float64(ppm)) > bound || bound > 20 {
			t.Errorf("%f ± %f ppm, %v; want %d", got, bound, ok, ppm)
		}
	}
}

// A clock that is set in the middle of a run is noticed wherever the exchanges
// around that moment are good enough to tell, and nothing is believed then.
func TestClockThatIsSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const set, length = 50e6, 20e9
		here, there := drawClock(t, "here", length), drawClock(t, "there", length)
		by := rapid.SampledFrom([]int64{-set, set}).Draw(t, "by")
		when := rapid.Int64Range(1e9, length-1e9).Draw(t, "when")
		r := new(Relation)
		one := func(at int64, changed bool) {
			e := exchange(here, there, at, rapid.Int64Range(1, 10e6).Draw(t, "out"), 0, rapid.Int64Range(1, 10e6).Draw(t, "back"))
			if changed {
				e.Received, e.Answered = e.Received+by, e.Answered+by
			}
			r.Add(e)
		}
		// Delays of 20 ms either time, and 3 s of drift, hide less than 50 ms.
		for range rapid.IntRange(0, 20).Draw(t, "before") {
			one(rapid.Int64Range(0, when-20e6).Draw(t, "at"), false)
		}
		one(when-30e6, false)
		if r.Contradiction() != 0 {
			t.Fatal("too early")
		}
		one(rapid.Int64Range(when, when+900e6).Draw(t, "at"), true)
		for range rapid.IntRange(0, 20).Draw(t, "after") {
			one(rapid.Int64Range(when, length).Draw(t, "at"), true)
		}
		if c := r.Contradiction(); c <= 0 || c > set+time.Millisecond {
			t.Fatalf("a clock was set by 50 ms, and was found to be by %v", c)
		}
		x := here.read(rapid.Int64Range(0, length).Draw(t, "asked"))
		if _, bound := r.Offset(x); bound >= 0 {
			t.Fatalf("a bound of %d is believed", bound)
		}
		if _, bound := r.Here(x); bound >= 0 {
			t.Fatalf("a bound of %d is believed", bound)
		}
		if _, _, ok := r.Drift(); ok {
			t.Fatal("a drift is told")
		}
	})
}

// The limits that are kept say what all together said.
func TestNothingThatMattersIsForgotten(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	kept := 0
	for range 300 {
		var v envelope
		var all []limit
		scale := int64(1) << (10 + rng.IntN(24)) // from a microsecond to seconds
		for range 1 + rng.IntN(80) {
			p := limit{rng.Int64N(10e9), rng.Int64N(scale)}
			all = append(all, p)
			v.add(p)
		}
		for range 100 {
			at, want := rng.Int64N(12e9), int64(math.MaxInt64)
			for _, p := range all {
				want = min(want, p.elsewhere(at))
			}
			// What is left out is superfluous but for what is rounded.
			if got := v.at(at); got < want || got > want+8 {
				t.Fatalf("%d, want %d", got, want)
			}
		}
		if !sort.SliceIsSorted(v.points, func(i, j int) bool { return v.points[i].at < v.points[j].at }) {
			t.Fatal("out of order")
		}
		kept += len(all) - len(v.points)
	}
	if kept < 1000 {
		t.Errorf("only %d limits were superfluous: the test says little", kept)
	}
}

func TestRelationsWithoutKnowledge(t *testing.T) {
	var same *Relation
	if offset, bound := same.Offset(5); offset != 0 || bound != 0 || same.There(5) != 5 || same.Contradiction() != 0 {
		t.Errorf("one clock differs from itself by %d ± %d", offset, bound)
	}
	if here, bound := same.Here(5); here != 5 || bound != 0 {
		t.Errorf("%d ± %d", here, bound)
	}
	r := new(Relation)
	if _, bound := r.Offset(5); bound != math.MaxInt64 {
		t.Errorf("bound %d of nothing", bound)
	}
	if _, bound := r.Here(5); bound != math.MaxInt64 {
		t.Errorf("bound %d of nothing", bound)
	}
	if _, _, ok := r.Drift(); ok {
		t.Error("a drift of nothing")
	}
	r.Add(Exchange{Sent: 100, Received: 1000, Answered: 1001, Returned: 201})
	if offset, bound := r.Offset(150); offset != 850 || bound < 50 || bound > 60 {
		t.Errorf("offset %d ± %d", offset, bound)
	}
	if _, _, ok := r.Drift(); ok {
		t.Error("a drift from one exchange")
	}
	// An answer that was faster than light is a contradiction of its own.
	r.Add(Exchange{Sent: 300, Received: 1200, Answered: 9000, Returned: 400})
	if r.Contradiction() == 0 {
		t.Error("an impossible exchange is believed")
	}
}

// Times of other hosts may be anything.
func TestRelationsOfNonsense(t *testing.T) {
	extremes := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, 1e18, math.MaxInt64 - 1, math.MaxInt64}
	rapid.Check(t, func(t *rapid.T) {
		r := new(Relation)
		any := rapid.OneOf(rapid.SampledFrom(extremes), rapid.Int64())
		for range rapid.IntRange(0, 6).Draw(t, "exchanges") {
			e := Exchange{any.Draw(t, "sent"), any.Draw(t, "received"), any.Draw(t, "answered"), any.Draw(t, "returned")}
			if rapid.Bool().Draw(t, "reverse") {
				r.AddReverse(e)
			} else {
				r.Add(e)
			}
		}
		at := any.Draw(t, "at")
		offset, bound := r.Offset(at)
		_, _ = r.Here(at)
		_, _, _ = r.Drift()
		if c := r.Contradiction(); c < 0 || c > 0 && bound >= 0 {
			t.Fatalf("offset %d ± %d, contradiction %v", offset, bound, c)
		}
	})
}

func BenchmarkHere(b *testing.B) {
	r := new(Relation)
	rng := rand.New(rand.NewPCG(9, 10))
	for at := int64(0); at < 60e9; at += 20e6 {
		r.Add(Exchange{at, at + 1e12 + 20e3 + rng.Int64N(90e3), at + 1e12 + 20e3 + rng.Int64N(90e3), at + 150e3})
	}
	for b.Loop() {
		r.Here(1e12 + rng.Int64N(60e9))
	}
}
