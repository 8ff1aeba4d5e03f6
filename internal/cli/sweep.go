package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/internal/experiment"
	"dmebench/internal/experiment/live"
	"dmebench/internal/platform"
	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/fileio"
	"dmebench/internal/platform/layout"
	"dmebench/internal/runtime/coordinator"
	"dmebench/internal/runtime/run"
	"dmebench/report/cells"
	"dmebench/runs"
)

func (p *program) sweepCommand() *cli.Command {
	return &cli.Command{
		Name:      "sweep",
		Usage:     "run a matrix of experiments with repetitions, from a file or from flags, and report",
		ArgsUsage: "FILE",
		UsageText: "dmebench sweep experiments/quickstart.yaml\n" +
			"dmebench sweep -a maekawa,raymond -n 7,13 --transport tcp,sim --repetitions 6\n" +
			"dmebench sweep --init mine.yaml      writes a file in which every key is explained",
		Description: "Results are kept as they come in. The same command again continues an interrupted sweep, and runs\n" +
			"only what is missing or has failed. With --agents the nodes live on the hosts of agents (docs/testbed.md).",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Usage: "run the experiment in `FILE`"},
			&cli.BoolFlag{Name: "init", Usage: "write an experiment file to begin with, and run nothing"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print the plan and run nothing"},
			&cli.BoolFlag{Name: "fresh", Usage: "start over although there are results"},
			&cli.StringFlag{Name: "out", Value: experiment.DefaultOut, Usage: "keep results below folder `DIR`"},
			serveFlag(),
			failIfFlag("the median of a cell"),
			entriesFlag(),
			forceFlag(),
			quietFlag(),
		}, inCategory("In place of a file", matrixFlags()...), inCategory("Other hosts", slices.Concat(placementFlags(), credentialFlags())...)),
		Action: p.sweep,
	}
}

func (p *program) sweep(c *cli.Context) error {
	if c.Bool("init") {
		return p.initExperiment(c)
	}
	thresholds, err := thresholdsOf(c)
	if err != nil {
		return err
	}
	file, err := p.experimentOf(c)
	if err != nil {
		return cmp.Or(file.AllFaults(p.catalog, newFiles().read), err)
	}
	var hosts *agentHosts
	simulated, real := transportsOf(file)
	if real || len(given(c, "expect-agents", "place")) > 0 { // else nothing has a place
		if hosts, err = p.openTestbed(c); err != nil {
			return err
		}
		defer hosts.close()
	}
	if hosts != nil && !c.Bool("quiet") {
		hosts.show(p.stderr)
		for _, n := range file.Nodes {
			if err := hosts.showPlacement(p.stderr, n, max(1, file.NodesPerWorker)); err != nil {
				return err
			}
		}
	}
	if err := checkEntries(c, hosts != nil); err != nil {
		return err
	}
	files := newFiles()
	var work *agentsWork
	if simulated && !c.Bool("dry-run") {
		if work, err = p.openWork(c, files); err != nil {
			return err
		}
		defer work.close()
	}
	var board *live.Board // of viewers
	show := !c.Bool("quiet") && layout.CanRedraw(p.stderr)
	if (show || c.IsSet("serve")) && !c.Bool("dry-run") {
		board = live.NewBoard()
	}
	notice := func(why error) {
		text := fmt.Sprintf("%v; waiting for up to %v", why, hostPatience)
		if board.Delay(text); !show && !c.Bool("quiet") {
			fmt.Fprintln(p.stderr, "dmebench: "+text)
		}
	}
	opt := experiment.Options{
		Out: c.String("out"), Fresh: c.Bool("fresh"), DryRun: c.Bool("dry-run"),
		Catalog: p.catalog, Environment: environment.Describe(), ReadFile: files.read,
		Fits: func(s runs.Spec) error {
			if work != nil && s.Transport == runs.Sim {
				return nil // the agents see to it, each for its own host
			}
			_, err := p.fits(s, files.read, c.Bool("force") || c.Bool("dry-run") || hosts != nil)
			return err
		},
		Run: func(ctx context.Context, job *run.Job, keep func(*runs.Result) error) (*runs.Result, error) {
			var line *run.Line
			if board != nil && !experiment.SideBySide(job.Spec) { // of several at a time no line would tell
				line = run.NewFeed(func(r run.Reading) { board.Read(live.Reading(r)) })
			}
			return whileAbsent(ctx, hostPatience, notice, func() (*runs.Result, error) {
				opt, err := hosts.options(job, coordinator.Options{Files: files.all(), Save: keep, Entries: c.Bool("entries")})
				if err != nil {
					return nil, err
				}
				return p.executeShown(ctx, job, opt, line)
			})
		},
		Board: board,
	}
	if work != nil {
		opt.Elsewhere = work.simulate
	}
	switch {
	case opt.DryRun:
		opt.Progress, opt.Width = p.stdout, p.printed().Width
	case !c.Bool("quiet"):
		opt.Progress, opt.Interactive = p.stderr, show
	}
	var page *serving
	var summary experiment.Summary
	if !opt.DryRun {
		if page, err = p.serve(c, board); err != nil {
			return err
		}
		defer func() { page.close(summary.String()) }()
		opt.Between = func(set *runs.Set, last bool) { page.show(set, last) }
	}
	summary, err = experiment.Sweep(c.Context, file, opt)
	if err != nil || opt.DryRun {
		return err
	}
	p.exit = ofOutcome(summary.Outcome())
	fmt.Fprintln(p.stdout, summary)
	if summary.Interrupted {
		p.exit = Interrupted
		return nil
	}
	if thresholds != nil {
		set, err := runs.Read(summary.Dir)
		if err != nil {
			return failWith(Data, err)
		}
		p.exit = p.judged(p.exit, cells.JudgeCells(set, thresholds))
	}
	return platform.Await(c.Context, func() error { // 'dmebench report' can make it again
		return p.buildReport(summary.Dir, filepath.Join(summary.Dir, "report"), look{plots: true})
	})
}

// transportsOf reports whether an experiment has simulations, and other runs.
func transportsOf(file experiment.File) (simulated, real bool) {
	for _, e := range file.Transports {
		simulated, real = simulated || e.Name == runs.Sim, real || e.Name != runs.Sim
	}
	return simulated, real
}

// defaultExperiment is the name of an experiment without one.
const defaultExperiment = "experiment"

// initExperiment writes a file to begin with. A name without an ending also names the file.
func (p *program) initExperiment(c *cli.Context) error {
	for _, name := range c.LocalFlagNames() {
		if len(name) > 1 && !slices.Contains([]string{"init", "file", "name", "force", "quiet"}, name) {
			return usage("sweep --init: --%s is not for a new file; leave it out, and change the file", name)
		}
	}
	file := cmp.Or(c.String("file"), c.String("name"), defaultExperiment)
	if !isYAML(file) {
		file += ".yaml"
	}
	name := cmp.Or(c.String("name"), strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	text, err := experiment.Template(name, file)
	if err != nil {
		return usage("sweep --init: %w", err)
	}
	switch _, err := os.Lstat(file); {
	case err == nil && !c.Bool("force"):
		return failWith(CantCreate, fmt.Errorf("sweep --init: there is a file %s already; choose another name, or --force to replace it", file))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return failWith(CantCreate, fmt.Errorf("sweep --init: cannot write %s: %w; choose another place", file, err))
	}
	if err := fileio.Write(file, text); err != nil {
		return failWith(CantCreate, fmt.Errorf("sweep --init: cannot write %s: %w; choose another place", file, err))
	}
	_, err = fmt.Fprintf(p.stdout, "%s: change what you like, then 'dmebench sweep %s --dry-run' shows what it comes to\n", file, file)
	return err
}

func isYAML(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// matrixFlags describe an experiment in place of a file. Lists have commas between.
func matrixFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "algorithm", Aliases: []string{"a"}, Usage: "run `NAMES`, with commas between"},
		&cli.StringFlag{Name: "nodes", Aliases: []string{"n"}, Usage: "on each number of nodes of `LIST`, such as 3,7,13"},
		&cli.StringSliceFlag{Name: "transport", Usage: "over `NETWORKS`: " + networkNames(), DefaultText: runs.DefaultTransport},
		&cli.StringSliceFlag{Name: "workload", Usage: "like `NAMES`: " + workloadNames(), DefaultText: runs.DefaultWorkload},
		&cli.IntFlag{Name: "repetitions", Usage: "`R` runs of each combination; an interval needs 6",
			DefaultText: fmt.Sprint(experiment.DefaultRepetitions)},
		&cli.Float64Flag{Name: "rate", Usage: "`X` requests per second of each node, for poisson and hotspot"},
		&cli.Float64Flag{Name: "total-rate", Usage: "`X` requests per second of all nodes together"},
		&cli.StringFlag{Name: "cs", Usage: "critical sections of `DURATION`, or exp:DURATION", DefaultText: runs.DefaultCS},
		&cli.IntFlag{Name: "requests", Usage: "`TOTAL` requests of a run", DefaultText: "100 per node; with --duration any number"},
		&cli.IntFlag{Name: "requests-per-node", Usage: "`COUNT` requests of each node, in place of --requests"},
		&cli.DurationFlag{Name: "duration", Usage: "make requests for this `DURATION`"},
		setFlag("an option of those that have it"),
		&cli.StringSliceFlag{Name: "fault", Usage: "inject a `FAULT` in every run, such as 'kill 3 @2s'"},
		&cli.StringFlag{Name: "resource", Usage: "have critical sections update a shared resource of `KIND` " +
			strings.Join(run.Resources(), ", ")},
		seedFlag(0, "random seed `S` of the first repetition; the next has the next"),
		&cli.IntFlag{Name: "nodes-per-worker", Usage: "put `M` nodes in each process", DefaultText: "1"},
		&cli.StringFlag{Name: "warmup", Usage: "leave `COUNT` entries out of steady figures; auto is MSER-5", DefaultText: runs.DefaultWarmup},
		&cli.DurationFlag{Name: "stall-after", Usage: "call it a stall if nothing moves for this `DURATION`",
			DefaultText: runs.DefaultStallAfter.String()},
		&cli.BoolFlag{Name: "allow-mismatch", Usage: "run even if a network lacks what an algorithm needs"},
		&cli.BoolFlag{Name: "skip-invalid", Usage: "leave out combinations that cannot run"},
		&cli.StringFlag{Name: "name", Usage: "keep results in folder `NAME`", DefaultText: experiment.DefaultMatrix},
	}
}

// experimentOf reads the file of an experiment, or the flags that describe one.
func (p *program) experimentOf(c *cli.Context) (experiment.File, error) {
	var described []string
	for _, f := range matrixFlags() {
		if c.IsSet(f.Names()[0]) {
			described = append(described, f.Names()[0])
		}
	}
	switch file := c.String("file"); {
	case file != "" && len(described) > 0:
		return experiment.File{}, usage("%s: --%s describes an experiment, and %s is another; give one of them, or change the file",
			c.Command.Name, described[0], file)
	case file != "":
		return platform.Interruptible(c.Context, func() (experiment.File, error) { return experiment.Load(file) })
	case len(described) == 0:
		return experiment.File{}, usage("%s: which experiment? Give a FILE, such as experiments/quickstart.yaml, or -a NAMES -n LIST; "+
			"'dmebench sweep --init' writes a file", c.Command.Name)
	}
	wrong := checkNumbers(c)
	wrong.when(!c.IsSet("algorithm"), "--algorithm is missing: which ones? 'dmebench list' shows what there is")
	wrong.when(!c.IsSet("nodes"), "--nodes is missing: how many nodes? Write them like 3,7,13")
	wrong.when(c.IsSet("requests") && c.IsSet("requests-per-node"), "--requests and --requests-per-node: give one of them")
	nodes, bad, ok := wholeNumbers(c.String("nodes"))
	if c.IsSet("nodes") && !ok {
		isRange := strings.ContainsAny(strings.Trim(bad, "-"), "-.")
		wrong.when(isRange, "--nodes %s: %q is a range; write the numbers, such as 3,7,13", c.String("nodes"), bad)
		wrong.when(!isRange, "--nodes %s: %q is not a number of nodes; write them like 3,7,13", c.String("nodes"), bad)
	}
	set := settingsOf(c, &wrong)
	if err := wrong.err(); err != nil {
		return experiment.File{}, err
	}
	e := runs.Experiment{
		Name: experiment.DefaultMatrix, Algorithms: experiment.Entries(listed(c.StringSlice("algorithm"))), Nodes: nodes,
		Transports:  experiment.Entries(listed(c.StringSlice("transport"))),
		Repetitions: c.Int("repetitions"), Seed: c.Uint64("seed"), NodesPerWorker: c.Int("nodes-per-worker"),
		Warmup: c.String("warmup"), StallAfter: runs.Duration(c.Duration("stall-after")),
		AllowMismatch: c.Bool("allow-mismatch"), SkipInvalid: c.Bool("skip-invalid"),
		Faults: c.StringSlice("fault"), Resource: c.String("resource"),
	}
	if c.IsSet("name") {
		e.Name = c.String("name")
	}
	workloads := listed(c.StringSlice("workload"))
	if workloads == nil {
		workloads = []string{runs.DefaultWorkload}
	}
	for _, name := range workloads {
		e.Workloads = append(e.Workloads, runs.Workload{
			Name: name, CS: c.String("cs"), Rate: c.Float64("rate"), TotalRate: c.Float64("total-rate"),
			Requests: c.Int("requests"), RequestsPerNode: c.Int("requests-per-node"), Duration: runs.Duration(c.Duration("duration")),
		})
	}
	file, err := experiment.Matrix(e, set, p.catalog)
	if err != nil {
		return experiment.File{}, failWith(Usage, err)
	}
	return file, nil
}

// wholeNumbers reads numbers from 1 on with commas between; bad is the first word that is not one.
func wholeNumbers(list string) (numbers []int, bad string, ok bool) {
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, word, false
		}
		numbers = append(numbers, n)
	}
	return numbers, "", true
}
