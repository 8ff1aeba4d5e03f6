package mutation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Options say which faults are planted, and what the trials may take.
type Options struct {
	Root  string // of the module
	Group Group
	Count int // how many mutants are chosen, beside those that are equivalent; 0: all
	Seed  uint64

	Keep       func(*Mutant) bool // nil: any may be chosen
	Equivalent List               // not planted
	For        time.Duration      // when it is over, what is not tried yet stays so; 0: no limit
	Memory     int64              // address space of a process, in bytes; 0: 4 GiB
	// Grace is the processor time that a test may take beyond five times what it takes
	// with no fault active; 0: 5 s. On the wall it may take four times as much beyond
	// ten times: other work on the machine matters more there.
	Grace time.Duration
	Log   func(format string, args ...any)
}

// Run plants faults and tells which tests notice them. An error means that the program
// could not be rewritten, compiled or run with no fault active.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if o.Memory == 0 {
		o.Memory = 4 << 30
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	if o.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.For, errEnough)
		defer cancel()
	}
	src, chosen, report, err := choose(o)
	if err != nil || len(chosen) == 0 {
		return report, err
	}
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w := &workshop{root: o.Root, dir: dir, memory: o.Memory, grace: o.Grace, log: o.Log}
	files, chosen, err := src.rewriteAll(chosen)
	if err != nil {
		return nil, err
	}
	if err := w.overlay(files); err != nil {
		return nil, err
	}
	trials := report.begin(src, chosen)
	err = w.tryAll(ctx, trials, o.Group.Tests)
	if errors.Is(context.Cause(ctx), errEnough) {
		err = nil
	}
	report.count()
	return report, err
}

var errEnough = errors.New("mutation: the time is over")

// choose selects mutants. Those that do not compile are replaced by the next ones.
func choose(o Options) (*source, []*Mutant, *Report, error) {
	var patterns []string
	for _, p := range o.Group.Packages {
		patterns = append(patterns, "./"+p)
	}
	src, all, err := load(o.Root, patterns)
	if err != nil {
		return nil, nil, nil, err
	}
	report := &Report{Group: o.Group.Name, Seed: o.Seed}
	all = slices.DeleteFunc(all, func(m *Mutant) bool {
		return !o.Group.Has(path.Dir(m.File)) || o.Keep != nil && !o.Keep(m)
	})
	report.Possible = len(all)
	Order(all, o.Seed)
	var chosen []*Mutant
	for i := 0; i < len(all) && (o.Count == 0 || len(chosen) < o.Count); {
		want := len(all) - i
		if o.Count > 0 {
			want = min(want, o.Count-len(chosen))
		}
		for _, m := range all[i : i+want] {
			if reason, ok := o.Equivalent[m.ID()]; ok {
				report.Mutants = append(report.Mutants, entry(src, m, Equivalent, reason))
			} else {
				chosen = append(chosen, m)
			}
		}
		i += want
		if _, chosen, err = src.rewriteAll(chosen); err != nil {
			return nil, nil, nil, err
		}
	}
	return src, chosen, report, nil
}

// tryAll lets the tests of the mutants' own packages look, then those of others at
// what is left.
func (w *workshop) tryAll(ctx context.Context, trials []*Entry, others []string) error {
	var own []string
	for _, e := range trials {
		own = append(own, path.Dir(e.File))
	}
	slices.Sort(own)
	own = slices.Compact(own)
	for _, folder := range own {
		if err := w.try(ctx, folder, trials, func(e *Entry) bool { return path.Dir(e.File) == folder }); err != nil {
			return err
		}
	}
	for _, folder := range others {
		if err := w.try(ctx, folder, trials, func(e *Entry) bool { return path.Dir(e.File) != folder }); err != nil {
			return err
		}
	}
	for _, e := range trials {
		if e.Status == Untried {
			e.Status = Survived
		}
	}
	return nil
}

// try lets the tests of one package look at the mutants that nobody has noticed.
func (w *workshop) try(ctx context.Context, folder string, trials []*Entry, may func(*Entry) bool) error {
	left := slices.DeleteFunc(slices.Clone(trials), func(e *Entry) bool { return e.Status == Noticed || !may(e) })
	if len(left) == 0 {
		return nil
	}
	begin := time.Now()
	p, err := w.build(ctx, folder)
	if err != nil {
		return err
	}
	built := time.Since(begin)
	if err := p.observe(ctx); err != nil {
		return err
	}
	observed := time.Since(begin) - built
	w.log("%s: compiled in %.0f s, %d tests in %.0f s; %d mutants", folder, built.Seconds(), len(p.tests), observed.Seconds(), len(left))
	for _, e := range left {
		by, noticed, reached := p.notice(ctx, e.number)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if reached {
			e.Reached = append(e.Reached, folder)
		}
		if noticed {
			e.Status, e.By = Noticed, by
		}
		switch {
		case noticed:
			w.log("  %s:%d `%s` → `%s`: noticed by %s", e.File, e.Line, e.From, e.To, strings.TrimPrefix(by, folder+" "))
		case reached:
			w.log("  %s:%d `%s` → `%s`: not noticed", e.File, e.Line, e.From, e.To)
		}
	}
	return nil
}

// Preview prints the mutants that Run would plant, without trying them.
func Preview(o Options, w io.Writer) error {
	src, chosen, _, err := choose(o)
	if err != nil {
		return err
	}
	for _, m := range chosen {
		if _, err := fmt.Fprintf(w, "line %d, %s\n%s\n%s\n", m.Line, m.Operator, m.ID(), m.Diff(src.texts[m.File])); err != nil {
			return err
		}
	}
	return nil
}
