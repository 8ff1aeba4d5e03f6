package measure

import (
	"maps"
	"slices"

	"dmebench/runs"
	"dmebench/stats"
	"dmebench/transport"
	"dmebench/workload"
)

// Result says what came out of a run.
//
// A run in which mutual exclusion was violated is violated, whatever else went wrong with it. If
// the runtime says ok, the status becomes failed if the links are reliable and the messages sent
// and handled do not agree, or if records and counts do not, for then no count can be trusted. It
// becomes stalled if faults have left no node to make the requests that were asked for, and failed
// if a fault never struck and the job does not allow that: the run was not the one asked for.
func Result(o Observation) *runs.Result {
	job := o.Job
	c := newClocks(&o)
	t := newTimeline(o.Entries, c, o.fenced())
	o.Nodes = c.counts(o.Nodes)
	sum := total(o.Nodes, o.Traffic)
	if len(o.Nodes) == 0 { // failed before anything was counted
		sum.Entries = uint64(t.len()) + o.Dropped
		sum.Requests = sum.Entries
	}
	part := t.steady(&o)

	r := &runs.Result{
		SchemaVersion: runs.SchemaVersion,
		Algorithm:     job.Spec.Algorithm, Nodes: job.Spec.Nodes, Transport: job.Spec.Transport,
		Workload: job.Spec.Workload, Seed: job.Spec.Seed, Spec: job.Spec,
		Status: o.Status, Error: o.Error, Partial: o.Partial, FailedNodes: slices.Sorted(slices.Values(o.FailedNodes)),
		Requests: sum.Requests, Entries: sum.Entries, Unserved: o.Unserved,
		Messages: sum.messages(job.Algorithm, o.PerEntry),
		Wire:     o.Wire,
		Work:     work(&sum, &o),
		Warmup:   part.warmup,
		Workers:  o.Workers, Environment: maps.Clone(o.Environment),
		Hosts: t.hosts(&o), Links: links(&o),
		Figures: t.figures(&o),
	}
	if r.Environment == nil {
		r.Environment = map[string]string{}
	}
	r.Throughput = part.throughput()
	r.Messages.SteadyPerCS = t.steadyPerCS(&part, &sum, &o)
	byAll, byOne := t.maxBypass()
	r.Fairness = runs.Fairness{
		Jain: part.jain(o.Nodes), LongestRun: t.longestRun(),
		MaxBypass: byAll, ByOne: byOne, OutOfOrder: t.outOfOrder(),
	}
	t.fillSites(r, &o)
	r.Safety = t.safety(&o, &sum)
	r.Service = o.Service
	r.Liveness = runs.Liveness{Stalled: o.Status == runs.Stalled, States: o.States}
	explain(&r.Liveness, &o, &sum)
	if ended := sum.Entries + lost(&o); sum.Requests > ended {
		r.Liveness.Pending = sum.Requests - ended
	}
	r.Faults = t.faults(&o)
	r.Series = t.series(o.Start)
	negative, crossed := t.fillTimes(r, &o, &part)
	r.Steady = t.steadyFigures(&o, &part, &crossed)
	t.judge(r, &o, &sum)
	r.Warnings = slices.Concat(o.Warnings, t.warnHosts(r, &o, crossed), warnings(r, &o, &part, negative))
	o.unmade(r)
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
	return r
}

// fillTimes fills in everything that is a distribution of times or a mean of
// one, and returns what it saw of negative differences and of hand-overs.
func (t *timeline) fillTimes(r *runs.Result, o *Observation, part *steady) (neg negatives, h handovers) {
	h = t.handovers(diedInside(o))
	neg.add(h.delays)
	distribution := func(sample []int64) (*runs.Quantiles, string) { return quantiles(sample), histogram(sample) }
	r.SyncDelay, r.Histograms.SyncDelay = distribution(t.valid(&h))
	r.ResponseTime, r.Histograms.Response = distribution(neg.add(t.times(t.byExit, response)))
	r.WaitingTime, r.Histograms.Waiting = distribution(neg.add(t.times(t.byExit, waiting)))
	r.CS = meanOf(neg.add(t.times(t.byExit, held)))
	if o.Job.Plan.Drive() == workload.Open {
		r.Lateness = quantiles(t.times(t.byExit, lateness))
		r.Offered = t.offered(o)
	}
	switch {
	case len(o.Delays) > 0:
		r.T = meanOf(o.Delays)
	case o.MeanDelay != 0:
		r.T = stats.Known(o.MeanDelay)
	}
	r.THandover = meanOf(o.HandoverDelays)
	if t := r.Delay(); t != nil && r.SyncDelay != nil {
		r.SyncDelayOverT = ratio(r.SyncDelay.Mean, *t)
	}
	t.fillCrossing(r, o, part, &h)
	return neg, h
}

// offered returns the entries per second that an open workload or a trace asked for.
func (t *timeline) offered(o *Observation) *float64 {
	if rate := o.Job.Plan.OfferedRate(); rate > 0 {
		return stats.Known(rate)
	}
	last := o.Start
	for i := range t.e {
		last = max(last, t.e[i].Intended)
	}
	return ratio(float64(t.len())*1e9, float64(last-o.Start))
}

// steadyPerCS is the messages sent after the warm-up cut over the entries after
// it: everything until the system was quiet, so that without a cut it is
// exactly the count of the whole run.
func (t *timeline) steadyPerCS(part *steady, sum *totals, o *Observation) *float64 {
	cut := part.warmup.Entries
	if cut == 0 {
		return ratio(float64(sum.Sent), float64(sum.Entries))
	}
	if cut >= sum.Entries {
		return nil
	}
	sent := t.sentAt(part.begin, o.Start, o.Nodes)
	return ratio(float64(sum.Sent)-sent, float64(sum.Entries-cut))
}

// safety combines what the witness, the recorded intervals and the updates of a shared resource
// say. Each may see an overlap that the others missed, and all may see the same one. An entry
// without a request is a violation of its own.
func (t *timeline) safety(o *Observation, sum *totals) runs.Safety {
	if t.clocks.several() {
		return t.safetyOfHosts(o, sum)
	}
	s := runs.Safety{Checked: uint64(t.len()), Method: "intervals", Resource: o.resource()}
	s.Violations = max(o.WitnessViolations, t.overlaps())
	if s.Resource != nil {
		s.Violations = max(s.Violations, s.Resource.LostUpdates)
	}
	s.Violations += sum.Unasked
	if o.Method != "" {
		s.Method, s.Checked = o.Method, sum.Entries
	}
	return s
}

func work(sum *totals, o *Observation) runs.Work {
	n := len(o.Nodes)
	w := runs.Work{
		LongestQueue: sum.LongestQueue, LongestBytes: sum.LongestMessage,
		SentByNode: make([]uint64, n), HandledByNode: make([]uint64, n), EntriesByNode: make([]uint64, n),
		MaxOverMean: ratio(float64(sum.busiest)*float64(n), float64(sum.Sent+sum.Handled)),
	}
	for i := range o.Nodes {
		w.SentByNode[i] = o.Nodes[i].Sent
		if o.Service == nil { // a service's clients count what passes once, as sent
			w.HandledByNode[i] = o.Nodes[i].Handled
		}
		w.EntriesByNode[i] = o.Nodes[i].Entries
	}
	return w
}

// Wire is what the transports of a run have counted, all processes together.
func Wire(c transport.Counters) runs.Wire {
	w := runs.Wire{
		Frames: c.Frames, Bytes: c.Bytes, Writes: c.Writes,
		Retransmissions: c.Retransmissions, Duplicates: c.Duplicates, KernelDrops: c.KernelDrops,
		Refused: c.RefusedFrames + c.RefusedConns,
	}
	if c.Packets > 0 {
		w.Packets = &c.Packets
	}
	return w
}
