package alarm

import (
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dmebench/internal/clock"
)

// collect returns an alarm that records what it fires, and a function that
// waits for n events.
func collect(t *testing.T, spinShare float64) (*clock.Clock, *Alarm, func(n int) ([]Event, []int64)) {
	t.Helper()
	c := clock.New()
	var mu sync.Mutex
	var fired []Event
	var times []int64
	signal := make(chan struct{}, 1000)
	a, err := New(c, spinShare, func(e Event) {
		mu.Lock()
		fired = append(fired, e)
		times = append(times, c.Now())
		mu.Unlock()
		signal <- struct{}{}
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, a, func(n int) ([]Event, []int64) {
		for range n {
			<-signal
		}
		mu.Lock()
		defer mu.Unlock()
		return fired, times
	}
}

func TestFiresInOrderAndNeverEarly(t *testing.T) {
	for _, spin := range []float64{0, 0.5} {
		c, a, wait := collect(t, spin)
		now := c.Now()
		const n = 200
		for i := range n {
			// Later events are added first, so that each moves the timer forward.
			a.Add(Event{At: now + int64(time.Duration(n-i)*50*time.Microsecond), Kind: Kind(i % 3), Arg: uint64(i)})
		}
		fired, times := wait(n)
		a.Close()
		for i, e := range fired {
			if times[i] < e.At {
				t.Errorf("event %d fired %d ns early", i, e.At-times[i])
			}
			if i > 0 && e.At < fired[i-1].At {
				t.Errorf("event %d fired before one that was due earlier", i-1)
			}
		}
	}
}

func TestTiesFireInOrderOfKind(t *testing.T) {
	c, a, wait := collect(t, 0)
	at := c.Now() + int64(2*time.Millisecond)
	for _, k := range []Kind{Arrive, Timeout, Leave} {
		a.Add(Event{At: at, Kind: k})
	}
	fired, _ := wait(3)
	a.Close()
	if fired[0].Kind != Timeout || fired[1].Kind != Leave || fired[2].Kind != Arrive {
		t.Errorf("fired %v", fired)
	}
}

func TestEventsFromWithinFire(t *testing.T) {
	c := clock.New()
	done := make(chan int)
	var a *Alarm
	ready := make(chan struct{})
	count := 0
	a, err := New(c, 0.1, func(e Event) {
		<-ready
		if count++; count == 100 {
			done <- count
			return
		}
		a.Add(Event{At: c.Now(), Kind: Leave})
	})
	if err != nil {
		t.Fatal(err)
	}
	close(ready)
	a.Add(Event{At: 0, Kind: Arrive}) // long ago: fires at once
	<-done
	a.Close()
}

func TestCloseDropsWhatIsNotDue(t *testing.T) {
	defer goleak.VerifyNone(t)
	c := clock.New()
	a, err := New(c, 0, func(Event) { t.Error("an event an hour away fired") })
	if err != nil {
		t.Fatal(err)
	}
	a.Add(Event{At: c.Now() + int64(time.Hour)})
	a.Close()
	a.Add(Event{At: c.Now()})
}

func BenchmarkLateness(b *testing.B) {
	c := clock.New()
	fired := make(chan int64)
	a, err := New(c, 1, func(e Event) { fired <- c.Now() - e.At })
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	var late int64
	for b.Loop() {
		a.Add(Event{At: c.Now() + int64(time.Millisecond), Kind: Arrive})
		late += <-fired
	}
	b.ReportMetric(float64(late)/float64(b.N), "late-ns")
}
