package coordinator

import (
	"slices"

	"dmebench/dme"
	"dmebench/internal/control"
	"dmebench/internal/foreign"
	"dmebench/internal/measure"
	"dmebench/internal/run"
)

// nameKinds gives the kinds of messages their names where nodes decide what these
// are. Every worker numbers them in the order in which it meets them; here they get
// numbers that are the same for all. Without the workers' reports they have no names.
func nameKinds(o *measure.Observation, reports []control.Reply, nodesOf func(worker int) []dme.NodeID) {
	if !foreign.Is(o.Job.Algorithm.Name) {
		return
	}
	var names []string
	for _, r := range reports {
		names = append(names, r.Types...)
	}
	names = foreign.Union(names)
	number := func(name string) int {
		i := slices.Index(names, name)
		if i < 0 {
			i = len(names) - 1 // the last stands for all others
		}
		return i + 1
	}
	for _, r := range reports {
		for _, id := range nodesOf(r.Worker) {
			n := &o.Nodes[id-1]
			sent, handled := n.Sent, n.Handled
			clear(n.Sent[1:])
			clear(n.Handled[1:])
			for i, name := range r.Types {
				k := number(name)
				n.Sent[k] += sent[i+1]
				n.Handled[k] += handled[i+1]
			}
		}
	}
	o.Job = withKinds(o.Job, names)
}

// withKinds returns a job whose algorithm has other kinds of messages.
func withKinds(job *run.Job, names []string) *run.Job {
	j, a := *job, *job.Algorithm
	a.Kinds = names
	j.Algorithm = &a
	return &j
}
