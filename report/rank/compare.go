package rank

import (
	"math"
	"slices"

	"dmebench/runs"
	"dmebench/stats"
)

// compare adds a column: a metric of every entrant, each against the best. A
// metric that no entrant has is no column.
func (c *Contest) compare(m runs.Metric, alpha float64) {
	cells := make([]Cell, len(c.Entrants))
	best, measured := -1, 0
	for i, e := range c.Entrants {
		c.Entrants[i].at = i
		cells[i] = cellOf(m, e.runs)
		if cells[i].N == 0 {
			continue
		}
		measured++
		if best < 0 || better(m, cells[i], cells[best]) < 0 {
			best = i
		}
	}
	if best < 0 {
		return
	}
	pairs := measured * (measured - 1) / 2
	col := Column{Metric: m.Name, Unit: unit(m), metric: m, Needed: stats.EnoughFor(max(1, pairs), alpha)}
	raw, corrected := test(cells)
	col.p = corrected
	for i := range cells {
		cell := &cells[i]
		if i == best {
			cell.Standing = First
			continue
		}
		cell.stand(&cells[best], raw[key(i, best)], corrected[key(i, best)], pairs, alpha)
	}
	col.conclude(c.Entrants, cells, best)
	c.Columns = append(c.Columns, col)
	for i := range c.Entrants {
		c.Entrants[i].Cells = append(c.Entrants[i].Cells, cells[i])
	}
}

func cellOf(m runs.Metric, list []*runs.Result) Cell {
	values := m.Values(list)
	// If clocks cannot tell the delays of some runs, the others are slow ones.
	if slices.Contains(runs.SyncDelays(), m.Name) && slices.ContainsFunc(list, (*runs.Result).SyncDelayTooShort) {
		values = nil
	}
	e := stats.Median(values)
	return Cell{
		N: e.N, Median: stats.Known(e.Median), Lo: stats.Known(e.Lo), Hi: stats.Known(e.Hi),
		Values: append([]float64{}, values...), Standing: Absent, estimate: e,
	}
}

type pair struct{ a, b int }

func key(i, j int) pair { return pair{min(i, j), max(i, j)} }

// test compares every two cells that have values, and corrects the p-values of all
// of them: the best of a column may turn out to be any.
func test(cells []Cell) (raw, corrected map[pair]float64) {
	var pairs []pair
	var p []float64
	for i := range cells {
		for j := i + 1; j < len(cells); j++ {
			if cells[i].N > 0 && cells[j].N > 0 {
				pairs = append(pairs, pair{i, j})
				p = append(p, stats.MannWhitney(cells[i].Values, cells[j].Values))
			}
		}
	}
	raw, corrected = make(map[pair]float64), make(map[pair]float64)
	for i, x := range stats.Holm(p) {
		raw[pairs[i]], corrected[pairs[i]] = p[i], x
	}
	return raw, corrected
}

func (c *Cell) stand(best *Cell, p, corrected float64, pairs int, alpha float64) {
	if c.N == 0 {
		return
	}
	c.P, c.PHolm = &p, &corrected
	if *best.Median != 0 || *c.Median == 0 {
		change := 0.0
		if *c.Median != *best.Median {
			change = (*c.Median - *best.Median) / math.Abs(*best.Median)
		}
		c.Change = &change
	}
	switch {
	case corrected <= alpha:
		c.Standing = Worse
	case stats.LeastP(c.N, best.N)*float64(pairs) > alpha:
		c.Standing = Unknown
	default:
		c.Standing = Level
	}
}

func (col *Column) conclude(entrants []Entrant, cells []Cell, best int) {
	standing := make(map[Standing]int)
	col.Best = []string{entrants[best].Label}
	col.constant = true
	for i, cell := range cells {
		standing[cell.Standing]++
		if cell.Standing == Level || cell.Standing == Unknown {
			col.Best = append(col.Best, entrants[i].Label)
		}
		if cell.N > 0 && (cell.estimate.Min != cells[best].estimate.Min || cell.estimate.Max != cells[best].estimate.Min) {
			col.constant = false
		}
	}
	switch {
	case standing[Level]+standing[Worse]+standing[Unknown] == 0:
		col.Outcome = Alone
	case len(col.Best) == 1:
		col.Outcome = Won
	case standing[Level]+standing[Worse] == 0:
		col.Outcome = TooFew
	default:
		col.Outcome = Tied
	}
}
