package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform/fileio"
	"dmebench/report/cells"
	"dmebench/report/compare"
	"dmebench/report/export"
	"dmebench/runs"
)

func exportFormats() []string { return []string{"benchfmt", "hgrm", "hlog", "csv", "entries"} }

func (p *program) exportCommand() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write results for other tools: " + strings.Join(exportFormats(), ", "),
		ArgsUsage: "PATH",
		UsageText: "dmebench export results/quickstart --format csv --out tables\n" +
			"dmebench export results/quickstart --format benchfmt | benchstat /dev/stdin",
		Description: "benchfmt is the Go benchmark format; hgrm and hlog are HdrHistogram's percentiles in ms and its logs in\n" +
			"ns; csv is tables of cells, runs, times and hosts; entries has a row for each critical section of runs\n" +
			"with --entries. benchfmt and entries go to standard output unless --out names a file; --out names a\n" +
			"folder for the others.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Usage: "results at `PATH`, a folder or a file"},
			&cli.StringFlag{Name: "format", Usage: "write `FORMAT`: " + strings.Join(exportFormats(), ", ")},
			&cli.StringFlag{Name: "out", Usage: "write to `PATH`"},
			&cli.StringSliceFlag{Name: "metric", Usage: "only `METRIC` in benchfmt, a column of summary.csv", DefaultText: "as 'dmebench compare'"},
		},
		Action: p.export,
	}
}

func (p *program) export(c *cli.Context) error {
	format, out := c.String("format"), c.String("out")
	var metrics []runs.Metric
	var wrong refusals
	wrong.when(c.String("file") == "", "export: --file is missing: which results?")
	switch {
	case format == "":
		wrong.when(true, "export: --format is missing; there are %s", strings.Join(exportFormats(), ", "))
	case !slices.Contains(exportFormats(), format):
		wrong.when(true, "export: unknown format %q; there are %s", format, strings.Join(exportFormats(), ", "))
	case format == "benchfmt":
		var err error
		metrics, err = (compare.Options{Metrics: c.StringSlice("metric")}).Check()
		wrong.add(err)
	default:
		wrong.when(out == "" && format != "entries", "export: --out is missing: into which folder?")
		wrong.when(c.IsSet("metric"), "export: --metric is for --format benchfmt; %s has everything", format)
	}
	if err := wrong.err(); err != nil {
		return err
	}
	results, err := p.readSomeResults(c.String("file"))
	if err != nil {
		return err
	}
	p.warnOfLeftOut(results.Runs, format)
	var files []export.File
	switch format {
	case "entries":
		return p.exportEntries(results.Runs, out)
	case "benchfmt":
		return p.exportBenchfmt(results, metrics, out)
	case "hgrm":
		files, err = export.Hgrm(results)
	case "hlog":
		files, err = export.Hlog(results)
	case "csv":
		files, err = export.CSV(results)
	}
	if err != nil {
		return failWith(Data, err)
	}
	return p.writeInto(out, files)
}

func (p *program) exportBenchfmt(set *runs.Set, metrics []runs.Metric, out string) error {
	var text bytes.Buffer
	if err := export.Benchfmt(&text, set, metrics); err != nil {
		return failWith(Data, err)
	}
	if out == "" {
		if _, err := p.stdout.Write(text.Bytes()); err != nil {
			return failWith(CantCreate, fmt.Errorf("cannot print the export: %w", err))
		}
		return nil
	}
	return p.writeInto(filepath.Dir(out), []export.File{{Name: filepath.Base(out), Data: text.Bytes()}})
}

// warnOfLeftOut says how many runs are in no export but the table of runs.
func (p *program) warnOfLeftOut(list []runs.Run, format string) {
	bad := 0
	for _, r := range list {
		if !runs.Usable(r.Result) {
			bad++
		}
	}
	if bad == 0 {
		return
	}
	where := "are left out"
	if format == "csv" {
		where = "stand in runs.csv alone"
	}
	fmt.Fprintf(p.stderr, "dmebench: warning: %d of %d runs did not end well and %s\n", bad, len(list), where)
}

// writeInto writes files into a folder and says where they are.
func (p *program) writeInto(dir string, files []export.File) error {
	if err := makeFolder(dir); err != nil {
		return cannotWrite("--out "+dir, err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := fileio.Write(path, f.Data); err != nil {
			return cannotWrite("--out "+dir, err)
		}
		if _, err := fmt.Fprintln(p.stdout, path); err != nil {
			return failWith(CantCreate, fmt.Errorf("cannot print the names of the files: %w", err))
		}
	}
	return nil
}

func entriesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "entries", Usage: "keep a record of each critical section, for 'dmebench export --format entries'"}
}

// checkEntries refuses to keep records of several hosts, whose clocks differ.
func checkEntries(c *cli.Context, elsewhere bool) error {
	if c.Bool("entries") && (elsewhere || c.IsSet("agents")) {
		return usage("--entries: the times of a table are read from one clock; run on this host alone, without --agents")
	}
	return nil
}

func (p *program) exportEntries(runs []runs.Run, out string) error {
	var missing int
	write := func(w io.Writer) (err error) {
		missing, err = export.Entries(w, runs)
		return err
	}
	var err error
	if out == "" {
		err = write(p.stdout)
	} else if err = fileio.Stream(out, write); err == nil {
		fmt.Fprintln(p.stdout, out)
	}
	switch {
	case errors.Is(err, export.ErrNoEntries):
		return failWith(Data, err)
	case err != nil:
		return failWith(CantCreate, fmt.Errorf("cannot write the export: %w", err))
	}
	if missing > 0 {
		fmt.Fprintf(p.stderr, "dmebench: warning: %d of %d runs keep no records of their critical sections; "+
			"measure them again with --entries\n", missing, len(runs))
	}
	return nil
}

// readResults reads results, and warns of records that could not be read.
func (p *program) readResults(path string) (*runs.Set, error) {
	set, err := runs.Read(path)
	switch {
	case errors.Is(err, runs.ErrNone):
		return nil, failWith(NoInput, err)
	case err != nil && isYAML(path):
		return nil, failWith(Data, fmt.Errorf("%s is an experiment, and no results; 'dmebench sweep %s' makes them, "+
			"then name their folder, such as results/quickstart", path, path))
	case err != nil:
		return nil, failWith(Data, err)
	}
	for _, text := range set.Warnings() {
		fmt.Fprintf(p.stderr, "dmebench: warning: %s\n", text)
	}
	return set, nil
}

func (p *program) readSomeResults(path string) (*runs.Set, error) {
	set, err := p.readResults(path)
	if err == nil && len(set.Runs) == 0 {
		return nil, failWith(NoInput, fmt.Errorf("%s: %w yet; 'dmebench sweep' makes them", set.Name(), runs.ErrNone))
	}
	return set, err
}

// failIfFlag lets a user say what is not accepted; of says whose value counts.
func failIfFlag(of string) cli.Flag {
	return &cli.StringSliceFlag{
		Name: "fail-if", Usage: "end with exit code 3 if " + of + " crosses a `THRESHOLD`, such as 'p99>10ms'",
	}
}

func thresholdsOf(c *cli.Context) ([]cells.Threshold, error) {
	all, err := cells.ParseThresholds(c.StringSlice("fail-if"))
	if err != nil {
		return nil, failWith(Usage, err)
	}
	return all, nil
}

// judged says what came of thresholds, and which exit code that makes of code.
func (p *program) judged(code int, v cells.Verdict) int {
	for _, line := range v.Lines {
		fmt.Fprintf(p.stderr, "dmebench: %s\n", line)
	}
	return ofThresholds(code, v.Crossed, v.Unknown)
}
