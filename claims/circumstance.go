package claims

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/runs"
	"dmebench/workload"
)

// Circumstance is that of a run to which claims may be restricted.
type Circumstance struct {
	Loads       []claim.Load
	Ordered     bool // links keep the order of messages
	Broadcasts  bool // one transmission reaches all nodes
	Serial      bool // one request at a time, for certain
	EqualDelays bool // every message takes the same time, as far as the options of the run decide
}

// Of returns the circumstance of a run; ordered says whether its network keeps the order of
// messages, and broadcasts whether one transmission reaches all nodes there.
func Of(s runs.Spec, ordered, broadcasts bool) Circumstance {
	return Circumstance{
		Loads: loads(s), Ordered: ordered, Broadcasts: broadcasts, Serial: s.Workload == "serial", EqualDelays: equalDelays(s.Set),
	}
}

// Covers reports whether a claim speaks of runs under the circumstance, as far
// as its prediction does not say otherwise. Transmissions are counted on media that broadcast.
func (c Circumstance) Covers(k claim.Claim) bool {
	return slices.Contains(c.Loads, k.Load) && (c.Ordered || !k.FIFO) && (c.EqualDelays || !k.EqualDelays) &&
		(c.Broadcasts || k.Quantity != claim.TransmissionsPerCS)
}

// Refutes reports whether a single run can show that a claim which the circumstance covers is wrong.
// Rare requests, which count as isolated, still meet by chance.
func (c Circumstance) Refutes(k claim.Claim) bool {
	return c.Serial || k.Load != claim.Light && k.Load != claim.HotSpot
}

// Isolated reports whether there is one request at a time.
func (c Circumstance) Isolated() bool {
	return slices.Contains(c.Loads, claim.Light) || slices.Contains(c.Loads, claim.HotSpot)
}

// About returns the claims about a quantity that speak of runs under the
// circumstance: the sharpest kind first, and what is known to be false last.
func (c Circumstance) About(q claim.Quantity, all claim.List) claim.List {
	var about claim.List
	for _, k := range all {
		if k.Quantity == q && c.Covers(k) {
			about = append(about, k)
		}
	}
	kinds := []claim.Kind{claim.Exact, claim.Mean, claim.Asymptotic, claim.UpperBound, claim.LowerBound}
	sharpness := func(c claim.Claim) int {
		rank := 2 * slices.Index(kinds, c.Kind)
		if c.Load == claim.Worst { // a bound of the worst run is the wider one
			rank++
		}
		if c.KnownFalse != "" {
			rank += 2 * len(kinds)
		}
		return rank
	}
	slices.SortStableFunc(about, func(a, b claim.Claim) int { return sharpness(a) - sharpness(b) })
	return about
}

// RareRate is the largest rate of requests, of all nodes, in requests per
// second, at which they are isolated: a message can go round all nodes ten times
// between two of them.
func RareRate(nodes int, t, cs time.Duration) float64 {
	return 1 / (10 * (float64(nodes+2)*t.Seconds() + cs.Seconds()))
}

// BusyRate is the rate from which on several requests wait: half of what nodes
// can serve that pass the critical section on in 2T.
func BusyRate(t, cs time.Duration) float64 { return 0.5 / (2*t + cs).Seconds() }

// loads returns the loads that a run makes. How heavy an open workload is follows only in a
// simulation, where T is known beforehand if nothing adds to it. Claims about undisturbed runs do
// not apply to runs with faults.
func loads(s runs.Spec) []claim.Load {
	if len(s.Faults) > 0 {
		return []claim.Load{claim.Faults}
	}
	all := []claim.Load{claim.AnyLoad}
	if readers, err := strconv.ParseFloat(s.Set["readers"], 64); err == nil && readers > 0 {
		all = append(all, claim.Contention) // the other loads are of requests that exclude each other
		if readers == 1 && s.Workload == "burst" {
			all = append(all, claim.Burst) // and if there are no writers nothing waits
		}
		return all
	}
	switch s.Workload {
	case "serial":
		return append(all, claim.Light, claim.Worst)
	case "saturate":
		if think, err := workload.ParseDistribution(s.Set["think"]); err == nil && think.Mean > 0 {
			return all // lighter than the papers' heavy load
		}
		return append(all, claim.Saturated, claim.Contention, claim.Worst)
	case "burst":
		return append(all, claim.Burst, claim.Contention, claim.Worst)
	}
	known := s.Transport == runs.Sim && !conditioned(s.Set) // whether T is known
	if known && s.Workload == "poisson" {
		all = append(all, claim.Open)
	}
	cs, err := workload.ParseDistribution(s.CS)
	t, bad := time.ParseDuration(cmp.Or(s.Set["t"], "1ms"))
	rate := s.TotalRate + s.Rate*float64(s.Nodes)
	switch {
	case !known || err != nil || bad != nil || rate == 0:
	case rate <= RareRate(s.Nodes, t, cs.Mean) && s.Workload == "hotspot":
		return append(all, claim.HotSpot)
	case rate <= RareRate(s.Nodes, t, cs.Mean):
		return append(all, claim.Light)
	case rate >= BusyRate(t, cs.Mean):
		return append(all, claim.Contention)
	}
	return all
}

// equalDelays reports whether nothing makes one message slower than another.
func equalDelays(set map[string]string) bool {
	_, err := time.ParseDuration(set["delay"])
	return !conditioned(set) && (err == nil || set["delay"] == "" || set["delay"] == "constant")
}

// conditioned reports whether some messages take longer than others because of where they go, when
// they do, or how long they are.
func conditioned(set map[string]string) bool {
	return slices.ContainsFunc([]string{"jitter", "loss", "reorder", "bandwidth", "links", "partition", "sites"}, func(option string) bool {
		return !slices.Contains([]string{"", "0", "0s", "none"}, set[option])
	})
}

// Reading is a quantity in one run: its mean, and the extremes over the entries if these were
// measured. The mean is NaN if the run has no sample.
type Reading struct{ Mean, Least, Most float64 }

// Read reads a quantity from a run, in the units of the claims; ok is false if results do not have
// it.
func Read(q claim.Quantity, r *runs.Result) (x Reading, ok bool) {
	even := func(x float64) (Reading, bool) { return Reading{x, x, x}, true }
	switch q {
	case claim.QueueLength:
		return even(float64(r.Work.LongestQueue))
	case claim.MessageLength:
		return even(float64(r.Work.LongestBytes))
	case claim.Violations:
		return even(float64(r.Safety.Violations))
	case claim.Unserved:
		return even(float64(r.Liveness.Pending + r.Unserved))
	case claim.WaitingTime:
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
	if figure, ok := r.Figures[q.ID]; ok {
		return even(figure)
	}
	m, ok := runs.LookupMetric(metrics[q])
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
	if q == claim.MessagesPerCS && len(r.Messages.PerEntry) > 0 {
		x.Least, x.Most = math.Inf(1), math.Inf(-1)
		for text := range r.Messages.PerEntry {
			if n, err := strconv.ParseFloat(text, 64); err == nil {
				x.Least, x.Most = min(x.Least, n), max(x.Most, n)
			}
		}
	}
	return x, true
}

// Told reports whether the result of a run of a has a quantity; what a gauge measures, that of a
// simulation has.
func Told(a *dme.Algorithm, q claim.Quantity) bool {
	_, ok := Read(q, &runs.Result{})
	return ok || q.OfEntries() || slices.ContainsFunc(a.Gauges, func(g dme.Gauge) bool { return g.Quantity == q.ID })
}

// metrics names the metrics that are quantities of claims.
var metrics = map[claim.Quantity]string{
	claim.MessagesPerCS: runs.MessagesPerCS, claim.TransmissionsPerCS: runs.TransmissionsPerCS,
	claim.SyncDelay: runs.SyncDelayOverT, claim.ResponseTime: runs.ResponseMean, claim.Throughput: runs.Throughput,
	claim.Bypass: runs.MaxBypass, claim.BypassByOne: runs.MaxBypassByOne, claim.EntryOrder: "out_of_order",
	claim.LongestRun: runs.LongestRun, claim.WorkSpread: runs.WorkMaxOverMean,
}

// Confidence is that of the interval of one mean.
const Confidence = 0.999

// FamilyError is the probability, at most, that a validation calls any mean wrong that is right.
// Among a thousand means with intervals of 99.9%, one is outside by chance: a mean is refuted only
// if it is outside an interval so wide that all true ones are inside theirs, with this probability
// of error (Bonferroni).
const FamilyError = 0.01

// estimate is a mean over repetitions, with half the width of Student's interval.
type estimate struct {
	mean   float64
	half   float64 // at Confidence
	family float64 // at that with which a family of that many means errs in FamilyError of all cases
	known  bool    // false with fewer than two values, which have no interval
}

// estimateOf estimates the mean of x, one of that many that are compared; of a family of
// none or of few the interval is as wide as that of one mean.
func estimateOf(x []float64, compared int) (e estimate) {
	n := float64(len(x))
	if n == 0 {
		return estimate{mean: math.NaN()}
	}
	for _, v := range x {
		e.mean += v / n
	}
	if n < 2 {
		return e
	}
	e.known = true
	deviation := math.Sqrt(stat.MomentAbout(2, x, e.mean, nil) * n / (n - 1))
	if deviation <= rounding*math.Abs(e.mean) {
		return e
	}
	scale := deviation / math.Sqrt(n)
	e.half = scale * quantile(n-1, 1-Confidence)
	e.family = scale * quantile(n-1, min(1-Confidence, FamilyError/float64(compared)))
	return e
}

// rounding is the relative error of a mean that arithmetic makes.
const rounding = 1e-12

// quantile is Student's: a variable with that many degrees of freedom is further from 0
// with the probability outside.
func quantile(freedom, outside float64) float64 {
	return -distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(outside / 2)
}
