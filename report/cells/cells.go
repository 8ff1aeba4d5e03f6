// Package cells says which runs are repetitions of one another: a cell is
// everything that a run was asked to do, but for its seed.
package cells

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dmebench/result"
)

// Dimension is one thing in which cells may differ.
type Dimension struct {
	Name string
	Of   func(result.Spec) string // "" where it was not given
}

// Dimensions lists everything that makes a cell what it is. Seeds, time-outs and
// addresses are not part of it.
func Dimensions() []Dimension {
	number := func(x float64) string {
		if x == 0 {
			return ""
		}
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return []Dimension{
		{"algorithm", func(s result.Spec) string { return s.Algorithm }},
		{"set", func(s result.Spec) string {
			var parts []string
			for _, k := range slices.Sorted(maps.Keys(s.Set)) {
				parts = append(parts, k+"="+s.Set[k])
			}
			return strings.Join(parts, " ")
		}},
		{"nodes", func(s result.Spec) string { return strconv.Itoa(s.Nodes) }},
		{"transport", func(s result.Spec) string { return s.Transport }},
		{"workload", func(s result.Spec) string { return s.Workload }},
		{"cs", func(s result.Spec) string { return s.CS }},
		{"rate", func(s result.Spec) string { return number(s.Rate) }},
		{"total_rate", func(s result.Spec) string { return number(s.TotalRate) }},
		{"requests", func(s result.Spec) string { return number(float64(s.Requests)) }},
		{"duration", func(s result.Spec) string {
			if s.Duration == 0 {
				return ""
			}
			return s.Duration.String()
		}},
		{"nodes_per_worker", func(s result.Spec) string { return number(float64(s.NodesPerWorker)) }},
		{"warmup", func(s result.Spec) string { return s.Warmup }},
	}
}

// Key identifies the cell of a specification; across names dimensions that do
// not count.
func Key(s result.Spec, across ...string) string {
	var parts []string
	for _, d := range Dimensions() {
		if !slices.Contains(across, d.Name) {
			parts = append(parts, d.Of(s))
		}
	}
	return strings.Join(parts, "\x00")
}

// Place identifies where and under which load a cell was run.
func Place(s result.Spec) string { return Key(s, "algorithm", "set", "nodes", "requests") }

// Spec is what a run was asked to do, also where its result says only the most
// important.
func Spec(r *result.Result) result.Spec {
	s := r.Spec
	s.Algorithm, s.Nodes = cmp.Or(s.Algorithm, r.Algorithm), cmp.Or(s.Nodes, r.Nodes)
	s.Transport, s.Workload = cmp.Or(s.Transport, r.Transport), cmp.Or(s.Workload, r.Workload)
	return s
}
