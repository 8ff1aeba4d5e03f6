package report

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/report/cells"
	"dmebench/report/page"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// changing is what differs between two warnings of one kind: numbers with their
// units, but not the digits of a name such as p99.
var changing = regexp.MustCompile(`\b\d+([.,]\d+)*(e[-+]?\d+)?( ?(ns|µs|us|ms|s|m|h|%|B|KB|MB|KiB|MiB)\b)?`)

// told is a warning with who gave it.
type told struct {
	text, label string
	cell        int // its place on the page, −1 where it concerns none
	runs, cells int
}

// addWarnings groups what runs, statistics and files warned about, the most frequent
// first, and says so at the cells that it concerns.
func (p *paper) addWarnings() {
	var all []told
	for _, w := range p.warnings {
		all = append(all, told{text: w, cell: -1})
	}
	for _, w := range p.hostWarnings() {
		all = append(all, told{text: w, cell: -1})
	}
	for _, r := range p.runs {
		cell, ok := p.cellOf[r.Result]
		if !ok {
			cell = -1
		}
		for _, w := range r.Result.Warnings {
			all = append(all, told{text: w, label: r.Label, cell: cell, runs: 1})
		}
	}
	for i, cell := range p.cells {
		for _, w := range cell.warnings() {
			all = append(all, told{text: w, label: cell.Label, cell: i, cells: 1})
		}
	}
	groups := cells.Grouped(all, func(t told) string { return changing.ReplaceAllString(t.text, "…") })
	slices.SortStableFunc(groups, func(a, b []told) int { return len(b) - len(a) })
	for i, group := range groups {
		w := p.summarize(group)
		for _, t := range group {
			if t.cell >= 0 && !slices.Contains(w.Cells, t.cell) {
				w.Cells = append(w.Cells, t.cell)
				cell := &p.data.Cells[t.cell]
				cell.Warnings = append(cell.Warnings, i)
			}
		}
		p.data.Warnings = append(p.data.Warnings, w)
	}
}

// ranges writes what warnings of one kind say, with the least and the greatest of numbers
// that differ: "101 to 340 µs late".
func ranges(group []told) string {
	at := -1
	return changing.ReplaceAllStringFunc(group[0].text, func(string) string {
		at++
		var all []string // the numbers at this place
		for _, t := range group {
			all = append(all, changing.FindAllString(t.text, -1)[at])
		}
		bySize := func(a, b string) int { return cmp.Compare(sizeOf(a), sizeOf(b)) }
		least, most := slices.MinFunc(all, bySize), slices.MaxFunc(all, bySize)
		if least == most {
			return least
		}
		number, unit := divided(least)
		if _, same := divided(most); unit == same {
			least = number
		}
		return least + " to " + most
	})
}

// divided divides what [changing] matches into the number and its unit.
func divided(text string) (number, unit string) {
	end := strings.LastIndexAny(text, "0123456789") + 1
	return text[:end], text[end:]
}

// sizeOf is what differing numbers are ordered by.
func sizeOf(text string) float64 {
	if d, err := time.ParseDuration(strings.ReplaceAll(text, " ", "")); err == nil {
		return d.Seconds()
	}
	number, _ := divided(text)
	x, _ := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	return x
}

// summarize makes one warning of those of one kind.
func (c *collection) summarize(group []told) page.Warning {
	w := page.Warning{Text: ranges(group)}
	runs, cells := 0, 0
	var labels []string
	for _, t := range group {
		runs, cells = runs+t.runs, cells+t.cells
		if t.label != "" && !slices.Contains(labels, t.label) {
			labels = append(labels, t.label)
		}
	}
	var parts []string
	if runs > 0 {
		parts = append(parts, plural(runs, "run"))
	}
	if cells > 0 {
		parts = append(parts, plural(cells, "cell"))
	}
	if len(labels) > 0 && len(labels) < len(c.labels) {
		parts = append(parts, strings.Join(labels, ", "))
	}
	w.Where = strings.Join(parts, "; ")
	return w
}

// warnings returns what limits the estimates of a cell, each once.
func (c *cell) warnings() []string {
	all := slices.Concat(c.bimodal(), c.hostWarnings(), c.damaged())
	if c.Twins > 0 {
		all = append(all, fmt.Sprintf("%s with the seed of another one: the same run again, which does not count", plural(c.Twins, "simulation")))
	}
	for _, m := range runs.Metrics() {
		e := c.estimates[m.Name]
		for _, w := range e.Warnings {
			if e.N > 0 && !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	return all
}

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
	for _, r := range c.Good {
		for kind, n := range r.Messages.ByKind {
			if n > 0 {
				perCS[kind] += float64(n) / float64(c.entries())
			}
		}
	}
	return perCS
}

// mostDots is the largest system of which every node is drawn.
const mostDots = 31

// workPicture shows how the messages are shared among the nodes: for each series
// a column of its own, and in it a dot for each node, in order. It is what
// Maekawa 1985, section 2, asks of a distributed algorithm: (c) equal work and
// (d) equal responsibility.
func (s *set) workPicture() picture {
	var largest spot
	for _, here := range s.spots {
		if here.nodes <= mostDots {
			largest = here
		}
	}
	n := largest.nodes
	f := s.picture("work-per-node", "Work of each node", fmt.Sprintf("n%d", n), append(slices.Clone(s.about), largest.text))
	f.X = plots.Axis{Label: "nodes in order, by algorithm", Kind: plots.Names}
	f.Y = plots.Axis{Label: "messages / mean", Kind: plots.Values}
	f.read = "A column for each algorithm, in it a dot for each node, in order: " +
		"the messages that it sent and received over the mean of all nodes, median over the repetitions."
	if n < 2 {
		return f
	}
	for _, ln := range s.lines {
		work := largest.cells[ln.label].workOfNodes()
		if work == nil {
			continue
		}
		series := plots.Series{Label: ln.label, Style: ln.style, Role: plots.Dots}
		column := float64(len(f.Names))
		for i, e := range work {
			const width = 0.76 // of the place between two columns
			p := plots.At(column+width*((float64(i)+0.5)/float64(n)-0.5), e.Median)
			p.Note = fmt.Sprintf("%s, node %d of %d: %s", ln.label, i+1, n, describe(e, timesMean))
			series.Points = append(series.Points, p)
		}
		f.Series = append(f.Series, series)
		f.Names = append(f.Names, "")
	}
	return f
}

func timesMean(x float64) string { return units.Number(x) + " times the mean" }

// workOfNodes returns for each node the messages that it sent and handled,
// relative to the mean of all nodes; nil where it was not counted. The cell may be
// nil.
func (c *cell) workOfNodes() []stats.Estimate {
	if c == nil {
		return nil
	}
	values := make([][]float64, c.Nodes)
	for _, r := range c.Good {
		work, total := messagesOfNodes(r), 0.0
		for _, x := range work {
			total += x
		}
		if len(work) != c.Nodes || total == 0 {
			continue
		}
		for i, x := range work {
			values[i] = append(values[i], x*float64(c.Nodes)/total)
		}
	}
	if len(values[0]) == 0 {
		return nil
	}
	var estimates []stats.Estimate
	for _, v := range values {
		estimates = append(estimates, stats.Median(v))
	}
	return estimates
}

// messagesOfNodes returns what each node sent and handled.
func messagesOfNodes(r *runs.Result) []float64 {
	w := r.Work
	if len(w.SentByNode) != len(w.HandledByNode) {
		return nil
	}
	var all []float64
	for i := range w.SentByNode {
		all = append(all, float64(w.SentByNode[i]+w.HandledByNode[i]))
	}
	return all
}
