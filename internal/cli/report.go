package cli

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/runtime/run"
	"dmebench/internal/runtime/stall"
	"dmebench/report"
	"dmebench/report/plots"
	"dmebench/runs"
)

func (p *program) reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "make one self-contained page from the results of a sweep; figures and tables for papers",
		ArgsUsage: "DIR",
		UsageText: "dmebench report results/quickstart\n" +
			"dmebench report results/quickstart --only 'throughput-*' --width 84mm --font 8pt --formats pdf",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Usage: "results in folder `DIR`, of an experiment or of one sweep"},
			&cli.StringFlag{Name: "out", Usage: "write to folder `DIR`", DefaultText: "report, beside the results"},
			&cli.BoolFlag{Name: "plots", Usage: "also draw figures for papers, with captions and tables for LaTeX"},
			serveFlag(),
			&cli.StringFlag{Name: "formats", Value: "svg,png,pdf", Usage: "draw plots in the formats of `LIST`"},
			&cli.StringFlag{Name: "only", Usage: "draw only the figures of `LIST`, such as 'throughput-*,response-cdf*'"},
			&cli.StringFlag{Name: "width", Usage: "plots of `WIDTH` on paper, such as 84mm, without titles", DefaultText: "440pt, with titles"},
			&cli.StringFlag{Name: "font", Usage: "text of `SIZE` in them, such as 8pt", DefaultText: "9pt"},
		},
		Action: func(c *cli.Context) error {
			dir := c.String("file")
			if dir == "" {
				return usage("report: --file is missing: which folder of results?")
			}
			if c.IsSet("serve") {
				return p.serveFolder(c, dir)
			}
			look, err := readLook(c)
			if err != nil {
				return err
			}
			return p.buildReport(dir, c.String("out"), look)
		},
	}
}

// readFormats reads "svg,png".
func readFormats(list string) ([]plots.Format, error) {
	var formats []plots.Format
	for _, name := range strings.Split(list, ",") {
		f := plots.Format(strings.TrimSpace(name))
		if !slices.Contains(plots.Formats(), f) {
			return nil, usage("report: --formats %s: want a list of %v, such as svg,pdf", list, plots.Formats())
		}
		if !slices.Contains(formats, f) {
			formats = append(formats, f)
		}
	}
	return formats, nil
}

// look is which figures of a report are drawn, and how.
type look struct {
	plots   bool // there are some
	formats []plots.Format
	only    []string
	size    plots.Size
}

// readLook reads the flags that say how figures are drawn.
func readLook(c *cli.Context) (l look, err error) {
	l.plots = c.Bool("plots") || len(given(c, "formats", "only", "width", "font")) > 0
	if l.formats, err = readFormats(c.String("formats")); err != nil {
		return l, err
	}
	if c.IsSet("only") {
		for _, pattern := range strings.Split(c.String("only"), ",") {
			pattern = strings.TrimSuffix(strings.TrimSpace(pattern), ".svg")
			if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
				return l, usage("report: --only %s: want names of figures or patterns with * and ?, such as 'throughput-*'", c.String("only"))
			}
			l.only = append(l.only, pattern)
		}
	}
	if text := c.String("width"); c.IsSet("width") {
		if l.size.Width, err = readLength("width", text, "84mm"); err != nil {
			return l, err
		}
		l.size.Bare = true
	}
	if text := c.String("font"); c.IsSet("font") {
		if l.size.Font, err = readLength("font", text, "8pt"); err != nil {
			return l, err
		}
	}
	if err := l.size.Check(); err != nil {
		return l, usage("report: --width and --font: %v", err)
	}
	return l, nil
}

// readLength reads a length on paper, in points.
func readLength(flag, text, example string) (float64, error) {
	for unit, points := range map[string]float64{"mm": plots.Millimetre, "cm": 10 * plots.Millimetre, "in": 72, "pt": 1} {
		if number, ok := strings.CutSuffix(strings.TrimSpace(text), unit); ok {
			if x, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil && x > 0 && !math.IsInf(x, 0) {
				return x * points, nil
			}
		}
	}
	return 0, usage("report: --%s %s: want a length in mm, cm, in or pt, such as %s", flag, text, example)
}

// buildReport makes the report of the results in dir, and says where it is.
func (p *program) buildReport(dir, out string, as look) error {
	results, err := p.readResults(dir)
	if err != nil {
		return err
	}
	if out == "" {
		out = filepath.Join(results.Name(), "report")
		if results.Name() == results.Path && isFile(results.Path) {
			out = filepath.Join(filepath.Dir(results.Path), "report")
		}
	}
	in := p.reportInput(results)
	in.Plots, in.Formats, in.Only, in.Size = as.plots, as.formats, as.only, as.size
	page, err := report.Build(in, out)
	if unknown := new(report.UnknownFigures); errors.As(err, &unknown) {
		return usage("report: --only %s: no figure has that name; there are:\n  %s",
			strings.Join(unknown.Patterns, ","), strings.Join(unknown.Names, "\n  "))
	}
	if err != nil {
		return failWith(CantCreate, err)
	}
	if absolute, err := filepath.Abs(page); err == nil {
		page = absolute
	}
	_, err = fmt.Fprintf(p.stdout, "report: %s\n", page)
	return err
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// reportInput hands the report what it must not look up itself.
func (p *program) reportInput(results *runs.Set) report.Input {
	return report.Input{
		Set: *results,
		Claims: func(name string) claim.List {
			a, err := p.catalog.Lookup(name)
			if err != nil {
				return nil
			}
			return claim.Of(a)
		},
		Setting: func(spec runs.Spec) (setting dme.Setting, c claims.Circumstance, ok bool) {
			job, err := run.Resolve(spec, p.catalog, newFiles().read)
			if err != nil {
				return setting, c, false
			}
			return job.Setting(), job.Circumstance(), true
		},
		Picture: stall.Picture,
	}
}
