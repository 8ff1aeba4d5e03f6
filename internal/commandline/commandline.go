// Package commandline is the command line: flags and wiring, one file for each
// sub-command, and nothing that decides anything about algorithms or figures.
//
// Results go to standard output, everything else to standard error. What is
// wrong with the input is said in one line for each fault, before anything is
// started, and ends with an exit code of 64 or more.
package commandline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"dmebench/internal/exit"
	"dmebench/internal/interrupt"
	"dmebench/internal/launch"
	"dmebench/internal/ping"
	"dmebench/internal/run"
	"dmebench/internal/task"
	"dmebench/internal/worker"
)

// Run executes the command line args and returns the exit code. scenarios holds
// the worked examples of papers, in folders of any depth.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer, catalog run.Catalog, scenarios fs.FS) int {
	if err := checkCatalog(catalog); err != nil {
		return complain(stderr, failWith(exit.Usage, err))
	}
	if launch.Is(args, worker.Command) {
		return worker.Main(catalog, stdin, stderr)
	}
	if launch.Is(args, task.Command) {
		return task.Main(catalog, stdin, stdout, stderr)
	}
	if launch.Is(args, ping.Command) {
		return ping.Main(stdin, stdout, stderr)
	}
	ctx, stop := signals()
	defer stop()
	printed := &output{Writer: stdout}
	p := &program{catalog: catalog, scenarios: scenarios, stdout: printed, stderr: stderr}
	app := p.app()
	err := app.RunContext(ctx, args)
	if ctx.Err() != nil && (err == nil && p.exit != exit.Broken || errors.Is(err, context.Canceled)) {
		err = failWith(exit.Interrupted, errors.New("interrupted"))
	}
	if printed.unread && errors.Is(err, syscall.EPIPE) {
		return exit.Pipe // and nobody to complain to, as with any program in a pipe
	}
	if err != nil {
		return complain(stderr, err)
	}
	return p.exit
}

// program is what the sub-commands share.
type program struct {
	catalog   run.Catalog
	scenarios fs.FS
	stdout    io.Writer
	stderr    io.Writer
	exit      int // of a command that did its work
}

func (p *program) app() *cli.App {
	app := &cli.App{
		Name: "dmebench",
		Usage: "run distributed mutual exclusion algorithms as real processes, measure them, " +
			"and check the papers' claims",
		Writer:                    p.stdout,
		ErrWriter:                 p.stderr,
		HideVersion:               true,
		DisableSliceFlagSeparator: true, // a value may hold a comma
		EnableBashCompletion:      true,
		Commands: []*cli.Command{
			p.runCommand(), p.sweepCommand(), p.checkCommand(), atOnce(p.traceCommand()), p.pingCommand(), atOnce(p.reportCommand()),
			atOnce(p.rankCommand()), atOnce(p.compareCommand()), atOnce(p.exportCommand()), p.validateCommand(),
			atOnce(p.listCommand()), p.schemaCommand(), p.coordinatorCommand(), p.agentCommand(), p.brokerCommand(), p.doctorCommand(),
		},
		ExitErrHandler: func(*cli.Context, error) {}, // errors are reported once, by Run
		OnUsageError:   usageError,
		Action: func(c *cli.Context) error {
			if name := c.Args().First(); name != "" {
				return usage("unknown command %q; «dmebench help» lists them", name)
			}
			return cli.ShowAppHelp(c)
		},
	}
	for _, c := range app.Commands {
		guard(c)
	}
	return app
}

// atOnce lets a command that holds nothing that could be lost be given up
// wherever it is, also while it reads a pipe to which nobody writes.
func atOnce(c *cli.Command) *cli.Command {
	for _, sub := range c.Subcommands {
		atOnce(sub)
	}
	action := c.Action
	c.Action = func(ctx *cli.Context) error {
		return interrupt.Wait(ctx.Context, func() error { return action(ctx) })
	}
	return c
}

// guard makes a command refuse what it would silently ignore: flags that it
// does not know, and arguments, after which the library stops looking for flags.
func guard(c *cli.Command) {
	c.OnUsageError = usageError
	c.HideHelpCommand = true
	for _, sub := range c.Subcommands {
		guard(sub)
	}
	action := c.Action
	c.Action = func(ctx *cli.Context) error {
		if c.ArgsUsage != "" {
			if err := checkArguments(c, ctx.Args().Slice()); err != nil {
				return err
			}
			return action(ctx)
		}
		if ctx.NArg() > 0 {
			if len(c.Subcommands) > 0 {
				var names []string
				for _, sub := range c.Subcommands {
					names = append(names, sub.Name)
				}
				return usage("%s: there is no %q; there are %s", c.Name, ctx.Args().First(), strings.Join(names, ", "))
			}
			return usage("%s takes no arguments, but there is %q; everything is given by flags, which «dmebench %s --help» lists",
				c.Name, ctx.Args().First(), c.Name)
		}
		return action(ctx)
	}
}

// checkArguments refuses other arguments than those that ArgsUsage names, and
// flags among them.
func checkArguments(c *cli.Command, args []string) error {
	for i, arg := range args {
		if i > 0 && strings.HasPrefix(arg, "-") {
			return usage("%s: flag %s stands after an argument; write «dmebench %s %s … %s»",
				c.Name, arg, c.Name, arg, c.ArgsUsage)
		}
	}
	most := len(strings.Fields(c.ArgsUsage))
	if least := most - strings.Count(c.ArgsUsage, "["); len(args) < least || len(args) > most {
		return usage("%s takes other arguments, %s, than the %d that there are; see «dmebench %s --help»",
			c.Name, c.ArgsUsage, len(args), c.Name)
	}
	return nil
}

func usageError(c *cli.Context, err error, _ bool) error {
	name := "dmebench"
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != name {
		name += " " + c.Command.Name
	}
	text := err.Error()
	if flag, unknown := strings.CutPrefix(text, "flag provided but not defined: "); unknown {
		text = "unknown flag " + flag
	}
	return usage("%s; «%s --help» lists the flags", text, name)
}

func failWith(code int, err error) error { return exit.With(code, err) }

func usage(format string, args ...any) error {
	return failWith(exit.Usage, fmt.Errorf(format, args...))
}

// complain prints an error, one line for each fault, and returns its exit code.
func complain(stderr io.Writer, err error) int {
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			fmt.Fprintf(stderr, "dmebench: %s\n", line)
		}
	}
	var coded *exit.Error
	if errors.As(err, &coded) {
		return coded.Code
	}
	return exit.Unknown
}

// checkCatalog finds faults in the algorithms, which may be a user's own.
func checkCatalog(catalog run.Catalog) error {
	var errs []error
	var names []string
	for _, a := range catalog {
		errs = append(errs, a.Check())
		if slices.Contains(names, a.Name) {
			errs = append(errs, fmt.Errorf("two algorithms are named %q", a.Name))
		}
		names = append(names, a.Name)
	}
	return errors.Join(errs...)
}
