package report

import (
	"fmt"

	"dmebench/report/plots"
	"dmebench/report/units"
	"dmebench/result"
)

// served is the part of an offered load that must be served for the load to be
// met. Arrivals scatter, so that a load counts as missed only where the whole
// interval of the throughput lies below that.
const served = 0.95

// knee returns the last spot of a load curve before the first whose load a line
// missed. ok is false where already the smallest was missed, or none was: then
// the knee lies outside of what was measured.
func (ch chart) knee(label string) (last spot, ok bool) {
	for _, s := range ch.spots {
		if s.cells[label] == nil {
			continue
		}
		e := s.cells[label].estimates[result.Throughput]
		most := e.Max
		if e.Bounded() {
			most = e.Hi
		}
		switch {
		case e.N == 0:
			continue
		case most < served*s.offered:
			return last, last.cells != nil
		}
		last = s
	}
	return last, false
}

// markKnees adds to a figure of throughput against load what was offered, and a
// ring around the knee of every line that has one.
func (ch chart) markKnees(f *plots.Figure) {
	offered := plots.Series{Label: "offered load", Style: plots.Plain, Role: plots.Bound}
	for _, s := range ch.spots {
		if s.offered == 0 {
			return
		}
		offered.Points = append(offered.Points, plots.At(s.x, s.offered))
	}
	found := false
	for _, ln := range ch.lines {
		s, ok := ch.knee(ln.label)
		if !ok {
			continue
		}
		mark := plots.At(s.x, s.cells[ln.label].estimates[result.Throughput].Median)
		mark.Note = fmt.Sprintf("%s: knee at %s requests/s", ln.label, units.Number(s.offered))
		f.Series = append(f.Series, plots.Series{Style: ln.style, Role: plots.Mark, Points: []plots.Point{mark}})
		found = true
	}
	f.Series = append(f.Series, offered)
	if found {
		f.Keys = append(f.Keys, plots.Key{
			Label: fmt.Sprintf("knee: beyond it less than %.0f%% of the load is served, by the whole interval", 100*served),
			Role:  plots.Mark,
		})
	}
}
