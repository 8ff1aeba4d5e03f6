package claims

import (
	"math"
	"slices"
	"strconv"

	"dmebench/dme"
	"dmebench/result"
)

// Reading is a quantity in one run: its mean, and the extremes over the entries
// where these are told apart. The mean is NaN where the run has no sample.
type Reading struct{ Mean, Least, Most float64 }

// Read reads a quantity, in the units of the claims, from a run; ok is false
// where no run's result tells it.
func Read(q dme.Quantity, r *result.Result) (x Reading, ok bool) {
	even := func(x float64) (Reading, bool) { return Reading{x, x, x}, true }
	switch q {
	case dme.QueueLength:
		return even(float64(r.Work.LongestQueue))
	case dme.MessageLength:
		return even(float64(r.Work.LongestBytes))
	case dme.Violations:
		return even(float64(r.Safety.Violations))
	case dme.Unserved:
		return even(float64(r.Liveness.Pending + r.Unserved))
	case dme.WaitingTime:
		if r.WaitingTime == nil {
			return even(math.NaN())
		}
		return even(r.WaitingTime.Mean / 1e9) // claims count seconds
	}
	if q.Kind != "" {
		per := r.Entries
		if q.Per != "" {
			per = r.Messages.ByKind[q.Per]
		}
		if per == 0 {
			return even(math.NaN())
		}
		return even(float64(r.Messages.ByKind[q.Kind]) / float64(per))
	}
	if figure, told := r.Figures[q.ID]; told {
		return even(figure)
	}
	m, ok := result.LookupMetric(metrics[q])
	if !ok {
		return Reading{math.NaN(), math.NaN(), math.NaN()}, false
	}
	value := m.Read(r)
	if value == nil {
		return even(math.NaN())
	}
	x.Mean = *value
	if m.Time() {
		x.Mean /= 1e9 // claims count seconds
	}
	x.Least, x.Most = x.Mean, x.Mean
	if q == dme.MessagesPerCS && len(r.Messages.PerEntry) > 0 {
		x.Least, x.Most = math.Inf(1), math.Inf(-1)
		for text := range r.Messages.PerEntry {
			if n, err := strconv.ParseFloat(text, 64); err == nil {
				x.Least, x.Most = min(x.Least, n), max(x.Most, n)
			}
		}
	}
	return x, true
}

// Told reports whether the result of a run of a tells a quantity; what a gauge
// measures, that of a simulation does.
func Told(a *dme.Algorithm, q dme.Quantity) bool {
	_, ok := Read(q, &result.Result{})
	return ok || q.OfEntries() || slices.ContainsFunc(a.Gauges, func(g dme.Gauge) bool { return g.Quantity == q })
}

// metrics names the metrics that are quantities of claims.
var metrics = map[dme.Quantity]string{
	dme.MessagesPerCS: result.MessagesPerCS, dme.TransmissionsPerCS: result.TransmissionsPerCS,
	dme.SyncDelay: result.SyncDelayOverT, dme.ResponseTime: result.ResponseMean, dme.Throughput: result.Throughput,
	dme.Bypass: result.MaxBypass, dme.BypassByOne: result.MaxBypassByOne, dme.EntryOrder: "out_of_order",
	dme.LongestRun: result.LongestRun, dme.WorkSpread: result.WorkMaxOverMean,
}
