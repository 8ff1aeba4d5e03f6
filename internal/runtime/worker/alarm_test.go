package worker

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dmebench/internal/platform/clock"
)

// Events fire in the order of their times, never early, also those that are added while
// others fire; what is far away when the alarm is closed never does.
func TestTheAlarmFiresInOrderAndNeverEarly(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, spin := range []float64{0, 0.5} {
		const n = 200
		c := clock.New()
		begin, over := make(chan struct{}), make(chan struct{})
		var a *alarm
		var last int64
		fired := 0
		a, err := newAlarm(c, spin, func(e event) {
			if e.at == 1 {
				<-begin // until all are there
				return
			}
			if now := c.Now(); now < e.at || e.at < last {
				t.Errorf("an event for %d fired at %d, after one for %d", e.at, now, last)
			}
			last = e.at
			switch fired++; {
			case fired <= n:
				a.add(event{at: e.at + n*1000, due: exitDue})
			case fired == 2*n:
				close(over)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		now := c.Now()
		a.add(event{at: 1})       // long ago: fires at once
		for i := range int64(n) { // later ones first, so that each moves the timer forward
			a.add(event{at: now + (n-i)*int64(50*time.Microsecond), due: due(i % 3)})
		}
		a.add(event{at: now + int64(time.Hour)})
		close(begin)
		<-over
		a.close()
		a.add(event{at: now})
	}
}

func BenchmarkLateness(b *testing.B) {
	c := clock.New()
	fired := make(chan int64)
	a, err := newAlarm(c, 1, func(e event) { fired <- c.Now() - e.at })
	if err != nil {
		b.Fatal(err)
	}
	defer a.close()
	var late int64
	for b.Loop() {
		a.add(event{at: c.Now() + int64(time.Millisecond), due: arrivalDue})
		late += <-fired
	}
	b.ReportMetric(float64(late)/float64(b.N), "late-ns")
}

// The heap is compared with sorting; of one instant, timeouts come before exits and these
// before arrivals. It allocates nothing once it has grown.
func TestEventsComeInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var heap, sorted events
		takeEarliest := func() {
			slices.SortStableFunc(sorted, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.due, b.due)) })
			if got := heap.pop(); got.at != sorted[0].at || got.due != sorted[0].due {
				t.Fatalf("%+v comes first, want %+v", got, sorted[0])
			}
			sorted = sorted[1:]
		}
		for range 1 + r.IntN(60) {
			e := event{at: r.Int64N(20), due: due(r.IntN(3))}
			heap.push(e)
			if sorted = append(sorted, e); r.IntN(4) == 0 {
				takeEarliest()
			}
		}
		for len(sorted) > 0 {
			takeEarliest()
		}
		if len(heap) != 0 {
			t.Fatalf("%d events are left", len(heap))
		}
	}
	var e events
	if allocs := testing.AllocsPerRun(100, func() {
		for i := range int64(8) {
			e.push(event{at: 8 - i})
		}
		for len(e) > 0 {
			e.pop()
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
