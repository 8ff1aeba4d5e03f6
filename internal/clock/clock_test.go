package clock

import "testing"

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
