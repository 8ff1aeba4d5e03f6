package commandline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/internal/atomicfile"
	"dmebench/internal/exit"
	"dmebench/report/compare"
	"dmebench/report/plots"
	"dmebench/result"
)

func (p *program) compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare two result sets: medians, intervals, Mann-Whitney test",
		ArgsUsage: "A B",
		Description: "A and B are folders of results (of an experiment, or of one sweep), single result files, or folders\n" +
			"of such files. Cells are matched by algorithm, options, nodes, network and workload. A change that is\n" +
			"not significant is written as «~». Flags stand before A and B.",
		Flags: []cli.Flag{
			&cli.Float64Flag{Name: "alpha", Value: compare.DefaultAlpha, Usage: "probability of an alarm where there is no difference"},
			&cli.StringSliceFlag{Name: "metric", Usage: "compare this `METRIC`, a column of summary.csv; may be repeated " +
				"(default: messages, throughput, response and waiting time, synchronization delay)"},
			&cli.StringSliceFlag{Name: "across", Usage: "match cells although they differ in `DIMENSION`: " +
				strings.Join(result.Dimensions(), ", ") + "; may be repeated"},
			&cli.StringFlag{Name: "plots", Aliases: []string{"out"}, Usage: "draw A and B over the number of nodes, into folder `DIR`"},
			jsonFlag("print the comparison as one JSON object"),
		},
		Action: p.compare,
	}
}

func (p *program) compare(c *cli.Context) error {
	opt := compare.Options{Alpha: c.Float64("alpha"), Metrics: c.StringSlice("metric"), Across: c.StringSlice("across")}
	if opt.Alpha == 0 { // which stands for the default elsewhere
		return usage("--alpha 0: must lie between 0 and 1, such as %v", compare.DefaultAlpha)
	}
	if _, err := opt.Check(); err != nil {
		return failWith(exit.Usage, err)
	}
	a, err := readSomeResults(c.Args().Get(0))
	if err != nil {
		return err
	}
	b, err := readSomeResults(c.Args().Get(1))
	if err != nil {
		return err
	}
	p.warnOfDamage(a, b)
	comparison, err := compare.Compare(a, b, opt)
	if err != nil {
		return failWith(exit.Data, err)
	}
	if dir := c.String("plots"); dir != "" {
		if err := drawInto(dir, comparison.Figures()); err != nil {
			return failWith(exit.CantCreate, err)
		}
	}
	if c.Bool("json") {
		err = printJSON(p.stdout, comparison)
	} else {
		err = comparison.WriteText(p.stdout)
	}
	if err != nil {
		return failWith(exit.CantCreate, fmt.Errorf("cannot print the comparison: %w", err))
	}
	return nil
}

// drawInto writes figures in all formats.
func drawInto(dir string, figures []plots.Figure) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("--plots %s: %w; choose another folder", dir, err)
	}
	for _, f := range figures {
		drawn, err := f.Render(plots.Formats()...)
		if err != nil {
			return err
		}
		for _, format := range plots.Formats() {
			if err := atomicfile.Write(filepath.Join(dir, f.Name+"."+string(format)), drawn[format]); err != nil {
				return fmt.Errorf("--plots %s: cannot write there: %w; choose another folder", dir, err)
			}
		}
	}
	return nil
}
