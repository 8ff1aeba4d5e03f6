package report

import (
	"fmt"

	"dmebench/runs"
	"dmebench/units"
)

// Others on a host disturb if they take more than this part of its cores, and nothing is left of a
// host if more than that part is busy.
const (
	muchByOthers = 0.1
	nearlyAll    = 0.95
)

// hostWarnings says of each set of hosts what limits the figures of its runs.
func (c *collection) hostWarnings() (all []told) {
	warn := func(of, format string, args ...any) {
		all = append(all, told{text: fmt.Sprintf(format, args...), label: of, cell: -1})
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
