package commandline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/internal/exit"
	"dmebench/internal/run"
	"dmebench/internal/stall"
	"dmebench/report"
	"dmebench/report/plots"
	"dmebench/result"
)

func (p *program) reportCommand() *cli.Command {
	return &cli.Command{
		Name:  "report",
		Usage: "plots, tables and one self-contained page from the results of a sweep",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Usage: "folder `DIR` of the results: of an experiment, or of one sweep"},
			&cli.StringFlag{Name: "out", Usage: "folder `DIR` to write to (default: «report» beside the results)"},
			&cli.StringFlag{Name: "formats", Value: "svg,png,pdf",
				Usage: "`LIST` of the formats of the plots' files; the page needs none of them"},
		},
		Action: func(c *cli.Context) error {
			dir := c.String("file")
			if dir == "" {
				return usage("report: --file is missing: which folder of results?")
			}
			formats, err := readFormats(c.String("formats"))
			if err != nil {
				return err
			}
			return p.buildReport(dir, c.String("out"), formats)
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

// buildReport makes the report of the results in dir, and says where it is.
func (p *program) buildReport(dir, out string, formats []plots.Format) error {
	results, err := readResults(dir)
	if err != nil {
		return err
	}
	p.warnOfDamage(results)
	if out == "" {
		out = filepath.Join(results.Name(), "report")
		if results.Name() == results.Path && isFile(results.Path) {
			out = filepath.Join(filepath.Dir(results.Path), "report")
		}
	}
	in := p.reportInput(results)
	in.Formats = formats
	page, err := report.Build(in, out)
	if err != nil {
		return failWith(exit.CantCreate, err)
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
func (p *program) reportInput(results *result.Set) report.Input {
	return report.Input{
		Set: *results,
		Claims: func(name string) []dme.Claim {
			a, err := p.catalog.Lookup(name)
			if err != nil {
				return nil
			}
			return a.Claims
		},
		Setting: func(spec result.Spec) (dme.Setting, bool) {
			job, err := run.Resolve(spec, p.catalog, newFiles().read)
			if err != nil {
				return dme.Setting{}, false
			}
			return job.Setting(), true
		},
		Picture: stall.Picture,
		KeepsOrder: func(spec result.Spec) bool {
			job, err := run.Resolve(spec, p.catalog, newFiles().read)
			return err == nil && job.Guarantees().FIFO
		},
	}
}
