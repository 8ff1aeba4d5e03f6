package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform/environment"
	"dmebench/internal/runtime/ping"
	"dmebench/internal/runtime/run"
	"dmebench/units"
)

const everything = "all"

func (p *program) pingCommand() *cli.Command {
	d := ping.DefaultSpec()
	tests := units.Texts(d.Tests, func(t ping.Test) string { return string(t) })
	return &cli.Command{
		Name:      "ping",
		Usage:     "measure the networks' own limits: round trip, ring, streaming",
		UsageText: "dmebench ping\ndmebench ping --transport tcp --test ring --processes 8",
		Description: "Processes on this host pass small messages, over plain sockets (or the NATS client library alone) and\n" +
			"over the transports that runs use, in turn. The last column is the median ratio of speeds, with its\n" +
			"interval: above 1 the transport is faster. Figures move several-fold with the placement of processes:\n" +
			"compare ratios, of one command.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "transport", Value: everything,
				Usage: "over `NETWORK`: " + strings.Join(ping.Networks(), ", ") + ", or " + everything},
			&cli.StringFlag{Name: "test", Value: everything, Usage: "measure `NAME`: " + strings.Join(tests, ", ") + ", or " + everything},
			&cli.IntFlag{Name: "processes", Value: d.Processes, Usage: "`P` processes in the ring; the first two do the other tests"},
			&cli.StringFlag{Name: "tokens", Value: strings.Trim(strings.ReplaceAll(fmt.Sprint(d.Tokens), " ", ","), "[]"),
				Usage: "as many tokens in the ring at a time as `LIST` says"},
			&cli.IntFlag{Name: "pairs", Value: d.Pairs, Usage: fmt.Sprintf("`COUNT` pairs of stretches; an interval needs %d", ping.MinPairs)},
			&cli.DurationFlag{Name: "stretch", Value: d.Stretch, Usage: "measure a side for `DURATION` at a time"},
			&cli.IntFlag{Name: "size", Value: d.Size, Usage: "messages of `BYTES`"},
			&cli.StringFlag{Name: "udp-layer", Usage: "UDP with `LAYER` raw, reliable or fifo", DefaultText: "fifo"},
			&cli.BoolFlag{Name: "pin", Usage: "bind each process to one processor, in turn"},
			jsonFlag("print one JSON object, with every sample"),
			&cli.BoolFlag{Name: "markdown", Usage: "print the table for Markdown"},
			quietFlag(),
		},
		Action: p.ping,
	}
}

func (p *program) ping(c *cli.Context) error {
	spec, err := pingSpec(c)
	if err != nil {
		return failWith(Usage, err)
	}
	if c.Bool("json") && c.Bool("markdown") {
		return usage("--json and --markdown: one of them")
	}
	var bar *run.Counter
	show := func(stretches, of int) {
		if bar == nil && stretches == 0 {
			bar = p.counter(c.Bool("quiet"), uint64(of), "stretches")
		}
		bar.Set(uint64(stretches))
	}
	report, err := ping.Run(c.Context, spec, ping.Options{Environment: environment.Describe(), Progress: show})
	bar.Done()
	if err != nil {
		return err
	}
	write := report.WriteText
	if c.Bool("markdown") {
		write = report.WriteMarkdown
	}
	return p.print(c, "result", report, func() error { return write(p.stdout) })
}

func pingSpec(c *cli.Context) (ping.Spec, error) {
	s := ping.DefaultSpec()
	if name := c.String("transport"); name != everything {
		s.Networks = []string{name}
	}
	if name := c.String("test"); name != everything {
		s.Tests = []ping.Test{ping.Test(name)}
	}
	s.Processes, s.Pairs, s.Size = c.Int("processes"), c.Int("pairs"), c.Int("size")
	s.Stretch, s.Pin, s.UDPLayer = c.Duration("stretch"), c.Bool("pin"), c.String("udp-layer")
	tokens, _, ok := wholeNumbers(c.String("tokens"))
	if !ok {
		return s, errors.Join(fmt.Errorf("--tokens %q: want numbers with commas between, such as 1,16", c.String("tokens")), s.Check())
	}
	slices.Sort(tokens)
	s.Tokens = slices.Compact(tokens)
	return s, s.Check()
}
