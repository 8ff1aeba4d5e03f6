package report

import (
	"fmt"

	"dmebench/report/plots"
	"dmebench/report/units"
)

// served is the part of an offered load that must be served for the load to be
// met. Arrivals scatter, so that a load counts as missed only where the whole
// interval of the throughput lies below that.
const served = 0.95

// offered returns the requests per second that member i asks of a system of n
// nodes; ok is false where the family is none of loads.
func (f family) offered(i, n int) (rate float64, ok bool) {
	switch v := f.members[i].value; v.key {
	case "total-rate":
		return v.number, true
	case "rate":
		return v.number * float64(n), true
	}
	return 0, false
}

// knee returns the last member of a load curve before the first whose load a
// series missed. ok is false where already the smallest was missed, or none was:
// then the knee lies outside of what was measured.
func (f family) knee(label string, n int) (last int, ok bool) {
	last = -1
	for i, m := range f.members {
		cell := m.set.cells[place{label, n}]
		rate, isLoad := f.offered(i, n)
		if !isLoad {
			return -1, false
		}
		if cell == nil || cell.estimates[throughput].N == 0 {
			continue
		}
		e := cell.estimates[throughput]
		most := e.Max
		if e.Bounded() {
			most = e.Hi
		}
		if most < served*rate {
			return last, last >= 0
		}
		last = i
	}
	return last, false
}

// markKnees adds to a figure of throughput against load what was offered, and a
// ring around the knee of every series that has one.
func (f family) markKnees(fig *plots.Figure, n int) {
	line := plots.Series{Label: "all that is offered", Style: plots.Plain, Role: plots.Bound}
	for i := range f.members {
		rate, ok := f.offered(i, n)
		if !ok {
			return
		}
		line.Points = append(line.Points, plots.At(f.x(i), rate))
	}
	found := false
	var marks []plots.Series
	for _, s := range fig.Series {
		if s.Role != plots.Measured || s.Label == "" {
			continue
		}
		i, ok := f.knee(s.Label, n)
		if !ok {
			continue
		}
		rate, _ := f.offered(i, n)
		cell := f.members[i].set.cells[place{s.Label, n}]
		mark := plots.At(f.x(i), cell.estimates[throughput].Median)
		mark.Note = fmt.Sprintf("%s: knee at %s requests/s", s.Label, units.Number(rate))
		marks = append(marks, plots.Series{Style: s.Style, Role: plots.Mark, Points: []plots.Point{mark}})
		found = true
	}
	fig.Series = append(append(fig.Series, marks...), line)
	if found {
		fig.Keys = append(fig.Keys, plots.Key{
			Label: fmt.Sprintf("knee: beyond it less than %.0f%% of the load is served, by the whole interval", 100*served), Role: plots.Mark,
		})
	}
}
