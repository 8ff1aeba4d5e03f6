package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/report/plots"
	"dmebench/report/units"
	"dmebench/result"
)

// family is cells that differ in the value of one axis alone: a load that grows, a
// hot spot that gets hotter, delays of several distributions. Its figures have
// that axis as their abscissa, at one number of nodes each.
type family struct {
	axis    result.Axis
	about   []string // what the cells have in common; the network and the workload first, "" for any
	title   string   // of the axis, for a reader
	members []member // in the order of the axis
	numeric bool
	unit    units.Scale // of the members' numbers
	lines   []line
	own     bool   // the axis is the algorithms' own, so that its lines are not those of the sets
	prefix  string // of the names of its figures
}

// member is the cells at one value of the axis.
type member struct {
	value
	sets  []*set          // where they stand
	cells map[place]*cell // by the family's own labels
}

// value is a value of an axis.
type value struct {
	text          string
	number        float64 // in nanoseconds where it is a time
	numeric, time bool
}

// From as many values a number becomes an abscissa; fewer say no more than the
// table does. Words are compared from two on.
const (
	fewestNumbers = 3
	fewestWords   = 2
)

// namedNetwork is the axis over networks of one transport by the names that the
// experiment gives them.
const namedNetwork = "named network"

// axes lists what figures are drawn against beside the number of nodes: what the
// experiment asks for, else what varies in it: loads, durations, options of
// workload and network, and networks that it gives names of its own.
func (c *collection) axes() []result.Axis {
	if asked := c.in.Experiment.Axes; len(asked) > 0 {
		return asked
	}
	all := []result.Axis{
		{Name: "load", Over: "total_rate", Title: "offered load (requests/s in all)"},
		{Name: "load-per-node", Over: "rate", Title: "offered load (requests/s per node)"},
		{Name: "cs", Over: "cs", Title: "duration of a critical section"},
		{Name: "network", Over: namedNetwork, Title: "network"},
	}
	options := make(map[string]bool)
	for _, s := range c.sets {
		for _, set := range []map[string]string{s.options.network, s.options.workload} {
			for name := range set {
				options[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		all = append(all, result.Axis{Name: name, Over: name})
	}
	return all
}

// findFamilies groups the cells along every axis. Of an axis that the experiment
// does not ask for, words are left out that another axis shows too.
func (c *collection) findFamilies() []*family {
	var all []*family
	for _, axis := range c.axes() {
		var families []*family
		for _, points := range grouped(c.along(axis), func(p point) string { return p.own + "\x00" + strings.Join(p.about, "\x00") }) {
			if f := c.newFamily(axis, points); f != nil {
				families = append(families, f)
			}
		}
		var short, long [][]string
		for _, f := range families {
			short, long = append(short, f.about[:2]), append(long, f.about)
		}
		for i, prefix := range prefixes(short, long) {
			families[i].prefix = prefix
		}
		all = append(all, families...)
	}
	if len(c.in.Experiment.Axes) > 0 {
		return all
	}
	var kept []*family
	for i, f := range all {
		repeats := func(other *family) bool { return f != other && f.within(other) && (other.numeric || !other.within(f)) }
		earlier := func(other *family) bool { return f.within(other) }
		if f.numeric || !slices.ContainsFunc(all, repeats) && !slices.ContainsFunc(all[:i], earlier) {
			kept = append(kept, f)
		}
	}
	return kept
}

// within reports whether everything that a family shows stands in the figures of
// another.
func (f *family) within(other *family) bool {
	for _, m := range f.members {
		if !slices.ContainsFunc(m.sets, other.contains) {
			return false
		}
	}
	return true
}

func (f *family) contains(s *set) bool {
	return slices.ContainsFunc(f.members, func(m member) bool { return slices.Contains(m.sets, s) })
}

// point is a cell on an axis.
type point struct {
	value
	about []string // everything but the value that a family has in common
	own   string   // the label, where the axis is the algorithm's own; else ""
	label string
	set   *set
	cell  *cell
}

// along finds the cells that have a value on an axis.
func (c *collection) along(axis result.Axis) []point {
	var points []point
	for _, s := range c.sets {
		about, text := s.without(axis.Over)
		for _, cell := range s.inOrder() {
			p := point{about: about, label: cell.label, set: s, cell: cell}
			own := c.settings(Run{Network: s.first.Network, Workload: s.first.Workload, Result: &result.Result{Spec: cell.spec}}).algorithm
			switch option, isOwn := own[axis.Over]; {
			case text != "":
				p.value = valueOf(axis, text)
			case axis.Over == "algorithm":
				p.value, p.label, p.own = valueOf(axis, cell.label), "all algorithms", "all algorithms"
			case isOwn:
				delete(own, axis.Over)
				p.value = valueOf(axis, option)
				p.label = strings.TrimSpace(cell.spec.Algorithm + " " + result.Settings(own))
				p.own = p.label
			default:
				continue
			}
			if len(axis.Values) > 0 && !p.numeric {
				continue
			}
			points = append(points, p)
		}
	}
	return points
}

// without says everything about a set but its value of a dimension or option,
// which text is; "" where it has none.
func (s *set) without(over string) (about []string, text string) {
	spec, network, workload := s.first.Result.Spec, maps.Clone(s.options.network), maps.Clone(s.options.workload)
	about = []string{s.transport, s.workload}
	requests := s.requests
	switch over {
	case namedNetwork:
		if text = s.first.Network; text == s.transport {
			text = ""
		}
		network = nil
	case "transport":
		text, network, about[0] = cmp.Or(s.first.Network, s.transport), nil, ""
	case "workload":
		text, workload, about[1] = cmp.Or(s.first.Workload, s.workload), nil, ""
		spec.Rate, spec.TotalRate, spec.Duration, spec.CS, requests = 0, 0, 0, "", ""
	case "rate", "total_rate":
		// The same number of requests takes less time where they come faster, and
		// an experiment may ask for more of them there.
		text = result.KeyOf(spec).Get(over)
		spec.Rate, spec.TotalRate, spec.Duration, requests = 0, 0, 0, ""
	case "cs":
		text, spec.CS = spec.CS, ""
	case "requests":
		text, requests = result.KeyOf(spec).Get(over), ""
	case "duration":
		text, spec.Duration = result.KeyOf(spec).Get(over), 0
	case "nodes_per_worker":
		text, spec.NodesPerWorker = result.KeyOf(spec).Get(over), 0
	case "warmup":
		text, spec.Warmup = spec.Warmup, ""
	default:
		text = cmp.Or(network[over], workload[over])
		delete(network, over)
		delete(workload, over)
	}
	about = append(append(about, conditions(spec)...), settingsOf(network, workload)...)
	if requests != "" {
		about = append(about, requests)
	}
	return about, text
}

// valueOf reads a number or a duration where the axis does not say which number
// a text stands for.
func valueOf(axis result.Axis, text string) value {
	v := value{text: text}
	if number, ok := axis.Values[text]; ok {
		v.number, v.numeric = number, true
	} else if x, err := strconv.ParseFloat(text, 64); err == nil {
		v.number, v.numeric = x, true
	} else if d, err := time.ParseDuration(text); err == nil {
		v.number, v.numeric, v.time = float64(d), true, true
	}
	return v
}

// newFamily orders points along their axis; nil where there are too few.
func (c *collection) newFamily(axis result.Axis, points []point) *family {
	f := &family{axis: axis, about: points[0].about, title: cmp.Or(axis.Title, axis.Over), own: points[0].own != "", numeric: true, unit: units.Plain()}
	var labels []string
	for _, p := range points {
		f.numeric = f.numeric && p.numeric && p.time == points[0].time
		i := slices.IndexFunc(f.members, func(m member) bool { return m.text == p.text })
		if i < 0 {
			i = len(f.members)
			f.members = append(f.members, member{value: p.value, cells: make(map[place]*cell)})
		}
		m, at := &f.members[i], place{p.label, p.cell.nodes}
		if m.cells[at] != nil {
			continue // they differ in how long they lasted: the other one has figures of its own
		}
		m.cells[at] = p.cell
		if !slices.Contains(m.sets, p.set) {
			m.sets = append(m.sets, p.set)
		}
		if !slices.Contains(labels, p.label) {
			labels = append(labels, p.label)
		}
	}
	if f.lines = c.lines(labels); f.own {
		for style := range f.lines {
			f.lines[style].style = style
		}
	}
	enough := fewestWords
	if f.numeric {
		enough = fewestNumbers
		slices.SortStableFunc(f.members, func(a, b member) int { return cmp.Compare(a.number, b.number) })
	}
	if len(f.members) < enough {
		return nil
	}
	if f.numeric && points[0].time {
		f.unit = units.TimeScale(f.members[len(f.members)-1].number)
	}
	return f
}

// String says what the family's cells have in common.
func (f *family) String() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(f.about), func(part string) bool { return part == "" }), " · ")
}

// headline is the family's on the page.
func (f *family) headline() string { return "Against " + f.title + ": " + f.String() }

// sizes returns the numbers of nodes with at least two members, the larger ones
// where there are many.
func (f *family) sizes() []int {
	const most = 3
	count := make(map[int]int)
	for _, m := range f.members {
		sizes := make(map[int]bool)
		for at := range m.cells {
			sizes[at.nodes] = true
		}
		for n := range sizes {
			count[n]++
		}
	}
	maps.DeleteFunc(count, func(_, members int) bool { return members < 2 })
	sizes := slices.Sorted(maps.Keys(count))
	return sizes[max(0, len(sizes)-most):]
}

// charts returns a chart for each of the family's sizes.
func (f *family) charts() []chart {
	var charts []chart
	for _, n := range f.sizes() {
		ch := chart{
			prefix: f.prefix, suffix: "by " + f.axis.Name, lines: f.lines,
			about:    fmt.Sprintf("N = %d · %s", n, f),
			abscissa: plots.Axis{Label: f.title, Kind: plots.Values},
		}
		if len(f.sizes()) > 1 {
			ch.suffix += fmt.Sprintf(" n%d", n)
		}
		if f.unit.Unit != "" {
			ch.abscissa.Label += " (" + f.unit.Unit + ")"
		}
		if !f.numeric {
			ch.abscissa.Kind = plots.Names
		}
		for i, m := range f.members {
			s := spot{x: m.number / f.unit.Divisor, text: fmt.Sprintf("N = %d, %s", n, f.write(m)), cells: make(map[string]*cell)}
			if !f.numeric {
				s.x = float64(i)
				ch.names = append(ch.names, m.text)
			}
			switch f.axis.Over {
			case "total_rate":
				s.offered = m.number
			case "rate":
				s.offered = m.number * float64(n)
			}
			for at, cell := range m.cells {
				if at.nodes == n {
					s.cells[at.label] = cell
				}
			}
			ch.spots = append(ch.spots, s)
		}
		charts = append(charts, ch)
	}
	return charts
}

// write says a member's value in words.
func (f *family) write(m member) string {
	switch {
	case slices.Contains([]string{namedNetwork, "transport", "workload", "algorithm"}, f.axis.Over):
		return m.text
	case !f.numeric:
		return f.axis.Over + " " + m.text
	case f.axis.Over == "total_rate":
		return units.Number(m.number) + " requests/s in all"
	case f.axis.Over == "rate":
		return units.Number(m.number) + " requests/s per node"
	}
	return f.axis.Name + " " + f.unit.Write(m.number)
}

// familyOf returns the family in whose figures a set stands, if it has a single
// size: against N it would be a lonely point. nil where there is none.
func (c *collection) familyOf(s *set) *family {
	if len(s.sizes) != 1 {
		return nil
	}
	i := slices.IndexFunc(c.families, func(f *family) bool {
		return !f.own && f.contains(s) && slices.Contains(f.sizes(), s.sizes[0])
	})
	if i < 0 {
		return nil
	}
	return c.families[i]
}
