package report

import (
	"slices"

	"dmebench/dme"
	"dmebench/report/plots"
)

// fairnessFigure shows how evenly and in which order the nodes entered, and how
// evenly they worked. Under serial load nobody competes: there the order of
// entries says something about the workload alone, and only the work is shown.
func (c *collection) fairnessFigure(s *set) plots.Figure {
	f := plots.Figure{Name: s.slug + "-fairness", Title: "Fairness and division of work", Subtitle: s.String()}
	if s.workload == "serial" {
		f.Title = "Division of work"
	}
	for _, p := range []struct {
		title, ordinate, metric string
		theory                  dme.Quantity
		order, forTheory        bool
	}{
		{"Jain's index of the entries", "Jain's index", jain, dme.Quantity{}, true, false},
		{"Longest run of one node", "entries in a row", longestRun, dme.LongestRun, true, false},
		{"Largest bypass of a request", "entries by others", maxBypass, dme.Bypass, true, false},
		{"Largest bypass by one node", "entries by one other", maxBypassByOne, dme.BypassByOne, true, true},
		{"Messages of the busiest node", "busiest / mean", workMaxOverMean, dme.WorkSpread, false, false},
	} {
		if p.order && s.workload == "serial" {
			continue
		}
		panel := plots.Panel{
			Title: p.title, X: plots.Axis{Label: "nodes N", Kind: plots.Sizes},
			Y: plots.Axis{Label: p.ordinate, Kind: plots.Values},
		}
		shown, told := false, false
		for _, label := range s.labels {
			style := slices.Index(c.labels, label)
			points := s.points(label, p.metric, panel.Y)
			panel.Series = append(panel.Series, plots.Series{Label: label, Style: style, Role: plots.Measured, Points: points})
			if p.theory != (dme.Quantity{}) {
				curves := c.curves(s, label, style, p.theory)
				panel.Series, told = append(panel.Series, curves...), told || len(curves) > 0
			}
			shown = shown || len(points) > 0
		}
		if shown && (told || !p.forTheory) {
			f.Panels = append(f.Panels, panel)
		}
	}
	return f
}
