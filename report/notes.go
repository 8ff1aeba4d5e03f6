package report

import (
	"slices"

	"dmebench/report/page"
)

// notes say what the numbers of the page mean.
func (c *collection) notes() []page.Note {
	hosts, faults := c.onHosts(), slices.ContainsFunc(c.sets, (*set).faulty)
	var all []page.Note
	for _, n := range []struct {
		wanted     bool
		term, text string
	}{
		{true, "A value and its interval", "The median over repetitions, and below it the 95% confidence interval of that median by order " +
			"statistics, which assumes nothing about how the values are distributed. It needs at least six repetitions; with fewer the range of " +
			"all values stands there in italics, which is not an interval, and figures have no error bars. Percentiles are taken in each " +
			"repetition; they are never averaged."},
		{true, "Messages per CS", "All messages of a run, from start to silence, over the number of entries. A message to k receivers counts " +
			"k times. A predicted value is called equal only if it is what every repetition measured."},
		{true, "Throughput", "Entries into the critical section (CS) per second in the steady part of a run."},
		{true, "Response time", "From the request to the exit from the critical section, which includes the time inside."},
		{true, "Waiting time", "From the moment at which the workload wanted the request to the entry. A request that had to stand in line " +
			"behind its own node's earlier one has waited from the beginning."},
		{true, "Synchronization delay (SD)", "From an exit to the next entry, only if another node was waiting at the exit. SD/T is its " +
			"mean over the mean one-way delay T of a message."},
		{hosts, "± a time", "Times on different hosts are compared by their clocks, whose offset is known up to a bound: no error is larger, " +
			"if no clock runs faster or slower than the program takes for granted. Response and waiting times are read on one clock and need " +
			"none. Bars of a synchronization delay reach further than its 95% interval by the bound."},
		{hosts, "1/throughput − E", "The mean time from an exit to the next entry while a node always waits: the time per entry less the " +
			"mean time inside. It needs no common clock."},
		{hosts, "Undecided", "Entries of which the clocks cannot tell whether a node of another host was inside. What was seen to overlap " +
			"beyond any doubt is a violation."},
		{hosts, "Round trip", "Of a datagram from one host's agent to another's and back, before, during and after each run: the median over " +
			"runs of each run's own median and 99th percentile, and the least of all."},
		{hosts, "Load of a host", "Cores that were busy on average while a run went on, of these with its workers, and the rest with others, " +
			"the agent among them."},
		{true, "Jain's index", "(Σx)² / (N·Σx²) of the nodes' entries in the steady part: 1 if all entered equally often, 1/N if one " +
			"node did alone."},
		{true, "Longest run, bypass", "The most entries in a row by one node, and the most entries by others between a request and its " +
			"own entry."},
		{true, "Predictions", "Dashed what a paper says exactly or of the mean, dotted a bound, with its source. Times and rates are predicted " +
			"from T and from the mean time inside as they were measured in the same runs."},
		{faults, "Recovery", "From a fault until a node that it did not hit enters, and until the last of the requests that waited when it " +
			"struck is served. Of several faults of a run the costliest counts. Times and messages are those of runs that ended well."},
		{true, "Percentiles", "Half of the times are at most p50, and 99 in 100 at most p99. Curves by percentile merge the distributions of " +
			"all repetitions; a single run shows its own."},
		{true, "Course of a run", "What happened in each interval, from the start of the run. Faults are marked where they struck."},
		{true, "violated, stalled, failed", "Two nodes were inside at once; requests were pending and nothing moved; the run could not be " +
			"carried out as it was asked for. No number of such a run is used."},
	} {
		if n.wanted {
			all = append(all, page.Note{Term: n.term, Text: n.text})
		}
	}
	return all
}
