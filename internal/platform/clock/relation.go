package clock

import (
	"math"
	"slices"
	"sync"
	"time"
)

// Exchange is a question to another host's clock and its answer, in nanoseconds:
// Sent and Returned on this host's clock, Received and Answered on the other's.
type Exchange struct {
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"`
	Answered int64 `json:"answered"`
	Returned int64 `json:"returned"`
}

// Delay is how long the exchange was on its way, both ways together.
func (e Exchange) Delay() int64 { return (e.Returned - e.Sent) - (e.Answered - e.Received) }

// Offset is by how much the other clock is ahead of this one, and the bound on its
// error: the way there and the way back took no less than no time.
func (e Exchange) Offset() (offset, bound int64) {
	return middle(minus(e.Answered, e.Returned), minus(e.Received, e.Sent))
}

// Widened returns the exchange if the clocks were read to within an error.
func (e Exchange) Widened(here, there time.Duration) Exchange {
	return Exchange{
		Sent: minus(e.Sent, int64(here)), Returned: plus(e.Returned, int64(here)),
		Received: plus(e.Received, int64(there)), Answered: minus(e.Answered, int64(there)),
	}
}

// MaxDrift bounds by how much two clocks of a testbed run apart, per second: NTP
// slews the monotonic clock of a host by 500 µs/s at most, and two hosts may be
// slewed in opposite directions. A clock that runs off by more, or is set, makes exchanges
// contradict one another.
const MaxDrift = 1000 * time.Microsecond

// drift is by how much two clocks come apart while one of them shows that d passes. If each is off
// by half of MaxDrift, the quotient of their rates is off by a little more than the whole. Two
// nanoseconds are for what readings are rounded by.
func drift(d int64) int64 {
	const rate = int64(time.Second / MaxDrift)
	return d/rate + d/(rate*rate) + 2
}

// Relation says how another host's clock compares with this one's, from exchanges made at several
// times: between them the clocks drift apart by no more than [MaxDrift]. The zero value knows
// nothing, a nil one stands for one and the same clock. Methods may be called from several
// goroutines.
//
// Under that assumption every bound is certain, whatever the delays were. An exchange counts at
// other times, too, with what drift may have added.
type Relation struct {
	mu sync.Mutex
	// The offset is at most what most says, and its negative at most what least says.
	most, least   envelope
	contradiction int64
}

// Add takes an exchange into account that this host made with the other.
func (r *Relation) Add(e Exchange) {
	// The question arrived no earlier than it was sent: what the other clock showed
	// then it showed at Sent or later. Of all instants that are possible, Sent makes
	// the weakest limit, whatever time it is asked for; likewise Returned.
	r.limit(limit{e.Sent, minus(e.Received, e.Sent)}, limit{e.Returned, minus(e.Returned, e.Answered)})
}

// AddReverse takes an exchange into account that the other host made with this one:
// Sent and Returned are on the other clock.
func (r *Relation) AddReverse(e Exchange) {
	r.limit(limit{e.Answered, minus(e.Returned, e.Answered)}, limit{e.Received, minus(e.Received, e.Sent)})
}

func (r *Relation) limit(most, least limit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// How far the offset at a time would have to be above what it is at most.
	excess := max(
		minus(minus(0, least.offset), min(r.most.at(least.at), most.elsewhere(least.at))),
		minus(minus(0, r.least.at(most.at)), most.offset),
	)
	if excess > 0 {
		r.contradiction = max(r.contradiction, excess)
		return // so that what the exchanges before it said of their time stays
	}
	r.most.add(most)
	r.least.add(least)
}

// Contradiction is by how much exchanges contradict one another: a clock was set by at least that
// much, or drifted that much more than MaxDrift allows. From then on the relation bounds nothing,
// and offsets are those of the exchanges before.
func (r *Relation) Contradiction() time.Duration {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Duration(r.contradiction)
}

// Offset returns by how much the other clock is ahead of this one when this one shows at, and the
// bound on the error of that; a bound of math.MaxInt64 if nothing is known. A negative bound says
// that the exchanges contradict one another.
func (r *Relation) Offset(at int64) (offset, bound int64) {
	if r == nil {
		return 0, 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.offset(at)
}

func (r *Relation) offset(at int64) (offset, bound int64) {
	offset, bound = 0, math.MaxInt64
	if len(r.most.points) > 0 {
		offset, bound = middle(minus(0, r.least.at(at)), r.most.at(at))
	}
	if r.contradiction > 0 {
		bound = min(bound, -1)
	}
	return offset, bound
}

// There returns what the other clock shows when this one shows at.
func (r *Relation) There(at int64) int64 {
	offset, _ := r.Offset(at)
	return plus(at, offset)
}

// Within returns what the other clock shows when this one shows at, give or take that
// much, and the bound as of [Relation.Offset].
func (r *Relation) Within(at, give int64) (there, bound int64) {
	offset, bound := r.Offset(at)
	if bound >= 0 && bound < math.MaxInt64 && give > 0 {
		bound = plus(bound, plus(give, drift(give)))
	}
	return plus(at, offset), bound
}

// Here returns what this clock shows when the other one shows at, and the bound as of
// [Relation.Offset]. It is monotonic in at.
func (r *Relation) Here(at int64) (here, bound int64) {
	if r == nil {
		return at, 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.most.points) == 0 {
		_, bound = r.offset(at)
		return at, bound
	}
	// Offsets change by a thousandth of the time that passes, so that each step
	// comes a thousand times closer.
	here = minus(at, r.most.points[0].offset)
	var off int64
	for range 8 {
		var offset int64
		offset, bound = r.offset(here)
		off = minus(minus(at, here), offset)
		if -1 <= off && off <= 1 {
			break
		}
		here = plus(here, off)
	}
	if bound < 0 || bound == math.MaxInt64 {
		return here, bound
	}
	// The bound is one at here; it is asked for when the other clock shows at.
	bound = plus(bound, max(off, -off))
	return here, plus(bound, drift(bound)+drift(drift(bound)))
}

// Drift returns by how much the other clock ran fast on average over the exchanges, in parts per
// million, and the bound on the error of that; ok is false if the exchanges cannot show it.
func (r *Relation) Drift() (ppm, bound float64, ok bool) {
	if r == nil {
		return 0, 0, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.most.points)
	if n < 2 || r.contradiction > 0 {
		return 0, 0, false
	}
	first, last := r.most.points[0].at, r.most.points[n-1].at
	third := minus(last, first) / 3
	type known struct{ at, offset, bound int64 }
	best := [2]known{{bound: math.MaxInt64}, {bound: math.MaxInt64}} // near the beginning and near the end
	for _, p := range r.most.points {
		side := 0
		if p.at > plus(first, third) {
			side = 1
			if p.at < minus(last, third) {
				continue
			}
		}
		if offset, bound := r.offset(p.at); bound < best[side].bound {
			best[side] = known{p.at, offset, bound}
		}
	}
	a, b := best[0], best[1]
	if b.at <= a.at || b.bound == math.MaxInt64 {
		return 0, 0, false
	}
	passed := float64(b.at) - float64(a.at)
	return 1e6 * (float64(b.offset) - float64(a.offset)) / passed, 1e6 * (float64(a.bound) + float64(b.bound)) / passed, true
}

type limit struct{ at, offset int64 }

// envelope is what limits say together, in the order of times, without those that others
// make superfluous: the two nearest to a time say all that is known of it.
type envelope struct{ points []limit }

func (v *envelope) at(at int64) int64 {
	i := v.after(at)
	most := int64(math.MaxInt64)
	for _, p := range v.points[max(i-1, 0):min(i+1, len(v.points))] {
		most = min(most, p.elsewhere(at))
	}
	return most
}

func (v *envelope) after(at int64) int {
	i, _ := slices.BinarySearchFunc(v.points, at, func(p limit, at int64) int {
		if p.at <= at {
			return -1
		}
		return 1
	})
	return i
}

func (p limit) elsewhere(at int64) int64 {
	apart := minus(max(at, p.at), min(at, p.at))
	return plus(p.offset, drift(apart))
}

func (v *envelope) add(p limit) {
	if v.at(p.at) <= p.offset {
		return
	}
	i := v.after(p.at)
	from, to := i, i
	for from > 0 && p.elsewhere(v.points[from-1].at) <= v.points[from-1].offset {
		from--
	}
	for to < len(v.points) && p.elsewhere(v.points[to].at) <= v.points[to].offset {
		to++
	}
	v.points = slices.Replace(v.points, from, to, p)
}

// middle returns the middle of a range and how far its ends are from there; negative if least is
// more than most.
func middle(least, most int64) (mid, off int64) {
	width := minus(most, least)
	if width < 0 {
		return plus(least, width/2), min(-1, width/2)
	}
	return plus(least, width/2), width - width/2
}

// plus and minus stop at the ends of what an int64 can hold: times of other hosts
// may be anything.
func plus(a, b int64) int64 {
	switch sum := a + b; {
	case b > 0 && sum < a:
		return math.MaxInt64
	case b < 0 && sum > a:
		return math.MinInt64
	default:
		return sum
	}
}

func minus(a, b int64) int64 {
	switch difference := a - b; {
	case b < 0 && difference < a:
		return math.MaxInt64
	case b > 0 && difference > a:
		return math.MinInt64
	default:
		return difference
	}
}
