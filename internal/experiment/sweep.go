package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"dmebench/internal/experiment/live"
	"dmebench/internal/platform"
	"dmebench/internal/platform/fileio"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// ErrNoHost is wrapped by the error of a [Runner] that can carry out no further run.
var ErrNoHost = errors.New("no run is possible without it")

func cannotGoOn(why error) error {
	return refuse(Unavailable, "%w; what is finished stays, and the same command continues", why)
}

// DefaultOut is the folder below which results are kept.
const DefaultOut = "results"

// Runner carries out one run. It returns a result for every run that it
// started; an error says that there is none. When ctx ends it returns soon. A
// runner that has something to tear down calls keep with the result before it
// does, so that nothing that goes wrong then can lose it. keep is nil if several
// runs go on at once: see [SideBySide]. If the error wraps [ErrNoHost], the sweep ends.
type Runner func(ctx context.Context, job *run.Job, keep func(*runs.Result) error) (*runs.Result, error)

// Options are the circumstances of a sweep. Catalog and Run must be given;
// everything else may be left zero.
type Options struct {
	Out     string // folder below which results are kept; "" is [DefaultOut]
	Fresh   bool   // start over although there are results of this file
	DryRun  bool   // write the plan to Progress, and nothing to the disk
	Catalog run.Catalog
	Run     Runner

	// Elsewhere carries out simulations on other hosts, many at a time; nil: they are carried out
	// here, small ones as many at a time as there are cores. Results are kept in the order of the
	// plan all the same.
	Elsewhere Elsewhere

	// Fits refuses a run that this host has no room for, before any is started;
	// nil refuses none.
	Fits func(runs.Spec) error

	// Environment describes the machine; it is kept beside the results.
	Environment map[string]string

	// Progress receives how far the sweep is; nil for silence. On a terminal, which Interactive
	// says, it is a table that is drawn over itself.
	Progress    io.Writer
	Interactive bool

	// Board is kept up to date, too; nil for none. Between is called with what there is before the
	// first run and after each, the last one or not, while nothing is measured; nil for nothing.
	Board   *live.Board
	Between func(set *runs.Set, last bool)

	// Width is how many columns the table of a dry run may be wide; 0 for any number.
	Width int

	ReadFile func(string) ([]byte, error) // serves settings that name a file; nil is os.ReadFile
	Now      func() time.Time             // nil is time.Now
}

func (o Options) withDefaults() Options {
	o.Out = cmp.Or(o.Out, DefaultOut)
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Summary is what a sweep came to.
type Summary struct {
	Dir         string              // of the results; "" if there is none yet
	Planned     int                 // runs of the plan
	Found       int                 // of these, there before
	Ran         int                 // carried out now
	Counts      map[runs.Status]int // of all that is there now
	Interrupted bool

	outcomes map[runs.Outcome]bool // the outcomes of the runs
}

// Missing returns how many runs have no result, or a failed one.
func (s Summary) Missing() int {
	return s.Planned - s.Counts[runs.OK] - s.Counts[runs.Violated] - s.Counts[runs.Stalled]
}

// Outcome is that of the worst run, wherever that was carried out, now or before.
func (s Summary) Outcome() runs.Outcome {
	for _, o := range []runs.Outcome{runs.Broken, runs.Unknown} {
		if s.outcomes[o] {
			return o
		}
	}
	return runs.Held
}

func (s Summary) String() string {
	var parts []string
	for _, status := range []runs.Status{runs.OK, runs.Violated, runs.Stalled, runs.Failed} {
		if n := s.Counts[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	if n := s.Missing() - s.Counts[runs.Failed]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d not yet run", n))
	}
	text := fmt.Sprintf("%d runs: %s; results in %s", s.Planned, strings.Join(parts, ", "), s.Dir)
	if s.Interrupted {
		text = "interrupted; the same command continues. " + text
	}
	return text
}

func (s *Summary) count(c Cell, r *runs.Result) {
	s.Counts[r.Status]++
	s.outcomes[r.Status.Outcome(c.LinksMet && len(r.Faults) == 0)] = true
}

// longPlanning is how long a plan may take before a line announces it.
const longPlanning = 2 * time.Second

// Sweep carries out what is missing of an experiment. Results that are there
// from an earlier sweep of the same file stand; failed ones are run again. A
// run that is violated, stalled or failed does not end the sweep. The end of
// ctx does: what is finished is kept, and the run in progress is not.
//
// A [Refused] error says that the sweep was refused, or that a result could not be
// written. The summary counts what there is in either case.
func Sweep(ctx context.Context, file File, opt Options) (Summary, error) {
	opt = opt.withDefaults()
	plan, s, err := file.plan(ctx, opt)
	if err != nil {
		return s, err
	}
	root := filepath.Join(opt.Out, file.Name)
	if opt.DryRun {
		there, _, err := previous(root, plan, opt)
		if err != nil {
			return s, err
		}
		if there != nil {
			s.Dir = there.Name()
		}
		return s, plan.write(opt.Progress, opt.Width, root, s.Dir, s.missing(plan, there))
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return s, unwritable(root, err)
	}
	release, err := lock(root)
	if err != nil {
		return s, err
	}
	defer release()
	if err := fileio.Probe(root); err != nil {
		return s, unwritable(root, err)
	}
	fileio.RemoveTemporaries(root)

	store, err := open(root, plan, opt)
	if err != nil {
		return s, err
	}
	defer store.Close()
	s.Dir = filepath.Dir(store.Path)
	todo := s.missing(plan, &store.Set)
	err = carryOut(ctx, plan, store, todo, &s, opt)
	return s, err
}

// Measure carries out an experiment whose results are not kept, nor anything else on the disk.
func Measure(ctx context.Context, file File, opt Options) (*runs.Set, error) {
	opt = opt.withDefaults()
	plan, s, err := file.plan(ctx, opt)
	if err != nil {
		return nil, err
	}
	store := &runs.Store{Set: runs.Set{Header: plan.header(opt.Now(), opt.Environment)}}
	err = carryOut(ctx, plan, store, plan.Cells, &s, opt)
	return &store.Set, cmp.Or(err, ctx.Err())
}

func (f File) plan(ctx context.Context, opt Options) (*Plan, Summary, error) {
	s := Summary{Counts: make(map[runs.Status]int), outcomes: make(map[runs.Outcome]bool)}
	planning := time.AfterFunc(longPlanning, func() {
		if opt.Interactive {
			fmt.Fprintln(opt.Progress, "planning: each combination is prepared, to see whether it can run …")
		}
	})
	plan, err := platform.Interruptible(ctx, func() (*Plan, error) { return f.expand(opt) })
	planning.Stop()
	if err == nil {
		s.Planned = len(plan.Cells)
	}
	return plan, s, err
}

// missing returns the cells without result, or a failed one, and counts the others.
func (s *Summary) missing(plan *Plan, there *runs.Set) []Cell {
	if there == nil {
		return plan.Cells
	}
	var todo []Cell
	for _, c := range plan.Cells {
		if r := there.Find(c.Key()); r == nil || r.Status == runs.Failed {
			todo = append(todo, c)
		} else {
			s.Found++
			s.count(c, r)
		}
	}
	return todo
}

func carryOut(ctx context.Context, plan *Plan, store *runs.Store, todo []Cell, s *Summary, opt Options) error {
	for _, line := range plan.LeftOut {
		fmt.Fprintln(opt.Progress, "left out:", line)
	}
	progress := newProgress(plan, &store.Set, todo, s, opt)
	defer progress.end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var next func(context.Context) (*runs.Result, error)
	for i, c := range todo {
		if ctx.Err() != nil && next == nil {
			s.Interrupted = true
			return nil
		}
		progress.begins(c)
		begun := opt.Now()
		var r *runs.Result
		var err error
		if opt.early(c.Spec) {
			if next == nil {
				next = opt.ahead(ctx, todo[i:])
			}
			r, err = c.fetch(ctx, next, store)
		} else {
			next = nil
			r, err = c.carryOut(ctx, store, opt)
		}
		switch {
		case err != nil:
			return err
		case r == nil:
			s.Interrupted = true
			continue // a later one may have been finished before
		}
		s.Ran++
		s.count(c, r)
		progress.finished(c, r, opt.Now().Sub(begun))
	}
	return nil
}

// carryOut keeps the result of a cell; nil if the sweep was interrupted.
func (c Cell) carryOut(ctx context.Context, store *runs.Store, opt Options) (*runs.Result, error) {
	job, err := c.resolve(ctx, opt)
	if ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kept := false
	keep := func(r *runs.Result) error {
		r.Spec = job.Spec // what it is found by
		err := c.keep(store, r)
		kept = err == nil
		return err
	}
	r, err := opt.Run(ctx, job, keep)
	if r == nil && errors.Is(err, ErrNoHost) && ctx.Err() == nil {
		return nil, cannotGoOn(err)
	}
	r = recorded(job, r, err)
	// An interrupted run was cut off, whatever its status says; only a
	// violation stays one.
	if ctx.Err() != nil && r.Status != runs.OK && r.Status != runs.Violated {
		return nil, nil
	}
	if kept {
		return r, nil
	}
	return r, keep(r)
}

// resolve is done once before; again now, so that few jobs are in memory.
func (c Cell) resolve(ctx context.Context, opt Options) (*run.Job, error) {
	job, err := platform.Interruptible(ctx, func() (*run.Job, error) { return run.Resolve(c.Spec, opt.Catalog, opt.ReadFile) })
	if err != nil {
		err = refuse(BadFile, "%s: %w", c, err)
	}
	return job, err
}

func (c Cell) keep(store *runs.Store, r *runs.Result) error {
	err := store.Append(runs.Run{
		Label: c.Label, Transport: c.Transport, Workload: c.Workload, Repetition: c.Repetition, Result: r,
	})
	if err != nil {
		return refuse(CannotWrite, "cannot write %s: %w; make room or permit it, or choose another folder with --out; "+
			"results that are there already stay", store.Path, cause(err))
	}
	return nil
}

// recorded makes a failed result of an error, so that the reason is kept.
func recorded(job *run.Job, r *runs.Result, err error) *runs.Result {
	switch {
	case r == nil:
		return runs.Failure(job.Spec, cmp.Or(err, errors.New("no result and no error")))
	case err != nil:
		r.Error = err.Error()
		if r.Status != runs.Violated { // a violation stands, whatever else went wrong
			r.Status = runs.Failed
		}
	}
	return r
}

// Continue opens the store in dir to go on with it. If there is none of the same plan, or with
// fresh, it begins one; what was there stays beside it, under the time at which it was begun. Until
// release is called no other process can.
func Continue(dir string, h runs.Header, fresh bool) (store *runs.Store, release func(), err error) {
	unlock, err := lock(dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	release = func() {
		store.Close()
		unlock()
	}
	path := filepath.Join(dir, runs.StoreName)
	store, err = runs.OpenStore(path)
	switch {
	case err == nil && store.Header.Plan == h.Plan && !fresh:
		return store, release, nil
	case err == nil:
		store.Close()
		begun := store.Header.Started.UTC().Format("2006-01-02T15-04-05.000Z")
		err = os.Rename(path, filepath.Join(dir, "runs-"+begun+".jsonl"))
	case errors.Is(err, runs.ErrNoHeader):
		err = os.Remove(path)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case fresh:
		err = os.Rename(path, filepath.Join(dir, "runs-unreadable.jsonl"))
	default:
		return nil, nil, refuse(BadFile, "%w", err)
	}
	if err == nil {
		store, err = runs.CreateStore(path, h)
	}
	if err != nil {
		return nil, nil, unwritable(dir, err)
	}
	return store, release, nil
}

// Elsewhere carries out a simulation on another host. A failed run has a result that says so; an
// error says that no host is left to carry out runs.
type Elsewhere func(ctx context.Context, s runs.Spec) (*runs.Result, error)

// SideBySide reports whether a run may go on beside others on one host: a simulation does not notice
// them, and one of this size needs little memory.
func SideBySide(s runs.Spec) bool {
	long := s.Requests > 1<<20 || s.Requests == 0 && s.Duration.Std() > time.Minute
	return s.Transport == runs.Sim && s.Nodes <= 1024 && !long
}

// most is how many simulations are begun before the first of them is finished. It bounds the
// results that wait for their turn, and is enough that a long one does not leave the other hosts or
// cores idle soon.
const most = 1024

// early reports whether a run may be carried out before it is its turn.
func (o Options) early(s runs.Spec) bool {
	return SideBySide(s) || o.Elsewhere != nil && s.Transport == runs.Sim
}

// ahead returns what carries out the cells from the first on, the next ones before it is their
// turn, up to a run that others would disturb.
func (o Options) ahead(ctx context.Context, todo []Cell) (next func(context.Context) (*runs.Result, error)) {
	atOnce, simulate := runtime.GOMAXPROCS(0), func(c Cell) (*runs.Result, error) {
		job, err := c.resolve(ctx, o)
		if err != nil {
			return nil, err
		}
		r, err := o.Run(ctx, job, nil)
		return recorded(job, r, err), ctx.Err()
	}
	if o.Elsewhere != nil {
		atOnce, simulate = most, func(c Cell) (*runs.Result, error) {
			r, err := o.Elsewhere(ctx, c.Spec)
			if err != nil {
				err = cannotGoOn(err)
			}
			return r, err
		}
	}
	return platform.Ahead(most, atOnce, func(i int) func() (*runs.Result, error) {
		if i == len(todo) || !o.early(todo[i].Spec) {
			return nil
		}
		return func() (*runs.Result, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return simulate(todo[i])
		}
	})
}

// fetch keeps what came of the cell ahead of its turn; nil if the sweep was interrupted.
func (c Cell) fetch(ctx context.Context, next func(context.Context) (*runs.Result, error), store *runs.Store) (*runs.Result, error) {
	r, err := next(context.WithoutCancel(ctx))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil
	case err != nil:
		return nil, err
	}
	r.Spec = c.Spec // what it is found by
	return r, c.keep(store, r)
}
