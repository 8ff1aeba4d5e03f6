package commandline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/internal/run"
	"dmebench/result"
)

func printJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

// printResult prints what a person wants to know of a run.
func printResult(out io.Writer, job *run.Job, r *result.Result) error {
	var text bytes.Buffer // written at once: who reads its first lines alone has them all
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	line("run", "%s, %d nodes over %s, workload %s, seed %d", r.Algorithm, r.Nodes, network(job), r.Workload, r.Seed)
	status := string(r.Status)
	if r.Partial {
		status += ", partial: interrupted before its end"
	}
	line("status", "%s", status)
	line("entries", "%d of %d requests", r.Entries, r.Requests)
	if r.Messages.PerCS != nil {
		line("messages per CS", "%.4g  (%s)", *r.Messages.PerCS, kinds(r))
	}
	if len(r.Messages.PerEntry) > 0 {
		line("messages of an entry", "%s", perEntry(r.Messages.PerEntry))
	}
	if r.Throughput != nil {
		line("throughput", "%.4g CS/s", *r.Throughput)
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
	alarms := claims.Of(job.Spec, job.Guarantees().FIFO).Unfair(job.Algorithm.Claims, setting, r)
	for _, alarm := range alarms {
		line("", "%s", alarm)
	}
	undecided := ""
	if r.Safety.Undecided > 0 {
		undecided = fmt.Sprintf(", %d that the clocks cannot tell", r.Safety.Undecided)
	}
	line("safety", "%d violations in %d entries%s (%s)", r.Safety.Violations, r.Safety.Checked, undecided, r.Safety.Method)
	if s := r.Safety.Resource; s != nil {
		line("shared resource", "%d updates, %d lost (%s)", s.Updates, s.LostUpdates, s.Kind)
	}
	if w := r.Wire; w.Retransmissions+w.Duplicates+w.KernelDrops > 0 {
		line("wire", "%s for %d frames, %d sent again, %d arrived twice, %d dropped by the kernel",
			packets(w), w.Frames, w.Retransmissions, w.Duplicates, w.KernelDrops)
	}
	for i := range r.Faults {
		name := ""
		if i == 0 {
			name = "faults"
		}
		line(name, "%s", describeFault(&r.Faults[i], crossingOf(r)))
	}
	line("workers", "%d", r.Workers)
	for i := range r.Hosts {
		name := ""
		if i == 0 {
			name = "hosts"
		}
		line(name, "%s", describeHost(&r.Hosts[i]))
	}
	known("links", describeLinks(r.Links))
	told := func(warning string) bool { return slices.Contains(alarms, warning) }
	for i, warning := range slices.DeleteFunc(slices.Clone(r.Warnings), told) {
		name := ""
		if i == 0 {
			name = "warnings"
		}
		line(name, "%s", warning)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := out.Write(text.Bytes())
	return err
}

// describeQuantiles writes a distribution of times; empty where there is none.
func describeQuantiles(q *result.Quantiles) string {
	if q == nil {
		return ""
	}
	return fmt.Sprintf("p50 %v  p90 %v  p99 %v  max %v", ns(q.P50), ns(q.P90), ns(q.P99), ns(q.Max))
}

// network names the job's network, with what is unusual about it.
func network(job *run.Job) string {
	if job.Network.Real() {
		return job.Network.Describe(job.NetOptions)
	}
	return job.Network.Name
}

func packets(w result.Wire) string {
	if w.Packets == nil {
		return fmt.Sprintf("%d writes", w.Writes)
	}
	return fmt.Sprintf("%d packets", *w.Packets)
}

func kinds(r *result.Result) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(r.Messages.ByKind)) {
		if n := r.Messages.ByKind[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", kind, n))
		}
	}
	return strings.Join(parts, ", ")
}

func perEntry(h map[string]uint64) string {
	var counts []int
	for k := range h {
		var n int
		fmt.Sscan(k, &n)
		counts = append(counts, n)
	}
	slices.Sort(counts)
	var parts []string
	for _, n := range counts {
		parts = append(parts, fmt.Sprintf("%d (%d×)", n, h[fmt.Sprint(n)]))
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
