package validate

import (
	"context"
	"errors"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/run"
	"dmebench/result"
)

// Parts of the budget by whose end the phases are to be over.
const (
	simulated = 0.60 // simulations for the claims; all of it where nothing real follows
	retried   = 0.68 // and under other heavy loads
)

// Run validates the claims of the algorithms. An error says that there is no
// document, or, where there is one, that it is not complete because ctx was
// cancelled.
func Run(ctx context.Context, o Options) (*Document, error) {
	if o.Transport == "" {
		o.Transport = result.Sim
	}
	if o.Seed == 0 {
		o.Seed = result.DefaultSeed
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
	return o.validate(ctx, network, e, subjects, controls)
}

func (o *Options) validate(ctx context.Context, network run.Network, e effort, subjects []*dme.Algorithm, controls []string) (*Document, error) {
	w := newCrew(o)
	d := &Document{
		SchemaVersion: SchemaVersion, Mode: o.Mode, Transport: network.Name, Seed: o.Seed,
		Algorithms: names(subjects), Controls: append([]string{}, controls...),
		Started: time.Now().UTC().Format(time.RFC3339), Confidence: confidence,
		Claims: []Verdict{}, Scaling: []Scaling{}, Environment: map[string]string{},
	}
	p := newPlan(ctx, o, e, subjects)
	asked, err := o.carryOut(ctx, w, p)
	d.judge(p, subjects)
	for _, a := range asked {
		a.conclude(verdictOf(d, a.of))
	}
	d.Scaling = p.scaling()
	d.Runs, d.RunsLeftOut, d.Entries = w.done, w.leftOut, w.entries
	d.ElapsedSeconds = w.now().Sub(w.started).Seconds()
	d.Complete = err == nil
	d.count()
	return d, err
}

// carryOut runs the plan in its phases: simulations, other heavy loads where a
// formula has failed, and runs over a real network.
func (o *Options) carryOut(ctx context.Context, w *crew, p *plan) ([]*again, error) {
	budget := func(part float64) time.Duration { return time.Duration(part * float64(p.effort.budget)) }
	first := simulated
	if len(p.pending(true)) == 0 {
		first = 0.9
	}
	if err := w.carryOut(ctx, p, p.pending(false), o.Parallel, budget(first)); err != nil {
		return nil, err
	}
	asked := p.heavier()
	if err := w.carryOut(ctx, p, p.pending(false), o.Parallel, budget(first+retried-simulated)); err != nil {
		return asked, err
	}
	return asked, w.carryOut(ctx, p, p.pending(true), 1, budget(1))
}

// judge says what came of each claim. Where an algorithm's own list does not say
// that it is safe and live, the claims are added.
func (d *Document) judge(p *plan, subjects []*dme.Algorithm) {
	for _, a := range subjects {
		all := p.runsOf(a)
		for _, c := range dme.SafeAndLive(everyText) {
			if !slices.ContainsFunc(a.Claims, func(own dme.Claim) bool { return own.Quantity == c.Quantity }) {
				d.Claims = append(d.Claims, all.verdict(&question{algorithm: a, claim: c}))
			}
		}
		for _, q := range p.questions {
			switch {
			case q.algorithm != a:
			case q.everywhere():
				d.Claims = append(d.Claims, all.verdict(q))
			default:
				d.Claims = append(d.Claims, p.verdict(q))
			}
		}
	}
}

// everyText is the source of the claims that are made of every algorithm.
const everyText = "all texts"
