package validate

import (
	"math"
	"slices"
	"strconv"

	"dmebench/dme"
	"dmebench/result"
)

// sample is what is kept of a run's result.
type sample struct {
	status  result.Status
	problem string

	entries, violations, pending uint64

	perCS, transmissions float64 // NaN where there is none
	cheapest, dearest    float64 // entry, in messages; perCS where entries are not told apart
	byKind               map[string]uint64

	syncDelay, longestSync      float64 // in T
	response, throughput        float64 // s, 1/s
	t, e                        float64 // s
	queue, bytes, bypass, byOne float64
	reorder, longestRun, spread float64
}

func newSample(r *result.Result) *sample {
	s := &sample{
		status: r.Status, problem: r.Error,
		entries: r.Entries, violations: r.Safety.Violations, pending: r.Liveness.Pending + r.Unserved,
		perCS: value(r.Messages.PerCS), byKind: r.Messages.ByKind,
		syncDelay: value(r.SyncDelayOverT), longestSync: math.NaN(),
		response: math.NaN(), throughput: value(r.Throughput), t: value(r.T) / 1e9, e: value(r.CS) / 1e9,
		queue: float64(r.Work.LongestQueue), bytes: float64(r.Work.LongestBytes),
		bypass: float64(r.Fairness.MaxBypass), byOne: float64(r.Fairness.ByOne), reorder: float64(r.Fairness.OutOfOrder),
		longestRun: float64(r.Fairness.LongestRun), spread: value(r.Work.MaxOverMean),
	}
	if r.Entries > 0 {
		s.transmissions = float64(r.Messages.Transmissions) / float64(r.Entries)
	} else {
		s.transmissions = math.NaN()
	}
	s.cheapest, s.dearest = s.perCS, s.perCS
	if len(r.Messages.PerEntry) > 0 {
		s.cheapest, s.dearest = math.Inf(1), math.Inf(-1)
		for text := range r.Messages.PerEntry {
			if n, err := strconv.ParseFloat(text, 64); err == nil {
				s.cheapest, s.dearest = min(s.cheapest, n), max(s.dearest, n)
			}
		}
	}
	if r.SyncDelay != nil && r.T != nil {
		s.longestSync = float64(r.SyncDelay.Max) / *r.T
	}
	if r.ResponseTime != nil {
		s.response = r.ResponseTime.Mean / 1e9
	}
	return s
}

func value(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// sound reports whether the numbers of the run can be used.
func (s *sample) sound() bool { return s.status == result.OK && s.violations == 0 }

// reading is a quantity in one run: its mean, and the extremes over the entries
// where these are told apart.
type reading struct{ mean, least, most float64 }

func even(x float64) reading { return reading{x, x, x} }

// meter reads a quantity from a run.
type meter struct {
	read  func(*sample) reading
	timed bool // it is a time, or made of times
}

// meterFor returns how a quantity is read from the runs of an algorithm; ok is
// false where no run's result tells it.
func meterFor(q dme.Quantity, a *dme.Algorithm) (m meter, ok bool) {
	one := func(f func(*sample) float64) func(*sample) reading {
		return func(s *sample) reading { return even(f(s)) }
	}
	switch q {
	case dme.MessagesPerCS:
		return meter{read: func(s *sample) reading { return reading{s.perCS, s.cheapest, s.dearest} }}, true
	case dme.TransmissionsPerCS:
		return meter{read: one(func(s *sample) float64 { return s.transmissions })}, true
	case dme.SyncDelay:
		return meter{timed: true, read: one(func(s *sample) float64 { return s.syncDelay })}, true
	case dme.ResponseTime:
		return meter{timed: true, read: one(func(s *sample) float64 { return s.response })}, true
	case dme.Throughput:
		return meter{timed: true, read: one(func(s *sample) float64 { return s.throughput })}, true
	case dme.QueueLength:
		return meter{read: one(func(s *sample) float64 { return s.queue })}, true
	case dme.MessageLength:
		return meter{read: one(func(s *sample) float64 { return s.bytes })}, true
	case dme.Bypass:
		return meter{read: one(func(s *sample) float64 { return s.bypass })}, true
	case dme.BypassByOne:
		return meter{read: one(func(s *sample) float64 { return s.byOne })}, true
	case dme.LongestRun:
		return meter{read: one(func(s *sample) float64 { return s.longestRun })}, true
	case dme.WorkSpread:
		return meter{read: one(func(s *sample) float64 { return s.spread })}, true
	case dme.Violations, dme.Unserved:
		return meter{}, true // over all runs, also those whose numbers cannot be used
	case dme.EntryOrder:
		return meter{read: one(func(s *sample) float64 { return s.reorder })}, true
	}
	return kindMeter(q, a)
}

// kindMeter reads the messages of one kind, per CS or per message of another.
func kindMeter(q dme.Quantity, a *dme.Algorithm) (m meter, ok bool) {
	if q.Per == "" {
		return meter{read: func(s *sample) reading { return even(float64(s.byKind[q.Kind]) / float64(s.entries)) }}, slices.Contains(a.Kinds, q.Kind)
	}
	return meter{read: func(s *sample) reading {
		if s.byKind[q.Per] == 0 {
			return even(math.NaN())
		}
		return even(float64(s.byKind[q.Kind]) / float64(s.byKind[q.Per]))
	}}, slices.Contains(a.Kinds, q.Kind) && slices.Contains(a.Kinds, q.Per)
}
