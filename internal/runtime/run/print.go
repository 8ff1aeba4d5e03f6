package run

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/runs"
	"dmebench/units"
)

// Print prints what a person wants to know of the result of a run.
func Print(out io.Writer, job *Job, r *runs.Result) error {
	var text bytes.Buffer // written at once: a reader of its first lines has them all
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	network := job.Network.Name
	if job.Network.Real() {
		network = job.Network.Describe(job.NetOptions) // with what is unusual about it
	}
	list := func(name string, lines []string) {
		for _, text := range lines {
			line(name, "%s", text)
			name = ""
		}
	}
	line("run", "%s, %s over %s, workload %s, seed %d", r.Algorithm, units.Counted(r.Nodes, "node"), network, r.Workload, r.Seed)
	status := string(r.Status)
	if r.Partial {
		status += ", partial: interrupted before its end"
	}
	line("status", "%s", status)
	line("entries", "%d of %d requests", r.Entries, r.Requests)
	if r.Messages.PerCS != nil {
		line("messages per CS", "%s%s", units.Number(*r.Messages.PerCS), kinds(r))
	}
	if len(r.Messages.PerEntry) > 0 {
		line("messages of an entry", "%s", perEntry(r.Messages.PerEntry))
	}
	if r.Throughput != nil {
		line("throughput", "%s CS/s", units.Number(*r.Throughput))
	}
	known := func(name, text string) {
		if text != "" {
			line(name, "%s", text)
		}
	}
	known("response time", describeQuantiles(r.ResponseTime))
	known("waiting time", describeQuantiles(r.WaitingTime))
	known("synchronization delay", syncDelay(r))
	if r.SyncDelayLoad != nil {
		line("1/throughput - CS", "%v", ns(int64(*r.SyncDelayLoad)))
	}
	if r.T != nil {
		spaced := ""
		if r.THandover != nil {
			spaced = fmt.Sprintf(" back to back, %v between handovers", ns(int64(*r.THandover)))
		}
		line("T", "%v%s", ns(int64(*r.T)), spaced)
	}
	if r.SyncDelayOverT != nil {
		line("synchronization delay / T", "%.3g", *r.SyncDelayOverT)
	}
	if r.Fairness.Jain != nil {
		line("fairness", "Jain %.3f, longest run %d, most overtaken %d, out of order %d",
			*r.Fairness.Jain, r.Fairness.LongestRun, r.Fairness.MaxBypass, r.Fairness.OutOfOrder)
	}
	setting := dme.Setting{Nodes: job.Spec.Nodes, Options: job.Options, System: job.System}
	alarms := job.Circumstance().Unfair(claim.Of(job.Algorithm), setting, r)
	list("", alarms)
	undecided := ""
	if r.Safety.Undecided > 0 {
		undecided = fmt.Sprintf(", %d that the clocks cannot tell", r.Safety.Undecided)
	}
	violations := units.Counted(int(r.Safety.Violations), "violation")
	line("safety", "%s in %d entries%s (%s)", violations, r.Safety.Checked, undecided, r.Safety.Method)
	if s := r.Safety.Resource; s != nil {
		refused := ""
		if s.Refused > 0 {
			refused = fmt.Sprintf(", %d refused by their fencing tokens", s.Refused)
		}
		line("shared resource", "%d updates, %d lost%s (%s)", s.Updates, s.LostUpdates, refused, s.Kind)
	}
	if w := r.Wire; w.Retransmissions+w.Duplicates+w.KernelDrops > 0 {
		sent := fmt.Sprintf("%d writes", w.Writes)
		if w.Packets != nil {
			sent = fmt.Sprintf("%d packets", *w.Packets)
		}
		line("wire", "%s for %d frames, %d sent again, %d arrived twice, %d dropped by the kernel",
			sent, w.Frames, w.Retransmissions, w.Duplicates, w.KernelDrops)
	}
	describeService(r.Service, line)
	list("sites", describeSites(r))
	var faults, hosts []string
	for i := range r.Faults {
		faults = append(faults, describeFault(&r.Faults[i], crossingOf(r)))
	}
	for i := range r.Hosts {
		hosts = append(hosts, describeHost(&r.Hosts[i]))
	}
	list("faults", faults)
	line("workers", "%d", r.Workers)
	list("hosts", hosts)
	known("links", describeLinks(r.Links))
	isAlarm := func(warning string) bool { return slices.Contains(alarms, warning) }
	list("warnings", slices.DeleteFunc(slices.Clone(r.Warnings), isAlarm))
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := out.Write(text.Bytes())
	return err
}

// describeSites says for each site how long its nodes waited, and then what kept to sites:
// handovers, beside how many would by chance, and messages.
func describeSites(r *runs.Result) []string {
	if r.Sites == nil {
		return nil
	}
	var lines []string
	var entries, stays, byChance float64
	for i := range r.Sites {
		s := &r.Sites[i]
		if s.Nodes == 0 {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s, nodes %d: %d entries, waiting %s",
			s.Name, s.Nodes, s.Entries, cmp.Or(describeQuantiles(s.Waiting), "–")))
		entries += float64(s.Entries)
		stays += float64(s.Stays)
		byChance += float64(s.Entries) * float64(s.Entries)
	}
	if entries > 1 {
		lines = append(lines, fmt.Sprintf("%.3g messages per CS between sites; %.0f%% of handovers stay at their site, by chance %.0f%%",
			float64(*r.Messages.BetweenSites)/entries, 100*stays/(entries-1), 100*byChance/entries/entries))
	}
	return lines
}

// describeQuantiles writes a distribution of times; empty if there is none.
func describeQuantiles(q *runs.Quantiles) string {
	if q == nil {
		return ""
	}
	return fmt.Sprintf("p50 %v  p90 %v  p99 %v  max %v", ns(q.P50), ns(q.P90), ns(q.P99), ns(q.Max))
}

func kinds(r *runs.Result) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(r.Messages.ByKind)) {
		if n := r.Messages.ByKind[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", kind, n))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, ", ") + ")"
}

func perEntry(h map[string]uint64) string {
	var parts []string
	shorterFirst := func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) } // as numbers
	for _, n := range slices.SortedFunc(maps.Keys(h), shorterFirst) {
		parts = append(parts, fmt.Sprintf("%s (%d×)", n, h[n]))
	}
	return strings.Join(parts, ", ")
}

// ns rounds a time to what a person reads.
func ns(x int64) time.Duration {
	d := time.Duration(x)
	switch size := d.Abs(); {
	case size >= time.Second:
		return d.Round(time.Millisecond)
	case size >= time.Millisecond:
		return d.Round(time.Microsecond)
	case size >= 10*time.Microsecond:
		return d.Round(100 * time.Nanosecond)
	}
	return d
}

func describeService(s *runs.Service, line func(label, format string, args ...any)) {
	if s == nil {
		return
	}
	if s.Servers > 0 {
		line("servers", "%d (%s)", s.Servers, strings.Join(dme.Assigned(s.Settings), ", "))
	}
	if b := s.Between; b != nil {
		line("between servers", "%s messages, %s bytes", counted(b.Messages), counted(b.Bytes))
	} else {
		line("between servers", "unknown: %s", s.Untold)
	}
	if s.FailedCalls+s.Expired > 0 {
		line("clients", "%d calls failed and were made again, %d locks were lost while they were held", s.FailedCalls, s.Expired)
	}
}

func counted(n *uint64) string {
	if n == nil {
		return "an unknown number of"
	}
	return strconv.FormatUint(*n, 10)
}

// describeFault says what was done to a run, and what came of it, as well as that is
// known between hosts.
func describeFault(f *runs.Fault, known crossing) string {
	whom := nodesOf(f.Nodes)
	if f.Servers != nil {
		whom = "server " + strings.Trim(fmt.Sprint(f.Servers), "[]")
	}
	parts := []string{fmt.Sprintf("hit %s at %v", whom, ns(f.AtNS))}
	if f.EndedNS != nil {
		parts = append(parts, fmt.Sprintf("over after %v", ns(*f.EndedNS)))
	}
	switch {
	case f.RecoveredNS != nil:
		parts = append(parts, "next entry after "+known.time(*f.RecoveredNS))
	case known.set:
		parts = append(parts, "the clocks cannot tell what came after it")
	default:
		parts = append(parts, "no other node entered after it")
	}
	switch {
	case f.ServedNS != nil:
		parts = append(parts, fmt.Sprintf("the %d that waited served after %s", f.Waiting, known.time(*f.ServedNS)))
	case known.set:
	case f.Waiting > 0:
		parts = append(parts, fmt.Sprintf("of the %d that waited, some never served", f.Waiting))
	}
	if f.Lost > 0 {
		parts = append(parts, units.Counted(int(f.Lost), "request")+" lost")
	}
	return f.Fault + ": " + strings.Join(parts, ", ")
}

// nodesOf names nodes: no nodes, node 2, nodes 1-3.
func nodesOf(ids []int) string {
	var nodes []dme.NodeID
	for _, id := range slices.Sorted(slices.Values(ids)) {
		nodes = append(nodes, dme.NodeID(id))
	}
	switch len(nodes) {
	case 0:
		return "no nodes"
	case 1:
		return "node " + dme.FormatNodes(nodes)
	}
	return "nodes " + dme.FormatNodes(nodes)
}

type crossing struct {
	bound int64 // on the error of an instant of any host, ns; 0 of a run on one clock
	set   bool  // a clock was set: nothing that crosses hosts is known
}

func crossingOf(r *runs.Result) (c crossing) {
	for _, h := range r.Hosts {
		if h.Clock != nil {
			c.bound = max(c.bound, h.Clock.BoundNS)
			c.set = c.set || h.Clock.SetNS > 0
		}
	}
	return c
}

// time writes a time from an instant on the coordinator's clock to one on a host's.
func (c crossing) time(x int64) string {
	if c.bound == 0 {
		return ns(x).String()
	}
	return units.Bounded(float64(x), float64(c.bound))
}

// syncDelay writes the synchronization delays of a run; empty if there is nothing to say.
func syncDelay(r *runs.Result) string {
	q := r.SyncDelay
	switch {
	case r.SyncDelayBound == nil:
		return describeQuantiles(q)
	case q == nil:
		return fmt.Sprintf("unknown: the clocks allow only ± %v", ns(*r.SyncDelayBound))
	}
	return fmt.Sprintf("p50 %v  p90 %v  p99 %v, each ± %v  max %v", ns(q.P50), ns(q.P90), ns(q.P99), ns(*r.SyncDelayBound), ns(q.Max))
}

func describeHost(h *runs.Host) string {
	text := fmt.Sprintf("%s at %s: %s", h.Name, h.Address, nodesOf(h.Nodes))
	c := h.Clock
	if c == nil {
		return text
	}
	ahead := units.Bounded(float64(c.OffsetNS), float64(c.BoundNS))
	if c.SetNS > 0 {
		return text + fmt.Sprintf("; clock %s ahead at the start, and was set by %v or more", ahead, ns(c.SetNS))
	}
	text += fmt.Sprintf("; clock %s ahead", ahead)
	if drift, known := c.Drift(); known {
		text += fmt.Sprintf(", drift %.1f ± %.1f ppm", math.Round(10*drift)/10+0, c.DriftBound) // no negative zero
	}
	return text
}

// describeLinks sums up the ways between hosts; empty if there are none.
func describeLinks(links []runs.HostLink) string {
	var shortest, longest int64
	var sent, lost, control int
	for _, l := range links {
		sent, lost = sent+l.Sent, lost+l.Lost
		if l.RTTMedian > 0 {
			if shortest == 0 || l.RTTMedian < shortest {
				shortest = l.RTTMedian
			}
			longest = max(longest, l.RTTMedian)
		}
		if l.By != "udp" {
			control++
		}
	}
	if len(links) == 0 {
		return ""
	}
	text := fmt.Sprintf("%d, round trips %v to %v in the median, %d of %d datagrams lost", len(links), ns(shortest), ns(longest), lost, sent)
	if control > 0 {
		text += fmt.Sprintf("; no datagram passes on %d of them", control)
	}
	return text
}
