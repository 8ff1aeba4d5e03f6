package cells

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dmebench/runs"
	"dmebench/units"
)

// Conditions says in words under which conditions a run was made, other than
// algorithm, number of nodes, seed, network, workload and their options.
func Conditions(s runs.Spec) []string {
	var about []string
	add := func(given bool, format string, args ...any) {
		if given {
			about = append(about, fmt.Sprintf(format, args...))
		}
	}
	add(s.Rate > 0, "%s requests/s per node", units.Number(s.Rate))
	add(s.TotalRate > 0, "%s requests/s in all", units.Number(s.TotalRate))
	add(s.CS != "", "CS %s", distribution(s.CS))
	add(s.Duration > 0, "for %s", units.Time(float64(s.Duration)))
	add(s.NodesPerWorker > 1, "%d nodes per process", s.NodesPerWorker)
	add(s.Resource != "", "a shared resource (%s) in the CS", s.Resource)
	add(s.Warmup != "" && s.Warmup != runs.DefaultWarmup, "warm-up %s entries", s.Warmup)
	return about
}

// Faults says what was done to the nodes, as one condition.
func Faults(s runs.Spec) []string {
	if len(s.Faults) == 0 {
		return nil
	}
	return []string{strings.Join(s.Faults, ", ")}
}

// Settings writes options, each of the maps as one condition.
func Settings(sets ...map[string]string) []string {
	var about []string
	for _, set := range sets {
		if len(set) > 0 {
			about = append(about, runs.Settings(set))
		}
	}
	return about
}

// distribution writes "exp:100us" for a reader.
func distribution(s string) string {
	text, exponential := strings.CutPrefix(s, "exp:")
	d, err := time.ParseDuration(text)
	if err != nil {
		return s
	}
	if exponential {
		return "exponential, mean " + units.Time(float64(d))
	}
	return units.Time(float64(d))
}

// Requests says how many requests runs made: per node or in all, "" if they have no number in
// common. The runs are complete, and there is one at least.
func Requests(runs []runs.Run) string {
	first := runs[0].Result.Spec
	perNode, inAll := first.Requests%first.Nodes == 0, true
	for _, r := range runs {
		s := r.Result.Spec
		perNode = perNode && s.Requests*first.Nodes == first.Requests*s.Nodes
		inAll = inAll && s.Requests == first.Requests
	}
	switch {
	case first.Requests == 0:
		return ""
	case perNode:
		return units.Count(uint64(first.Requests/first.Nodes)) + " requests per node"
	case inAll:
		return units.Count(uint64(first.Requests)) + " requests"
	}
	return ""
}

// Separator stands between the parts of a title.
const Separator = " · "

// Title says what runs under equal circumstances have in common, other than their
// number of nodes: "tcp · saturate · CS 100 µs · 50 requests per node". hosts names
// where they were; it may be "".
func Title(e *runs.Experiment, runs []runs.Run, hosts string) string {
	first := runs[0].Result.Spec
	options := OptionsOf(e, runs[0])
	parts := slices.Concat([]string{first.Transport, first.Workload}, Conditions(first), Settings(options.Network, options.Workload),
		[]string{Requests(runs)}, []string{hosts}, Faults(first))
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), Separator)
}

// Common returns the parts that all titles have. There is one title at least.
func Common(titles []string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(titles[0], Separator), func(part string) bool {
		return !shared(titles, part)
	}), Separator)
}

// Differing returns of each title the parts that not all have.
func Differing(titles []string) []string {
	var all []string
	for _, title := range titles {
		parts := slices.DeleteFunc(strings.Split(title, Separator), func(part string) bool { return shared(titles, part) })
		all = append(all, strings.Join(parts, Separator))
	}
	return all
}

func shared(titles []string, part string) bool {
	return !slices.ContainsFunc(titles, func(title string) bool { return !slices.Contains(strings.Split(title, Separator), part) })
}

// List writes a list as a sentence does: "3, 7 and 13".
func List(parts []string) string {
	last := len(parts) - 1
	if last < 1 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
