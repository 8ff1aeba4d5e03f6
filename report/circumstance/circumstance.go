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
	"strings"

	"dmebench/result"
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
func Complete(r result.Run) result.Run {
	known := result.Result{Algorithm: r.Label, Status: result.Failed, Error: "there is no result"}
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
func Disambiguate(e *result.Experiment, runs []result.Run) {
	who := func(r result.Run) string {
		return strings.TrimSpace(r.Result.Algorithm + " " + result.Settings(OptionsOf(e, r).Algorithm))
	}
	meanings := make(map[string]map[string]bool)
	for _, r := range runs {
		if meanings[r.Label] == nil {
			meanings[r.Label] = make(map[string]bool)
		}
		meanings[r.Label][who(r)] = true
	}
	for i, r := range runs {
		if len(meanings[r.Label]) > 1 {
			runs[i].Label = fmt.Sprintf("%s (%s)", r.Label, who(r))
		}
	}
}

// Options are the options of a run by whose they are.
type Options struct{ Algorithm, Network, Workload map[string]string }

// OptionsOf divides a run's options. The experiment says which it gave to the
// network and the workload; what is left is the algorithm's.
func OptionsOf(e *result.Experiment, r result.Run) Options {
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
func Of(e *result.Experiment, r result.Run, key result.Key) Circumstances {
	o := OptionsOf(e, r)
	common := Circumstances{
		network: r.Transport, workload: r.Workload, place: key.Place().String(),
		options: result.Settings(o.Network) + " " + result.Settings(o.Workload),
	}
	if r.Workload == "" { // a workload of an experiment says how the number depends on N
		common.requests = key.Get("requests")
	}
	return common
}
