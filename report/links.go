package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dmebench/report/cells"
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
	quickest     float64 // NaN if no datagram ever came back, as of all times here
	median, tail stats.Estimate
	offsets      []bounded
	control      int // runs in which no datagram passed
	drift        []float64
}

// links returns the links between the hosts of a set in the order of their names.
func (s *hostSet) links() []link {
	var found []runs.HostLink
	for _, r := range s.good {
		found = append(found, r.Links...)
	}
	var all []link
	for _, same := range cells.Grouped(found, func(l runs.HostLink) [2]string { return [2]string{l.From, l.To} }) {
		all = append(all, newLink(same[0].From, same[0].To, same))
	}
	slices.SortFunc(all, func(a, b link) int {
		place := func(name string) int { return slices.Index(s.names, name) }
		return cmp.Or(place(a.from)-place(b.from), place(a.to)-place(b.to), cmp.Compare(a.String(), b.String()))
	})
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
	t := newListing(id, title, "from → to", units.Texts(links, link.String))
	for _, c := range []struct {
		name string
		of   func(link) page.Value
	}{
		{"round trip, least", func(l link) page.Value {
			if math.IsNaN(l.quickest) {
				return page.Word(units.Missing)
			}
			return page.Word(units.Time(l.quickest))
		}},
		{"median", func(l link) page.Value { return timeValue(l.median) }},
		{"p99", func(l link) page.Value { return timeValue(l.tail) }},
		{"lost", func(l link) page.Value { return page.Word(l.losses()) }},
		{"clock of the second ahead of the first’s", link.offset},
		{"and fast by", func(l link) page.Value { return driftOf(l.drift) }},
	} {
		var values []page.Value
		for _, l := range links {
			values = append(values, c.of(l))
		}
		addColumn(&t, c.name, false, values)
	}
	return t
}

// offset is that of the second clock, which may be known by way of the coordinator's alone.
func (l link) offset() page.Value {
	v := offsetOf(l.offsets)
	if l.control > 0 && len(l.offsets) > 0 {
		v.Small = fmt.Sprintf("by way of the coordinator’s clock in %s", units.Counted(l.control, "run"))
	}
	return v
}
