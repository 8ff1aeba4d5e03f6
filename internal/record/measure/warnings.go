package measure

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/platform/clock"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/units"
)

// EnvironmentCores is the key of [Observation.Environment] under which a
// runtime says how many cores its processes share.
const EnvironmentCores = "cores"

// manyPerCore is how many processes share a core before a warning: most of them
// wait for a message at any time.
const manyPerCore = 4

// muchRetransmitted is the share of frames that may be sent again without a word.
const muchRetransmitted = 0.01

// Changes of clocks that need no warning. The step is that of the wall clock, which
// measures nothing here; the slew is twice what a time service does by itself.
const (
	smallJump = time.Millisecond
	smallSlew = 0.001 // of the time elapsed
)

type remarks []string

func (r *remarks) when(so bool, format string, args ...any) {
	if so {
		*r = append(*r, fmt.Sprintf(format, args...))
	}
}

type negatives struct {
	n     int
	least int64
}

func (n *negatives) add(sample []int64) []int64 {
	for _, x := range sample {
		if x < 0 {
			n.n++
			n.least = min(n.least, x)
		}
	}
	return sample
}

// warnings says everything that a reader of the figures ought to know, a sentence each, in a fixed
// order.
//
// It does not look for two modes among the times of one run: they are what an algorithm makes of a
// load, by a node's place in a queue or on a ring, and depend on one another, so that no rate of
// false alarms could be stated. Two modes among repetitions are reported by the report.
func warnings(r *runs.Result, o *Observation, part *steady, neg negatives) []string {
	var w remarks
	job := o.Job

	w.when(o.Partial, "the run was interrupted after %v: all figures are of what was measured until then",
		time.Duration(max(0, o.Stop-o.Start)).Round(time.Millisecond))
	w.when(job.Algorithm.AsPublished, "%s is the literal text of its paper, which is known to be wrong", r.Algorithm)
	w.when(len(job.Missing) > 0, "%s needs %s, which %s does not have",
		r.Algorithm, strings.Join(job.Missing, " and "), job.Network.Describe(job.NetOptions))

	if remarks := job.Algorithm.Remarks; remarks != nil {
		w = append(w, remarks(job.System)...)
	}

	w.when(job.Plan.LongestHold() == 0 && o.Resource == nil,
		"critical sections take no time, so two of them hardly ever overlap and a faulty algorithm may pass; "+
			"make them last at least as long as a message takes, such as --cs 1ms")
	lost := lostText(r.Safety.Resource)
	w.when(lost != "", "%s", lost)
	w.when(part.throughput() == nil,
		"too few entries in the steady part for a throughput: %d in %v; ask for more requests or less warm-up",
		part.entries, time.Duration(max(0, part.end-part.begin)))
	w.when(!part.converged,
		"the run was too short to settle: the best warm-up cut lies in its second half, and only %d of %d entries were cut",
		part.warmup.Entries, len(o.Entries))
	w.when(o.Dropped > 0, "%d entries were not recorded: the log was full; times and order are those of the first %d entries only",
		o.Dropped, len(o.Entries))
	w.when(o.Unserved > 0, "%s still waited in line at the end, unserved", units.Counted(int(o.Unserved), "request"))
	missedRate(&w, r, part)
	overtaken := claims.Overtaken(overtaking(job), r)
	w.when(overtaken != "", "%s", overtaken)

	w.when(r.Messages.Refused > 0, "nodes refused %d messages", r.Messages.Refused)
	w.when(r.Wire.Refused > 0, "the transport refused %d frames or connections", r.Wire.Refused)
	w.when(r.Wire.KernelDrops > 0,
		"the kernel dropped %d datagrams that found a receive buffer full: receivers did not keep up, which shows in the times",
		r.Wire.KernelDrops)
	sent, handled := r.Messages.Total, uint64(0)
	for _, n := range r.Work.HandledByNode {
		handled += n
	}
	w.when(r.Status == runs.OK && o.Service == nil && sent != handled && len(job.Faults) == 0 && len(o.Strikes) == 0,
		"%d messages were sent and %d handled: the links lose or duplicate", sent, handled)

	retransmitted := float64(r.Wire.Retransmissions) / float64(max(1, r.Wire.Frames))
	w.when(retransmitted > muchRetransmitted,
		"the transport sent %d times again for %d frames, %.1f%%: "+
			"the network loses, or its buffers are too small; times include waiting for those frames",
		r.Wire.Retransmissions, r.Wire.Frames, 100*retransmitted)

	w.when(r.T == nil && r.Nodes > 1 && job.Algorithm.Class != dme.Service,
		"the mean delay T of a message is unknown: nothing can be given in units of T")
	w.when(neg.n > 0, "time differences are negative (%d, down to %v): clocks disagree, or entries overlapped; histograms leave them out",
		neg.n, time.Duration(neg.least))
	jumps(&w, o.Clocks)
	if links := job.Links(); job.Network.Real() && links.Idle() && !job.Needs.BoundedDelay {
		pinned(&w, "response time", r.ResponseTime, r.T, r.CS)
		pinned(&w, "synchronization delay", r.SyncDelay, r.T)
	}
	oversubscribed(&w, o)
	if r.SyncDelayOverT != nil {
		oneCore(&w, o)
	}
	return w
}

// oversubscribed warns where a host has many more processes than cores.
func oversubscribed(w *remarks, o *Observation) {
	perHost(o, func(processes, cores int, where string) {
		w.when(processes > manyPerCore*cores, "oversubscribed: %d processes on %d cores%s; times include waiting for a core",
			processes, cores, where)
	})
}

// oneCore warns if processes take turns on one core. T is measured while two of them do, and a
// synchronization delay while all do: their ratio shows how many there are.
func oneCore(w *remarks, o *Observation) {
	perHost(o, func(processes, cores int, where string) {
		w.when(cores == 1 && processes > 1, "%d processes share one core%s, and wait for it between an exit and the next entry: "+
			"synchronization delay / T is not the algorithm's; measure it on two cores or more, or with --transport sim",
			processes, where)
	})
}

// perHost calls f with how many processes share how many cores; if names the host if there are
// several.
func perHost(o *Observation, f func(processes, cores int, where string)) {
	call := func(processes int, environment map[string]string, where string) {
		if cores, err := strconv.Atoi(environment[EnvironmentCores]); err == nil {
			f(processes, cores, where)
		}
	}
	if len(o.Hosts) == 0 {
		call(o.Workers, o.Environment, "")
	}
	for i := range o.Hosts {
		h, each := &o.Hosts[i], max(1, o.Job.Spec.NodesPerWorker)
		call((len(h.Nodes)+each-1)/each, h.Environment, " of host "+h.Name)
	}
}

// missedRate warns if an open workload was not what it was meant to be. The rate reached is
// compared with the rate offered only beyond what chance explains: n Poisson arrivals take a time
// that scatters by 1/√n.
func missedRate(w *remarks, r *runs.Result, part *steady) {
	if r.Offered == nil {
		return
	}
	if r.Throughput != nil {
		low := 0.95 * *r.Offered * (1 - 2/math.Sqrt(float64(part.entries)))
		w.when(*r.Throughput < low, "the offered rate was missed: %s of %s entries per second",
			units.Number(*r.Throughput), units.Number(*r.Offered))
	}
	if r.Lateness != nil {
		between := float64(r.Nodes) * 1e9 / *r.Offered
		w.when(float64(r.Lateness.P99) > between,
			"the generator was late: 1%% of the requests came %v or more behind schedule, "+
				"which is more than a node's mean interarrival time of %v",
			time.Duration(r.Lateness.P99), time.Duration(between))
	}
}

// pinned warns if a median lies at a timer of the operating system: delayed acknowledgements (40
// ms), retransmission (200 ms), and half of it. The parts of it, means of ns, may add up to the same.
func pinned(w *remarks, what string, q *runs.Quantiles, in ...*float64) {
	if q == nil {
		return
	}
	largest := 0.0
	for _, mean := range in {
		if mean != nil {
			largest = max(largest, *mean)
		}
	}
	for _, timer := range []time.Duration{40 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond} {
		off := math.Abs(float64(q.P50) - float64(timer))
		w.when(off <= 0.02*float64(timer) && largest < 0.1*float64(timer),
			"the median %s of %v lies at a kernel timer of %v: look for delayed acknowledgements or retransmissions",
			what, time.Duration(q.P50), timer)
	}
}

// jumps warns if clocks did not run evenly. Several workers of one host have seen the same: the
// largest of each is reported once.
func jumps(w *remarks, clocks []clock.Change) {
	var suspended, stepped time.Duration
	slewed := 0.0
	for _, c := range clocks {
		if c.Suspended > smallJump+c.Error {
			suspended = max(suspended, c.Suspended)
		}
		if by := c.Stepped; by.Abs() > smallJump+c.Error && by.Abs() > stepped.Abs() {
			stepped = by
		}
		limit := smallSlew*float64(c.Elapsed) + float64(c.Error)
		if by := float64(c.Slewed) / float64(c.Elapsed); math.Abs(float64(c.Slewed)) > limit && math.Abs(by) > math.Abs(slewed) {
			slewed = by
		}
	}
	w.when(suspended > 0, "the machine was suspended for %v during the run: that time is missing in what was measured", suspended)
	w.when(stepped != 0, "the wall clock was set by %v during the run: "+
		"times are not measured with it, but processes that wait for a time of day were disturbed", stepped)
	w.when(slewed != 0, "the clock that measures ran %+.2f%% off the hardware's, as a time service corrects it: "+
		"all times are off by as much", 100*slewed)
}

func overtaking(j *run.Job) claim.Overtaking {
	setting := dme.Setting{Algorithm: j.Algorithm, Nodes: j.Spec.Nodes, Options: j.Options, System: j.System}
	return claim.OvertakingBound(claim.Of(j.Algorithm), setting, j.Guarantees().FIFO)
}
