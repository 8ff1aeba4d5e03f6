package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/internal/experiment"
	"dmebench/internal/experiment/validate"
	"dmebench/internal/experiment/validate/faults"
	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/fileio"
	"dmebench/internal/platform/layout"
	"dmebench/internal/runtime/coordinator"
	"dmebench/internal/runtime/run"
	"dmebench/report"
	"dmebench/report/survival"
	"dmebench/runs"
)

// defaultValidation is where verdicts are kept.
const defaultValidation = "results/validate"

func (p *program) validateCommand() *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "measure what the papers claim: one line for each claim, with its verdict",
		ArgsUsage: "[ALGORITHM…]",
		UsageText: "dmebench validate --quick\ndmebench validate maekawa raymond/messages-per-cs",
		Description: "Runs what the claims need, in virtual time and, for claims about growth, with real processes. Writes\n" +
			"validate.md, .json and .html. The same command again continues after an interruption.\n" +
			"Exit code: 0, or 1 if an exact claim fails that is not known to be false; 64 or more: refused before\n" +
			"anything started; 130 interrupted.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{Name: "algorithm", Aliases: []string{"a"}, Usage: "only the algorithms `NAMES`",
				DefaultText: "all but those known to be wrong"},
			&cli.StringSliceFlag{Name: "claim", Usage: "only claim `ID` (see list --json), or all whose ID begins so, up to a slash"},
			&cli.BoolFlag{Name: "quick", Usage: "fewer sizes and repetitions, no real processes: up to two minutes"},
			&cli.BoolFlag{Name: "full", Usage: "more sizes and repetitions: up to half an hour"},
			&cli.BoolFlag{Name: "faults", Usage: "inject faults, and make the table of what each algorithm survives"},
			&cli.StringFlag{Name: "transport", Value: runs.Sim, Usage: "measure over `NETWORK`: " + networkNames()},
			seedFlag(runs.DefaultSeed, "random seed `S` of the first repetition; the next has the next"),
			&cli.StringFlag{Name: "out", Value: defaultValidation, Usage: "write to folder `DIR`"},
			&cli.BoolFlag{Name: "fresh", Usage: "run again what was run before an interruption"},
			forceFlag(),
			jsonFlag("print one JSON object in place of the lines"),
			&cli.BoolFlag{Name: "verbose", Usage: "on a terminal: reasons and sources, too, as a file or a pipe always gets them"},
			quietFlag(),
		}, inCategory("Other hosts", workFlags("the simulations")...)),
		Action: p.validate,
	}
}

func (p *program) validate(c *cli.Context) error {
	if c.Bool("quick") && c.Bool("full") {
		return usage("validate: --quick and --full exclude each other")
	}
	if c.Bool("faults") {
		if c.IsSet("agents") {
			return usage("validate: --agents is for the simulations of claims; --faults injects faults on this host, leave one of them out")
		}
		return p.survival(c)
	}
	dir := c.String("out")
	if err := probe(dir); err != nil {
		return err
	}
	opt := validate.Options{
		Catalog: p.catalog.Algorithms(), Algorithms: listed(c.StringSlice("algorithm")), Claims: c.StringSlice("claim"), Mode: modeOf(c),
		Transport: c.String("transport"), Seed: c.Uint64("seed"), Parallel: runtime.GOMAXPROCS(0),
		Run: func(ctx context.Context, job *run.Job) (*runs.Result, error) {
			if job.Network.Real() {
				if _, err := p.fits(job.Spec, nil, c.Bool("force")); err != nil {
					return nil, err
				}
			}
			return p.execute(ctx, job, coordinator.Options{})
		},
	}
	if !c.Bool("quiet") {
		opt.Progress = p.tally()
	}
	work, err := p.openWork(c, newFiles())
	if err != nil {
		return err
	}
	defer work.close()
	ctx, fail := context.WithCancelCause(c.Context)
	defer fail(nil)
	if work != nil {
		opt.Parallel = max(opt.Parallel, 2*work.queue.Cores()) // so that no core waits for its next run
		opt.Elsewhere = func(ctx context.Context, s runs.Spec) (*runs.Result, error) {
			r, err := work.simulate(ctx, s)
			if err != nil {
				fail(err)
			}
			return r, err
		}
	}
	described := environment.Describe()
	store, release, err := experiment.Continue(dir, runs.Header{
		Started: time.Now(), Plan: validate.Plan(opt), Environment: described,
	}, c.Bool("fresh"))
	if err != nil {
		return err
	}
	defer release()
	for _, text := range store.SetAside() {
		fmt.Fprintf(p.stderr, "dmebench: warning: %s\n", text)
	}
	store.Quick = opt.Transport == runs.Sim
	opt.Store = store
	d, err := validate.Run(ctx, opt)
	if d == nil {
		return refusal(c.Context, err)
	}
	if c.Context.Err() == nil && ctx.Err() != nil {
		return context.Cause(ctx) // what was run until then is in the store
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return failWith(CantCreate, fmt.Errorf("--out %s: cannot keep a result: %w; is there room on the disk?", dir, err))
	}
	d.Environment = described
	if err := writeValidation(dir, d); err != nil {
		return err
	}
	if err := p.print(c, "verdicts", d, func() error { return p.printVerdicts(d, c.Bool("verbose")) }); err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "validate: %s\n", filepath.Join(dir, "validate.html"))
	switch {
	case !d.Complete:
		p.exit = Interrupted
	case d.Counts.ExactFailed > 0:
		p.exit = Broken
	}
	return nil
}

// printVerdicts prints a line for each claim: short ones to a terminal, with what does
// not hold at the end, and whole ones in the order of the algorithms to a file or a pipe.
func (p *program) printVerdicts(d *claims.Document, verbose bool) error {
	if style := p.printed(); style != (layout.Style{}) {
		return report.ValidationOnTerminal(p.stdout, d, style, verbose)
	}
	return report.ValidationLines(p.stdout, d)
}

func modeOf(c *cli.Context) validate.Mode {
	switch {
	case c.Bool("quick"):
		return validate.Quick
	case c.Bool("full"):
		return validate.Full
	}
	return validate.Moderate
}

// listed divides values at commas.
func listed(values []string) []string {
	var all []string
	for _, v := range values {
		for word := range strings.SplitSeq(v, ",") {
			if word = strings.TrimSpace(word); word != "" {
				all = append(all, word)
			}
		}
	}
	return all
}

// probe makes sure that results can be kept in dir before they are made.
func probe(dir string) error {
	return cannotWrite("--out "+dir, makeFolder(dir))
}

// writeValidation writes the three forms of the document.
func writeValidation(dir string, d *claims.Document) error {
	files, err := report.Validation(d)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := fileio.Write(filepath.Join(dir, f.Name), f.Data); err != nil {
			return failWith(CantCreate, fmt.Errorf("--out %s: %w; is there room on the disk?", dir, err))
		}
	}
	return nil
}

// tallyEvery is how often progress is reported without a terminal.
const tallyEvery = 10 * time.Second

// tally reports how far a validation is.
func (p *program) tally() func(done, planned int, what string) {
	every := tallyEvery
	onTerminal := layout.IsTerminal(p.stderr)
	if onTerminal {
		every = 200 * time.Millisecond
	}
	start := time.Now()
	last := start
	return func(done, planned int, what string) {
		planning := planned == 0
		if time.Since(last) < every && (planning || done < planned) {
			return
		}
		last = time.Now()
		text := fmt.Sprintf("validate: %d of %d runs after %.0f s: %s", done, planned, time.Since(start).Seconds(), what)
		if planning {
			text = fmt.Sprintf("validate: planning after %.0f s: %s", time.Since(start).Seconds(), what)
		}
		text = strings.TrimSuffix(text, ": ")
		if onTerminal {
			fmt.Fprintf(p.stderr, "\r\x1b[K%s", layout.Cut(text, layout.StyleOf(p.stderr).Width))
			if done == planned && !planning {
				fmt.Fprint(p.stderr, "\r\x1b[K")
			}
			return
		}
		fmt.Fprintln(p.stderr, text)
	}
}

// effort is how much is tried for the survival table.
type effort struct {
	networks    []string
	repetitions int
	schedules   int
	states      uint64
}

func (p *program) effortOf(c *cli.Context) effort {
	e := effort{[]string{runs.Sim, "tcp"}, 6, 2000, 300_000}
	switch {
	case c.Bool("quick"):
		e = effort{[]string{runs.Sim}, 6, 1000, 50_000}
	case c.Bool("full"):
		e = effort{[]string{runs.Sim, "tcp", "udp", "nats"}, 10, 20_000, 3_000_000}
	}
	if c.IsSet("transport") {
		e.networks = listed([]string{c.String("transport")})
		if c.Bool("quick") && !slices.Equal(e.networks, []string{runs.Sim}) {
			e.repetitions = 4 // processes take their time
		}
	}
	return e
}

// survival fills the table of what each algorithm survives.
func (p *program) survival(c *cli.Context) error {
	for _, name := range []string{"claim", "fresh"} {
		if c.IsSet(name) {
			return usage("validate: --%s is for claims, and --faults makes the table of what each algorithm survives; choose one", name)
		}
	}
	algorithms, err := p.sound(listed(c.StringSlice("algorithm")))
	if err != nil {
		return failWith(Usage, err)
	}
	dir, e := c.String("out"), p.effortOf(c)
	if err := probe(dir); err != nil {
		return err
	}
	for _, network := range e.networks {
		if _, err := run.LookupNetwork(network); err != nil {
			return failWith(Usage, err)
		}
	}
	opt := faults.Options{
		Catalog: p.catalog.Algorithms(), Algorithms: algorithms, Networks: e.networks, Nodes: 7, Repetitions: e.repetitions,
		Seed: c.Uint64("seed"), Schedules: e.schedules, States: e.states,
		Run: func(ctx context.Context, job *run.Job, idle func()) (*runs.Result, error) {
			return p.execute(ctx, job, coordinator.Options{Idle: idle})
		},
	}
	if !c.Bool("quiet") {
		opt.Progress = p.tally()
	}
	d, err := faults.Run(c.Context, opt)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	d.Environment = environment.Describe()
	files, failed := report.Survival(d)
	for _, f := range files {
		if failed == nil {
			failed = fileio.Write(filepath.Join(dir, f.Name), f.Data)
		}
	}
	if failed != nil {
		return failWith(CantCreate, fmt.Errorf("--out %s: %w; is there room on the disk?", dir, failed))
	}
	if err := p.print(c, "table", d, func() error { return survival.Matrix(d).WriteText(p.stdout) }); err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "validate: %s\n", filepath.Join(dir, "survival.html"))
	return err
}

// sound returns the algorithms of these names, or all that are not known to be
// wrong.
func (p *program) sound(names []string) ([]*dme.Algorithm, error) {
	var all []*dme.Algorithm
	for _, name := range names {
		a, err := p.catalog.Lookup(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	if all != nil {
		return all, nil
	}
	for _, a := range p.catalog.Algorithms() {
		if !a.AsPublished {
			all = append(all, a)
		}
	}
	return all, nil
}
