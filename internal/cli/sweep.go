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

	"dmebench/internal/experiment"
	"dmebench/internal/experiment/live"
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
	var board *live.Board // of those who look
	show := !c.Bool("quiet") && layout.CanRedraw(p.stderr)
	if (show || c.IsSet("serve")) && !c.Bool("dry-run") {
		board = live.NewBoard()
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
			var line *run.Line
			if board != nil {
				line = run.NewTeller(func(r run.Reading) { board.Read(live.Reading(r)) })
			}
			return p.executeShown(ctx, job, opt, line)
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
		opt.Between = func(set *runs.Set) { page.show(set, set.Missing() == 0) }
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
	return p.buildReport(summary.Dir, filepath.Join(summary.Dir, "report"), look{plots: true})
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

// initExperiment writes a file to begin with. A name without an ending is that of the
// experiment, and of its file.
func (p *program) initExperiment(c *cli.Context) error {
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
