package lapse

import (
	"sync/atomic"
	"testing"
	"time"
)

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

func TestFindsWhatItMissed(t *testing.T) {
	c := new(settable)
	w := Start(c, time.Millisecond)
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

func TestKeepsNoMoreThanItMust(t *testing.T) {
	w := Start(new(settable), time.Hour)
	defer w.Close()
	for range 2 * most {
		w.note(1, Notable)
	}
	if n := len(w.Since(0)); n != most {
		t.Errorf("%d lapses kept", n)
	}
}
