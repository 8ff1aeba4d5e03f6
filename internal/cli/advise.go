package cli

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/internal/experiment/advise"
	"dmebench/internal/platform"
	"dmebench/internal/platform/layout"
	"dmebench/internal/runtime/coordinator"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/transport/link"
)

func (p *program) adviseCommand() *cli.Command {
	return &cli.Command{
		Name:  "advise",
		Usage: "which algorithm suits a number of nodes and a rate, predicted by simulation",
		UsageText: "dmebench advise -n 10 --total-rate 200 --delay 1ms --cs 2ms\n" +
			"dmebench advise -n 20 --survive crash,pause --sites regions",
		Description: "Simulates every sound algorithm that can run over the network, ranks them as 'dmebench rank' does, and\n" +
			"says what each does if a node fails, which one to choose, how sure that is, and how to measure it.\n" +
			"A program that has lock services measures them beside it (docs/locks.md).",
		Flags: []cli.Flag{
			nodesFlag(),
			&cli.Float64Flag{Name: "rate", Usage: "Poisson arrivals: `X` requests per second of each node", DefaultText: "all request all the time"},
			&cli.Float64Flag{Name: "total-rate", Usage: "`X` requests per second of all nodes together"},
			&cli.StringFlag{Name: "delay", Usage: "messages take `DURATION`, uniform:DURATION or exp:DURATION", DefaultText: "measured here"},
			&cli.StringFlag{Name: "sites", Usage: "nodes are at the sites of `FILE`, lines 'from,to,delay', or regions (docs/experiments.md)"},
			&cli.StringFlag{Name: "place", Usage: "nodes are at sites in `ORDER`: blocks, round-robin, file", DefaultText: "blocks"},
			&cli.StringFlag{Name: "cs", Value: runs.DefaultCS, Usage: "critical sections of `DURATION`, or exp:DURATION"},
			&cli.StringFlag{Name: "transport", Value: runs.DefaultTransport, Usage: "it is to run over `NETWORK`: " + realNetworks()},
			&cli.StringFlag{Name: "metric", Usage: "`METRIC` decides, such as p50 or messages", DefaultText: "p99 with a rate, else throughput"},
			&cli.StringFlag{Name: "survive", Usage: "only algorithms that go on after these `FAILURES` of a node: crash, restart, pause, partition"},
			&cli.IntFlag{Name: "repetitions", Value: 10, Usage: "`R` runs of each simulation"},
			seedFlag(runs.DefaultSeed, "random seed `S` of the first repetition; the next has the next"),
			jsonFlag("print the advice as one JSON object"),
			quietFlag(),
		},
		Action: p.advise,
	}
}

func realNetworks() string {
	var names []string
	for _, n := range run.Networks() {
		if n.Real() {
			names = append(names, n.Name)
		}
	}
	return strings.Join(names, ", ")
}

func (p *program) advise(c *cli.Context) error {
	if !c.IsSet("nodes") {
		return usage("advise: --nodes is missing: how many nodes?")
	}
	wrong := checkNumbers(c)
	wrong.when(c.IsSet("rate") && c.IsSet("total-rate"), "--rate is of each node, and --total-rate of all together; give one of them")
	if err := wrong.err(); err != nil {
		return err
	}
	q := advise.Question{
		Nodes: c.Int("nodes"), Rate: math.Round(1e9*c.Float64("rate")*float64(c.Int("nodes")))/1e9 + c.Float64("total-rate"),
		CS: c.String("cs"), Delay: time.Nanosecond, Law: "constant",
		Transport: c.String("transport"), Survive: listed(strings.Split(c.String("survive"), ",")), Metric: c.String("metric"),
		Place: c.String("place"), Repetitions: c.Int("repetitions"), Seed: c.Uint64("seed"), DelayMeasured: !c.IsSet("delay"),
	}
	if c.IsSet("sites") {
		q.Sites = link.SitesIn(c.String("sites"))
	}
	if c.IsSet("delay") {
		var err error
		if q.Law, q.Delay, err = parseDelay(c.String("delay")); err != nil {
			return failWith(Usage, err)
		}
	}
	if err := q.Check(); err != nil {
		return failWith(Usage, err)
	}
	if !c.IsSet("delay") {
		var err error
		if q.Delay, err = p.delayHere(c.Context, q); err != nil {
			return err
		}
	}
	opt := advise.Options{Catalog: p.catalog, Run: p.executeAndKeep, ReadFile: newFiles().read}
	if !c.Bool("quiet") && layout.IsTerminal(p.stderr) {
		opt.Progress, opt.Interactive = p.stderr, true
	}
	a, err := platform.Interruptible(c.Context, func() (*advise.Advice, error) { return advise.Ask(c.Context, q, opt) })
	if err != nil {
		return refusal(c.Context, err)
	}
	if err := p.print(c, "advice", a, func() error { return a.WriteText(p.stdout, p.printed()) }); err != nil {
		return err
	}
	if a.Choose == "" {
		p.exit = Unknown
	}
	return nil
}

func (p *program) executeAndKeep(ctx context.Context, job *run.Job, keep func(*runs.Result) error) (*runs.Result, error) {
	return p.execute(ctx, job, coordinator.Options{Save: keep})
}

func parseDelay(text string) (law string, mean time.Duration, err error) {
	law, number := "constant", text
	for prefix, name := range map[string]string{"exp:": "exponential", "uniform:": "uniform"} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			law, number = name, rest
		}
	}
	mean, err = time.ParseDuration(number)
	if err != nil || mean <= 0 {
		return "", 0, fmt.Errorf("--delay %s: want a duration above 0 such as 1ms, uniform:1ms or exp:1ms", text)
	}
	return law, mean, nil
}

// delayHere measures T between two processes of this machine, by messages as far apart
// as handovers: a short run that does not print anything.
func (p *program) delayHere(ctx context.Context, q advise.Question) (time.Duration, error) {
	spec := runs.Spec{
		Algorithm: "ricart-agrawala", Nodes: 2, Transport: q.Transport, CS: q.CS, Duration: runs.Duration(500 * time.Millisecond),
	}
	job, err := run.Resolve(spec, p.catalog, nil)
	if err != nil {
		return 0, fmt.Errorf("cannot measure T here: %w; say what a message takes with --delay", err)
	}
	r, err := p.execute(ctx, job, coordinator.Options{})
	switch {
	case err != nil:
		return 0, err
	case r.Status != runs.OK || r.Delay() == nil:
		return 0, failWith(Unknown, fmt.Errorf("cannot measure T here: %s; say what a message takes with --delay", r.Error))
	}
	return time.Duration(*r.Delay()), nil
}
