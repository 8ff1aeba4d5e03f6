package alarm

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dmebench/internal/platform/clock"
)

func TestFiresInOrderAndNeverEarly(t *testing.T) {
	for _, spin := range []float64{0, 0.5} {
		const n = 200
		c := clock.New()
		added := make(chan struct{})
		done := make(chan struct{})
		var last int64
		count := 0
		a, err := New(c, spin, func(e Event) {
			<-added // all are added before the first of them is over
			if now := c.Now(); now < e.At {
				t.Errorf("event %d fired %d ns early", e.Arg, e.At-now)
			}
			if e.At < last {
				t.Errorf("event %d fired after one that was due later", e.Arg)
			}
			if e.Arg > 0 {
				last = e.At
			}
			if count++; count == n+1 {
				close(done)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		now := c.Now()
		a.Add(Event{At: now}) // fires at once, and waits
		for i := range n {
			// Later events are added first, so that each moves the timer forward.
			a.Add(Event{At: now + int64(time.Duration(n-i)*50*time.Microsecond), Kind: Kind(i % 3), Arg: uint64(i + 1)})
		}
		close(added)
		<-done
		a.Close()
	}
}

func TestTiesFireInOrderOfKind(t *testing.T) {
	c := clock.New()
	added := make(chan struct{})
	fired := make(chan Kind, 4)
	a, err := New(c, 0, func(e Event) {
		<-added
		fired <- e.Kind
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	at := c.Now()
	a.Add(Event{At: at - 1, Kind: Arrive}) // fires at once, and waits
	for _, k := range []Kind{Arrive, Timeout, Leave} {
		a.Add(Event{At: at, Kind: k})
	}
	close(added)
	<-fired
	for _, want := range []Kind{Timeout, Leave, Arrive} {
		if got := <-fired; got != want {
			t.Errorf("kind %d fired before kind %d", got, want)
		}
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

// The heap is compared with sorting.
func TestEventsComeInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var heap, sorted events
		for range 1 + r.IntN(60) {
			e := Event{At: r.Int64N(20), Kind: Kind(r.IntN(3))}
			heap.push(e)
			sorted = append(sorted, e)
			if r.IntN(4) == 0 {
				takeEarliest(t, &heap, &sorted)
			}
		}
		for len(sorted) > 0 {
			takeEarliest(t, &heap, &sorted)
		}
		if len(heap) != 0 {
			t.Fatalf("%d events are left", len(heap))
		}
	}
}

func takeEarliest(t *testing.T, heap, sorted *events) {
	t.Helper()
	slices.SortFunc(*sorted, func(a, b Event) int {
		if a.At != b.At {
			return int(a.At - b.At)
		}
		return int(a.Kind) - int(b.Kind)
	})
	if got, want := heap.pop(), (*sorted)[0]; got != want {
		t.Fatalf("%+v comes first, want %+v", got, want)
	}
	*sorted = (*sorted)[1:]
}

func TestEventsAllocateNothing(t *testing.T) {
	var e events
	if allocs := testing.AllocsPerRun(100, func() {
		for i := range int64(8) {
			e.push(Event{At: 8 - i})
		}
		for len(e) > 0 {
			e.pop()
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
