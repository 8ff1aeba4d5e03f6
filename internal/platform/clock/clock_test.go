package clock

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestClockFollowsTheKernel(t *testing.T) {
	c := New()
	for range 1000 {
		before, now, after := monotonic(), c.Now(), monotonic()
		if slack := int64(c.Error()); now < before-slack || now > after+slack {
			t.Fatalf("%d ns is outside %d…%d by more than %d", now, before, after, slack)
		}
	}
}

func BenchmarkNow(b *testing.B) {
	c := New()
	for b.Loop() {
		c.Now()
	}
}

func TestChange(t *testing.T) {
	const s = int64(time.Second)
	// A second was suspended, the wall clock was set back by three, and the
	// monotonic clock ran one in ten fast.
	begin := Reading{monotonic: 5 * s, hardware: 7 * s, running: 50 * s, wall: 1000 * s, error: 3}
	end := Reading{monotonic: 16 * s, hardware: 17 * s, running: 62 * s, wall: 1009 * s, error: 4}
	want := Change{Elapsed: 11 * time.Second, Suspended: time.Second, Stepped: -3 * time.Second, Slewed: time.Second, Error: 7}
	if got := begin.Until(end); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// What the kernel says of a moment in which nothing happened to its clocks is
// nothing, within the error that is stated.
func TestReadingsOfAQuietMoment(t *testing.T) {
	const slew = 0.1 // what no time service exceeds
	begin := Read()
	for k := 0; ; k++ {
		c := begin.Until(Read())
		if c.Elapsed < 0 || c.Error <= 0 || c.Suspended.Abs() > c.Error {
			t.Fatalf("%+v", c)
		}
		if float64(c.Slewed.Abs()) > slew*float64(c.Elapsed)+float64(c.Error) {
			t.Fatalf("%+v: a slew beyond reason", c)
		}
		if k == 1000 {
			break
		}
	}
}

// settable is a clock that a test puts forward.
type settable struct{ now, read atomic.Int64 }

func (c *settable) Now() int64 {
	c.read.Add(1)
	return c.now.Load()
}

// looks waits until the clock has been read so many times more.
func (c *settable) looks(n int64) {
	for from := c.read.Load(); c.read.Load() < from+n; {
		time.Sleep(time.Millisecond)
	}
}

// A process that finds its clock far ahead did not run.
func TestLapses(t *testing.T) {
	c := new(settable)
	w := WatchLapses(c.Now, time.Millisecond)
	defer w.Close()
	c.looks(2)
	if found := w.Since(-1); found != nil {
		t.Fatalf("a clock that stands still is %v late", found)
	}
	c.now.Store(int64(6 * time.Second))
	c.looks(2)
	found := w.Since(0)
	if len(found) != 1 || found[0].Until != int64(6*time.Second) || found[0].For != 6*time.Second-time.Millisecond {
		t.Fatalf("found %+v of 6 s", found)
	}
	c.now.Add(int64(Notable / 2))
	c.looks(2)
	if again := w.Since(0); len(again) != 1 {
		t.Errorf("%v late is a lapse: %+v", Notable/2, again)
	}
	if later := w.Since(int64(6 * time.Second)); later != nil {
		t.Errorf("after its end: %+v", later)
	}
}
