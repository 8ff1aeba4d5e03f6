package workload

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"dmebench/dme"
)

// maxSeconds is the latest time of a request: 31 years, well within 64 bits of
// nanoseconds.
const maxSeconds = 1e9

// maxRate is one request per nanosecond: beyond it time would stand still.
const maxRate = 1e9

// poissonProcess is the arrivals of one node.
type poissonProcess struct {
	rng  *rand.Rand
	rate float64 // per second
	at   float64 // seconds: summed as a float, so that rounding does not add up
}

// next returns the time of the next arrival, in seconds; past maxSeconds where
// there is none.
func (p *poissonProcess) next() float64 {
	if p.rate == 0 {
		return math.Inf(1)
	}
	p.at += p.rng.ExpFloat64() / p.rate
	return p.at
}

// instant is a time in seconds as an open workload's clients tell it.
func instant(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// rated makes each node's requests a Poisson process of its own rate. A number of
// requests ends them all together: with the arrival of that number, whoever's it
// is. If each node made a share of its own, the load would fall as one node after
// the other ran out, and times would come out too short.
func (p *Plan) rated(rate func(dme.NodeID) float64) {
	process := func(id dme.NodeID) poissonProcess {
		return poissonProcess{rng: p.stream(arrivals, id), rate: rate(id)}
	}
	if p.spec.Requests > 0 {
		p.shares = p.firstArrivals(p.spec.Requests, process)
	}
	p.client = func(id dme.NodeID) func() (time.Duration, bool) {
		left, mine := p.share(id), process(id)
		return func() (time.Duration, bool) {
			if left == 0 {
				return 0, false
			}
			left--
			at := mine.next()
			if at > maxSeconds {
				return 0, false
			}
			return instant(at), true
		}
	}
}

// arrivalOf is one arrival of a node, in seconds.
type arrivalOf struct {
	at   float64
	node dme.NodeID
}

// firstArrivals returns how many of the first n arrivals of all nodes together
// are each node's; nil where the plan's duration ends before the n-th.
//
// Everybody who has the plan comes to the same counts, so that nobody has to ask
// when the last request was made. The n-th arrival of all nodes comes at n/λ, give
// or take √n/λ: what comes clearly earlier is only counted, and what comes around
// that time is kept and sorted. It takes time O(n + N), and memory O(√n + N).
func (p *Plan) firstArrivals(n int, process func(dme.NodeID) poissonProcess) []int {
	horizon, total := float64(maxSeconds), p.OfferedRate()
	if p.spec.Duration > 0 {
		horizon = min(horizon, p.spec.Duration.Seconds())
	}
	for spread := 8.0; ; spread *= 4 {
		expected, by := float64(n)/total, spread*math.Sqrt(float64(n))/total
		from, until := min(expected-by, horizon), min(expected+by, horizon)
		counts, late := p.countArrivals(from, until, process)
		missing := n - sum(counts)
		switch {
		case missing < 0 || missing > len(late) && until < horizon:
			continue // chance took the n-th out of the span: look at a wider one
		case missing > len(late) && p.spec.Duration > 0:
			return nil
		}
		slices.SortFunc(late, func(a, b arrivalOf) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node, b.node)) })
		for _, a := range late[:min(missing, len(late))] {
			counts[a.node-1]++
		}
		return counts
	}
}

// countArrivals counts each node's arrivals before from, and lists all between
// from and until.
func (p *Plan) countArrivals(from, until float64, process func(dme.NodeID) poissonProcess) (counts []int, late []arrivalOf) {
	counts = make([]int, p.nodes)
	for i := range counts {
		id := dme.NodeID(i + 1)
		mine := process(id)
		at := mine.next()
		for ; at < from; at = mine.next() {
			counts[i]++
		}
		for ; at < until; at = mine.next() {
			late = append(late, arrivalOf{at, id})
		}
	}
	return counts, late
}

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}
