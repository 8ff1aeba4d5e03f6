package report

import (
	"maps"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// at is a picture of the set at one number of nodes; it is drawn unless another one is
// asked for where usual.
func (s *set) at(here spot, usual bool, show, title string, panels func() []panel) picture {
	ch := s.chart
	ch.size, ch.spots, ch.about = sizeSlug(here.nodes), []spot{here}, append(slices.Clone(s.about), here.size())
	return picture{show: show, kind: show, title: title, ch: ch, natural: usual, usual: usual, panels: func(int) []panel {
		all := panels()
		for i := range all {
			all[i].about = ch.about
		}
		return all
	}}
}

// mostCommon returns the size at which most series were measured, among equals the largest.
func (s *set) mostCommon() (common spot) {
	for _, here := range s.spots {
		if len(here.cells) >= len(common.cells) {
			common = here
		}
	}
	return common
}

// distributions show at each size how many of the response times are at most this long.
func (s *set) distributions() (all []picture) {
	usual := s.mostCommon()
	for _, here := range s.spots {
		all = append(all, s.at(here, here.nodes == usual.nodes, runs.ResponseCDF, "Response time: distribution", func() []panel {
			v := panel{read: "The share of the times, over all repetitions, that are at most this long; up to 99.9%."}
			v.X = plots.Axis{Label: "response time", Kind: plots.Times}
			v.Y = plots.Axis{Label: "share of the critical sections", Kind: plots.Parts}
			for _, ln := range s.lines {
				curve := plots.Series{Label: ln.label, Style: ln.style, Role: plots.Curve}
				for _, x := range stats.Cumulative(here.cells[ln.label].responses()) {
					curve.Points = append(curve.Points, plots.At(x.Value, x.Share))
				}
				v.Series = append(v.Series, curve)
			}
			return []panel{v}
		}))
	}
	return all
}

// responses adds up the response times of a cell's repetitions; nil if there are none, or one
// cannot be read. The cell may be nil.
func (c *cell) responses() *hdrhistogram.PackedHistogram {
	if c == nil {
		return nil
	}
	h, err := stats.Merge(units.Texts(c.Good, func(r *runs.Result) string { return r.Histograms.Response }))
	if err != nil {
		return nil // damaged
	}
	return h
}

// kindPicture shows the kinds of the messages per CS: a panel for each series, a bar for each size,
// a part for each kind, with the same look in all panels. The parts of a bar add up to all messages
// of all good runs over all their entries; medians of parts would not add up to anything.
func (s *set) kindPicture() picture {
	p := picture{show: runs.KindsOfMessages, kind: runs.KindsOfMessages, title: "Messages per critical section by kind", ch: s.chart}
	p.alone, p.natural, p.usual = true, true, true
	p.panels = func(int) (all []panel) {
		kinds := make(map[string]bool)
		for _, cell := range s.inOrder() {
			for kind := range cell.pooledKinds() {
				kinds[kind] = true
			}
		}
		for _, ln := range s.lines {
			v := panel{about: s.about, read: "All messages of all repetitions over all entries; the parts of a bar add up."}
			v.Title = ln.label
			v.X, v.Y = plots.Axis{Label: "nodes N", Kind: plots.Names}, plots.Axis{Label: "messages per CS", Kind: plots.Values}
			top := make([]float64, len(s.spots))
			for _, here := range s.spots {
				v.Names = append(v.Names, units.Count(uint64(here.nodes)))
			}
			for style, kind := range slices.Sorted(maps.Keys(kinds)) {
				layer := plots.Series{Label: kind, Style: style, Role: plots.Layer}
				for i, here := range s.spots {
					if perCS := here.cells[ln.label].pooledKinds()[kind]; perCS > 0 {
						layer.Points = append(layer.Points, plots.Point{X: float64(i), Lo: top[i], Y: top[i] + perCS})
						top[i] += perCS
					}
				}
				v.Series = append(v.Series, layer)
			}
			all = append(all, v)
		}
		return all
	}
	return p
}

// pooledKinds returns the messages of each kind of all good runs over their
// entries; kinds that were never sent are left out. The cell may be nil.
func (c *cell) pooledKinds() map[string]float64 {
	if c == nil || c.entries() == 0 {
		return nil
	}
	perCS := make(map[string]float64)
	for _, r := range c.Good {
		for kind, n := range r.Messages.ByKind {
			if n > 0 {
				perCS[kind] += float64(n) / float64(c.entries())
			}
		}
	}
	return perCS
}

// mostDots is the largest system whose nodes are all drawn.
const mostDots = 31

// work shows how the messages are shared among the nodes: for each series a column of its
// own, and in it a dot for each node, in order. It is what Maekawa 1985, section 2, asks
// of a distributed algorithm: (c) equal work and (d) equal responsibility.
func (s *set) work() (all []picture) {
	largest := 0
	for _, here := range s.spots {
		if here.nodes <= mostDots {
			largest = max(largest, here.nodes)
		}
	}
	for _, here := range s.spots {
		if n := here.nodes; n > 1 && n <= mostDots {
			all = append(all, s.at(here, n == largest, runs.WorkPerNode, "Work of each node", func() []panel { return s.drawWork(here) }))
		}
	}
	return all
}

func (s *set) drawWork(here spot) []panel {
	const width = 0.76 // of the place between two columns
	v := panel{read: "A column for each algorithm, in it a dot for each node, in order: " +
		"the messages that it sent and received in all repetitions, over the mean of all nodes."}
	v.X = plots.Axis{Label: "nodes in order, by algorithm", Kind: plots.Names}
	v.Y = plots.Axis{Label: "messages / mean", Kind: plots.Values}
	for _, ln := range s.lines {
		work := here.cells[ln.label].workOfNodes()
		series := plots.Series{Label: ln.label, Style: ln.style, Role: plots.Dots}
		for i, relative := range work {
			x := float64(len(v.Names)) + width*((float64(i)+0.5)/float64(here.nodes)-0.5)
			series.Points = append(series.Points, plots.At(x, relative))
		}
		if work != nil {
			v.Series, v.Names = append(v.Series, series), append(v.Names, "")
		}
	}
	return []panel{v}
}

// workOfNodes returns for each node the messages that it sent and handled in all good runs,
// relative to the mean of all nodes; nil if they were not counted. The cell may be nil.
func (c *cell) workOfNodes() []float64 {
	if c == nil {
		return nil
	}
	work, total := make([]float64, c.Nodes), 0.0
	for _, r := range c.Good {
		sent, handled := r.Work.SentByNode, r.Work.HandledByNode
		if len(sent) != c.Nodes || len(handled) != c.Nodes {
			continue
		}
		for i := range work {
			work[i] += float64(sent[i] + handled[i])
			total += float64(sent[i] + handled[i])
		}
	}
	if total == 0 {
		return nil
	}
	for i := range work {
		work[i] *= float64(c.Nodes) / total
	}
	return work
}

// courses draw how each cell went around its faults, at the larger sizes if there are
// many.
func (s *set) courses() (all []picture) {
	if !s.faulty() {
		return nil
	}
	for _, ln := range s.lines {
		for i, here := range s.spots {
			cell := here.cells[ln.label]
			if cell == nil {
				continue
			}
			p := s.at(here, i >= len(s.spots)-mostSizes, runs.CoursePicture, "Course of the run: "+ln.label, func() []panel {
				return []panel{cell.course().panel(ln, cell)}
			})
			p.kind, p.alone = units.Slug("course "+ln.label), true
			all = append(all, p)
		}
	}
	return all
}
