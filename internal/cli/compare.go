package cli

import (
	"fmt"
	"math"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform/fileio"
	"dmebench/report/compare"
	"dmebench/report/page"
)

func (p *program) compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare two result sets, or what is within one: medians, intervals, Mann-Whitney test",
		ArgsUsage: "A [B]",
		UsageText: "dmebench compare results/before results/after\n" +
			"dmebench compare results/quickstart --col algorithm",
		Description: "A and B are folders of an experiment or of one sweep, result files, or folders of such files. Cells are\n" +
			"matched by algorithm, options, nodes, network and workload. A change that is not significant is\n" +
			"written as ~. With --col the values of a dimension stand side by side, each compared with the first.",
		Flags: []cli.Flag{
			&cli.Float64Flag{Name: "alpha", Value: compare.DefaultAlpha, Usage: "call a difference significant below `P`"},
			&cli.StringSliceFlag{Name: "metric", Usage: "compare a `METRIC`, a column of summary.csv"},
			&cli.StringSliceFlag{Name: "across", Usage: "match cells although they differ in `DIMENSION`, such as transport"},
			&cli.StringFlag{Name: "col", Usage: "compare within A: a column for each value of `DIMENSION`, such as algorithm"},
			&cli.StringFlag{Name: "base", Usage: "with --col: the `VALUE` that the others are compared with"},
			&cli.StringFlag{Name: "fail-on-regression", Usage: "end with exit code 3 if B is significantly worse by `PERCENT`, such as 5%"},
			&cli.StringFlag{Name: "plots", Aliases: []string{"out"}, Usage: "draw A and B over the number of nodes, in folder `DIR`"},
			&cli.StringFlag{Name: "html", Usage: "write the comparison as a page to `FILE`"},
			jsonFlag("print the comparison as one JSON object"),
		},
		Action: p.compare,
	}
}

func (p *program) compare(c *cli.Context) error {
	opt := compare.Options{Alpha: c.Float64("alpha"), Metrics: c.StringSlice("metric"), Across: c.StringSlice("across")}
	if opt.Alpha == 0 { // zero stands for the default elsewhere
		return usage("--alpha 0: must lie between 0 and 1, such as %v", compare.DefaultAlpha)
	}
	if _, err := opt.Check(); err != nil {
		return failWith(Usage, err)
	}
	if c.IsSet("col") || c.NArg() == 1 {
		return p.compareColumns(c, opt)
	}
	limit := math.NaN()
	if text := c.String("fail-on-regression"); c.IsSet("fail-on-regression") {
		var err error
		if limit, err = compare.ReadLimit(text); err != nil {
			return usage("--fail-on-regression: %v", err)
		}
	}
	if c.IsSet("base") {
		return usage("--base: names a column, and goes with --col alone; of two result sets the first is what the second is compared with")
	}
	a, err := p.readSomeResults(c.Args().Get(0))
	if err != nil {
		return err
	}
	b, err := p.readSomeResults(c.Args().Get(1))
	if err != nil {
		return err
	}
	comparison, err := compare.Compare(a, b, opt)
	if err != nil {
		return failWith(Data, err)
	}
	if !math.IsNaN(limit) {
		defer p.judge(comparison.Watch(limit))
	}
	if dir := c.String("plots"); dir != "" {
		if err := drawInto(dir, comparison.Figures()...); err != nil {
			return err
		}
	}
	if err := writePage(c.String("html"), comparison.Page()); err != nil {
		return err
	}
	return p.print(c, "comparison", comparison, func() error { return comparison.WriteText(p.stdout) })
}

// judge says what became worse, on standard error, and sets the exit code.
func (p *program) judge(g *compare.Gate) {
	for _, r := range g.Regressions {
		fmt.Fprintf(p.stderr, "dmebench: regression: %s\n", r.Text)
	}
	for _, text := range g.Untold {
		fmt.Fprintf(p.stderr, "dmebench: undecided: %s\n", text)
	}
	if len(g.Metrics) == 0 {
		fmt.Fprintln(p.stderr, "dmebench: undecided: nothing that could become worse was measured on both sides")
	}
	p.exit = ofThresholds(p.exit, len(g.Regressions) > 0, len(g.Untold) > 0 || len(g.Metrics) == 0)
}

func (p *program) compareColumns(c *cli.Context, opt compare.Options) error {
	switch {
	case !c.IsSet("col"):
		return usage("compare: there is one result set, %s; name a second one, or say what to compare within it, such as --col algorithm",
			c.Args().Get(0))
	case c.NArg() != 1:
		return usage("compare: --col compares within one result set, but there are %d", c.NArg())
	}
	for _, name := range []string{"across", "plots", "fail-on-regression"} {
		if c.IsSet(name) {
			return usage("compare: --%s compares two result sets, --col one with itself; leave one of them out", name)
		}
	}
	set, err := p.readSomeResults(c.Args().Get(0))
	if err != nil {
		return err
	}
	columns, err := compare.Beside(set, c.String("col"), c.String("base"), opt)
	if err != nil {
		return failWith(Usage, err)
	}
	if err := writePage(c.String("html"), columns.Page()); err != nil {
		return err
	}
	return p.print(c, "comparison", columns, func() error { return columns.WriteText(p.stdout, p.printed()) })
}

// writePage writes a page to a file; "" is none.
func writePage(file string, d *page.Data) error {
	if file == "" {
		return nil
	}
	html, err := d.Render()
	if err == nil {
		err = fileio.Write(file, html)
	}
	if err != nil {
		return failWith(CantCreate, fmt.Errorf("--html %s: %w; choose another place", file, err))
	}
	return nil
}
