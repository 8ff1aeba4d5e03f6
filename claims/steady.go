package claims

import (
	"dmebench/dme"
	"dmebench/result"
)

// Mean returns the mean of a quantity in a run: of its steady part where the run tells
// it, else of all of it; ok is false where it tells neither.
func Mean(q dme.Quantity, r *result.Result) (mean float64, ok bool) {
	if mean, ok := steadyMean(q, r); ok {
		return mean, true
	}
	x, ok := Read(q, r)
	return x.Mean, ok && finite(x.Mean)
}

// steadyMean returns the mean of a quantity in the steady part of a run alone.
func steadyMean(q dme.Quantity, r *result.Result) (mean float64, ok bool) {
	s := r.Steady
	if s == nil {
		return
	}
	per := func(x, of float64) (float64, bool) { return x / of, finite(x / of) }
	known := func(x *float64, unit float64) (mean float64, ok bool) {
		if x == nil {
			return
		}
		return *x / unit, true
	}
	entries := float64(s.Entries)
	switch q {
	case dme.MessagesPerCS:
		return per(float64(s.Messages), entries)
	case dme.TransmissionsPerCS:
		return per(float64(s.Transmissions), entries)
	case dme.Throughput:
		return known(s.Throughput, 1)
	case dme.ResponseTime:
		return known(s.Response, 1e9)
	case dme.WaitingTime:
		return known(s.Waiting, 1e9)
	case dme.SyncDelay:
		if t := r.Delay(); t != nil {
			return known(s.SyncDelay, *t)
		}
	}
	switch {
	case q.Per != "":
		return per(float64(s.ByKind[q.Kind]), float64(s.ByKind[q.Per]))
	case q.Kind != "":
		return per(float64(s.ByKind[q.Kind]), entries)
	}
	return
}
