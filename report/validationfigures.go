package report

import (
	"slices"
	"strings"

	"dmebench/claims"
	"dmebench/report/plots"
	"dmebench/report/units"
	"dmebench/result"
)

// scalingFigures draws messages per CS against N, a figure for each load and
// network.
func scalingFigures(d *claims.Document) []plots.Figure {
	var figures []plots.Figure
	var labels []string
	for i := range d.Scaling {
		s := &d.Scaling[i]
		label := strings.TrimSpace(s.Algorithm + " " + result.Settings(s.Set))
		if !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
		where := placeText(s.Transport, s.Condition)
		k := slices.IndexFunc(figures, func(f plots.Figure) bool { return f.Subtitle == where })
		if k < 0 {
			k = len(figures)
			figures = append(figures, plots.Figure{
				Name: "growth-" + units.Slug(where), Title: "Messages per critical section", Subtitle: where,
				X: plots.Axis{Label: "nodes N", Kind: plots.Values}, Y: plots.Axis{Label: "messages per CS", Kind: plots.Values},
			})
		}
		series := plots.Series{Label: label, Style: slices.Index(labels, label), Role: plots.Measured}
		for _, p := range s.Points {
			series.Points = append(series.Points, plots.At(float64(p.Nodes), p.PerCS))
		}
		figures[k].Series = append(figures[k].Series, series)
	}
	return figures
}
