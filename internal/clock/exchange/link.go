package exchange

import (
	"slices"
	"sync"

	"dmebench/internal/clock"
)

// mostDelays is how many round trips a link remembers.
const mostDelays = 1 << 16

// Link is everything that is known of the way between two hosts. The zero value
// knows nothing. Its methods may be called from several goroutines.
type Link struct {
	Clock clock.Relation // the clock of the host that answers, compared with that of the host that asks

	mu         sync.Mutex
	sent, lost int
	shortest   int64
	delays     []int64
	each       int // the delay of each so many exchanges is remembered; 0 stands for 1
	skipped    int
}

// Add takes exchanges into account that the first host made with the second.
func (l *Link) Add(p Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent += p.Sent
	l.lost += p.Lost
	for _, e := range p.Exchanges {
		l.Clock.Add(e)
		l.delay(e.Delay())
	}
}

// AddReverse takes exchanges into account that the second host made with the first:
// they tell of the clocks as well, and are none of this direction's.
func (l *Link) AddReverse(p Path) {
	for _, e := range p.Exchanges {
		l.Clock.AddReverse(e)
	}
}

func (l *Link) delay(d int64) {
	if l.shortest == 0 || d < l.shortest {
		l.shortest = d
	}
	if l.skipped++; l.skipped < l.each {
		return
	}
	l.skipped = 0
	if l.delays = append(l.delays, d); len(l.delays) >= mostDelays {
		// Every second of a long series says the same as all.
		for i := range len(l.delays) / 2 {
			l.delays[i] = l.delays[2*i+1]
		}
		l.delays = l.delays[:len(l.delays)/2]
		l.each = 2 * max(1, l.each)
	}
}

// RoundTrips says what the exchanges took, in nanoseconds, without the time for
// which the other host held them.
type RoundTrips struct {
	Sent, Lost       int
	Min, Median, P99 int64 // 0 where none was answered
}

// RoundTrips returns what is known by now. Median and percentile are of every
// exchange or, of very many, of as many as can be remembered, evenly spread.
func (l *Link) RoundTrips() RoundTrips {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := RoundTrips{Sent: l.sent, Lost: l.lost, Min: l.shortest}
	if n := len(l.delays); n > 0 {
		sorted := slices.Sorted(slices.Values(l.delays))
		rank := func(perCent int) int64 { return sorted[(n*perCent+99)/100-1] }
		r.Median, r.P99 = rank(50), rank(99)
	}
	return r
}
