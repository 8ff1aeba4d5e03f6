package validate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/internal/exit"
	"dmebench/internal/interrupt"
	"dmebench/internal/run"
	"dmebench/result"
)

// Parts of the budget by whose end the phases are to be over.
const (
	simulated = 0.50 // simulations for the claims
	repeated  = 0.60 // and more of them where these left something open
	retried   = 0.68 // and under other heavy loads; all of it where nothing real follows
)

// Run validates the claims of the algorithms. An error says that there is no
// document, or, where there is one, that it is not complete because ctx was
// cancelled.
func Run(ctx context.Context, o Options) (*claims.Document, error) {
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

func (o *Options) validate(
	ctx context.Context, network run.Network, e effort, subjects []*dme.Algorithm, controls []string,
) (*claims.Document, error) {
	w := newExecutor(o)
	d := &claims.Document{
		SchemaVersion: claims.SchemaVersion, Mode: string(o.Mode), Transport: network.Name, Seed: o.Seed,
		Algorithms: names(subjects), Controls: append([]string{}, controls...),
		Started: time.Now().UTC().Format(time.RFC3339), Confidence: claims.Confidence, FamilyError: claims.FamilyError,
		Claims: []claims.Verdict{}, Environment: map[string]string{},
	}
	p, err := interrupt.Do(ctx, func() (*plan, error) { return newPlan(ctx, o, e, subjects), nil })
	if err != nil {
		return nil, err
	}
	if err := p.worstCases(ctx); err != nil {
		return nil, err
	}
	err = o.carryOut(ctx, w, p)
	d.Compared = p.means()
	for _, a := range subjects {
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

// carryOut runs the plan in its phases: simulations, more of them where they left
// something open, other heavy loads where a formula has failed, and runs over a real
// network.
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

// tally sums up all runs of an algorithm.
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

// means returns how many means are compared for all questions.
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

// Plan identifies what may go on with the results of an earlier validation: the
// same program, with the same seed.
func Plan(o Options) string {
	digest := sha256.New()
	fmt.Fprintln(digest, o.Seed)
	if path, err := os.Executable(); err == nil {
		if program, err := os.Open(path); err == nil {
			io.Copy(digest, program)
			program.Close()
		}
	}
	return hex.EncodeToString(digest.Sum(nil))
}

// ExitCode is the code with which 'validate' ends.
func ExitCode(d *claims.Document) int {
	switch {
	case !d.Complete:
		return exit.Interrupted
	case d.Counts.ExactFailed > 0:
		return exit.Broken
	}
	return exit.Held
}
