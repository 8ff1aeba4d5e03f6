package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dmebench/report/cells"
	"dmebench/stats"
	"dmebench/units"
)

// fewestSizes is how many numbers of nodes there must be before it is said how
// messages grow with them.
const fewestSizes = 5

// scaling says how the messages per CS grow with N under one workload, over all
// networks under which they were counted.
type scaling struct {
	title string // the workload
	slug  string
	grown []growth
}

// scalings returns what there is to say about growth, workload by workload.
func (c *collection) scalings() []scaling {
	sets := slices.DeleteFunc(slices.Clone(c.sets), func(s *set) bool { return len(s.spots) < fewestSizes || s.faulty() })
	var all []scaling
	taken := make(units.Names)
	for _, same := range cells.Grouped(sets, (*set).load) {
		sc := scaling{title: same[0].load()}
		for _, label := range c.labels {
			sc.grown = append(sc.grown, c.grown(same, label)...)
		}
		if len(sc.grown) > 0 {
			sc.slug = taken.Take(units.Slug(same[0].workload))
			all = append(all, sc)
		}
	}
	return all
}

// load is what a set shares with those that were made under the same workload
// over other networks.
func (s *set) load() string {
	spec := s.first.Result.Spec
	spec.Transport, spec.NodesPerWorker, spec.Warmup = "", 0, ""
	about := append([]string{s.workload}, cells.Conditions(spec)...)
	if s.requests != "" {
		about = append(about, s.requests)
	}
	return strings.Join(about, " · ")
}

// ranking writes growths in their order, each with its distance from the best.
func ranking(fits []stats.Fit) string {
	var parts []string
	for _, f := range fits {
		switch {
		case f.Exact:
			parts = append(parts, f.Growth.Name+" exactly")
		case math.IsNaN(f.Delta) || math.IsInf(f.Delta, 0):
			parts = append(parts, f.Growth.Name)
		default:
			parts = append(parts, fmt.Sprintf("%s +%s", f.Growth.Name, units.Number(math.Round(10*f.Delta)/10)))
		}
	}
	return strings.Join(parts, ", ")
}

// network says over what a set was measured: "sim, t=1ms".
func (s *set) network() string {
	about := []string{s.transport}
	for _, x := range s.conditions {
		if !strings.Contains(s.load(), x) {
			about = append(about, x)
		}
	}
	return strings.Join(about, ", ")
}

// interval writes the bounds of an interval; "" for a point.
func interval(i stats.Interval) string {
	lo, hi := units.Number(i.Lo), units.Number(i.Hi)
	switch {
	case lo == hi:
		return ""
	case math.IsInf(i.Lo, 0) || math.IsNaN(i.Lo):
		lo = "?"
	}
	if math.IsInf(i.Hi, 0) || math.IsNaN(i.Hi) {
		hi = "?"
	}
	return lo + " to " + hi
}
