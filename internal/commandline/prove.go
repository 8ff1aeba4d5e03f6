package commandline

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/internal/exit"
	"dmebench/internal/prove"
)

func (p *program) proveCommand() *cli.Command {
	return &cli.Command{
		Name:  "prove",
		Usage: "for how many nodes is each algorithm proven safe and free of starvation, and how far can it be searched?",
		Description: "Searches all states of more and more nodes that ask without limit. Where that comes to its end,\n" +
			"the algorithm is proven, for that number of nodes: never two nodes are in the critical section,\n" +
			"and nobody waits for ever as long as every message arrives and every critical section ends.\n" +
			"Where there are too many states, or infinitely many, each node asks a limited number of times.\n" +
			"Without a name all algorithms are searched, which takes minutes.\n\n" +
			"Exit code: 0 what was searched is right, or known to be wrong and found to be; 1 a violation\n" +
			"was found where none should be; 2 a search failed; 64 and more: refused; 130 interrupted.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "algorithm", Aliases: []string{"a"}, Usage: "only `NAME`; may be repeated (default: all)"},
			&cli.IntFlag{Name: "nodes", Aliases: []string{"n"}, Value: prove.DefaultNodes, Usage: "at most `N` nodes"},
			&cli.IntFlag{Name: "each", Value: prove.DefaultEach, Usage: "where requests are limited, at most `R` of each node"},
			&cli.Uint64Flag{Name: "states", Value: prove.DefaultStates, Usage: "give a search up after `COUNT` states, " +
				"some of up to three nodes after 20 times as many"},
			&cli.StringFlag{Name: "memory", Usage: "give a search up before it holds more than `SIZE`, such as 4GiB " +
				"(default: three quarters of what is free)"},
			&cli.DurationFlag{Name: "for", Usage: "end after this long, with what is known by then"},
			&cli.StringSliceFlag{Name: "set", Usage: "`KEY=VALUE`: an option of the algorithm; may be repeated"},
			&cli.BoolFlag{Name: "markdown", Usage: "as a table in Markdown"},
			jsonFlag("as JSON"),
			quietFlag(),
		},
		Action: p.prove,
	}
}

func (p *program) prove(c *cli.Context) error {
	files := newFiles()
	algorithms, options, err := p.proofsOf(c)
	if err != nil {
		return err
	}
	options.ReadFile = files.read
	ctx := c.Context
	if c.IsSet("for") {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Duration("for"))
		defer cancel()
	}
	defer collectBelow(options.Memory)()
	bar := p.counter(c.Bool("quiet"), uint64(len(algorithms)), "algorithms")
	defer bar.Done()
	options.Progress = bar.Describe
	options.Done = func(n int) { bar.Set(uint64(n)) }
	results, err := prove.All(ctx, algorithms, options)
	if err != nil {
		return failWith(exit.Unknown, err)
	}
	for _, r := range results {
		if r.Refuted != nil && !r.AsPublished {
			p.exit = exit.Broken
		}
	}
	bar.Done()
	begun := map[string]bool{}
	for _, r := range results {
		begun[r.Algorithm] = true
	}
	if left := len(algorithms) - len(begun); left > 0 && c.Context.Err() == nil {
		fmt.Fprintf(p.stderr, "dmebench: warning: %d of %d algorithms were not begun within %v\n", left, len(algorithms), c.Duration("for"))
	}
	return p.printProofs(c, results)
}

func (p *program) printProofs(c *cli.Context, results []prove.Result) (err error) {
	switch {
	case c.Bool("json"):
		err = printJSON(p.stdout, results)
	case c.Bool("markdown"):
		err = prove.Table(results).WriteMarkdown(p.stdout)
	default:
		if err = prove.Table(results).WriteFitted(p.stdout, p.printed().Width); err == nil {
			_, err = io.WriteString(p.stdout, "\n"+proofLegend)
		}
	}
	if err != nil {
		return failWith(exit.CantCreate, fmt.Errorf("cannot print the result: %w", err))
	}
	return nil
}

const proofLegend = "PROVEN: all states with requests without limit, no starvation under fairness.\n" +
	"NEVER SENT: messages that the proof for the most nodes is not about, as nobody sends them.\n" +
	"SEARCHED WHOLE: nodes × requests of each, all states, no violation.\n"

// proofsOf reads the flags.
func (p *program) proofsOf(c *cli.Context) ([]*dme.Algorithm, prove.Options, error) {
	var errs []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(c.Int("nodes") < 2, "--nodes %d: there must be at least 2", c.Int("nodes"))
	refuse(c.Int("each") < 1, "--each %d: there must be at least 1", c.Int("each"))
	refuse(c.Uint64("states") < 1, "--states 0: there must be at least 1")
	refuse(c.IsSet("for") && c.Duration("for") <= 0, "--for %v: must be above 0", c.Duration("for"))
	refuse(c.Bool("json") && c.Bool("markdown"), "--json and --markdown: one of them")
	memory, err := memoryFor(c)
	if err != nil {
		errs = append(errs, err)
	}
	set, setErrs := settingsOf(c)
	errs = append(errs, setErrs...)
	names := c.StringSlice("algorithm")
	refuse(len(set) > 0 && len(names) != 1, "--set: name the one algorithm whose option that is")
	algorithms := []*dme.Algorithm(p.catalog)
	if names != nil {
		algorithms = nil
		for _, name := range names {
			a, err := p.catalog.Lookup(name)
			if err != nil {
				errs = append(errs, err)
			}
			algorithms = append(algorithms, a)
		}
	}
	if errs != nil {
		return nil, prove.Options{}, failWith(exit.Usage, errors.Join(errs...))
	}
	return algorithms, prove.Options{
		Nodes: c.Int("nodes"), Each: c.Int("each"), States: c.Uint64("states"), Memory: memory, Set: set,
	}, nil
}
