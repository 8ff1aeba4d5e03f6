package report

import (
	"cmp"
	"slices"
	"strings"

	"dmebench/dme/claim"
	"dmebench/report/cells"
	"dmebench/report/plots"
	"dmebench/runs"
)

// overNodes returns what is drawn against the number of nodes: of all sets but those that
// are points of a curve, where there would be a lonely point.
func (c *collection) overNodes() []picture {
	var all []picture
	for _, s := range c.sets {
		if c.familyOf(s) == nil {
			all = append(all, c.pictures(s.chart)...)
		}
	}
	return all
}

// titleOverNodes is that of what overNodes returns.
func (c *collection) titleOverNodes() string {
	sizes := make(map[int]bool)
	for _, s := range c.sets {
		if c.familyOf(s) == nil {
			for _, here := range s.spots {
				sizes[here.nodes] = true
			}
		}
	}
	if len(sizes) == 1 {
		for n := range sizes {
			return "On " + plural(n, "node")
		}
	}
	return "Against the number of nodes"
}

// ofSet returns what the section of a set shows: what is not drawn against the number of
// nodes, nor put together with other sets. Of a set that is a point of a curve there is
// nothing that the curve does not say.
func (c *collection) ofSet(s *set) []picture {
	if c.familyOf(s) != nil {
		return nil
	}
	return slices.DeleteFunc([]picture{s.kindPicture(), c.fairnessPicture(s)}, picture.empty)
}

// acrossSets returns what shows single numbers of nodes, of all sets together:
// distributions, courses, and how the work was shared. Of a set with faults the course
// stands elsewhere.
func (c *collection) acrossSets() []picture {
	var all []picture
	for _, s := range c.sets {
		shown := append(c.distributions(s), c.overTime(s)...)
		if f := c.familyOf(s); f == nil {
			shown = append(shown, s.workPicture())
		} else if !f.stands(s) {
			for i := range shown {
				shown[i].leftOut = cmp.Or(shown[i].leftOut, betweenOthers)
			}
		}
		all = append(all, shown...)
	}
	return slices.DeleteFunc(all, picture.empty)
}

// fairnessPicture shows how evenly and in which order the nodes entered, and how
// evenly they worked. Under serial load nobody competes: there the order of
// entries says something about the workload alone, and only the work is shown.
func (c *collection) fairnessPicture(s *set) picture {
	f := s.picture("fairness vs n", "Fairness and division of work", "", s.about)
	f.read = s.howToRead(runs.WorkMaxOverMean)
	serial := s.workload == "serial"
	if serial {
		f.Title = "Division of work"
	}
	for _, p := range []struct {
		quantity
		ordinate string
		order    bool
	}{
		{quantity{title: "Jain's index of the entries", median: runs.JainIndex}, "Jain's index", true},
		{quantity{title: "Longest run of one node", median: runs.LongestRun, theory: claim.LongestRun}, "entries in a row", true},
		{quantity{title: "Largest bypass of a request", median: runs.MaxBypass, theory: claim.Bypass}, "entries by others", true},
		{quantity{title: "Largest bypass by one node", median: runs.MaxBypassByOne, theory: claim.BypassByOne, forTheory: true},
			"entries by one other", true},
		{quantity{title: "Messages of the busiest node", median: runs.WorkMaxOverMean, theory: claim.WorkSpread}, "busiest / mean", false},
	} {
		series, said := c.series(s.chart, p.quantity)
		told := len(said) > 0
		if measuredIn(series) && (told || !p.forTheory && !flat(series)) && !(p.order && serial) {
			f.predicted = append(f.predicted, said...)
			f.Panels = append(f.Panels, plots.Panel{
				Title: p.title, X: s.abscissa, Y: plots.Axis{Label: p.ordinate, Kind: plots.Values}, Series: series,
			})
		}
	}
	return f
}

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
	for _, panel := range cells.Grouped(p.predicted, func(s saying) string { return s.panel }) {
		for i, same := range cells.Grouped(panel, func(s saying) string { return s.text }) {
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
