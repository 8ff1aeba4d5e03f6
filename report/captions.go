package report

import (
	"slices"
	"strings"

	"dmebench/report/plots"
)

// saying is a prediction as a caption has it.
type saying struct {
	of, text string
	panel    string // in which alone it is said; "" in all
	second   bool   // there is a sharper one of the same series
}

// caption is what stands below a picture where its title does not stand above it: what
// it is, how to read it, and who predicts what is drawn with it.
func (p picture) caption() string {
	text := p.Title
	if x := p.abscissa(); x != "" {
		text += ", against " + x
	}
	if p.Subtitle != "" {
		text += " (" + strings.ReplaceAll(p.Subtitle, separator, ", ") + ")"
	}
	text += "."
	if p.read != "" {
		text += " " + p.read
	}
	if predicted := p.predictions(); predicted != "" {
		text += " Predicted (dashed: exactly or of the mean; dotted: a bound): " + predicted + "."
	}
	return text
}

// abscissa is what a picture is drawn against, "" where its title says it.
func (p picture) abscissa() string {
	switch {
	case !strings.Contains(p.kind, "-vs-"):
		return ""
	case len(p.Panels) > 0:
		return against(p.Panels[0].X)
	}
	return against(p.X)
}

// against is what an axis counts; series side by side are against nothing.
func against(x plots.Axis) string {
	if x.Kind == plots.Names && x.Label == "algorithm" {
		return ""
	}
	return x.Label
}

// predictions writes what is said of whom, by panels, and the same of several once.
func (p picture) predictions() string {
	var parts []string
	for _, panel := range Grouped(p.predicted, func(s saying) string { return s.panel }) {
		for i, same := range Grouped(panel, func(s saying) string { return s.text }) {
			var of []string
			for _, s := range same {
				if !slices.Contains(of, s.of) {
					of = append(of, s.of)
				}
			}
			text := strings.TrimSpace(strings.Join(of, ", ") + " " + same[0].text)
			if i == 0 && same[0].panel != "" {
				text = same[0].panel + ": " + text
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}
