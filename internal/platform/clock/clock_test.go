package clock

import (
	"testing"
	"time"
)

func TestClocksOfOneHostAgree(t *testing.T) {
	a, b := New(), New()
	for range 1000 {
		x, y, z := a.Now(), b.Now(), a.Now()
		slack := int64(a.Error() + b.Error())
		if y < x-slack || y > z+slack {
			t.Fatalf("clock b says %d ns between %d and %d of clock a; they may differ by %d", y, x, z, slack)
		}
		if z < x {
			t.Fatalf("time went back from %d to %d", x, z)
		}
	}
}

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
