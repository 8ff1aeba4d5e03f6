package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/report/plots"
	"dmebench/report/units"
)

// family is figure sets that differ in one setting alone: a load that grows, a
// hot spot that gets hotter, delays of several distributions. Its figures have
// that setting as their abscissa, at one number of nodes each.
type family struct {
	about      string   // what the sets have in common
	conditions []string // the same without network and workload
	slug       string   // begins the names of its files; unique
	members    []member
	labels     []string // of its series; nil for those of the sets
	axis       plots.Axis
	names      []string    // of the places on it, where the values are words
	unit       units.Scale // of the members' values
	numeric    bool
}

// member is a set with its value of the setting.
type member struct {
	set   *set
	value value
}

// value is one setting of a run that experiments vary.
type value struct {
	key, axis, text string
	option          bool // of the workload or the network
	number          float64
	numeric, time   bool // time: number is in nanoseconds
}

// From as many values a number becomes an abscissa; fewer say no more than the
// table does. Words are compared from two on.
const (
	fewestNumbers = 3
	fewestWords   = 2
)

// byNetwork is the key of the name that an experiment gives to a network, which
// stands for all its options.
const byNetwork = "network"

// values returns the settings of a set that may become an abscissa.
func (c *collection) values(set *set) []value {
	var all []value
	s := set.first
	if set.calledNetwork != "" && set.calledNetwork != set.transport {
		all = append(all, value{key: byNetwork, axis: "network", text: set.calledNetwork})
	}
	if s.Rate > 0 {
		all = append(all, value{key: "rate", axis: "requests/s per node", number: s.Rate, numeric: true})
	}
	if s.TotalRate > 0 {
		all = append(all, value{key: "total-rate", axis: "requests/s in all", number: s.TotalRate, numeric: true})
	}
	if s.CS != "" {
		all = append(all, value{key: "cs", axis: "duration of a critical section", text: distribution(s.CS)}.read(s.CS))
	}
	_, others := c.divide(s)
	for _, k := range slices.Sorted(maps.Keys(others)) {
		all = append(all, value{key: k, axis: axisOf(k), text: others[k], option: true}.read(others[k]))
	}
	return all
}

// axisOf says what an option counts, where its name alone does not.
func axisOf(option string) string {
	switch option {
	case "hot":
		return "number of hot nodes"
	case "share":
		return "part of the requests that the hot nodes make"
	case "readers":
		return "part of the requests that only read"
	case "think":
		return "pause before the next request"
	case "t":
		return "T, mean delay of a message"
	}
	return option
}

// read looks for a number or a duration in the text of a setting.
func (v value) read(text string) value {
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		v.number, v.numeric = x, true
	} else if d, err := time.ParseDuration(text); err == nil {
		v.number, v.numeric, v.time = float64(d), true, true
	}
	return v
}

// rest says everything about a set but the value: what the sets of a family
// have in common.
func (c *collection) rest(s *set, v value) []string {
	spec := s.first
	_, others := c.divide(spec)
	transportAndWorkload := []string{s.transport, s.workload}
	switch {
	case v.key == byNetwork:
		// Its options are not known apart from the workload's, for which the
		// workload's own name stands.
		transportAndWorkload[1] = cmp.Or(s.calledWorkload, s.workload)
		others = nil
	case v.option:
		delete(others, v.key)
	case v.isRate():
		// The same number of requests takes less time where they come faster, and
		// an experiment may ask for more of them there.
		spec.Rate, spec.TotalRate, spec.Duration = 0, 0, 0
	case v.key == "cs":
		spec.CS = ""
	}
	about := append(transportAndWorkload, conditions(spec, others)...)
	if s.requests != "" && !v.isRate() {
		about = append(about, s.requests)
	}
	return about
}

func (v value) isRate() bool { return v.key == "rate" || v.key == "total-rate" }

// findFamilies groups the sets, in order of appearance.
func (c *collection) findFamilies() []family {
	var keys []string
	found := make(map[string]*family)
	for _, s := range c.sets {
		for _, v := range c.values(s) {
			rest := c.rest(s, v)
			key := v.key + "\x00" + strings.Join(rest, "\x00")
			if f := found[key]; f != nil && v.isRate() && f.hasNumber(v.number) {
				// Two sets at one rate: they differ in how long they lasted.
				rest = append(rest, s.about...)
				key += "\x00" + strings.Join(s.about, "\x00")
			}
			f := found[key]
			if f == nil {
				f = &family{
					about: strings.Join(rest, " · "), conditions: rest[2:],
					slug: slug(s.transport + "-" + s.workload + "-by-" + v.key),
				}
				keys, found[key] = append(keys, key), f
			}
			f.members = append(f.members, member{s, v})
		}
	}
	var families []family
	for _, key := range keys {
		if f := found[key]; f.settle() {
			families = append(families, *f)
		}
	}
	all := slices.Clone(families)
	families = slices.DeleteFunc(families, func(f family) bool { return slices.ContainsFunc(all, f.repeats) })
	families = append(families, c.optionFamilies()...)
	nameFamilies(families)
	return families
}

// repeats reports whether everything that a family of words shows stands in the
// figures of another.
func (f family) repeats(other family) bool {
	if f.numeric || f.key() == other.key() {
		return false
	}
	for _, m := range f.members {
		if !slices.ContainsFunc(other.members, func(o member) bool { return o.set == m.set }) {
			return false
		}
	}
	return len(other.members) > len(f.members) || other.key() == byNetwork
}

func (f family) hasNumber(x float64) bool {
	return slices.ContainsFunc(f.members, func(m member) bool { return m.value.number == x })
}

func (f family) key() string { return f.members[0].value.key }

// nameFamilies makes their slugs unique, by what they have in common or, where
// that is cut, by a number.
func nameFamilies(families []family) {
	count := make(map[string]int)
	for _, f := range families {
		count[f.slug]++
	}
	taken := make(map[string]bool)
	for i := range families {
		f := &families[i]
		if count[f.slug] > 1 {
			f.slug = slug(f.slug + "-" + strings.Join(f.conditions, "-"))
		}
		base := f.slug
		for k := 2; taken[f.slug]; k++ {
			f.slug = base + "-" + strconv.Itoa(k)
		}
		taken[f.slug] = true
	}
}

// settle decides about the abscissa and orders the members. It reports whether
// there are enough of them.
func (f *family) settle() bool {
	first := f.members[0].value
	f.numeric, f.unit = true, units.Plain()
	for _, m := range f.members {
		f.numeric = f.numeric && m.value.numeric && m.value.time == first.time
	}
	if !f.numeric {
		f.axis = plots.Axis{Label: first.axis, Kind: plots.Names}
		for _, m := range f.members {
			f.names = append(f.names, m.value.text)
		}
		return len(f.members) >= fewestWords
	}
	slices.SortStableFunc(f.members, func(a, b member) int { return cmp.Compare(a.value.number, b.value.number) })
	f.axis = plots.Axis{Label: first.label(), Kind: plots.Values}
	if first.time {
		f.unit = units.TimeScale(f.members[len(f.members)-1].value.number)
		f.axis.Label += " (" + f.unit.Unit + ")"
	}
	return len(f.members) >= fewestNumbers
}

// familyOf returns the family in whose figures a set stands, if it has a single
// size: against N it would be a lonely point. nil where there is none.
func (c *collection) familyOf(s *set) *family {
	if len(s.sizes) != 1 {
		return nil
	}
	for i := range c.families {
		f := &c.families[i]
		if slices.Contains(f.sizes(), s.sizes[0]) && slices.ContainsFunc(f.members, func(m member) bool { return m.set == s }) {
			return f
		}
	}
	return nil
}

// broadcasts reports whether any run of the set broadcast natively.
func (s *set) broadcasts() bool {
	for _, cell := range s.cells {
		for _, r := range cell.good {
			if r.Messages.Transmissions != r.Messages.Total {
				return true
			}
		}
	}
	return false
}

// label names the setting on an axis.
func (v value) label() string {
	if v.key == "rate" || v.key == "total-rate" {
		return "offered load (" + v.axis + ")"
	}
	return v.axis
}

// title is the family's headline.
func (f family) title() string { return "Against " + f.members[0].value.label() + ": " + f.about }

// x returns where member i stands on the axis.
func (f family) x(i int) float64 {
	if !f.numeric {
		return float64(i)
	}
	return f.members[i].value.number / f.unit.Divisor
}

// write says a member's value in words.
func (f family) write(i int) string {
	v := f.members[i].value
	switch {
	case v.key == byNetwork:
		return v.text
	case !f.numeric:
		return v.key + " " + v.text
	case v.option || v.key == "cs":
		return v.key + " " + f.unit.Write(v.number)
	}
	return f.unit.Write(v.number) + " " + v.axis
}

// sizes returns the numbers of nodes with at least two members, the larger ones
// where there are many.
func (f family) sizes() []int {
	const most = 3
	count := make(map[int]int)
	for _, m := range f.members {
		for _, n := range m.set.sizes {
			count[n]++
		}
	}
	maps.DeleteFunc(count, func(_, members int) bool { return members < 2 })
	sizes := slices.Sorted(maps.Keys(count))
	return sizes[max(0, len(sizes)-most):]
}

// overSettings lists the quantities of a family's figures: those of a set, and
// the mean response time whether or not a claim speaks of it.
func overSettings() []against {
	all := overSizes()
	for i := range all {
		all[i].forTheory = false
	}
	return all
}

// familyFigures returns the figures of a family at each of its sizes.
func (c *collection) familyFigures(f family) []plots.Figure {
	var figures []plots.Figure
	for _, n := range f.sizes() {
		for _, a := range overSettings() {
			if a.median == transmissionsPerCS && !slices.ContainsFunc(f.members, func(m member) bool { return m.set.broadcasts() }) {
				continue
			}
			fig := plots.Figure{
				Name:     fmt.Sprintf("%s-n%d-%s", f.slug, n, a.suffix),
				Title:    fmt.Sprintf("%s, N = %d", a.title, n),
				Subtitle: f.about, X: f.axis, Y: a.ordinate, Names: f.names,
			}
			for _, s := range c.shown(f) {
				fig.Series = append(fig.Series, f.series(s.Label, s.Style, n, a)...)
				if a.theory != (dme.Quantity{}) {
					fig.Series = append(fig.Series, c.familyCurves(f, s.Label, s.Style, n, a.theory)...)
				}
			}
			if a.tail != "" {
				fig.Keys = []plots.Key{{Label: "median, p50", Role: plots.Measured}, {Label: "99th percentile", Role: plots.Tail}}
			}
			if a.median == throughput {
				f.markKnees(&fig, n)
			}
			if measured(fig) {
				figures = append(figures, fig)
			}
		}
	}
	return figures
}

// series returns a label's measured points, and those of the tail.
func (f family) series(label string, style, n int, a against) []plots.Series {
	s := []plots.Series{{Label: label, Style: style, Role: plots.Measured, Points: f.points(label, n, a.median, a.ordinate)}}
	if a.tail != "" {
		s = append(s, plots.Series{Style: style, Role: plots.Tail, Points: f.points(label, n, a.tail, a.ordinate)})
	}
	return s
}

func (f family) points(label string, n int, metric string, ordinate plots.Axis) []plots.Point {
	var points []plots.Point
	gap := false
	for i, m := range f.members {
		cell := m.set.cells[place{label, n}]
		if cell == nil {
			continue
		}
		e := cell.estimates[metric]
		if e.N == 0 {
			gap = true
			continue
		}
		p := plots.At(f.x(i), e.Median)
		if e.Bounded() {
			p.Lo, p.Hi = e.Lo, e.Hi
		}
		// Between words there is nothing that a line could lead through.
		p.Gap, gap = gap || !f.numeric, false
		p.Note = fmt.Sprintf("%s, N = %d, %s: %s", label, n, f.write(i), describe(e, write(ordinate, metric)))
		points = append(points, p)
	}
	return points
}

// familyCurves returns the sharpest prediction for a label that speaks of all
// members under which it was measured.
func (c *collection) familyCurves(f family, label string, style, n int, q dme.Quantity) []plots.Series {
	var cells []*cell
	var at []float64
	for i, m := range f.members {
		if cell := m.set.cells[place{label, n}]; cell != nil && len(cell.good) > 0 {
			cells, at = append(cells, cell), append(at, f.x(i))
		}
	}
	if len(cells) == 0 {
		return nil
	}
	for _, claim := range c.theory.speakingOf(q, cells[0].spec) {
		curve := plots.Series{Label: formula(claim), Style: style, Role: plots.Exact}
		if claim.Kind == dme.UpperBound || claim.Kind == dme.LowerBound {
			curve.Role = plots.Bound
		}
		for i, cell := range cells {
			if x, ok := c.theory.predictCell(claim, cell); ok {
				p := plots.At(at[i], x)
				p.Gap = !f.numeric
				curve.Points = append(curve.Points, p)
			}
		}
		if len(curve.Points) == len(cells) {
			return []plots.Series{curve}
		}
	}
	return nil
}
