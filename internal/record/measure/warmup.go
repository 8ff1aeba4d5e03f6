package measure

import (
	"math"
	"sort"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/workload"
)

// Parameters of MSER-5.
const (
	batchSize  = 5
	fewBatches = 12 // below which there is nothing to decide

	// trendAlpha is how rarely a settled series is rejected by its ranks alone.
	trendAlpha = 0.01
)

// MSER5 returns how many of the first values belong to the initial transient: the truncation point
// that makes the marginal standard error of the mean of the rest smallest, over means of batches of
// five. A smaller cut wins a tie.
//
// It never cuts more than half. settled is false if the standard error is smallest in the second
// half and the batches before that point rank otherwise than those after it, which says that the
// series is too short to have settled. (A single outlier, such as a process that the scheduler kept
// waiting, moves the point too, but not the ranks.) The cut is then the best one in the first half.
// With fewer than 60 values it cuts nothing.
//
// K. P. White, An effective truncation heuristic for bias reduction in simulation output,
// Simulation 69 (1997); W. W. Franklin and K. P. White, Stationarity tests and MSER-5, Winter
// Simulation Conference 2008. A few batches at the end may agree by chance and so seem to be the
// best rest of all: K. Hoad, S. Robinson and R. Davies, Automating warm-up length estimation,
// Winter Simulation Conference 2008, leave out the last five; here a rest of less than a quarter is
// no candidate either.
func MSER5(values []int64) (cut int, converged bool) {
	m := len(values) / batchSize
	if m < fewBatches {
		return 0, true
	}
	means := make([]float64, m)
	for j := range means {
		for _, v := range values[j*batchSize:][:batchSize] {
			means[j] += float64(v) / batchSize
		}
	}
	best, bestHalf := leastError(means)
	converged = best <= m/2 || stats.Compare(means[:best], means[best:], trendAlpha).P > trendAlpha
	return bestHalf * batchSize, converged
}

// leastError returns how many means to leave out so that the marginal standard
// error of the rest is smallest, and the best number up to half of them.
func leastError(means []float64) (best, bestHalf int) {
	// From the end on, so that mean and sum of squares of every rest come from
	// one pass (Welford); the statistic is their sum of squares over the
	// square of their number.
	m := len(means)
	leastRest := max(6, m/4)
	var mean, squares float64
	low, lowHalf := math.Inf(1), math.Inf(1)
	for d := m - 1; d >= 0; d-- {
		k := float64(m - d)
		delta := means[d] - mean
		mean += delta / k
		squares += delta * (means[d] - mean)
		statistic := squares / (k * k)
		if m-d >= leastRest && statistic <= low {
			best, low = d, statistic
		}
		if d <= m/2 && statistic <= lowHalf {
			bestHalf, lowHalf = d, statistic
		}
	}
	return best, bestHalf
}

// steady is the part of a run between the warm-up cut and the moment when the
// first node runs out of requests.
type steady struct {
	warmup     runs.Warmup
	converged  bool // the run was long enough for its warm-up to be seen
	begin, end int64
	entries    uint64
	byNode     []uint64
	held       int64 // how long their critical sections lasted, together
}

func (t *timeline) steady(o *Observation) steady {
	s := steady{begin: o.Start, end: t.ranOut(o), converged: true, byNode: make([]uint64, o.Job.Spec.Nodes)}
	cut := o.Job.Warmup
	switch {
	case cut == 0 || t.len() == 0:
		cut, s.warmup.Method = 0, "none"
	case cut > 0:
		cut, s.warmup.Method = min(cut, t.len()), "given"
	default:
		// Entries after the end would look like a load that never settles.
		n := sort.Search(t.len(), func(k int) bool { return t.exited(k).Exited > s.end })
		cut, s.converged = MSER5(t.times(t.byExit, response)[:n])
		s.warmup.Method = "mser-5"
	}
	s.warmup.Entries = uint64(cut)
	if cut > 0 {
		s.begin = t.exited(cut - 1).Exited
	}
	for k := cut; k < t.len(); k++ {
		e := t.exited(k)
		if e.Exited > s.end {
			break
		}
		s.entries++
		s.held += held(&t.local[t.byExit[k]])
		if i := int(e.Node) - 1; i >= 0 && i < len(s.byNode) {
			s.byNode[i]++
		}
	}
	return s
}

// ranOut returns the instant at which the load begins to fall: when the first node makes its last
// exit, or when the duration ends. The load of an open workload does not fall before its last
// arrival, of all nodes together: one that asks rarely may have made its last exit long before. In
// a stepped workload nodes do not ask by themselves, and in a trace their ends mean nothing: there
// it is the last exit. If the log was too small for all entries, it is the first moment from which
// a node's entries may be missing.
func (t *timeline) ranOut(o *Observation) int64 {
	if t.len() == 0 {
		return o.Stop
	}
	plan := o.Job.Plan
	end := t.exited(t.len() - 1).Exited
	if plan.Duration() > 0 && o.Status == runs.OK {
		end = o.Stop
	}
	if plan.Drive() == workload.Stepped || o.Job.Spec.Workload == "trace" {
		return end
	}
	last := make([]int64, o.Job.Spec.Nodes)
	for i := range last {
		last[i] = math.MaxInt64
	}
	var arrived int64 // the last, of an open workload
	count := make([]uint64, len(last))
	for k := range t.len() {
		e := t.exited(k)
		if i := int(e.Node) - 1; i >= 0 && i < len(last) {
			last[i] = e.Exited
			count[i]++
		}
		if plan.Drive() == workload.Open {
			arrived = max(arrived, e.Intended)
		}
	}
	for i := range last {
		share := plan.Share(dme.NodeID(i + 1))
		switch {
		case o.Dropped > 0:
			end = min(end, last[i])
		case share > 0 && count[i] >= uint64(share):
			end = min(end, max(last[i], arrived))
		}
	}
	return end
}

// throughput is in entries per second; nil if it is unknown.
func (s *steady) throughput() *float64 {
	if s.entries < 2 || s.end <= s.begin {
		return nil
	}
	return stats.Known(float64(s.entries) / (float64(s.end-s.begin) / 1e9))
}

// delay is the time between critical sections, from an exit to the next entry, on average:
// 1/throughput less their own length; nil if it is unknown. It needs a clock only for the length of
// the part.
func (s *steady) delay() *float64 {
	if s.throughput() == nil {
		return nil
	}
	return stats.Known(float64(s.end-s.begin-s.held) / float64(s.entries))
}

// jain returns the index of R. Jain, D. Chiu and W. Hawe, A quantitative measure of fairness and
// discrimination (1984), over the nodes that asked at all: 1 if all entered equally often, 1/n if
// one of n did alone.
func (s *steady) jain(nodes []noderun.Counts) *float64 {
	var n, sum, squares float64
	for i, x := range s.byNode {
		if x == 0 && (i >= len(nodes) || nodes[i].Requests == 0) {
			continue
		}
		n++
		sum += float64(x)
		squares += float64(x) * float64(x)
	}
	return ratio(sum*sum, n*squares)
}

// mostIntervals is into how many a run is divided at most.
const mostIntervals = 200

// series is the course of a run, from its start to the last exit, if there was one.
func (t *timeline) series(start int64) *runs.Series {
	if t.len() == 0 {
		return nil
	}
	length := t.exited(t.len()-1).Exited - start
	if length <= 0 {
		return nil
	}
	s := &runs.Series{IntervalNS: interval(length)}
	bins := int((length-1)/s.IntervalNS) + 1
	bin := func(at int64) int { return min(max(0, int((at-start)/s.IntervalNS)), bins-1) }
	waits := t.times(t.byEntry, waiting) // times of an interval stand together
	entered := make([]int, bins)
	s.Entries, s.Waiting = make([]uint64, bins), make([]int64, bins)
	for _, i := range t.byEntry {
		e := &t.e[i]
		in := bin(e.Entered)
		entered[in]++
		s.Entries[bin(e.Exited)]++
		// It waits at the end of each interval from the one in which it came up to
		// the one before it entered.
		s.Waiting[bin(e.Intended)]++
		s.Waiting[in]--
	}
	for i := 1; i < bins; i++ {
		s.Waiting[i] += s.Waiting[i-1]
	}
	s.P50NS, s.P99NS = make([]*int64, bins), make([]*int64, bins)
	for i, n := range entered {
		if q := quantiles(waits[:n]); q != nil {
			s.P50NS[i], s.P99NS[i] = &q.P50, &q.P99
		}
		waits = waits[n:]
	}
	return s
}

// interval returns the shortest interval of 1, 2 or 5 times a power of ten by
// which a run of that length has at most mostIntervals.
func interval(length int64) int64 {
	for unit := int64(1); ; unit *= 10 {
		for _, times := range []int64{1, 2, 5} {
			if d := unit * times; (length-1)/d < mostIntervals {
				return d
			}
		}
	}
}
