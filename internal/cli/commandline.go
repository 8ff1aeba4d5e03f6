// Package cli is the command line: flags and wiring, one file for each
// sub-command, and nothing that decides anything about algorithms or figures.
//
// Results go to standard output, everything else to standard error. Errors
// in the input are reported in one line each, before anything is
// started, with an exit code of 64 or more.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform"
	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/ping"
	"dmebench/internal/runtime/run"
	"dmebench/internal/runtime/worker"
	"dmebench/internal/testbed/workqueue"
	"dmebench/units"
)

// Run executes the command line args and returns the exit code. The user's own algorithms come to
// those that are built in. scenarios holds the worked examples of papers, in folders of any depth.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer, builtIn, own run.Catalog, scenarios fs.FS) int {
	catalog := slices.Concat(builtIn, own)
	// The parent of such a process has checked the catalog of the same binary.
	if launch.Is(args, worker.Command) {
		return worker.Main(catalog, stdin, stderr)
	}
	if launch.Is(args, workqueue.Command) {
		return workqueue.Main(catalog, stdin, stdout, stderr)
	}
	if launch.Is(args, ping.Command) {
		return ping.Main(stdin, stdout, stderr)
	}
	if err := checkOwn(builtIn, own); err != nil {
		return complain(stderr, failWith(Usage, err))
	}
	ctx, stop := signals()
	defer stop()
	printed := &output{Writer: stdout}
	p := &program{catalog: catalog, scenarios: scenarios, stdout: printed, stderr: stderr}
	err := p.carryOut(ctx, args[1:])
	if ctx.Err() != nil && (err == nil && p.exit != Broken || errors.Is(err, context.Canceled)) {
		err = failWith(Interrupted, errors.New("interrupted"))
	}
	if printed.unread && errors.Is(err, syscall.EPIPE) {
		return Pipe // as with any program in a pipe, and without a complaint
	}
	if err != nil {
		return complain(stderr, err)
	}
	return p.exit
}

type program struct {
	catalog   run.Catalog
	scenarios fs.FS
	stdout    io.Writer
	stderr    io.Writer
	words     []string // of the command line, as they were given
	exit      int      // of a command that did its work
}

func (p *program) carryOut(ctx context.Context, words []string) error {
	plainFlags()
	app := p.app()
	p.words = words
	if len(words) == 0 || words[len(words)-1] != completionFlag {
		words = arrange(&cli.Command{Name: app.Name, Subcommands: app.Commands, Flags: app.Flags}, words)
	} else {
		words = append([]string{app.Name}, words...)
	}
	for _, c := range app.Commands {
		if !slices.Contains(words, c.Name) {
			c.Flags = nil // the library would write the help of each
		}
	}
	return app.RunContext(ctx, words)
}

// The groups of commands.
const (
	measure     = "Measure"
	decide      = "Decide"
	verify      = "Verify"
	acrossHosts = "Several hosts"
)

// programHelp is the template of the program's help. The library would sort the groups by
// name, and here they stand in the order of work.
func programHelp() string {
	text := `{{.Name}} - {{.Usage}}

   dmebench run maekawa --nodes 7                 one run of 7 processes
   dmebench sweep experiments/quickstart.yaml     many runs, with a report

`
	for _, group := range []string{measure, decide, verify, acrossHosts, ""} {
		text += fmt.Sprintf("{{range .VisibleCategories}}{{if eq .Name %q}}{{if .Name}}{{.Name}}:\n{{end}}", group) +
			`{{range .VisibleCommands}}   {{.Name}}{{"\t"}}{{.Usage}}` + "\n{{end}}\n{{end}}{{end}}"
	}
	return text + `'dmebench COMMAND --help' explains a command, 'dmebench --version' prints the version, and
'dmebench completion --help' sets up completion in a shell. Flags may stand before and after
arguments; names may be in any case.
`
}

// plainFlags has help leave out defaults that mean nothing, and names said twice.
var plainFlags = sync.OnceFunc(func() {
	library := cli.FlagStringer
	cli.FlagStringer = func(f cli.Flag) string {
		names, meaning, _ := strings.Cut(library(f), "\t")
		names, _, _ = strings.Cut(names, " [ ")
		for _, nothing := range []string{" (default: 0)", " (default: 0s)", " (default: false)"} {
			meaning = strings.TrimSuffix(meaning, nothing)
		}
		return names + "\t" + meaning
	}
})

func (p *program) app() *cli.App {
	app := &cli.App{
		Name:                      "dmebench",
		Usage:                     "run, measure and check distributed mutual exclusion algorithms",
		Writer:                    p.stdout,
		ErrWriter:                 p.stderr,
		CustomAppHelpTemplate:     programHelp(),
		HideVersion:               true, // --version says more than the library's
		HideHelpCommand:           true,
		DisableSliceFlagSeparator: true, // a value may hold a comma
		EnableBashCompletion:      true,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print the version, its commit, and the toolchain"},
			jsonFlag("with --version: as JSON"),
		},
		Action: p.withoutCommand,
		Commands: slices.Concat(
			inGroup(measure, p.runCommand(), p.sweepCommand(), p.pingCommand(), p.adviseCommand()),
			inGroup(decide, atOnce(p.reportCommand()), atOnce(p.rankCommand()), atOnce(p.compareCommand()), atOnce(p.exportCommand()),
				p.validateCommand()),
			inGroup(verify, p.checkCommand(), atOnce(p.traceCommand()), p.playgroundCommand()),
			inGroup(acrossHosts, p.brokerCommand(), p.agentCommand(), p.doctorCommand()),
			inGroup("", atOnce(p.listCommand()), p.completionCommand()),
			[]*cli.Command{
				moved("coordinator", "sweep --agents URL"), moved("prove", "check --prove"), moved("init", "sweep --init"),
				moved("schema", "list schema"), moved("version", "--version"),
			}),
		ExitErrHandler: func(*cli.Context, error) {}, // errors are reported once, by Run
		OnUsageError:   usageError,
	}
	p.prepare(app.Commands)
	return app
}

func inGroup(name string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = name
	}
	return commands
}

// moved is a command of earlier versions, which says where it is now.
func moved(name, now string) *cli.Command {
	return &cli.Command{
		Name: name, Hidden: true, SkipFlagParsing: true,
		Action: func(*cli.Context) error { return usage("'dmebench %s' is now 'dmebench %s'", name, now) },
	}
}

func (p *program) prepare(commands []*cli.Command) {
	for _, c := range commands {
		c.HideHelpCommand = true // 'dmebench run help' is understood nevertheless
		c.OnUsageError = usageError
		if c.BashComplete == nil {
			c.BashComplete = p.complete
		}
		roomy := slices.Contains([]string{"check", "ping", "advise", "validate", "agent", "broker"}, c.Name)
		if !c.SkipFlagParsing {
			c.Before = func(ctx *cli.Context) error {
				if roomy {
					if err := spacious(ctx); err != nil {
						return err
					}
				}
				return p.takeArguments(ctx)
			}
		}
		p.prepare(c.Subcommands)
	}
}

// withoutCommand is what happens if no command is named, or an unknown one.
func (p *program) withoutCommand(c *cli.Context) error {
	switch {
	case c.Args().Present():
		return usage("%w", units.UnknownName("command", c.Args().First(),
			units.Texts(c.App.VisibleCommands(), func(c *cli.Command) string { return c.Name }), "'dmebench help' lists them"))
	case c.Bool("version"):
		return p.printVersion(c.Bool("json"))
	}
	return cli.ShowAppHelp(c)
}

// atOnce lets a command that holds nothing that could be lost be interrupted anywhere, even while
// it reads a pipe that is never written.
func atOnce(c *cli.Command) *cli.Command {
	for _, sub := range c.Subcommands {
		atOnce(sub)
	}
	action := c.Action
	c.Action = func(ctx *cli.Context) error {
		if ctx.IsSet("serve") {
			return action(ctx) // ends by itself, and closes the pages
		}
		return platform.Await(ctx.Context, func() error { return action(ctx) })
	}
	return c
}

func usage(format string, args ...any) error {
	return failWith(Usage, fmt.Errorf(format, args...))
}

// complain prints an error, one line for each fault, and returns its exit code.
func complain(stderr io.Writer, err error) int {
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			fmt.Fprintf(stderr, "dmebench: %s\n", line)
		}
	}
	return codeOf(err)
}

// checkOwn finds faults in the user's own algorithms.
func checkOwn(builtIn, own run.Catalog) error {
	var errs []error
	names := builtIn.Names()
	for _, a := range own {
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
	return &cli.StringFlag{Name: "algorithm", Aliases: []string{"a"}, Usage: "run `NAME`; 'dmebench list' shows all algorithms"}
}

func setFlag(usage string) cli.Flag {
	return &cli.StringSliceFlag{Name: "set", Usage: "set `KEY=VALUE`, " + usage}
}

func nodesFlag() cli.Flag {
	return &cli.IntFlag{Name: "nodes", Aliases: []string{"n"}, Usage: "on `N` nodes"}
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

// positive are the flags whose numbers are above 0 in every command.
var positive = []string{
	"bypass", "duration", "each", "expect-agents", "for", "in-flight", "nodes-per-worker", "rate", "repetitions", "requests",
	"requests-per-node", "schedules", "stall-after", "states", "total-rate",
}

func checkNumbers(c *cli.Context) (wrong refusals) {
	for _, name := range given(c, positive...) {
		switch x := c.Value(name).(type) {
		case int:
			wrong.when(x < 1, "--%s %d: there must be at least 1", name, x)
		case uint64:
			wrong.when(x < 1, "--%s %d: there must be at least 1", name, x)
		case float64:
			wrong.when(!(x > 0), "--%s %v: must be above 0", name, x)
		case time.Duration:
			wrong.when(x <= 0, "--%s %v: must be above 0", name, x)
		}
	}
	return wrong
}

// refusals collect what is wrong with flags, so that all of it is reported at once.
type refusals []error

func (r *refusals) when(bad bool, format string, args ...any) {
	if bad {
		r.add(fmt.Errorf(format, args...))
	}
}

func (r *refusals) add(errs ...error) { *r = append(*r, errs...) }

func (r *refusals) err() error {
	if err := errors.Join(*r...); err != nil {
		return failWith(Usage, err)
	}
	return nil
}

func inCategory(name string, flags ...cli.Flag) []cli.Flag {
	for _, f := range flags {
		reflect.ValueOf(f).Elem().FieldByName("Category").SetString(name)
	}
	return flags
}

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
