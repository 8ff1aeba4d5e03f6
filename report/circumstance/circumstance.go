// Package circumstance says under which circumstances runs were made: over which
// network, under which load, with whose options, in keys and in words.
//
// It prepares runs for whoever summarizes them: [Complete] makes one safe to look
// into, [Disambiguate] sees to it that a label stands for one thing, [Of] tells
// which runs belong side by side. It computes no statistic and knows no algorithm.
package circumstance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"dmebench/runs"
	"dmebench/units"
)

// Grouped divides values by their keys, in the order in which these appear.
func Grouped[K comparable, V any](values []V, key func(V) K) [][]V {
	var groups [][]V
	at := make(map[K]int)
	for _, v := range values {
		k := key(v)
		if _, known := at[k]; !known {
			at[k] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[k]] = append(groups[at[k]], v)
	}
	return groups
}

// Complete returns the run with a label, a result and a whole specification,
// whatever it lacks; the result is a copy.
func Complete(r runs.Run) runs.Run {
	known := runs.Result{Algorithm: r.Label, Status: runs.Failed, Error: "there is no result"}
	if r.Result != nil {
		known = *r.Result
	}
	known.Spec = known.Asked()
	known.Algorithm, known.Nodes = known.Spec.Algorithm, known.Spec.Nodes
	r.Label = cmp.Or(r.Label, known.Algorithm, "unnamed")
	r.Result = &known
	return r
}

// Disambiguate lengthens, in place, a label that stands for several algorithms or
// option sets: their runs must never become one sample. The runs are complete.
func Disambiguate(e *runs.Experiment, list []runs.Run) {
	who := func(r runs.Run) string {
		return strings.TrimSpace(r.Result.Algorithm + " " + runs.Settings(OptionsOf(e, r).Algorithm))
	}
	meanings := make(map[string]map[string]bool)
	for _, r := range list {
		if meanings[r.Label] == nil {
			meanings[r.Label] = make(map[string]bool)
		}
		meanings[r.Label][who(r)] = true
	}
	for i, r := range list {
		if len(meanings[r.Label]) > 1 {
			list[i].Label = fmt.Sprintf("%s (%s)", r.Label, who(r))
		}
	}
}

// Options are the options of a run by whose they are.
type Options struct{ Algorithm, Network, Workload map[string]string }

// OptionsOf divides a run's options. The experiment says which it gave to the
// network and the workload; what is left is the algorithm's.
func OptionsOf(e *runs.Experiment, r runs.Run) Options {
	o := Options{make(map[string]string), make(map[string]string), make(map[string]string)}
	var network, workload map[string]string
	for _, t := range e.Transports {
		if cmp.Or(t.Label, t.Name) == r.Transport {
			network = t.Set
		}
	}
	for _, w := range e.Workloads {
		if cmp.Or(w.Label, w.Name) == r.Workload {
			workload = w.Set
		}
	}
	for name, value := range r.Result.Spec.Set {
		of := o.Algorithm
		if _, ok := network[name]; ok {
			of = o.Network
		} else if _, ok := workload[name]; ok {
			of = o.Workload
		}
		of[name] = value
	}
	return o
}

// Circumstances are what runs have in common that may stand side by side,
// whatever their algorithms and numbers of nodes. They are comparable.
type Circumstances struct{ network, workload, place, options, requests string }

// Of returns the circumstances of a run; key is that of its cell.
func Of(e *runs.Experiment, r runs.Run, key runs.Key) Circumstances {
	o := OptionsOf(e, r)
	common := Circumstances{
		network: r.Transport, workload: r.Workload, place: key.Place().String(),
		options: runs.Settings(o.Network) + " " + runs.Settings(o.Workload),
	}
	if r.Workload == "" { // a workload of an experiment says how the number depends on N
		common.requests = key.Get("requests")
	}
	return common
}

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

// Requests says how many requests runs made: per node or in all, "" where they
// have no number in common. The runs are complete, and there is one at least.
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

// shared reports whether all titles have a part.
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
