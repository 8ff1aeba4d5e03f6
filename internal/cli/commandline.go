// Package cli is the command line: flags and wiring, one file for each
// sub-command, and nothing that decides anything about algorithms or figures.
//
// Results go to standard output, everything else to standard error. What is
// wrong with the input is said in one line for each fault, before anything is
// started, and ends with an exit code of 64 or more.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"dmebench/internal/cli/exit"
	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/interrupt"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/ping"
	"dmebench/internal/runtime/run"
	"dmebench/internal/runtime/worker"
	"dmebench/internal/testbed/task"
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
	err := p.carryOut(ctx, args[1:])
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

// carryOut does what the words of a command line ask for.
func (p *program) carryOut(ctx context.Context, words []string) error {
	app := p.app()
	root := &cli.Command{Name: app.Name, Usage: app.Usage, Subcommands: app.Commands}
	if isCompletion(words) {
		return p.complete(root, words[1:])
	}
	v, err := p.understand(root, words)
	switch {
	case err != nil:
		return failWith(exit.Usage, err)
	case v.help:
		return p.help(v)
	case v.version:
		return p.printVersion(false)
	}
	return app.RunContext(ctx, v.words())
}

// understand reads the words of a command line, and refuses what would otherwise
// be ignored.
func (p *program) understand(root *cli.Command, words []string) (*invocation, error) {
	asked := len(words) == 0
	if len(words) > 0 && (strings.EqualFold(words[0], "help") || words[0] == "h") {
		asked, words = true, words[1:]
	}
	v, err := takeApart(root, words)
	if len(v.path) > 0 && len(v.flags) == 0 && slices.Equal(v.rest, []string{"help"}) {
		asked, v.rest = true, nil // 'dmebench run help'
	}
	if asked && err == nil && len(v.rest) > 0 {
		return v, p.noSubcommand(v, v.rest[0])
	}
	if v.help = v.help || asked; v.help && (err == nil || len(v.path) > 0) {
		return v, nil
	}
	if err != nil {
		return v, err
	}
	if len(v.path) == 0 && !v.version {
		v.help = true // flags alone, or "--"
	}
	return v, p.place(v)
}

func (p *program) app() *cli.App {
	app := &cli.App{
		Name: "dmebench",
		Usage: "run distributed mutual exclusion algorithms as real processes, measure them, " +
			"and check the papers' claims",
		Writer:                    p.stdout,
		ErrWriter:                 p.stderr,
		HideHelp:                  true, // what --help asks for is printed by help
		HideVersion:               true,
		DisableSliceFlagSeparator: true, // a value may hold a comma
		Commands: []*cli.Command{
			p.runCommand(), p.sweepCommand(), p.initCommand(), p.checkCommand(), p.proveCommand(), atOnce(p.traceCommand()), p.pingCommand(),
			atOnce(p.reportCommand()), atOnce(p.rankCommand()), p.adviseCommand(), atOnce(p.compareCommand()), atOnce(p.exportCommand()),
			p.validateCommand(), atOnce(p.listCommand()), p.schemaCommand(), p.coordinatorCommand(), p.agentCommand(),
			p.brokerCommand(), p.doctorCommand(), p.completionCommand(), p.versionCommand(),
		},
		ExitErrHandler: func(*cli.Context, error) {}, // errors are reported once, by Run
		OnUsageError:   usageError,
	}
	for _, c := range app.Commands {
		guard(c)
		if slices.Contains([]string{"check", "prove", "ping", "advise", "validate", "coordinator", "agent", "broker"}, c.Name) {
			c.Before = spacious
		}
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

// guard leaves help to this package, and errors about flags to usageError.
func guard(c *cli.Command) {
	c.OnUsageError = usageError
	c.HideHelp = true
	for _, sub := range c.Subcommands {
		guard(sub)
	}
}

// checkArguments refuses other arguments than those that ArgsUsage names, of which
// the ones in brackets may be left out.
func checkArguments(c *cli.Command, args []string) error {
	names := strings.Fields(c.ArgsUsage)
	least := 0
	for _, name := range names {
		if !strings.HasPrefix(name, "[") {
			least++
		}
	}
	if len(args) >= least && len(args) <= len(names) {
		return nil
	}
	want := fmt.Sprint(least)
	if least < len(names) {
		want += fmt.Sprintf(" or %d", len(names))
	}
	return fmt.Errorf("%s takes %s arguments, %s, but there are %d; see 'dmebench %s --help'", c.Name, want, c.ArgsUsage, len(args), c.Name)
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
	return usage("%s; '%s --help' lists the flags", text, name)
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

// Flags that several sub-commands have.

func algorithmFlag() cli.Flag {
	return &cli.StringFlag{Name: "algorithm", Aliases: []string{"a"}, Usage: "`NAME` of the algorithm; 'dmebench list' shows them"}
}

func nodesFlag() cli.Flag {
	return &cli.IntFlag{Name: "nodes", Aliases: []string{"n"}, Usage: "`N`umber of nodes"}
}

func jsonFlag(usage string) cli.Flag { return &cli.BoolFlag{Name: "json", Usage: usage} }

func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "show no progress"}
}

// seedFlag is a seed, which is not 0: that stands for the default in specifications.
func seedFlag(value uint64, text string) cli.Flag {
	return &cli.Uint64Flag{Name: "seed", Value: value, Usage: text, Action: func(_ *cli.Context, seed uint64) error {
		if seed == 0 {
			return usage("--seed 0: want a number from 1 on")
		}
		return nil
	}}
}

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "which version this is: commit, whether the source was as committed, toolchain",
		Description: "Every result says in its environment with which program it was made. A build within a clone notes\n" +
			"the commit by itself; 'go run' does not.",
		Flags:  []cli.Flag{jsonFlag("as JSON")},
		Action: func(c *cli.Context) error { return p.printVersion(c.Bool("json")) },
	}
}

// printVersion says from what this program was built.
func (p *program) printVersion(asJSON bool) error {
	b := environment.ThisBuild()
	if asJSON {
		return printJSON(p.stdout, struct {
			Version string           `json:"version"`
			Commit  string           `json:"commit"`
			Tree    environment.Tree `json:"tree"`
			Time    string           `json:"time"`
			Go      string           `json:"go"`
			OS      string           `json:"os"`
			Arch    string           `json:"arch"`
		}{b.Version, b.Commit, b.Tree, b.Time, runtime.Version(), runtime.GOOS, runtime.GOARCH})
	}
	at := ""
	if b.Time != "" {
		at = " of " + b.Time
	}
	_, err := fmt.Fprintf(p.stdout, "dmebench %s\ncommit   %s%s\ntree     %s\nbuilt by %s for %s/%s\n",
		b.Version, b.Commit, at, b.Tree, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
