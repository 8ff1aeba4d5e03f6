package report

import (
	"fmt"
	"maps"
	"slices"

	"dmebench/report/plots"
	"dmebench/report/units"
)

// kindPicture shows of which kinds the messages per CS are: a panel for each
// series, a bar for each size, a part for each kind. The parts of a bar add up
// to all messages of all good runs over all their entries; medians of parts
// would not add up to anything.
func (s *set) kindPicture() picture {
	f := s.picture("kinds-of-messages", "Messages per critical section by kind", "", s.about)
	f.read = "All messages of all repetitions over all entries; the parts of a bar add up."
	styles := s.kindStyles()
	var names []string
	for _, here := range s.spots {
		names = append(names, units.Count(uint64(here.nodes)))
	}
	for _, ln := range s.lines {
		panel := plots.Panel{
			Title: ln.label, Names: names,
			X: plots.Axis{Label: "nodes N", Kind: plots.Names}, Y: plots.Axis{Label: "messages per CS", Kind: plots.Values},
		}
		top := make([]float64, len(s.spots))
		for _, kind := range slices.Sorted(maps.Keys(styles)) {
			layer := plots.Series{Label: kind, Style: styles[kind], Role: plots.Layer}
			for i, here := range s.spots {
				perCS := here.cells[ln.label].pooledKinds()[kind]
				if perCS == 0 {
					continue
				}
				layer.Points = append(layer.Points, plots.Point{
					X: float64(i), Lo: top[i], Y: top[i] + perCS,
					Note: fmt.Sprintf("%s, %s: %s %s per CS", ln.label, here.text, units.Number(perCS), kind),
				})
				top[i] += perCS
			}
			panel.Series = append(panel.Series, layer)
		}
		if slices.Max(append(top, 0)) > 0 {
			f.Panels = append(f.Panels, panel)
		}
	}
	return f
}

// kindStyles gives every kind of message in a set a look: the same in all
// panels, since most kinds mean the same in all algorithms.
func (s *set) kindStyles() map[string]int {
	kinds := make(map[string]int)
	for _, cell := range s.inOrder() {
		for kind := range cell.pooledKinds() {
			kinds[kind] = 0
		}
	}
	for i, kind := range slices.Sorted(maps.Keys(kinds)) {
		kinds[kind] = i
	}
	return kinds
}

// pooledKinds returns the messages of each kind of all good runs over their
// entries; kinds that were never sent are left out. The cell may be nil.
func (c *cell) pooledKinds() map[string]float64 {
	if c == nil || c.entries() == 0 {
		return nil
	}
	perCS := make(map[string]float64)
	for _, r := range c.good {
		for kind, n := range r.Messages.ByKind {
			if n > 0 {
				perCS[kind] += float64(n) / float64(c.entries())
			}
		}
	}
	return perCS
}
