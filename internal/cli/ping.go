package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/layout"
	"dmebench/internal/runtime/ping"
	"dmebench/internal/runtime/run"
)

const everything = "all"

func (p *program) pingCommand() *cli.Command {
	d := ping.DefaultSpec()
	var tests []string
	for _, t := range d.Tests {
		tests = append(tests, string(t))
	}
	return &cli.Command{
		Name:      "ping",
		Usage:     "measure the networks' own limits: round trip, ring, streaming",
		UsageText: "dmebench ping\ndmebench ping --transport tcp --test ring --processes 8",
		Description: "Processes on this host pass small messages, over plain sockets (or the NATS client library alone) and\n" +
			"over the transports that runs use, by turns. The last column is the median ratio of speeds, with its\n" +
			"interval: above 1 the transport is faster. Figures move several-fold with the placement of processes:\n" +
			"compare ratios, of one command.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "transport", Value: everything,
				Usage: "over `NETWORK`: " + strings.Join(ping.Networks(), ", ") + ", or " + everything},
			&cli.StringFlag{Name: "test", Value: everything, Usage: "measure `NAME`: " + strings.Join(tests, ", ") + ", or " + everything},
			&cli.IntFlag{Name: "processes", Value: d.Processes, Usage: "`P` processes in the ring; the first two do the other tests"},
			&cli.StringFlag{Name: "tokens", Value: joinInts(d.Tokens), Usage: "as many tokens in the ring at a time as `LIST` says"},
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
	write := (*ping.Report).WriteText
	switch {
	case c.Bool("json") && c.Bool("markdown"):
		return usage("--json and --markdown: one of them")
	case c.Bool("json"):
		write = func(r *ping.Report, w io.Writer) error { return printJSON(w, r) }
	case c.Bool("markdown"):
		write = (*ping.Report).WriteMarkdown
	}
	show, done := p.stretchProgress(c.Bool("quiet"))
	report, err := ping.Run(c.Context, spec, ping.Options{Environment: environment.Describe(), Progress: show})
	done()
	if err != nil {
		return err
	}
	if err := write(report, p.stdout); err != nil {
		return failWith(CantCreate, fmt.Errorf("cannot print the result: %w", err))
	}
	return nil
}

// pingSpec reads the flags, and returns everything that is wrong with them.
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
	tokens, err := parseInts(c.String("tokens"))
	if err != nil {
		return s, errors.Join(fmt.Errorf("--tokens %q: want numbers with commas between, such as 1,16", c.String("tokens")), s.Check())
	}
	s.Tokens = tokens
	return s, s.Check()
}

func joinInts(x []int) string {
	var parts []string
	for _, n := range x {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, ",")
}

// parseInts reads numbers with commas between, and leaves out those that come
// again.
func parseInts(s string) ([]int, error) {
	var x []int
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(x, n) {
			x = append(x, n)
		}
	}
	return x, nil
}

// stretchProgress shows how far a measurement is, on a terminal only, until done
// is called.
func (p *program) stretchProgress(quiet bool) (show func(stretches, of int), done func()) {
	if quiet || !layout.IsTerminal(p.stderr) {
		return nil, func() {}
	}
	var bar *run.Counter
	show = func(stretches, of int) {
		if bar == nil {
			bar = run.NewCounter(p.stderr, uint64(of), "stretches")
		}
		bar.Set(uint64(stretches))
	}
	done = func() { bar.Done() }
	return show, done
}
