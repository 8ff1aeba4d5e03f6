package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"dmebench/report/page"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// link is what is known of the way from one host to another, over all runs that
// ended well.
type link struct {
	from, to     string
	sent, lost   int
	quickest     float64 // NaN where no datagram ever came back, as of all times here
	median, tail stats.Estimate
	offsets      []bounded
	control      int // runs in which no datagram passed
	drift        []float64
}

// links returns the links between the hosts of a set in the order of their names.
func (s *hostSet) links() []link {
	type pair struct{ from, to string }
	found := make(map[pair][]runs.HostLink)
	for _, r := range s.good {
		for _, l := range r.Links {
			found[pair{l.From, l.To}] = append(found[pair{l.From, l.To}], l)
		}
	}
	rank := func(name string) int {
		if i := slices.Index(s.names, name); i >= 0 {
			return i
		}
		return len(s.names)
	}
	var all []link
	for _, p := range slices.SortedFunc(maps.Keys(found), func(a, b pair) int {
		return cmp.Or(rank(a.from)-rank(b.from), rank(a.to)-rank(b.to), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	}) {
		all = append(all, newLink(p.from, p.to, found[p]))
	}
	return all
}

func newLink(from, to string, runs []runs.HostLink) link {
	l := link{from: from, to: to, quickest: math.NaN()}
	var medians, tails []float64
	for _, r := range runs {
		l.sent, l.lost = l.sent+r.Sent, l.lost+r.Lost
		if r.RTTMedian > 0 {
			medians, tails = append(medians, float64(r.RTTMedian)), append(tails, float64(r.RTTP99))
			if quick := float64(r.RTTMin); !(l.quickest <= quick) {
				l.quickest = quick
			}
		} else {
			l.control++
		}
		if r.BoundNS == nil {
			continue
		}
		l.offsets = append(l.offsets, bounded{float64(r.OffsetNS), float64(*r.BoundNS)})
		l.drift = append(l.drift, r.DriftPPM)
	}
	l.median, l.tail = stats.Median(medians), stats.Median(tails)
	return l
}

// String names the link: "a → b".
func (l link) String() string { return l.from + " → " + l.to }

// losses says how many exchanges had no answer.
func (l link) losses() string {
	if l.sent == 0 {
		return units.Missing
	}
	return fmt.Sprintf("%s of %s", units.Count(uint64(l.lost)), units.Count(uint64(l.sent)))
}

func linkTable(id, title string, links []link) page.Table {
	var names []string
	var quickest, median, tail, lost, offset, drift []page.Value
	for _, l := range links {
		names = append(names, l.String())
		q := page.Value{Text: units.Missing}
		if !math.IsNaN(l.quickest) {
			q.Text = units.Time(l.quickest)
		}
		quickest = append(quickest, q)
		median = append(median, timeValue(l.median))
		tail = append(tail, timeValue(l.tail))
		lost = append(lost, page.Value{Text: l.losses()})
		off := offsetOf(l.offsets)
		if l.control > 0 && len(l.offsets) > 0 {
			off.Small = "by way of the coordinator’s clock"
			if l.control < len(l.offsets) {
				off.Small += fmt.Sprintf(" in %s", plural(l.control, "run"))
			}
		}
		offset = append(offset, off)
		drift = append(drift, driftOf(l.drift, 0))
	}
	t := newListing(id, title, "from → to", names)
	addColumn(&t, "round trip, least", false, quickest)
	addColumn(&t, "median", false, median)
	addColumn(&t, "p99", false, tail)
	addColumn(&t, "lost", false, lost)
	addColumn(&t, "clock of the second ahead of the first’s", false, offset)
	addColumn(&t, "and fast by", false, drift)
	return t
}

// note says what a reader sees who points at the link.
func (l link) note() string {
	if l.median.N == 0 {
		return fmt.Sprintf("%s: of %s no answer", l, plural(l.sent, "datagram"))
	}
	text := fmt.Sprintf("%s: %s", l, describe(l.median, units.Time))
	if l.lost > 0 {
		text += fmt.Sprintf("; %s lost", l.losses())
	}
	return text
}
