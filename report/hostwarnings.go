package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dmebench/runs"
	"dmebench/units"
)

// Others on a host disturb where they take more than this part of its cores, and
// nothing is left of a host where more than that part is busy.
const (
	muchByOthers = 0.1
	nearlyAll    = 0.95
)

// hostWarnings says of each set of hosts what limits the figures of its runs. What
// many hosts or links have in common is one warning.
func (c *collection) hostWarnings() []string {
	var all []string
	for _, s := range c.hostSets {
		for _, d := range s.differences() {
			all = append(all, "hosts differ in "+d)
		}
		all = slices.Concat(all, s.loadWarnings(), s.linkWarnings())
	}
	return all
}

// worst is a host or a link with how bad it is.
type worst struct {
	of   string // its name
	text string // what it is like
	much float64
}

// tellWorst writes the few worst of all, the worst first; "" where there are none.
func tellWorst(all []worst) string {
	slices.SortStableFunc(all, func(a, b worst) int { return cmp.Compare(b.much, a.much) })
	var parts []string
	for i, w := range all {
		if i == mostValues {
			parts = append(parts, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		parts = append(parts, w.of+" "+w.text)
	}
	return strings.Join(parts, ", ")
}

// loadWarnings tells of hosts that had others to serve, or no cores left.
func (s *hostSet) loadWarnings() []string {
	var others, full []worst
	for _, host := range s.names {
		var busiest, disturbed runs.HostLoad
		runs := 0
		for _, h := range s.each(host, s.good) {
			if h.Load == nil || h.Load.Cores == 0 {
				continue
			}
			if byOthers(h.Load) > byOthers(&disturbed) {
				disturbed = *h.Load
			}
			if h.Load.Busy > nearlyAll*float64(h.Load.Cores) {
				runs++
				busiest = *h.Load
			}
		}
		if x := byOthers(&disturbed); x > muchByOthers*float64(disturbed.Cores) {
			others = append(others, worst{host, fmt.Sprintf("up to %s of %d cores", units.Number(x), disturbed.Cores), x / float64(disturbed.Cores)})
		}
		if runs > 0 {
			full = append(full, worst{host, fmt.Sprintf("(%d cores) in %s", busiest.Cores, plural(runs, "run")), float64(runs)})
		}
	}
	var all []string
	if len(others) > 0 {
		all = append(all, "hosts were busy with other things than the workers: "+tellWorst(others)+"; times include waiting for a core")
	}
	if len(full) > 0 {
		all = append(all, "hosts had all their cores busy: "+tellWorst(full)+"; times include waiting for a core")
	}
	return all
}

// linkWarnings tells of lost datagrams, and of links over which clocks could not be
// compared as finely as delays ask for.
func (s *hostSet) linkWarnings() []string {
	var lost, coarse []worst
	links := s.links()
	for _, l := range links {
		if l.lost > 0 {
			lost = append(lost, worst{l.String(), l.losses(), float64(l.lost) / float64(max(1, l.sent))})
		}
		for _, o := range l.offsets {
			if l.median.N > 0 && o.bound > l.median.Median {
				text := fmt.Sprintf("± %s in a round trip of %s", units.Time(o.bound), units.Time(l.median.Median))
				coarse = append(coarse, worst{l.String(), text, o.bound})
				break
			}
		}
	}
	var all []string
	of := func(part []worst) string {
		return fmt.Sprintf("%d of %s between hosts", len(part), plural(len(links), "link"))
	}
	if len(lost) > 0 {
		all = append(all, "datagrams were lost on "+of(lost)+": "+tellWorst(lost))
	}
	if len(coarse) > 0 {
		all = append(all, "clocks could be compared more coarsely than messages take on "+of(coarse)+": "+tellWorst(coarse))
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
	if n := c.tooShort(); n > 0 && n < len(c.Good) {
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

// undecided says for how many entries clocks cannot tell whether mutual exclusion
// held; "" where they can tell.
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
	noun := "entries"
	if entries == 1 {
		noun = "entry"
	}
	return fmt.Sprintf("Of %s %s in %s, the hosts’ clocks cannot tell whether another node was inside.",
		units.Count(entries), noun, plural(runs, "run"))
}

// mostLost is how many lost updates are told of a run.
const mostLost = 5

// lostUpdates tells of the updates that a run lost, each with when its nodes were
// inside and where.
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
	told := r.Safety.Resource.Lost
	told = told[:min(len(told), mostLost)]
	for _, l := range told {
		all = append(all, fmt.Sprintf("the update of %s was lost: %s had read version %d before, and wrote over it",
			inside(l.Node, l.EnteredNS, l.ExitedNS), inside(l.Other, l.OtherEntered, l.OtherExited), l.Version))
	}
	if all != nil {
		all = append(all, "times are since the start of the run, by each host’s clock")
	}
	if n := r.Safety.Resource.LostUpdates; n > uint64(len(told)) && all != nil {
		all[len(all)-1] = fmt.Sprintf("and %d more; %s", n-uint64(len(told)), all[len(all)-1])
	}
	return all
}
