package report

import (
	"fmt"
	"slices"

	"dmebench/report/plots"
	"dmebench/report/stats"
	"dmebench/report/units"
	"dmebench/result"
)

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
	values := make([][]float64, c.nodes)
	for _, r := range c.good {
		work, total := messagesOfNodes(r), 0.0
		for _, x := range work {
			total += x
		}
		if len(work) != c.nodes || total == 0 {
			continue
		}
		for i, x := range work {
			values[i] = append(values[i], x*float64(c.nodes)/total)
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
func messagesOfNodes(r *result.Result) []float64 {
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
