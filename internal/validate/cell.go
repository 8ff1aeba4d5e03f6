package validate

import (
	"fmt"
	"math"
	"slices"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/internal/run"
	"dmebench/result"
)

// place tells cells apart.
type place struct {
	algorithm, set, condition, network string
	nodes                              int
}

// cell is a run and its repetitions.
type cell struct {
	claims.Cell
	algorithm   *dme.Algorithm
	set         map[string]string // of the algorithm's options
	repetitions int
	cost        float64 // messages of one run, as estimated
	wide        bool    // one of many sizes, over which a growth is measured
	growth      bool    // a claim about growth rests on it
	members     float64 // K−1, mean over the nodes; NaN where there are no request sets

	runs []*result.Result // by repetition; nil where it was not run
}

// usable gathers the results whose numbers can be used, in the order of their
// seeds.
func (c *cell) usable() *claims.Cell {
	c.Results = slices.DeleteFunc(slices.Clone(c.runs), func(r *result.Result) bool { return !result.Usable(r) })
	return &c.Cell
}

// unfinished reports whether a repetition was not run.
func (c *cell) unfinished() bool { return len(c.runs) == 0 || slices.Contains(c.runs, nil) }

// bench prepares jobs to evaluate predictions on, each once, and their systems,
// which are the same under many conditions, once too.
type bench struct {
	catalog run.Catalog
	seed    uint64
	known   map[place]prepared
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
	b := &bench{seed: o.Seed, known: make(map[place]prepared), systems: make(map[string]system)}
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

// job resolves a run, with a placeholder for the number of requests.
func (b *bench) job(a *dme.Algorithm, set map[string]string, c *condition, network string, nodes int) (*run.Job, error) {
	key := place{a.Name, result.Settings(set), c.name, network, nodes}
	p, ok := b.known[key]
	if !ok {
		spec := c.spec(a.Name, set, network, nodes)
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
		x, ok := claims.Predict(c, s)
		switch bound := c.Kind == dme.UpperBound || c.Kind == dme.LowerBound; {
		case ok && bound:
			bounds = max(bounds, x)
		case ok:
			said = max(said, x)
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
