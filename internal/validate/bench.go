package validate

import (
	"fmt"

	"dmebench/dme"
	"dmebench/internal/run"
)

// bench prepares jobs to evaluate predictions on. Their systems, which are the
// same under many conditions, it prepares once.
type bench struct {
	catalog run.Catalog
	seed    uint64
	systems map[string]system
}

type system struct {
	dme.System
	err error
}

func newBench(o *Options) *bench {
	b := &bench{seed: o.Seed, systems: make(map[string]system)}
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
func (b *bench) forget() { clear(b.systems) }

// job resolves a run that answers a question, with a placeholder for the number
// of requests.
func (b *bench) job(q *question, c *condition, nodes int) (*run.Job, error) {
	spec := c.spec(q.Algorithm.Name, q.Set, nodes)
	spec.Seed = b.seed
	return run.Resolve(spec, b.catalog, nil)
}

// settingOf is what predictions for the runs of a job depend on.
func settingOf(j *run.Job) dme.Setting {
	s := j.Setting()
	s.T = messageDelay
	return s
}
