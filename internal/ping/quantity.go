package ping

import (
	"fmt"
	"math"
)

// What a stretch measures. A test gives some of these.
const (
	Trips        = "round_trips" // how many were made
	RoundTripP50 = "round_trip_p50_ns"
	RoundTripP99 = "round_trip_p99_ns"
	OneWayP50    = "one_way_p50_ns"
	OneWayP99    = "one_way_p99_ns"

	Hops        = "hops" // how many were made
	HopRate     = "hops_per_s"
	HopsPerCore = "hops_per_core_s" // per second of processor time of all processes

	Messages        = "messages" // how many have arrived
	MessageRate     = "messages_per_s"
	MessagesPerCore = "messages_per_core_s" // per second of processor time of both processes
	Lost            = "lost"                // messages that have not arrived

	ProcessorTime = "cpu_s" // used by the processes that take part
)

// quantity is something that is compared between the sides.
type quantity struct {
	name  string
	title string
	time  bool // less is faster
}

// quantities lists what each test compares.
var quantities = map[Test][]quantity{
	RoundTrip: {
		{RoundTripP50, "round trip, p50", true}, {RoundTripP99, "round trip, p99", true},
		{OneWayP50, "one way, p50", true}, {OneWayP99, "one way, p99", true},
	},
	Ring:   {{HopRate, "hops/s", false}, {HopsPerCore, "hops per core second", false}},
	Stream: {{MessageRate, "messages/s", false}, {MessagesPerCore, "messages per core second", false}},
}

func (t Task) String() string {
	switch {
	case t.Test != Ring:
		return string(t.Test)
	case t.Tokens == 1:
		return "ring, 1 token"
	}
	return fmt.Sprintf("ring, %d tokens", t.Tokens)
}

// processes returns how many of the processes take part in the task.
func (t Task) processes(of int) int {
	if t.Test == Ring {
		return of
	}
	return 2
}

// addProcessorTime adds what follows from the processor time that was used.
func (v Values) addProcessorTime(seconds float64) {
	v[ProcessorTime] = seconds
	for _, x := range []struct{ rate, count string }{{HopsPerCore, Hops}, {MessagesPerCore, Messages}} {
		if count, ok := v[x.count]; ok && seconds > 0 {
			v[x.rate] = count / seconds
		}
	}
}

// speedRatio returns how many times faster ours is than bare; NaN where one of
// them is not known.
func (q quantity) speedRatio(bare, ours Values) float64 {
	b, ok1 := bare[q.name]
	o, ok2 := ours[q.name]
	if q.time {
		b, o = o, b
	}
	if !ok1 || !ok2 || b == 0 {
		return math.NaN()
	}
	return o / b
}
