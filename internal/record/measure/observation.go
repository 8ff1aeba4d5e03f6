// Package measure turns what was observed in a run into a [runs.Result]. The network runtime and
// the simulator both end here, so that a quantity means the same in both.
//
// Guarantees: [Result] is a pure function of its argument, which it does not change; it takes O(n
// log n) time for n entries; what has no sample is null in the result, and every result can be
// written as JSON.
//
// Two parts of a run are distinguished. Message counts, response, waiting and hand-over times,
// order, bypass and safety speak of the whole run, from its start until it was quiet. Throughput,
// evenness and steady_per_cs speak of the steady part: it begins at the warm-up cut and ends when
// the first node runs out of requests, since from then on the load is another one.
//
// The package reads no clock and knows no formula of a paper: it says what happened, not what
// should have.
//
// The nodes of a run may be on several hosts, each with a clock of its own, whose relation to the
// others is known within bounds. Differences of times of one host are taken on its clock and are
// exact. A difference between two hosts has a bound; if that is larger than the difference, the
// difference is unknown. See [Host] and the file clocks.go.
package measure

import (
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/record"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/run"
	"dmebench/internal/runtime/stall"
	"dmebench/runs"
	"dmebench/stats"
)

// Observation is what a runtime saw of a run. Times are nanoseconds; instants
// are on the entries' clock.
type Observation struct {
	Job         *run.Job
	Status      runs.Status // result.OK unless the runtime knows better; Result finds the violations
	Error       string
	Partial     bool // interrupted
	FailedNodes []int

	Entries []record.Entry          // of all nodes, in any order
	Dropped uint64                  // entries beyond the log's bound
	Nodes   []noderun.Counts        // counters of the nodes 1..N
	Traffic []noderun.TrafficCounts // of the nodes 1..N, or of all together
	Wire    runs.Wire

	Delays    []int64 // one-way delays of single messages, measured back to back
	MeanDelay float64 // their mean if Delays is empty; 0 if it is unknown

	HandoverDelays []int64 // the same for messages as far apart as handovers; empty if they were not measured

	Start    int64 // when the workload began
	Stop     int64 // when the duration ended, or the last request may have been made
	Unserved uint64
	PerEntry map[int]uint64 // serial: messages per entry -> entries
	Marks    []Mark         // in order of time; none if not counted during the run

	WitnessViolations uint64             // entries that the witness saw overlap another
	Method            string             // the witness's name; "" if there was none
	Figures           map[string]float64 // of the algorithm's gauges, by quantity; nil if there are none

	Resource *record.Resource // shared by all entries; nil if there was none

	Service   *runs.Service      // of a run that measures a lock service; nil else
	Strikes   []Strike           // the faults that were carried out, in order of time
	Missed    []string           // faults that did not take place, and why
	Abandoned []record.Abandoned // of nodes that went while the run went on, and what waited at its end
	Doubts    []Doubt            // hosts that the run went on without, and may not have been rid of

	States      []string          // decoded states of a stalled run
	Standstill  *stall.Standstill // of a stalled run: its wait-for graph
	Clocks      []clock.Change    // of the workers' hosts while they ran
	Hosts       []Host            // where the nodes lived; nil if all times are on one clock
	Links       []Link            // between them: of each ordered pair
	Workers     int
	Environment map[string]string
	Warnings    []string
}

// Host is where some nodes of a run lived. The times of their entries and the times in
// their counters are on its clock; all other instants are on the coordinator's, the
// reference.
type Host struct {
	runs.Host                 // without Clock, which Result fills in
	Relation  *clock.Relation // its clock, compared with the reference; nil if it is that one
	Error     time.Duration   // by how much its processes may have misread it
}

// Doubt is a time in which nodes of a lost host may still have been inside, although the others
// took them for down.
type Doubt struct {
	Host         string
	Since, Until int64 // on the reference clock; math.MaxInt64 for the end of the run
}

// Link is what exchanges say of the way from one host to another. If both hosts have asked the
// other, what one has found is added to the other's link in reverse ([clock.Link.AddReverse]), so
// that both are as good as can be.
type Link struct {
	From, To int // in Observation.Hosts: the asker and the answerer
	*clock.Link
}

// Mark is what all nodes together had sent at the instant of an exit. The messages of a single node
// are otherwise known at its own exits alone, and not by kind.
type Mark struct {
	At            int64
	Exits         uint64 // so far, with this one
	Sent          [dme.MaxKinds + 1]uint64
	Transmissions uint64
}

// steadyFigures measures between the first mark and the last one that is not after the end of the
// steady part; nil if there are not two such marks.
func (t *timeline) steadyFigures(o *Observation, part *steady, h *handovers) *runs.Steady {
	last := 0
	for i, m := range o.Marks {
		if m.At <= part.end && m.Exits <= uint64(t.len()) {
			last = i
		}
	}
	if last == 0 || o.Dropped > 0 {
		return nil
	}
	from, to := &o.Marks[0], &o.Marks[last]
	s := &runs.Steady{
		Entries: to.Exits - from.Exits, Transmissions: to.Transmissions - from.Transmissions,
		ByKind: make(map[string]uint64, len(o.Job.Algorithm.Kinds)),
	}
	for i, name := range o.Job.Algorithm.Kinds {
		n := to.Sent[i+1] - from.Sent[i+1]
		s.ByKind[name] = n
		s.Messages += n
	}
	s.Throughput = ratio(1e9*float64(s.Entries), float64(to.At-from.At))
	s.Response = meanOf(t.times(t.byExit, response)[from.Exits:to.Exits])
	s.Waiting = meanOf(t.times(t.byExit, waiting)[from.Exits:to.Exits])
	var delays []int64
	for i, k := range h.entered {
		if k := uint64(k); k >= from.Exits && k < to.Exits {
			delays = append(delays, h.delays[i])
		}
	}
	s.SyncDelay = meanOf(delays)
	return s
}

// meanOf returns the mean of x; nil if it is empty.
func meanOf(x []int64) *float64 { return stats.Known(mean(x)) }
