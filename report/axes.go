package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/report/cells"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/units"
)

// family is cells that differ in their place on one axis alone: a load that
// grows, a hot spot that gets hotter, delays of several distributions. Its figures
// have that axis as their abscissa, at one number of nodes each.
type family struct {
	axis    string   // its title
	about   []string // what the cells have in common; the network and the workload first, "" for any
	numeric bool
	charts  []chart
}

// From as many values a number becomes an abscissa; fewer say no more than the
// table does. Words are compared from two on.
const (
	fewestNumbers = 3
	fewestWords   = 2
)

// mostSizes is at how many numbers of nodes a family is drawn: the largest ones.
const mostSizes = 3

// axes lists what figures are drawn against beside the number of nodes: what the
// experiment asks for, else loads, durations, options of workloads, and networks
// that the experiment gives names of its own.
func (c *collection) axes() []runs.Axis {
	if asked := c.in.Header.Experiment.Axes; len(asked) > 0 {
		return asked
	}
	all := []runs.Axis{
		{Name: "load", Over: "total_rate", Title: "offered load (requests/s in all)"},
		{Name: "load-per-node", Over: "rate", Title: "offered load (requests/s per node)"},
		{Name: "cs", Over: "cs", Title: "duration of a critical section"},
	}
	if slices.ContainsFunc(c.sets, func(s *set) bool { return cmp.Or(s.first.Transport, s.transport) != s.transport }) {
		all = append(all, runs.Axis{Name: "network", Over: "transport", Title: "network"})
	}
	options := make(map[string]string)
	for _, s := range c.sets {
		maps.Copy(options, s.options.Workload)
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		all = append(all, runs.Axis{Name: name, Over: name, Title: name})
	}
	return all
}

// findFamilies groups the cells along every axis.
func (c *collection) findFamilies() []*family {
	var all []*family
	for _, axis := range c.axes() {
		var families []*family
		var short, long [][]string
		for _, points := range cells.Grouped(c.along(axis), func(p point) string { return p.own + "\x00" + strings.Join(p.about, "\x00") }) {
			if f := c.newFamily(axis, points); len(f.charts) > 0 {
				families = append(families, f)
				some := slices.DeleteFunc(slices.Clone(f.about), func(part string) bool { return part == "" })
				names := slices.DeleteFunc(slices.Clone(f.about[:2]), func(part string) bool { return part == "" })
				short, long = append(short, names), append(long, some)
			}
		}
		for i, place := range placeNames(short, long) {
			for k := range families[i].charts {
				families[i].charts[k].place = place
			}
		}
		all = append(all, families...)
	}
	return all
}

// point is a cell with its place on an axis.
type point struct {
	text          string
	number        float64 // in nanoseconds if it is a time
	numeric, time bool
	about         []string // everything but its place that a family has in common
	own           string   // the label, if the axis is the algorithm's own; else ""
	label         string
	cell          *cell
}

// along finds the cells that have a place on an axis.
func (c *collection) along(axis runs.Axis) []point {
	var points []point
	for _, s := range c.sets {
		about, text := s.without(axis.Over)
		for _, cell := range s.inOrder() {
			p := point{text: text, about: about, label: cell.Label, cell: cell}
			if axis.Over == "algorithm" {
				p.text, p.own = cell.Label, "all algorithms"
			} else if own := maps.Clone(cell.Options.Algorithm); own[axis.Over] != "" {
				p.text = own[axis.Over]
				delete(own, axis.Over)
				p.own = strings.TrimSpace(cell.First.Result.Spec.Algorithm + " " + runs.Settings(own))
			}
			p.label = cmp.Or(p.own, p.label)
			p.read(axis)
			if p.text != "" && (p.numeric || len(axis.Values) == 0) {
				points = append(points, p)
			}
		}
	}
	return points
}

// read finds a number or a duration in the text where the axis does not say for
// which number it stands.
func (p *point) read(axis runs.Axis) {
	if number, ok := axis.Values[p.text]; ok {
		p.number, p.numeric = number, true
	} else if x, err := strconv.ParseFloat(p.text, 64); err == nil {
		p.number, p.numeric = x, true
	} else if d, err := time.ParseDuration(p.text); err == nil {
		p.number, p.numeric, p.time = float64(d), true, true
	}
}

// without says everything about a set but its value of a dimension or option, which text is; "" if
// it has none.
func (s *set) without(over string) (about []string, text string) {
	spec, network, workload := s.first.Result.Spec, maps.Clone(s.options.Network), maps.Clone(s.options.Workload)
	about = []string{s.transport, s.workload}
	requests := s.requests
	if slices.Contains(runs.Dimensions(), over) {
		text = runs.KeyOf(spec).Get(over)
	}
	switch over {
	case "algorithm", "set", "nodes":
		return append(about, s.conditions...), ""
	case "transport":
		text, network, about[0] = cmp.Or(s.first.Transport, s.transport), nil, ""
	case "workload":
		text, workload, about[1] = cmp.Or(s.first.Workload, s.workload), nil, ""
		spec.Rate, spec.TotalRate, spec.Duration, spec.CS, spec.Faults, requests = 0, 0, 0, "", nil, ""
	case "rate", "total_rate":
		// The same number of requests takes less time if they come faster, and an experiment may
		// ask for more of them there.
		spec.Rate, spec.TotalRate, spec.Duration, requests = 0, 0, 0, ""
	case "cs":
		spec.CS = ""
	case "requests":
		requests = ""
	case "duration":
		spec.Duration = 0
	case "nodes_per_worker":
		spec.NodesPerWorker = 0
	case "warmup":
		spec.Warmup = ""
	case "faults":
		text, spec.Faults = cmp.Or(text, "none"), nil
	default:
		text = cmp.Or(network[over], workload[over])
		delete(network, over)
		delete(workload, over)
	}
	about = slices.Concat(about, cells.Conditions(spec), cells.Settings(network, workload))
	if requests != "" {
		about = append(about, requests)
	}
	about = slices.Concat(about, s.hosts, cells.Faults(spec))
	return about, text
}

// newFamily draws a chart for each number of nodes with enough points, the larger ones if there are
// many.
func (c *collection) newFamily(axis runs.Axis, points []point) *family {
	f := &family{about: points[0].about}
	common := slices.DeleteFunc(slices.Clone(f.about), func(part string) bool { return part == "" })
	f.axis = cmp.Or(axis.Title, axis.Name)
	f.numeric = !slices.ContainsFunc(points, func(p point) bool { return !p.numeric || p.time != points[0].time })
	slices.SortStableFunc(points, func(a, b point) int {
		if !f.numeric {
			return a.cell.Nodes - b.cell.Nodes
		}
		return cmp.Or(a.cell.Nodes-b.cell.Nodes, cmp.Compare(a.number, b.number))
	})
	for _, same := range cells.Grouped(points, func(p point) int { return p.cell.Nodes }) {
		ch := c.overAxis(axis, same, f.numeric)
		ch.about = slices.Concat(common, ch.about)
		if len(ch.spots) >= fewestNumbers || !f.numeric && len(ch.spots) >= fewestWords {
			f.charts = append(f.charts, ch)
		}
	}
	f.charts = f.charts[max(0, len(f.charts)-mostSizes):]
	return f
}

// overAxis is a chart of points at one number of nodes, in their order.
func (c *collection) overAxis(axis runs.Axis, points []point, numeric bool) chart {
	n := points[0].cell.Nodes
	ch := chart{
		against: axis.Name, size: sizeSlug(n), about: []string{fmt.Sprintf("N = %d", n)},
		abscissa: plots.Axis{Label: cmp.Or(axis.Title, axis.Name), Kind: plots.Names},
	}
	unit := units.Plain()
	if numeric {
		ch.abscissa.Kind = plots.Values
		if points[0].time {
			unit = units.TimeScale(points[len(points)-1].number)
			ch.abscissa.Label += " (" + unit.Unit + ")"
		}
	}
	var labels []string
	for i, same := range cells.Grouped(points, func(p point) string { return p.text }) {
		p := same[0]
		s := spot{x: float64(i), nodes: n, cells: make(map[string]*cell)}
		if numeric {
			s.x, s.number, s.time = p.number/unit.Divisor, p.number, p.time
		} else {
			ch.names = append(ch.names, p.text)
		}
		switch axis.Over {
		case "total_rate":
			s.offered = p.number
		case "rate":
			s.offered = p.number * float64(n)
		}
		for _, p := range same {
			if s.cells[p.label] == nil { // else they differ in how long they lasted, and have figures of their own
				s.cells[p.label] = p.cell
			}
			if !slices.Contains(labels, p.label) {
				labels = append(labels, p.label)
			}
		}
		ch.spots = append(ch.spots, s)
	}
	for i, label := range labels {
		ln := line{label, i}
		if points[0].own == "" { // the look that it has all over the page
			ln.style = slices.Index(c.labels, label)
		}
		ch.lines = append(ch.lines, ln)
	}
	return ch
}

// familyOf returns the family in whose figures a set stands, if it has a single size: against N it
// would be a lonely point. nil if there is none.
func (c *collection) familyOf(s *set) *family {
	first := s.inOrder()[0]
	stands := func(here spot) bool { return here.cells[first.Label] == first }
	for _, f := range c.families {
		if len(s.spots) == 1 && slices.ContainsFunc(f.charts, func(ch chart) bool { return slices.ContainsFunc(ch.spots, stands) }) {
			return f
		}
	}
	return nil
}
