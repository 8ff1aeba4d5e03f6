package validate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dmebench/dme"
	"dmebench/internal/run"
	"dmebench/result"
)

// cell is a run and its repetitions, which differ in their seed alone.
type cell struct {
	algorithm   *dme.Algorithm
	condition   condition
	spec        result.Spec // without a seed
	repetitions int
	cost        float64 // messages of one run, as estimated
	wide        bool    // one of many sizes, over which a growth is measured
	growth      bool    // a claim about growth rests on it
	members     float64 // K−1, mean over the nodes; NaN where there are no request sets

	// setting is kept where T is not known before the run.
	setting dme.Setting

	samples []*sample // by repetition; nil where it was not run
}

func (c *cell) real() bool { return c.spec.Transport != result.Sim }

// sound returns the samples whose numbers can be used.
func (c *cell) sound() []*sample {
	var all []*sample
	for _, s := range c.samples {
		if s != nil && s.sound() {
			all = append(all, s)
		}
	}
	return all
}

// bench prepares jobs to evaluate predictions on, each once, and their systems,
// which are the same under many conditions, once too.
type bench struct {
	catalog run.Catalog
	seed    uint64
	known   map[string]prepared
	systems map[string]system
}

type prepared struct {
	job *run.Job
	err error
}

type system struct {
	dme.System
	err error
}

func newBench(o *Options) *bench {
	b := &bench{seed: o.Seed, known: make(map[string]prepared), systems: make(map[string]system)}
	for _, a := range o.Catalog {
		once := *a
		once.Prepare = func(c dme.Config) (dme.System, error) {
			// The catalog's options name no files here: these decide everything.
			key := fmt.Sprint(a.Name, c.Nodes, c.Seed, c.Bound, c.Options)
			s, ok := b.systems[key]
			if !ok {
				s.System, s.err = a.Prepare(c)
				b.systems[key] = s
			}
			return s.System, s.err
		}
		b.catalog = append(b.catalog, &once)
	}
	return b
}

// forget lets go of the prepared systems, which may be large.
func (b *bench) forget() {
	clear(b.known)
	clear(b.systems)
}

// specOf is a run under a condition; how many requests it makes is left open.
func specOf(a *dme.Algorithm, set map[string]string, c *condition, network string, nodes int) result.Spec {
	s := result.Spec{
		Algorithm: a.Name, Nodes: nodes, Transport: network, Workload: c.workload,
		CS: cmp.Or(c.hold, cs).String(), Requests: nodes, Warmup: result.DefaultWarmup, Set: merged(set, c.set),
		TotalRate: c.totalRate(nodes),
	}
	if network == result.Sim {
		s.Set = merged(s.Set, map[string]string{"t": messageDelay.String()})
	} else {
		s.NodesPerWorker = max(1, (nodes+mostWorkers-1)/mostWorkers)
	}
	return s
}

// mostWorkers bounds the processes of a run over a real network; larger systems
// have several nodes in each.
const mostWorkers = 16

// job resolves a run, with a placeholder for the number of requests.
func (b *bench) job(a *dme.Algorithm, set map[string]string, c *condition, network string, nodes int) (*run.Job, error) {
	key := fmt.Sprint(a.Name, "|", Written(set), "|", c.name, "|", network, "|", nodes)
	p, ok := b.known[key]
	if !ok {
		spec := specOf(a, set, c, network, nodes)
		spec.Seed = b.seed
		p.job, p.err = run.Resolve(spec, b.catalog, nil)
		b.known[key] = p
	}
	return p.job, p.err
}

// settingOf is what predictions for the runs of a job depend on.
func settingOf(j *run.Job) dme.Setting {
	return dme.Setting{Nodes: j.Spec.Nodes, Options: j.Options, System: j.System, T: messageDelay, E: j.Plan.MeanHold()}
}

// perEntry estimates the messages of an entry from what the claims say of it.
func perEntry(a *dme.Algorithm, s dme.Setting) float64 {
	var said, bounds float64
	for _, c := range a.Claims {
		if c.Quantity != dme.MessagesPerCS {
			continue
		}
		x, ok := c.Predict(s)
		if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		switch c.Kind {
		case dme.Exact, dme.Mean, dme.Asymptotic:
			said = max(said, x)
		default:
			bounds = max(bounds, x)
		}
	}
	switch {
	case said > 0:
		return said
	case bounds > 0:
		return bounds
	}
	return 3 * float64(s.Nodes)
}

// otherMembers returns K−1: how many other nodes a node's request set has, in
// the mean.
func otherMembers(s dme.Setting) float64 {
	sets, ok := s.System.(dme.Quorate)
	if !ok {
		return math.NaN()
	}
	sum := 0
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		set := sets.RequestSet(id)
		sum += len(set)
		if slices.Contains(set, id) {
			sum--
		}
	}
	return float64(sum) / float64(s.Nodes)
}
