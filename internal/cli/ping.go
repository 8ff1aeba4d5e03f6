package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/internal/cli/exit"
	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/terminal"
	"dmebench/internal/runtime/live"
	"dmebench/internal/runtime/ping"
)

const everything = "all"

func (p *program) pingCommand() *cli.Command {
	d := ping.DefaultSpec()
	var tests []string
	for _, t := range d.Tests {
		tests = append(tests, string(t))
	}
	return &cli.Command{
		Name:  "ping",
		Usage: "the networks' own limits: round trip, ring and streaming, bare and through the transports",
		Description: "Starts processes that pass small messages around, over plain sockets (or the NATS client\n" +
			"library alone) and over the transports that runs use, by turns, and prints how fast each is\n" +
			"and how the two compare: the median ratio of speeds of neighbouring stretches, with its\n" +
			"confidence interval. Above 1, the transport is faster. All processes run on this host and\n" +
			"listen on its loopback. On shared machines figures move several-fold with the placement of\n" +
			"processes: compare ratios, of one command.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "transport", Value: everything,
				Usage: "`NETWORK`: " + strings.Join(ping.Networks(), ", ") + ", or " + everything},
			&cli.StringFlag{Name: "test", Value: everything, Usage: "`NAME`: " + strings.Join(tests, ", ") + ", or " + everything},
			&cli.IntFlag{Name: "processes", Value: d.Processes, Usage: "`P`rocesses in the ring; the first two do the other tests"},
			&cli.StringFlag{Name: "tokens", Value: joinInts(d.Tokens), Usage: "`LIST` of how many tokens are in the ring at a time"},
			&cli.IntFlag{Name: "pairs", Value: d.Pairs,
				Usage: fmt.Sprintf("`COUNT` of pairs of stretches; a confidence interval takes at least %d", ping.MinPairs)},
			&cli.DurationFlag{Name: "stretch", Value: d.Stretch, Usage: "`DURATION` for which a side is measured at a time"},
			&cli.IntFlag{Name: "size", Value: d.Size, Usage: "`BYTES` in a message"},
			&cli.StringFlag{Name: "udp-layer", Usage: "`LAYER` raw, reliable or fifo, of the transport over UDP (default: fifo)"},
			&cli.BoolFlag{Name: "pin", Usage: "bind each process to one processor, in turn"},
			jsonFlag("print one JSON object, with every sample"),
			&cli.BoolFlag{Name: "markdown", Usage: "print the table for a Markdown page"},
			quietFlag(),
		},
		Action: p.ping,
	}
}

func (p *program) ping(c *cli.Context) error {
	spec, err := pingSpec(c)
	if err != nil {
		return failWith(exit.Usage, err)
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
		return failWith(exit.CantCreate, fmt.Errorf("cannot print the result: %w", err))
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
	if quiet || !terminal.Is(p.stderr) {
		return nil, func() {}
	}
	var bar *live.Counter
	show = func(stretches, of int) {
		if bar == nil {
			bar = live.NewCounter(p.stderr, uint64(of), "stretches")
		}
		bar.Set(uint64(stretches))
	}
	done = func() { bar.Done() }
	return show, done
}
