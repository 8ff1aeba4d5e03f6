// Package validate says of every claim of an algorithm whether it holds, by what it measures.
//
// It plans which runs the claims need, carries each out once for all claims that it serves, keeps
// it in a store, and has package claims judge. Runs that the store has already, of a validation
// that was interrupted, are not carried out again. It knows no formula and no algorithm. A claim is
// tried at several numbers of nodes, and under every load there is here of the kind that it speaks
// of.
//
// Guarantees: no verdict without a measurement; what cannot be measured or was not run says why; a
// claim that is known to be false is measured like any other. The verdicts follow from the options
// and the seed, except if the budget of time runs out, which the document says.
//
// Beside its own claims every algorithm has two more: that it is safe and that it is live, judged
// over all its runs.
//
// Bounds on overtaking are tried on every schedule of two and three nodes besides, which reaches
// what runs seldom come near.
//
// It injects no faults. Claims about failures are measured if the construction tells, and
// otherwise wait.
package validate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/platform"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/units"
)

// Parts of the budget by whose end the phases are to be over.
const (
	simulated = 0.50 // simulations for the claims
	repeated  = 0.60 // and more of them if these left something open
	retried   = 0.68 // and under other heavy loads; all of it if nothing real follows
)

// Run validates the claims of the algorithms. An error says that there is no
// document, or, if there is one, that it is not complete because ctx was
// cancelled.
func Run(ctx context.Context, o Options) (*claims.Document, error) {
	if o.Transport == "" {
		o.Transport = runs.Sim
	}
	if o.Seed == 0 {
		o.Seed = runs.DefaultSeed
	}
	var errs []error
	network, err := run.LookupNetwork(o.Transport)
	errs = append(errs, err)
	e, err := effortOf(o.Mode)
	errs = append(errs, err)
	subjects, controls, err := o.subjects()
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if o.Budget > 0 {
		e.budget = o.Budget
	}
	w := newExecutor(&o)
	d := &claims.Document{
		SchemaVersion: claims.SchemaVersion, Mode: string(o.Mode), Transport: network.Name, Seed: o.Seed,
		Controls: append([]string{}, controls...),
		Started:  time.Now().UTC().Format(time.RFC3339), Confidence: claims.Confidence, FamilyError: claims.FamilyError,
		Claims: []claims.Verdict{}, Environment: map[string]string{},
	}
	p, err := platform.Interruptible(ctx, func() (*plan, error) { return newPlan(ctx, &o, e, subjects), nil })
	if err != nil {
		return nil, err
	}
	if err := p.worstCases(ctx); err != nil {
		return nil, err
	}
	err = o.carryOut(ctx, w, p)
	d.Compared = p.means()
	for _, a := range subjects {
		d.Algorithms = append(d.Algorithms, a.Name)
		t := p.tally(a)
		d.Entries += t.Entries
		d.Claims = append(d.Claims, p.verdicts(a, t)...)
	}
	d.Scaling = p.scaling()
	d.Runs, d.RunsLeftOut = w.done, w.left()
	d.ElapsedSeconds = w.now().Sub(w.started).Seconds()
	d.Complete = err == nil
	d.Count()
	return d, err
}

// carryOut runs the plan in its phases: simulations, more of them if they left something open,
// other heavy loads where a formula has failed, and runs over a real network.
func (o *Options) carryOut(ctx context.Context, w *executor, p *plan) error {
	whole := float64(p.effort.budget)
	if len(p.pending(true)) == 0 {
		whole /= retried
	}
	for _, phase := range []struct {
		prepare func()
		until   float64 // part of the budget
	}{
		{func() {}, simulated}, {p.doubtful, repeated}, {p.heavier, retried}, {p.doubtful, retried},
	} {
		phase.prepare()
		if err := w.carryOut(ctx, p, p.pending(false), o.Parallel, time.Duration(phase.until*whole)); err != nil {
			return err
		}
	}
	return w.carryOut(ctx, p, p.pending(true), 1, p.effort.budget)
}

func (p *plan) tally(a *dme.Algorithm) (t claims.Tally) {
	for _, c := range p.cells {
		for _, r := range c.runs {
			if c.algorithm == a && r != nil {
				t.Add(c.Condition, r)
				t.Starved(c.Condition, r, claims.Starved(c.overtaking, r))
			}
		}
	}
	return t
}

func (p *plan) means() (n int) {
	for _, q := range p.questions {
		n += q.means()
	}
	return n
}

// verdicts says what came of the claims of an algorithm that were asked for.
func (p *plan) verdicts(a *dme.Algorithm, all claims.Tally) (verdicts []claims.Verdict) {
	compared := p.means()
	for _, q := range p.questions {
		switch {
		case q.Algorithm != a || !p.opt.wants(a, q.Claim):
		case claims.Everywhere(q.Claim):
			verdicts = append(verdicts, q.JudgeAll(all))
		default:
			verdicts = append(verdicts, q.verdict(compared))
		}
	}
	return verdicts
}

// Plan identifies what may be continued: the same program, with the same seed.
func Plan(o Options) string {
	path, _ := os.Executable()
	program, _ := os.ReadFile(path)
	return fmt.Sprintf("%x", sha256.Sum256(append(fmt.Appendln(nil, o.Seed), program...)))
}

// Mode says how much is run.
type Mode string

// Quick is for a look, Full for a publication.
const (
	Quick    Mode = "quick"
	Moderate Mode = "default"
	Full     Mode = "full"
)

// Options says what to validate and how.
type Options struct {
	Catalog    run.Catalog
	Algorithms []string // names; none for all but the texts that are known to be wrong
	Claims     []string // IDs, or leading parts of them that end before a slash; none for all claims of the algorithms
	Mode       Mode
	Transport  string // the network that claims are measured on; Sim if it is empty
	Seed       uint64

	// Run carries out a job.
	Run func(context.Context, *run.Job) (*runs.Result, error)

	// Elsewhere carries out simulations on other hosts; nil for none. A failed run has a result; an
	// error says that none can be carried out any more: the caller has to end the context.
	Elsewhere func(context.Context, runs.Spec) (*runs.Result, error)

	// Store keeps the results, and has those of an earlier validation that was
	// interrupted: these stand. It may be nil.
	Store *runs.Store

	// Parallel is how many simulations are carried out at a time. Runs over a
	// real network are always carried out one by one.
	Parallel int

	// Progress is called with how many of the planned runs have been carried out, from one
	// goroutine at a time; during planning, with 0 of 0. It may be nil.
	Progress func(done, planned int, what string)

	// Now is the clock of the budget; nil for the wall clock.
	Now func() time.Time

	// Budget is how long the runs may take; 0 for the mode's.
	Budget time.Duration
}

type effort struct {
	budget time.Duration

	ladder []int // sizes at which every claim is asked
	wide   []int // sizes at which claims of slow growth are asked in a simulation
	real   []int // and over a real network; nil for not at all
	others int   // largest size for conditions other than the plainest

	repetitions int // for a size of the ladder
	onWide      int // for a larger one
	onReal      int

	perNode  int     // requests per node of a contended run, at best
	isolated int     // requests of a run in which they are isolated; each cell's own
	messages float64 // of one run, at most
}

func effortOf(m Mode) (effort, error) {
	switch m {
	case Quick:
		return effort{
			budget: 2 * time.Minute,
			ladder: []int{4, 8, 16}, wide: rungs(16, 8, 4096), others: 8,
			repetitions: 6, onWide: 4, perNode: 60, messages: 2e5,
		}, nil
	case Moderate:
		return effort{
			budget: 8 * time.Minute,
			ladder: []int{4, 8, 16, 32, 64, 128}, wide: rungs(18, 8, 10000), real: realSizes, others: 32,
			repetitions: 8, onWide: 6, onReal: 2, perNode: 100, messages: 1e6,
		}, nil
	case Full:
		return effort{
			budget: 26 * time.Minute,
			ladder: []int{4, 8, 16, 32, 64, 128, 256}, wide: rungs(18, 8, 10000), real: realSizes, others: 64,
			repetitions: 12, onWide: 10, onReal: 6, perNode: 100, messages: 3e6,
		}, nil
	}
	return effort{}, fmt.Errorf("validate: unknown mode %q", m)
}

// realSizes are the sizes at which growth is measured over a real network.
var realSizes = []int{8, 13, 31, 64, 125, 216, 307}

// smallReal takes the place of the ladder if all claims are measured over a real network: every
// node is a process.
var smallReal = []int{4, 7, 13}

// subjects returns the algorithms to validate, and the names of those that are
// left out because their text is known to be wrong.
func (o *Options) subjects() (chosen []*dme.Algorithm, controls []string, err error) {
	var errs []error
	named := slices.Clone(o.Algorithms)
	for _, id := range o.Claims {
		algorithm, _, _ := strings.Cut(id, "/")
		a, err := o.Catalog.Lookup(algorithm)
		if err != nil || !slices.ContainsFunc(claimsOf(a), func(c claim.Claim) bool { return within(c.ID(a), id) }) {
			errs = append(errs, units.UnknownName("claim", id, o.claimIDs(), "'dmebench list --json' lists the IDs of all claims"))
			continue
		}
		named = append(named, a.Name)
	}
	for _, name := range named {
		a, err := o.Catalog.Lookup(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !slices.Contains(chosen, a) {
			chosen = append(chosen, a)
		}
	}
	for _, a := range o.Catalog {
		switch {
		case slices.Contains(chosen, a):
		case a.AsPublished:
			controls = append(controls, a.Name)
		case len(named) == 0:
			chosen = append(chosen, a)
		}
	}
	return chosen, controls, errors.Join(errs...)
}

// claimsOf returns the claims of an algorithm. If its own list does not say that it is safe and
// live, these claims come first.
func claimsOf(a *dme.Algorithm) claim.List {
	all := slices.DeleteFunc(claim.SafeAndLive("all texts"), func(c claim.Claim) bool {
		return claim.Of(a).SpeaksOf(c.Quantity)
	})
	return append(all, claim.Of(a)...)
}

// claimIDs lists the IDs of all claims, and what they begin with before a slash.
func (o *Options) claimIDs() []string {
	var ids []string
	for _, a := range o.Catalog {
		for _, c := range claimsOf(a) {
			id := c.ID(a)
			for i, r := range id {
				if r == '/' && !slices.Contains(ids, id[:i]) {
					ids = append(ids, id[:i])
				}
			}
			ids = append(ids, id)
		}
	}
	return ids
}

// within reports whether a claim's ID is what was asked for, or begins with it.
func within(id, asked string) bool {
	asked = strings.ToLower(asked)
	return id == asked || strings.HasPrefix(id, strings.TrimSuffix(asked, "/")+"/")
}

func (o *Options) wants(a *dme.Algorithm, c claim.Claim) bool {
	return len(o.Claims) == 0 || slices.ContainsFunc(o.Algorithms, func(name string) bool { return strings.EqualFold(name, a.Name) }) ||
		slices.ContainsFunc(o.Claims, func(id string) bool { return within(c.ID(a), id) })
}
