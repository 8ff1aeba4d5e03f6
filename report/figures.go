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
// and, where there is one, a number of nodes. Pictures of several places become panels of
// one figure. The page draws everything else itself.

// panel is one pair of axes of a figure, and what a caption says of it.
type panel struct {
	plots.Panel
	about     []string // where it was measured: what not all panels of a figure share titles them
	keys      []plots.Key
	read      string // how to read it
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
	natural bool                   // it is drawn against what varies
	usual   bool                   // patterns of names find it
	columns int                    // of panels, at most; 0 for as many as look well
	panels  func(most int) []panel // with at most so many predictions of a series
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
			add(p, several.show, several.title, func(int) []panel { return c.several(p.ch, several.panels) })
		}
	}
	for _, s := range c.sets {
		all = slices.Concat(all, s.distributions(), []picture{s.kindPicture()}, s.work(), s.courses())
	}
	return append(all, c.growthPictures()...)
}

// metricPanel is a metric in a figure of several.
type metricPanel struct {
	metric, title, ordinate string
	claimed                 bool // only where a claim speaks of it
}

// severalMetrics are the figures with a panel for each of several metrics.
var severalMetrics = []struct {
	show, title string
	panels      []metricPanel
}{
	{runs.FairnessPicture, "Fairness and division of work", []metricPanel{
		{metric: runs.JainIndex, title: "Jain's index of the entries", ordinate: "Jain's index"},
		{metric: runs.LongestRun, title: "Longest run of one node", ordinate: "entries in a row"},
		{metric: runs.MaxBypass, title: "Largest bypass of a request", ordinate: "entries by others"},
		{metric: runs.MaxBypassByOne, title: "Largest bypass by one node", ordinate: "entries by one other", claimed: true},
		{metric: runs.WorkMaxOverMean, title: "Messages of the busiest node", ordinate: "busiest / mean"},
	}},
	{runs.RecoveryPicture, "Recovery: the costliest fault of a run", []metricPanel{
		{metric: runs.Recovered, title: "Until the next entry", ordinate: "time since the fault"},
		{metric: runs.Served, title: "Until all were served", ordinate: "time since the fault"},
		{metric: runs.RecoveryMessages, title: "Messages until the next entry", ordinate: "messages"},
		{metric: runs.RequestsLost, title: "Requests lost", ordinate: "requests"},
	}},
}

// serial reports whether one request at a time is made: its order is the workload's, and
// its rate one over the response time.
func (ch chart) serial() bool { return ch.inOrder()[0].First.Result.Spec.Workload == "serial" }

// several draws a panel for each metric that differs anywhere.
func (c *collection) several(ch chart, panels []metricPanel) (all []panel) {
	for _, p := range panels {
		v := c.over(ch, p.metric, 1)
		v.Title, v.Y.Label = p.title, p.ordinate
		if serial := ch.serial() && p.metric != runs.WorkMaxOverMean; !serial && (!v.flat() && !p.claimed || len(v.predicted) > 0) {
			all = append(all, v)
		}
	}
	return all
}

// broadcasts reports whether any run of the chart broadcast natively.
func (ch chart) broadcasts() bool {
	native := func(r *runs.Result) bool { return r.Messages.Transmissions != r.Messages.Total }
	return slices.ContainsFunc(ch.inOrder(), func(c *cell) bool { return slices.ContainsFunc(c.Good, native) })
}

// flat reports whether all that was measured is the same.
func (v panel) flat() bool {
	var seen []float64
	for _, s := range v.Series {
		for _, p := range s.Points {
			if s.Role == plots.Measured {
				seen = append(seen, p.Y)
			}
		}
	}
	return len(seen) == 0 || slices.Max(seen)-slices.Min(seen) <= 1e-9*slices.Max(seen)
}

// saysNothing reports whether a view is not worth a figure unless it is asked for: a
// single point, the same value everywhere without a prediction, or the rate of a load
// that asks for one entry at a time.
func (p picture) saysNothing(v panel) bool {
	points := 0
	for _, s := range v.Series {
		if s.Role == plots.Measured {
			points += len(s.Points)
		}
	}
	offered := slices.ContainsFunc(v.Series, func(s plots.Series) bool { return s.Style == plots.Plain })
	return points == 1 || p.show == runs.Throughput && p.ch.serial() || points > 0 && v.flat() && len(v.predicted) == 0 && !offered
}

// candidate is a figure that could be drawn.
type candidate struct {
	name     string
	pictures []picture
}

// mostPanels is how many pictures become one figure.
const mostPanels = 9

// candidates makes figures of pictures of one kind: of all together where that can be,
// and each alone.
func candidates(some []picture, suffix string) (together, alone []candidate) {
	for _, p := range some {
		alone = append(alone, candidate{p.name(), []picture{p}})
	}
	if len(some) < 2 || some[0].alone {
		return nil, alone
	}
	count := (len(some) + mostPanels - 1) / mostPanels
	size := (len(some) + count - 1) / count
	for part := range slices.Chunk(some, size) {
		name := units.Slug(some[0].kind + " " + suffix)
		if count > 1 {
			name = fmt.Sprintf("%s-%d", name, len(together)+1)
		}
		together = append(together, candidate{name, part})
	}
	return together, alone
}

// figure draws up a candidate: its panels have one legend, and what they have in common is
// its subtitle. Where it is to be useful, panels that say nothing are left out.
func (c candidate) figure(useful bool) plots.Figure {
	most := 2
	if len(c.pictures) > 1 {
		most = 1
	}
	first := c.pictures[0]
	f := plots.Figure{Name: c.name, Title: first.title, Columns: first.columns}
	var panels []panel
	var abouts [][]string
	for _, p := range c.pictures {
		for _, v := range p.panels(most) {
			if !(plots.Figure{Panels: []plots.Panel{v.Panel}}).Empty() && !(useful && p.saysNothing(v)) {
				panels, abouts = append(panels, v), append(abouts, v.about)
			}
		}
	}
	if len(panels) == 0 {
		return f
	}
	parts := differingParts(abouts)
	common := slices.DeleteFunc(slices.Clone(abouts[0]), func(x string) bool { return slices.Contains(parts[0], x) })
	f.Subtitle = strings.Join(common, separator)
	titles := shortest(parts)
	var places, reads []string
	for i, v := range panels {
		v.Title = cmp.Or(v.Title, titles[i])
		f.Panels = append(f.Panels, v.Panel)
		for _, k := range v.keys {
			if !slices.Contains(f.Keys, k) {
				f.Keys = append(f.Keys, k)
			}
		}
		places, reads = append(places, strings.Join(parts[i], ", ")), append(reads, v.read)
	}
	f.Caption = f.Title
	if x := panels[0].X; strings.Contains(first.kind, "-vs-") && !(x.Kind == plots.Names && x.Label == "algorithm") {
		f.Caption += ", against " + x.Label
	}
	if len(common) > 0 {
		f.Caption += " (" + strings.Join(common, ", ") + ")"
	}
	f.Caption += "."
	if places = distinct(places); len(places) > 1 {
		f.Caption += " Panels: " + strings.Join(places, "; ") + "."
	}
	f.Caption = strings.TrimSpace(f.Caption + " " + strings.Join(distinct(reads), " "))
	if predicted := predictions(f.Panels, panels); predicted != "" {
		f.Caption += " Predicted (dashed: exactly or of the mean; dotted: a bound): " + predicted + "."
	}
	return f
}

// shortest titles panels with as few of their parts as tell all apart.
func shortest(parts [][]string) []string {
	titles := make([]string, len(parts))
	most := 0
	for _, p := range parts {
		most = max(most, len(p))
	}
	for k := 1; k <= most; k++ {
		seen := make(map[string]bool)
		for i, p := range parts {
			titles[i] = strings.Join(p[:min(k, len(p))], separator)
			seen[titles[i]] = true
		}
		if len(seen) == len(parts) {
			break
		}
	}
	return titles
}

// predictions writes what is said of whom: the same of several once, and in which panels
// where that is not all.
func predictions(drawn []plots.Panel, panels []panel) string {
	in := make(map[saying][]string)
	var order []saying
	for i, v := range panels {
		for _, s := range v.predicted {
			if in[s] == nil {
				order = append(order, s)
			}
			in[s] = append(in[s], drawn[i].Title)
		}
	}
	where := func(s saying) string {
		if len(in[s]) == len(panels) {
			return ""
		}
		return strings.Join(distinct(in[s]), " and ")
	}
	var parts []string
	for _, same := range cells.Grouped(order, func(s saying) saying { return saying{where(s), s.text} }) {
		var of []string
		for _, s := range same {
			of = append(of, s.of)
		}
		text := strings.TrimSpace(strings.Join(distinct(of), ", ") + " " + same[0].text)
		if panel := where(same[0]); panel != "" {
			text = panel + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// mostFigures is how many figures are drawn unless others are asked for.
const mostFigures = 12

// firstFigures are those that the experiment asks for, at most mostFigures: without its word
// what faults cost, messages, waiting time, throughput and synchronization delay.
func (c *collection) firstFigures() (figures []plots.Figure) {
	asked, useful := c.in.Header.Experiment.Figures, false
	if asked == nil {
		useful = true
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
				if drawn := one.figure(useful); !drawn.Empty() && len(figures) < mostFigures {
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
	Patterns []string // that no name matches
	Names    []string // of the figures that there are
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
		f := one.figure(false)
		return f, !f.Empty() && (len(one.pictures) == 1 || len(f.Panels) > 1)
	}
	found := make(map[string]bool)
	for _, one := range all {
		wanted := slices.DeleteFunc(slices.Clone(patterns), func(pattern string) bool {
			ok, err := path.Match(pattern, one.name)
			return err != nil || !ok || !one.pictures[0].usual && pattern != one.name
		})
		if len(wanted) == 0 {
			continue
		}
		if f, ok := drawn(one); ok {
			figures = append(figures, f)
			for _, pattern := range wanted {
				found[pattern] = true
			}
		}
	}
	missing := slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return found[p] })
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
