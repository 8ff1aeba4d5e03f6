package measure

import (
	"dmebench/dme"
	"dmebench/result"
)

// Mark is what all nodes together had sent at the instant of an exit. What a node had
// sent is otherwise known at its own exits alone, and not by kind.
type Mark struct {
	At            int64
	Exits         uint64 // so far, with this one
	Sent          [dme.MaxKinds + 1]uint64
	Transmissions uint64
}

// steadyFigures measures between the first mark and the last one that is not after the
// end of the steady part; nil where there are not two such marks.
func (t *timeline) steadyFigures(o *Observation, part *steady, h *handovers) *result.Steady {
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
	s := &result.Steady{
		Entries: to.Exits - from.Exits, Transmissions: to.Transmissions - from.Transmissions,
		ByKind: make(map[string]uint64, len(o.Job.Algorithm.Kinds)),
	}
	for i, name := range o.Job.Algorithm.Kinds {
		n := to.Sent[i+1] - from.Sent[i+1]
		s.ByKind[name] = n
		s.Messages += n
	}
	s.Throughput = ratio(1e9*float64(s.Entries), float64(to.At-from.At))
	responses, waits := t.times(response), t.times(waiting)
	s.Response = meanOf(responses[from.Exits:to.Exits])
	s.Waiting = meanOf(waits[from.Exits:to.Exits])
	var delays []int64
	for i, k := range h.entered {
		if k := uint64(k); k >= from.Exits && k < to.Exits {
			delays = append(delays, h.delays[i])
		}
	}
	s.SyncDelay = meanOf(delays)
	return s
}

// meanOf returns the mean of x; nil where it is empty.
func meanOf(x []int64) *float64 { return number(mean(x)) }
