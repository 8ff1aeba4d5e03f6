package measure

import (
	"math"
	"slices"
	"time"

	"dmebench/runs"
)

// How the clocks of two hosts were compared.
const (
	byUDP     = "udp"
	byControl = "control" // by way of the reference
)

// hosts says where the nodes lived, and how good the clocks there are.
func (t *timeline) hosts(o *Observation) []runs.Host {
	var all []runs.Host
	for k, h := range o.Hosts {
		if h.Relation != nil {
			h.Clock = t.hostClock(k, o)
		}
		all = append(all, h.Host)
	}
	return all
}

// hostClock compares a host's clock with the reference; nil if nothing is known.
func (t *timeline) hostClock(host int, o *Observation) *runs.HostClock {
	r := o.Hosts[host].Relation
	offset, bound := r.Offset(o.Start)
	if bound == math.MaxInt64 {
		return nil
	}
	c := &runs.HostClock{OffsetNS: offset, BoundNS: max(0, bound), SetNS: int64(r.Contradiction())}
	c.DriftPPM, c.DriftBound, _ = r.Drift()
	if c.SetNS > 0 {
		return c
	}
	for i := range t.local {
		if e := &t.local[i]; t.clocks.host(e.Node) == host {
			for _, at := range []int64{e.Entered, e.Exited} {
				_, bound := r.Here(at)
				c.BoundNS = max(c.BoundNS, bound+int64(o.Hosts[host].Error))
			}
		}
	}
	return c
}

// links says what the ways between hosts are like.
func links(o *Observation) []runs.HostLink {
	var all []runs.HostLink
	for _, l := range o.Links {
		from, to := &o.Hosts[l.From], &o.Hosts[l.To]
		trips := l.RoundTrips()
		r := runs.HostLink{
			From: from.Name, To: to.Name, Sent: trips.Sent, Lost: trips.Lost,
			RTTMin: trips.Min, RTTMedian: trips.Median, RTTP99: trips.P99, By: byUDP,
		}
		offset, bound := l.Clock.Offset(from.Relation.There(o.Start))
		r.DriftPPM, r.DriftBound, _ = l.Clock.Drift()
		if bound == math.MaxInt64 {
			r.By = byControl
			a, x := from.Relation.Offset(o.Start)
			b, y := to.Relation.Offset(o.Start)
			slow, first, known := from.Relation.Drift()
			if fast, second, both := to.Relation.Drift(); known && both {
				r.DriftPPM, r.DriftBound = fast-slow, first+second
			}
			if offset = b - a; x >= 0 && y >= 0 && x < math.MaxInt64/4 && y < math.MaxInt64/4 {
				bound = x + y
			}
		}
		if r.OffsetNS = offset; bound >= 0 && bound < math.MaxInt64 {
			r.BoundNS = &bound
		}
		all = append(all, r)
	}
	return all
}

// safetyOfHosts is what the witnesses of the hosts have seen, and what the recorded
// intervals say of entries on different ones.
func (t *timeline) safetyOfHosts(o *Observation, sum *totals) runs.Safety {
	v := t.verdicts()
	for i := range o.Doubts {
		for k := range t.e {
			v.undecided[k] = v.undecided[k] || t.doubted(k, &o.Doubts[i])
		}
	}
	onHosts, between, undecided := v.count()
	s := runs.Safety{
		Violations: max(o.WitnessViolations, onHosts) + between + sum.Unasked, Undecided: undecided,
		Checked: uint64(t.len()), Method: "intervals", Resource: o.resource(),
	}
	if s.Resource != nil {
		s.Violations = max(s.Violations, s.Resource.LostUpdates+sum.Unasked)
	}
	if o.Method != "" {
		s.Method = "witness+intervals"
	}
	return s
}

// doubtful counts the entries made while it is unknown what a lost host did.
func (t *timeline) doubtful(o *Observation) (n int) {
	for k := range t.e {
		if slices.ContainsFunc(o.Doubts, func(d Doubt) bool { return t.doubted(k, &d) }) {
			n++
		}
	}
	return n
}

// doubted reports whether an entry was made, or may have been by its host's clock, while
// a node of a lost host may have been inside.
func (t *timeline) doubted(k int, d *Doubt) bool {
	entered, bound := t.e[k].Entered, int64(0)
	if h := t.clocks.host(t.e[k].Node); h >= 0 {
		entered, bound = t.clocks.hosts[h].Relation.Here(t.local[k].Entered)
		if bound < 0 || bound == math.MaxInt64 {
			return true // nothing is known of that clock
		}
		bound += int64(t.clocks.hosts[h].Error)
	}
	return d.Since <= entered+bound && entered-bound < d.Until
}

// valid returns the delays of hand-overs, if they mean something: the clocks of all are known, and
// their bound is no more than the median of those between hosts.
func (t *timeline) valid(h *handovers) []int64 {
	if h.unknown > 0 {
		return nil
	}
	if len(h.crossed) > 0 && (!t.clocks.sound() || h.bound() > median(h.crossed)) {
		return nil
	}
	return append(t.buffer()[:0], h.delays...)
}

func median(x []int64) int64 { return quantiles(slices.Clone(x)).P50 }

// fillCrossing fills in what only a run on several hosts has, and takes out what is unknown if
// clocks were set.
func (t *timeline) fillCrossing(r *runs.Result, o *Observation, part *steady, h *handovers) {
	if !t.clocks.several() {
		return
	}
	if len(h.crossed) > 0 {
		bound := h.bound()
		r.SyncDelayBound = &bound
	}
	if !t.clocks.sound() {
		r.Throughput, r.SyncDelayBound = nil, nil
		for i := range r.Faults {
			r.Faults[i].RecoveredNS, r.Faults[i].ServedNS, r.Faults[i].Messages = nil, nil, nil
		}
	}
	if saturating(&o.Job.Spec) && r.Throughput != nil {
		r.SyncDelayLoad = part.delay()
	}
}

// saturating says whether a node waits all the time and all exclude one another: then an entry
// takes a critical section and a synchronization delay.
func saturating(s *runs.Spec) bool {
	none := func(option string) bool { return s.Set[option] == "" || s.Set[option] == "0" }
	return s.Workload == "saturate" && none("think") && none("readers")
}

// muchLost is the share of datagrams between two hosts that may be lost without a word.
const muchLost = 0.01

// warnHosts says what a reader of a run on several hosts ought to know of their clocks.
func (t *timeline) warnHosts(r *runs.Result, o *Observation, h handovers) (w remarks) {
	for i := range o.Hosts {
		host := &o.Hosts[i]
		_, bound := host.Relation.Offset(o.Start)
		w.when(bound == math.MaxInt64 && t.clocks.several(),
			"the clock of host %s is unknown, and so are all times between it and other hosts", host.Name)
		w.when(bound < 0, "the clock of host %s, or the coordinator's, was set by at least %v while the run went on, "+
			"or its machine was suspended: nothing measured between hosts can be reported", host.Name, host.Relation.Contradiction())
	}
	for _, l := range o.Links {
		from, to := o.Hosts[l.From].Name, o.Hosts[l.To].Name
		trips := l.RoundTrips()
		by := l.Clock.Contradiction()
		w.when(by > 0, "the clocks of hosts %s and %s were set by at least %v against one another while the run went on: "+
			"nothing measured between hosts can be reported", from, to, by)
		w.when(trips.Lost < trips.Sent && float64(trips.Lost) > muchLost*float64(trips.Sent),
			"%d of %d datagrams from host %s to %s and back were lost", trips.Lost, trips.Sent, from, to)
	}
	if !t.clocks.several() {
		return w
	}
	advice := "hold the critical section longer, or share a resource (--resource nats), which needs no clocks"
	if r.Safety.Resource != nil {
		advice = "real overlaps are among the lost updates of the shared resource"
	}
	if t.doubtful(o) > 0 {
		w.when(true, "%d of %d entries are undecided: %s", r.Safety.Undecided, r.Safety.Checked, lostHost(o))
	} else {
		w.when(r.Safety.Undecided > 0, "for %d of %d entries the clocks cannot tell whether a node of another host was still inside: %s",
			r.Safety.Undecided, r.Safety.Checked, advice)
	}
	w.when(h.unknown > 0,
		"%d hand-overs were between hosts whose clocks cannot be compared: the synchronization delay is unknown", h.unknown)
	if h.unknown == 0 && len(h.crossed) > 0 && t.clocks.sound() {
		m := median(h.crossed)
		instead := ""
		if r.SyncDelayLoad != nil {
			instead = "; see sync_delay_by_throughput_ns, which needs no common clock"
		}
		w.when(*r.SyncDelayBound > m, "synchronization delays are known to within %v, and the median between hosts seems to be %v: "+
			"they are not reported%s", time.Duration(*r.SyncDelayBound), time.Duration(m), instead)
	}
	if below := h.below(); r.SyncDelay != nil {
		w.when(below > 0, "%d of %d synchronization delays between hosts are below the error of the clocks: low percentiles say little",
			below, len(h.crossed))
	}
	n := t.uncertain()
	w.when(n > 0, "the clocks leave open in which order %d entries and the ones before them, on other hosts, were made: "+
		"fairness.longest_run, max_bypass and out_of_order may be off by as many", n)
	return w
}
