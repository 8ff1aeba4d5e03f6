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
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/internal/cli/exit"
	"dmebench/internal/experiment"
	"dmebench/internal/platform/atomicfile"
	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/terminal"
	"dmebench/internal/runtime/coordinator"
	"dmebench/internal/runtime/run"
	"dmebench/report/threshold"
	"dmebench/runs"
)

func (p *program) sweepCommand() *cli.Command {
	return &cli.Command{
		Name:  "sweep",
		Usage: "a matrix of runs with repetitions, from an experiment file or from flags; ends with its report",
		Description: "The matrix is that of an experiment FILE, which 'dmebench init' writes, or that of flags:\n" +
			"  dmebench sweep experiments/quickstart.yaml\n" +
			"  dmebench sweep -a maekawa,raymond -n 7,13 --transport tcp,sim --repetitions 6\n\n" +
			"Results are kept as they come. The same command again continues where an interrupted sweep\n" +
			"ended, and runs only what is missing or has failed.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Usage: "the experiment's `FILE`"},
		}, matrixFlags(), []cli.Flag{
			&cli.StringFlag{Name: "out", Value: experiment.DefaultOut, Usage: "folder `DIR` below which results are kept"},
			failIfFlag("of each cell's median over its repetitions"),
			&cli.BoolFlag{Name: "fresh", Usage: "start over although there are results of this file"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print the plan and start nothing"},
			forceFlag(),
			entriesFlag(),
			quietFlag(),
		}, placementFlags(), credentialFlags()),
		Action: p.sweep,
	}
}

func (p *program) sweep(c *cli.Context) error {
	thresholds, err := thresholdsOf(c)
	if err != nil {
		return err
	}
	file, err := p.experimentOf(c)
	if err != nil {
		return cmp.Or(file.AllFaults(p.catalog, newFiles().read), err)
	}
	var hosts *testbed
	if overNetworks(file) || len(given(c, "expect-agents", "place")) > 0 { // else nothing has a place
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
	if simulated(file) && !c.Bool("dry-run") {
		if work, err = p.openWork(c, files); err != nil {
			return err
		}
		defer work.close()
	}
	opt := experiment.Options{
		Out: c.String("out"), Fresh: c.Bool("fresh"), DryRun: c.Bool("dry-run"),
		Catalog: p.catalog, Environment: environment.Describe(), ReadFile: files.read,
		Fits: func(s runs.Spec) error {
			if work != nil && s.Transport == runs.Sim {
				return nil // the agents see to it, each for its own host
			}
			return p.fits(s, files.read, c.Bool("force") || c.Bool("dry-run") || hosts != nil)
		},
		Run: func(ctx context.Context, job *run.Job, keep func(*runs.Result) error) (*runs.Result, error) {
			opt, err := hosts.options(job, coordinator.Options{Files: files.all(), Save: keep, Entries: c.Bool("entries")})
			if err != nil {
				return nil, err
			}
			return p.execute(ctx, job, opt)
		},
	}
	if work != nil {
		opt.Elsewhere = work.simulate
	}
	switch {
	case opt.DryRun:
		opt.Progress, opt.Width = p.stdout, p.printed().Width
	case !c.Bool("quiet"):
		opt.Progress, opt.Interactive = p.stderr, terminal.Is(p.stderr)
	}
	summary, err := experiment.Sweep(c.Context, file, opt)
	if err != nil || opt.DryRun {
		return err
	}
	p.exit = summary.ExitCode()
	fmt.Fprintln(p.stdout, summary)
	if summary.Interrupted {
		return nil
	}
	if thresholds != nil {
		set, err := runs.Read(summary.Dir)
		if err != nil {
			return failWith(exit.Data, err)
		}
		p.exit = p.judged(p.exit, threshold.OfCells(set, thresholds))
	}
	return p.buildReport(summary.Dir, filepath.Join(summary.Dir, "report"), look{})
}

// simulated reports whether an experiment has runs over the simulated network, and overNetworks
// whether it has others.
func simulated(file experiment.File) bool {
	return slices.ContainsFunc(file.Transports, func(e runs.Entry) bool { return e.Name == runs.Sim })
}

func overNetworks(file experiment.File) bool {
	return slices.ContainsFunc(file.Transports, func(e runs.Entry) bool { return e.Name != runs.Sim })
}

// defaultExperiment is the name of an experiment that nobody has named.
const defaultExperiment = "experiment"

func (p *program) initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "write an experiment file to begin with, in which every key is explained",
		ArgsUsage: "[NAME] [FILE]",
		Description: "NAME is that of the experiment and of the folder of its results (default: " + defaultExperiment + "), FILE where it\n" +
			"is written (default: NAME.yaml); a FILE alone, which ends in .yaml, names both. 'dmebench sweep FILE' carries it out.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "force", Usage: "write it although there is a file of that name"}},
		Action: p.init,
	}
}

func (p *program) init(c *cli.Context) error {
	name, file := c.Args().Get(0), c.Args().Get(1)
	if isYAML(name) && file == "" {
		name, file = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), name
	}
	if name == "" {
		name = defaultExperiment
	}
	if file == "" {
		file = name + ".yaml"
	}
	text, err := experiment.Template(name, file)
	if err != nil {
		return usage("init: %w", err)
	}
	switch _, err := os.Lstat(file); {
	case err == nil && !c.Bool("force"):
		return failWith(exit.CantCreate, fmt.Errorf("init: there is a file %s already; choose another name, or --force to replace it", file))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return failWith(exit.CantCreate, fmt.Errorf("init: cannot write %s: %w; choose another place", file, err))
	}
	if err := atomicfile.Write(file, text); err != nil {
		return failWith(exit.CantCreate, fmt.Errorf("init: cannot write %s: %w; choose another place", file, err))
	}
	_, err = fmt.Fprintf(p.stdout, "%s: change what you like, then 'dmebench sweep %s --dry-run' shows what it comes to\n", file, file)
	return err
}

func isYAML(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// coordinatorCommand is a sweep across hosts, under the name that goes with agents.
func (p *program) coordinatorCommand() *cli.Command {
	sweep := p.sweepCommand()
	return &cli.Command{
		Name:  "coordinator",
		Usage: "an experiment from a YAML file across other hosts, on each of which an agent runs; ends with its report",
		Description: "The same experiment file runs on one host by 'dmebench sweep' and on many by this command, without\n" +
			"a change. It finds the agents at a NATS server, shows where the nodes are going to be, runs what is\n" +
			"missing, and writes the report. The same command again continues where an interrupted one ended.\n\n" +
			"On every host runs 'dmebench agent'; 'dmebench broker' serves the NATS server, or any other does that\n" +
			"has JetStream. docs/testbed.md begins at the beginning.",
		Flags: sweep.Flags,
		Action: func(c *cli.Context) error {
			if !c.IsSet("agents") {
				return usage("coordinator: --agents is missing: at which NATS server are the agents? 'dmebench sweep' runs on this host alone")
			}
			return p.sweep(c)
		},
	}
}
