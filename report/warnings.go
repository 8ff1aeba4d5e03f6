package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/internal/platform"
	"dmebench/report/cells"
	"dmebench/report/page"
	"dmebench/runs"
	"dmebench/units"
)

// changing is what differs between two warnings of one kind: numbers with their
// units, but not the digits of a name such as p99.
var changing = platform.Pattern(`\b\d+([.,]\d+)*(e[-+]?\d+)?( ?(ns|µs|us|ms|s|m|h|%|B|KB|MB|KiB|MiB)\b)?`)

// warning is a warning with the runs that gave it.
type warning struct {
	text, label string // the label, or the host
	cell        int    // its place on the page, −1 if it concerns none
	runs, cells int
}

// addWarnings groups what runs, statistics and files warned about, the most frequent
// first, and says so at the cells that it concerns.
func (p *paper) addWarnings() {
	var all []warning
	for _, w := range p.warnings {
		all = append(all, warning{text: w, cell: -1})
	}
	all = append(all, p.hostWarnings()...)
	for _, r := range p.runs {
		cell, ok := p.cellOf[r.Result]
		if !ok {
			cell = -1
		}
		for _, w := range r.Result.Warnings {
			all = append(all, warning{text: w, label: r.Label, cell: cell, runs: 1})
		}
	}
	for i, cell := range p.cells {
		for _, w := range cell.warnings() {
			all = append(all, warning{text: w, label: cell.Label, cell: i, cells: 1})
		}
	}
	groups := cells.Grouped(all, func(t warning) string { return changing().ReplaceAllString(t.text, "…") })
	slices.SortStableFunc(groups, func(a, b []warning) int { return len(b) - len(a) })
	for i, group := range groups {
		w := p.summarize(group)
		for _, t := range group {
			if t.cell >= 0 && !slices.Contains(w.Cells, t.cell) {
				w.Cells = append(w.Cells, t.cell)
				cell := &p.data.Cells[t.cell]
				cell.Warnings = append(cell.Warnings, i)
			}
		}
		p.data.Warnings = append(p.data.Warnings, w)
	}
}

// ranges writes what warnings of one kind say, with the least and the greatest of numbers
// that differ: "101 to 340 µs late".
func ranges(group []warning) string {
	at := -1
	return changing().ReplaceAllStringFunc(group[0].text, func(string) string {
		at++
		var all []string // the numbers at this place
		for _, t := range group {
			all = append(all, changing().FindAllString(t.text, -1)[at])
		}
		bySize := func(a, b string) int { return cmp.Compare(sizeOf(a), sizeOf(b)) }
		least, most := slices.MinFunc(all, bySize), slices.MaxFunc(all, bySize)
		if least == most {
			return least
		}
		number, unit := divided(least)
		if _, same := divided(most); unit == same {
			least = number
		}
		return least + " to " + most
	})
}

// divided divides what [changing] matches into the number and its unit.
func divided(text string) (number, unit string) {
	end := strings.LastIndexAny(text, "0123456789") + 1
	return text[:end], text[end:]
}

// sizeOf is what differing numbers are ordered by.
func sizeOf(text string) float64 {
	if d, err := time.ParseDuration(strings.ReplaceAll(text, " ", "")); err == nil {
		return d.Seconds()
	}
	number, _ := divided(text)
	x, _ := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	return x
}

// summarize makes one warning of those of one kind.
func (c *collection) summarize(group []warning) page.Warning {
	w := page.Warning{Text: ranges(group)}
	runs, cells := 0, 0
	var labels []string
	for _, t := range group {
		runs, cells = runs+t.runs, cells+t.cells
		if t.label != "" && !slices.Contains(labels, t.label) {
			labels = append(labels, t.label)
		}
	}
	var parts []string
	if runs > 0 {
		parts = append(parts, units.Counted(runs, "run"))
	}
	if cells > 0 {
		parts = append(parts, units.Counted(cells, "cell"))
	}
	if len(labels) > 0 && !slices.Equal(slices.Sorted(slices.Values(labels)), slices.Sorted(slices.Values(c.labels))) {
		parts = append(parts, enumerated(labels))
	}
	w.Where = strings.Join(parts, "; ")
	return w
}

// warnings returns what limits the estimates of a cell, each once.
func (c *cell) warnings() []string {
	all := slices.Concat(c.bimodal(), c.hostWarnings())
	if c.unread != nil {
		all = append(all, fmt.Sprintf("no percentile curve: %v", c.unread))
	}
	if c.Twins > 0 {
		all = append(all, fmt.Sprintf("%s with the seed of another one: the same run again, which does not count",
			units.Counted(c.Twins, "simulation")))
	}
	for _, m := range runs.Metrics() {
		e := c.estimates[m.Name]
		for _, w := range e.Warnings {
			if e.N > 0 && !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	return all
}

// Others on a host disturb if they take more than this part of its cores, and nothing is left of a
// host if more than that part is busy.
const (
	muchByOthers = 0.1
	nearlyAll    = 0.95
)

// hostWarnings says of each set of hosts what limits the figures of its runs.
func (c *collection) hostWarnings() (all []warning) {
	warn := func(of, format string, args ...any) {
		all = append(all, warning{text: fmt.Sprintf(format, args...), label: of, cell: -1})
	}
	for _, s := range c.hostSets {
		for _, d := range s.differences() {
			warn("", "hosts differ in %s", d)
		}
		for _, host := range s.names {
			for _, h := range s.each(host, s.good) {
				if h.Load == nil || h.Load.Cores == 0 {
					continue
				}
				if x := byOthers(h.Load); x > muchByOthers*float64(h.Load.Cores) {
					warn(host, "%s of %d cores of the host were busy with other things than the workers; times include waiting for a core",
						units.Number(x), h.Load.Cores)
				}
				if h.Load.Busy > nearlyAll*float64(h.Load.Cores) {
					warn(host, "all %d cores of the host were busy; times include waiting for a core", h.Load.Cores)
				}
			}
		}
		for _, l := range s.links() {
			if l.lost > 0 {
				warn(l.String(), "%s datagrams between hosts were lost", l.losses())
			}
			for _, o := range l.offsets {
				if l.median.N > 0 && o.bound > l.median.Median {
					warn(l.String(), "clocks of two hosts could be compared to ± %s only, and a round trip takes %s",
						units.Time(o.bound), units.Time(l.median.Median))
				}
			}
		}
	}
	return all
}

// hostWarnings says what limits a cell's figures of several hosts.
func (c *cell) hostWarnings() []string {
	var all []string
	if sd := c.estimates[runs.SyncDelayP50]; sd.N > 0 && c.clockBound() > sd.Median {
		all = append(all, fmt.Sprintf("the bound of the clocks, %s, exceeds the median synchronization delay, %s: it is not known",
			units.Time(c.clockBound()), units.Time(sd.Median)))
	}
	if n := c.TooShort(); n > 0 && n < len(c.Good) {
		all = append(all, fmt.Sprintf("the synchronization delay of %d of %d repetitions is shorter than the clocks can tell: "+
			"the others’ would be a median of slow ones, and is not shown", n, len(c.Good)))
	}
	placed := make(map[string]bool)
	for _, r := range c.All() {
		if len(r.Hosts) > 0 {
			placed[whereabouts(r)] = true
		}
	}
	if len(placed) > 1 {
		all = append(all, fmt.Sprintf("repetitions placed their nodes on hosts in %d ways: medians may move with placement alone", len(placed)))
	}
	return all
}

// undecided says for how many entries clocks cannot decide whether mutual exclusion held; "" if
// they can for all.
func (c *collection) undecided() string {
	runs, entries := 0, uint64(0)
	for _, r := range c.runs {
		if n := r.Result.Safety.Undecided; n > 0 {
			runs, entries = runs+1, entries+n
		}
	}
	if runs == 0 {
		return ""
	}
	return fmt.Sprintf("Of %d entries in %s, the hosts’ clocks cannot tell whether another node was inside.",
		entries, units.Counted(runs, "run"))
}

// mostLost is how many lost updates of a run are listed.
const mostLost = 5

// lostUpdates lists the updates that a run lost, each with when its nodes were inside and where.
func lostUpdates(r *runs.Result) []string {
	if r.Safety.Resource == nil {
		return nil
	}
	at := make(map[int]string)
	for _, h := range r.Hosts {
		for _, node := range h.Nodes {
			at[node] = " on " + h.Name
		}
	}
	inside := func(node int, from, to int64) string {
		return fmt.Sprintf("node %d (inside from %s to %s%s)", node, units.Time(float64(from)), units.Time(float64(to)), at[node])
	}
	var all []string
	lost := r.Safety.Resource.Lost
	for _, l := range lost[:min(len(lost), mostLost)] {
		all = append(all, fmt.Sprintf("the update of %s was lost: %s had read version %d before, and wrote over it",
			inside(l.Node, l.EnteredNS, l.ExitedNS), inside(l.Other, l.OtherEntered, l.OtherExited), l.Version))
	}
	if all != nil {
		all = append(all, fmt.Sprintf("in all %d updates were lost; times are since the start of the run, by each host’s clock",
			r.Safety.Resource.LostUpdates))
	}
	return all
}

// Repetitions that fall into two groups have no common median: the middle lies in one of the
// groups, or between them if nothing was measured. On a shared machine that is what processes do
// that come to lie on one core in some runs and on two in others.
//
// There are two groups if a gap parts the sorted logarithms so that each side has at
// least fewestInMode values, the gap is at least apart(n) times as wide as the wider of the two
// sides, and the sides' middles differ by at least the factor modesDiffer. Logarithms, because
// times scatter by factors; a single outlier is never a group.
//
// If all n values come from one distribution, be it normal, uniform or exponential in their
// logarithms, the first two conditions alone are met by chance in less than 1% of samples; a test
// draws them.
const (
	fewestRepetitions = 6
	fewestInMode      = 2
	modesDiffer       = 1.5
)

// apart is how many times as wide as the groups the gap between them must be:
// with few values the widest gap is wide by chance. It is a bound on the 99th
// percentiles of that ratio, found by drawing samples.
func apart(n int) float64 { return max(2, 24/float64(n-1)) }

// modes are two groups of values.
type modes struct {
	low, high   float64 // the middles of the groups
	lows, highs int     // values in each
}

// twoModes reports the two groups that positive values fall into, if they do.
func twoModes(values []float64) (modes, bool) {
	n := len(values)
	sorted := slices.Sorted(slices.Values(values))
	if n < fewestRepetitions || !(sorted[0] > 0) || math.IsInf(sorted[n-1], 0) {
		return modes{}, false
	}
	width := func(from, to int) float64 { return math.Log(sorted[to] / sorted[from]) }
	for k := fewestInMode; k <= n-fewestInMode; k++ {
		m := modes{low: middle(sorted[:k]), high: middle(sorted[k:]), lows: k, highs: n - k}
		if width(k-1, k) >= apart(n)*max(width(0, k-1), width(k, n-1)) && m.high >= modesDiffer*m.low {
			return m, true
		}
	}
	return modes{}, false
}

// middle is the median of sorted values.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// bimodal says which quantities of the cell's repetitions have two modes.
func (c *cell) bimodal() (warnings []string) {
	for _, name := range []string{runs.Throughput, runs.ResponseP50, runs.SyncDelayP50, runs.MeanDelay} {
		metric, _ := runs.LookupMetric(name)
		m, ok := twoModes(metric.Values(c.Good))
		if !ok {
			continue
		}
		show := units.Number
		if metric.Time() {
			show = units.Time
		}
		warnings = append(warnings, fmt.Sprintf("repetitions fall into two groups: %s is near %s in %d and near %s in %d; "+
			"their median describes neither; look for what differs, such as the cores on which processes ran",
			metric.Phrase(), show(m.low), m.lows, show(m.high), m.highs))
	}
	return warnings
}
