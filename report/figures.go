package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"dmebench/report/cells"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/units"
)

// Figures for papers. A picture is what can be shown of one place: a network, a workload
// and, if there is one, a number of nodes. Pictures of several places become panels of
// one figure. The page draws everything else itself.

// panel is one pair of axes of a figure, and what a caption says of it.
type panel struct {
	plots.Panel
	about     []string // where it was measured: what not all panels of a figure share titles them
	read      string   // how to read it
	predicted []saying
}

// saying is a prediction as a caption has it.
type saying struct{ of, text string }

// picture is what can be shown of one place.
type picture struct {
	show    string // as an experiment file has it
	kind    string // what its figures are called before the place: "throughput-vs-n"
	title   string
	ch      chart
	alone   bool                   // its views are a figure already
	natural bool                   // drawn against what varies
	usual   bool                   // patterns of names find it
	panels  func(most int) []panel // with at most this many predictions of a series
}

// name is that of the picture as a figure: "throughput-vs-n-tcp-saturate".
func (p picture) name() string {
	return units.Slug(strings.Join([]string{p.kind, p.ch.place, p.ch.size}, " "))
}

// sizeSlug writes a number of nodes as names of files have it.
func sizeSlug(nodes int) string { return fmt.Sprintf("n%d", nodes) }

// is reports whether the picture is one of those that an experiment asks for.
func (p picture) is(f runs.Figure) bool {
	show := f.Show
	if m, ok := f.Metric(); ok {
		show = m.Name
	}
	if p.show != show || f.Against != "" && p.ch.against != f.Against ||
		f.Against == "" && !p.natural && p.ch.size != sizeSlug(f.Nodes) {
		return false
	}
	return slices.ContainsFunc(p.ch.inOrder(), func(c *cell) bool {
		return cmp.Or(f.Transport, c.First.Transport) == c.First.Transport && cmp.Or(f.Workload, c.First.Workload) == c.First.Workload &&
			cmp.Or(f.Nodes, c.Nodes) == c.Nodes
	})
}

// pictures lists everything that can be drawn.
func (c *collection) pictures() []picture {
	var charts []picture
	for _, s := range c.sets {
		charts = append(charts, picture{ch: s.chart, natural: c.familyOf(s) == nil})
	}
	for _, f := range c.families {
		for _, ch := range f.charts {
			charts = append(charts, picture{ch: ch, natural: true})
		}
	}
	var all []picture
	add := func(p picture, show, title string, panels func(most int) []panel) {
		p.show, p.title, p.panels = show, title, panels
		p.kind = cmp.Or(p.kind, units.Slug(show)+"-vs-"+p.ch.against)
		all = append(all, p)
	}
	for _, m := range runs.Metrics() {
		q, usual := quantityOf(m.Name)
		for _, p := range charts {
			p.kind = m.Slug() + "-vs-" + p.ch.against
			p.usual = usual && p.natural && (m.Name != runs.TransmissionsPerCS || p.ch.broadcasts())
			add(p, m.Name, q.title, func(most int) []panel { return []panel{c.over(p.ch, m.Name, most)} })
		}
	}
	for _, several := range severalMetrics {
		for _, p := range charts {
			p.alone, p.usual = true, p.natural
			add(p, several.show, several.title, func(int) (all []panel) {
				for _, metric := range several.metrics {
					all = append(all, c.over(p.ch, metric, 1))
				}
				return all
			})
		}
	}
	for _, s := range c.sets {
		all = slices.Concat(all, s.distributions(), []picture{s.kindPicture()}, s.work(), s.courses())
	}
	return append(all, c.growthPictures()...)
}

// severalMetrics are the figures with a panel for each of several metrics.
var severalMetrics = []struct {
	show, title string
	metrics     []string
}{
	{runs.FairnessPicture, "Fairness and division of work", []string{runs.JainIndex, runs.MaxBypass, runs.WorkMaxOverMean}},
	{runs.RecoveryPicture, "Recovery: the costliest fault of a run", []string{
		runs.Recovered, runs.Served, runs.RecoveryMessages, runs.RequestsLost,
	}},
}

// candidate is a figure that could be drawn.
type candidate struct {
	name     string
	pictures []picture
}

// mostPanels is how many pictures become one figure.
const mostPanels = 9

// candidates makes figures of pictures of one kind: of all together if that can be, and each alone.
func candidates(some []picture, suffix string) (together, alone []candidate) {
	for _, p := range some {
		alone = append(alone, candidate{p.name(), []picture{p}})
	}
	if len(some) > 1 && len(some) <= mostPanels && !some[0].alone {
		together = []candidate{{units.Slug(some[0].kind + " " + suffix), some}}
	}
	return together, alone
}

// figure draws up a candidate: its panels have one legend, and what they have in common is
// its subtitle.
func (c candidate) figure() plots.Figure {
	most := 2
	if len(c.pictures) > 1 {
		most = 1
	}
	f := plots.Figure{Name: c.name, Title: c.pictures[0].title}
	var panels []panel
	var abouts [][]string
	var reads, predicted []string
	for _, p := range c.pictures {
		for _, v := range p.panels(most) {
			if (plots.Figure{Panels: []plots.Panel{v.Panel}}).Empty() {
				continue
			}
			panels, abouts, reads = append(panels, v), append(abouts, v.about), append(reads, v.read)
		}
	}
	if len(panels) == 0 {
		return f
	}
	parts := differingParts(abouts)
	common := slices.DeleteFunc(slices.Clone(abouts[0]), func(x string) bool { return slices.Contains(parts[0], x) })
	f.Subtitle = strings.Join(common, separator)
	for i, v := range panels {
		v.Title = cmp.Or(v.Title, strings.Join(parts[i], separator))
		f.Panels = append(f.Panels, v.Panel)
		for _, same := range cells.Grouped(v.predicted, func(s saying) string { return s.text }) {
			text := strings.Join(units.Texts(same, func(s saying) string { return s.of }), ", ") + " " + same[0].text
			if len(panels) > 1 {
				text = v.Title + ": " + text
			}
			predicted = append(predicted, text)
		}
	}
	f.Caption = fmt.Sprintf("%s (%s). %s", f.Title, strings.Join(common, ", "), strings.Join(distinct(reads), " "))
	if len(predicted) > 0 {
		f.Caption += " Predicted (dashed: exactly or of the mean; dotted: a bound): " + strings.Join(predicted, "; ") + "."
	}
	return f
}

// mostFigures is how many figures are drawn unless others are asked for.
const mostFigures = 12

// firstFigures are those that the experiment asks for, at most mostFigures: without its word
// what faults cost, messages, waiting time, throughput and synchronization delay.
func (c *collection) firstFigures() (figures []plots.Figure) {
	asked := c.in.Header.Experiment.Figures
	if asked == nil {
		for _, show := range []string{
			runs.RecoveryPicture, runs.CoursePicture, runs.MessagesPerCS, runs.WaitingP99, runs.Throughput, runs.SyncDelayOverT,
		} {
			asked = append(asked, runs.Figure{Show: show})
		}
	}
	all := c.pictures()
	for _, f := range asked {
		found := slices.DeleteFunc(slices.Clone(all), func(p picture) bool { return !p.is(f) })
		for _, kind := range cells.Grouped(found, func(p picture) string { return p.kind }) {
			together, alone := candidates(kind, strings.Join([]string{f.Transport, f.Workload}, " "))
			if together == nil {
				together = alone
			}
			for _, one := range together {
				if drawn := one.figure(); !drawn.Empty() && len(figures) < mostFigures {
					figures = append(figures, drawn)
				}
			}
		}
	}
	return figures
}

// UnknownFigures is the error of a report that was asked for figures which it does not
// have.
type UnknownFigures struct {
	Patterns []string // patterns that match no name
	Names    []string // of all figures
}

func (e *UnknownFigures) Error() string {
	return fmt.Sprintf("report: no figure is called %s; there are: %s", strings.Join(e.Patterns, " or "), strings.Join(e.Names, ", "))
}

// onlyFigures are those whose names match patterns.
func (c *collection) onlyFigures(patterns []string) (figures []plots.Figure, err error) {
	var all []candidate
	for _, kind := range cells.Grouped(c.pictures(), func(p picture) string { return p.kind }) {
		together, alone := candidates(kind, "")
		all = slices.Concat(all, together, alone)
	}
	drawn := func(one candidate) (plots.Figure, bool) {
		f := one.figure()
		return f, !f.Empty() && (len(one.pictures) == 1 || len(f.Panels) > 1)
	}
	matches := func(pattern, name string) bool {
		ok, err := path.Match(pattern, name)
		return err == nil && ok
	}
	for _, one := range all {
		wanted := func(pattern string) bool {
			return pattern == one.name || one.pictures[0].usual && matches(pattern, one.name)
		}
		if !slices.ContainsFunc(patterns, wanted) {
			continue
		}
		if f, ok := drawn(one); ok {
			figures = append(figures, f)
		}
	}
	missing := slices.DeleteFunc(slices.Clone(patterns), func(pattern string) bool {
		return slices.ContainsFunc(figures, func(f plots.Figure) bool { return matches(pattern, f.Name) })
	})
	if len(missing) == 0 {
		return figures, nil
	}
	unknown := &UnknownFigures{Patterns: missing}
	for _, one := range all {
		if _, ok := drawn(one); ok && one.pictures[0].usual {
			unknown.Names = append(unknown.Names, one.name)
		}
	}
	return nil, unknown
}
