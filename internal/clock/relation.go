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
	least, most := e.Answered-e.Returned, e.Received-e.Sent
	return least + (most-least)/2, (most - least + 1) / 2
}

// MaxDrift bounds by how much two clocks of a testbed run apart, per second of
// either: NTP slews the monotonic clock of a host by 500 µs/s at most, and two
// hosts may be slewed in opposite directions.
const MaxDrift = 1000 * time.Microsecond

// Relation says how another host's clock compares with this one's, from exchanges
// made at several times: between them no clock drifts by more than [MaxDrift]. Its
// methods may be called from several goroutines.
type Relation struct {
	mu        sync.Mutex
	exchanges []Exchange // in the order of Sent
}

// Add takes an exchange into account.
func (r *Relation) Add(e Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, _ := slices.BinarySearchFunc(r.exchanges, e.Sent, func(x Exchange, at int64) int { return int(min(1, max(-1, x.Sent-at))) })
	r.exchanges = slices.Insert(r.exchanges, i, e)
}

// Offset returns by how much the other clock is ahead of this one when this one
// shows at, and the bound on the error of that; a bound of math.MaxInt64 where
// nothing is known. A negative bound says that the exchanges contradict one another:
// a clock was set, or drifted by more than MaxDrift.
func (r *Relation) Offset(at int64) (offset, bound int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.exchanges) == 0 {
		return 0, math.MaxInt64
	}
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	for _, e := range r.exchanges {
		apart := max(e.Sent-at, at-e.Returned, e.Returned-e.Sent)
		drift := int64(math.Ceil(float64(apart) * MaxDrift.Seconds()))
		least = max(least, e.Answered-e.Returned-drift)
		most = min(most, e.Received-e.Sent+drift)
	}
	return least + (most-least)/2, (most - least + 1) / 2
}

// There returns what the other clock shows when this one shows at.
func (r *Relation) There(at int64) int64 {
	if r == nil {
		return at
	}
	offset, _ := r.Offset(at)
	return at + offset
}

// Here returns what this clock shows when the other one shows at, and the bound on
// the error of that.
func (r *Relation) Here(at int64) (here, bound int64) {
	if r == nil {
		return at, 0
	}
	offset, _ := r.Offset(r.first())
	here = at - offset
	for range 3 { // offsets change by a thousandth of the time that passes
		offset, bound = r.Offset(here)
		here = at - offset
	}
	return here, bound
}

func (r *Relation) first() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.exchanges) == 0 {
		return 0
	}
	return r.exchanges[0].Sent
}
