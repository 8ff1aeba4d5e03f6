package report

import (
	"cmp"
	"slices"

	"dmebench/dme"
	"dmebench/report/plots"
	"dmebench/result"
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
	f.read = s.howToRead(result.WorkMaxOverMean)
	serial := s.workload == "serial"
	if serial {
		f.Title = "Division of work"
	}
	for _, p := range []struct {
		quantity
		ordinate string
		order    bool
	}{
		{quantity{title: "Jain's index of the entries", median: result.JainIndex}, "Jain's index", true},
		{quantity{title: "Longest run of one node", median: result.LongestRun, theory: dme.LongestRun}, "entries in a row", true},
		{quantity{title: "Largest bypass of a request", median: result.MaxBypass, theory: dme.Bypass}, "entries by others", true},
		{quantity{title: "Largest bypass by one node", median: result.MaxBypassByOne, theory: dme.BypassByOne, forTheory: true},
			"entries by one other", true},
		{quantity{title: "Messages of the busiest node", median: result.WorkMaxOverMean, theory: dme.WorkSpread}, "busiest / mean", false},
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
