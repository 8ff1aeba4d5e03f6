package commandline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/internal/atomicfile"
	"dmebench/internal/check"
	"dmebench/internal/exit"
	"dmebench/internal/interrupt"
	"dmebench/result"
)

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name:  "check",
		Usage: "explore schedules for violations of safety and liveness; print and draw a counterexample",
		Description: "Runs the algorithm's nodes on links of which the search decides what they deliver next,\n" +
			"and looks for a schedule in which two nodes are in the critical section, a node enters\n" +
			"without a request, a request is never served, or an invariant of the algorithm does not hold.\n" +
			"It searches the links that it is told to\n" +
			"search, whatever the algorithm needs. A counterexample is shortened, printed step by step,\n" +
			"and drawn as a space-time diagram.\n\n" +
			"Exit code: 0 every property held; 1 one was broken; 2 the search failed;\n" +
			"64 and more: the input or the environment was refused before anything started; 130 interrupted.",
		Flags: append([]cli.Flag{
			algorithmFlag(),
			nodesFlag(),
			&cli.IntFlag{Name: "requests", Usage: "`TOTAL` number of requests (default: 5 for each node; exhaustive: 1 for each)"},
			&cli.IntFlag{Name: "schedules", Value: check.DefaultSchedules, Usage: "random schedules to try"},
			&cli.Uint64Flag{Name: "seed", Value: result.DefaultSeed, Usage: "of the first random schedule; the next has the next seed"},
			&cli.BoolFlag{Name: "adversary", Usage: "let an adversary hold back messages in every random schedule, or with =false in none " +
				"(default: in half of them)"},
			&cli.BoolFlag{Name: "exhaustive", Usage: "visit every state that any schedule leads to, on this host alone"},
			&cli.BoolFlag{Name: "fifo", Value: true, Usage: "links keep order"},
			&cli.BoolFlag{Name: "duplicate", Usage: "any message may arrive twice"},
			&cli.IntFlag{Name: "lose", Usage: "up to `K` messages are lost"},
			&cli.IntFlag{Name: "faults", Usage: "up to `K` nodes crash, at any moment, and come back where the algorithm knows how"},
			&cli.IntFlag{Name: "bypass", Usage: "call it starvation if more than `B` entries of others come between a request and its entry " +
				"(default: any number may)"},
			&cli.Uint64Flag{Name: "states", Value: check.DefaultStates, Usage: "end an exhaustive search after `COUNT` states"},
			&cli.StringFlag{Name: "memory", Usage: "end an exhaustive search before it holds more than `SIZE`, such as 8GiB " +
				"(default: three quarters of what is free)"},
			invariantsFlag(),
			&cli.DurationFlag{Name: "time", Usage: "end the search after this long"},
			&cli.StringSliceFlag{Name: "set", Usage: "`KEY=VALUE`: an option of the algorithm; may be repeated"},
			&cli.StringFlag{Name: "svg", Usage: "draw a counterexample to `FILE` (default: counterexample-ALGORITHM.svg)"},
			&cli.StringFlag{Name: "out", Usage: "draw it to a file of that name in folder `DIR`"},
			&cli.StringFlag{Name: "save", Usage: "keep a counterexample in `FILE` as a scenario, which can be edited and " +
				"which 'dmebench trace -f FILE' plays"},
			jsonFlag("print the result as one JSON object"),
			quietFlag(),
		}, workFlags("random schedules")...),
		Action: p.check,
	}
}

func (p *program) check(c *cli.Context) error {
	files := newFiles()
	a, options, err := p.searchOf(c, files)
	if err != nil {
		return err
	}
	options.WithoutInvariants = !c.Bool("invariants")
	bar := p.newBar(c.Bool("quiet"), int64(c.Int("schedules")), "schedules")
	if c.Bool("exhaustive") {
		bar = p.newBar(c.Bool("quiet"), 0, "states")
	}
	options.Progress = func(done uint64) { bar.update(done) }
	search, err := interrupt.Do(c.Context, func() (*check.Search, error) { return check.New(a, options) })
	if err != nil {
		return refusal(c.Context, err)
	}
	picture, err := pictureFile(c)
	if err != nil {
		return err
	}
	if c.IsSet("save") {
		if err := canWrite(c.String("save")); err != nil {
			return err
		}
	}
	var report check.Report
	if c.Bool("exhaustive") {
		defer collectBelow(options.Memory)()
		report, err = search.Exhaustive(c.Context)
	} else {
		report, err = p.random(c, search, files)
	}
	bar.done()
	if err != nil {
		return err
	}
	result := newCheckResult(a, options, c.Bool("exhaustive"), report)
	result.Notes = search.Notes()
	result.Invariants = invariantNames(search.Invariants())
	if result.MaxBypass == nil && report.Complete {
		if most, schedules := search.Overtaking(c.Context); schedules > 0 {
			result.MaxBypass, result.SampledIn = &most, schedules
		}
	}
	if report.Trace != nil {
		if err := atomicfile.Write(picture, report.Trace.Diagram().SVG()); err != nil {
			fmt.Fprintf(p.stderr, "dmebench: warning: the counterexample is not drawn: %v\n", err)
		} else {
			result.SVG = picture
		}
		if s := report.Trace.Standstill; s != nil && len(result.Why) > 0 {
			graph := strings.TrimSuffix(picture, ".svg") + "-waits.svg"
			if err := atomicfile.Write(graph, s.SVG(a.Title+": who waits for whom")); err != nil {
				fmt.Fprintf(p.stderr, "dmebench: warning: the wait-for graph is not drawn: %v\n", err)
			} else {
				result.WaitFor = graph
			}
		}
	}
	if c.IsSet("save") && report.Trace != nil {
		result.Scenario = p.saveScenario(c.String("save"), a, options, search.Sequenced(), report, result.Replay)
	}
	if c.Bool("json") {
		err = printJSON(p.stdout, result)
	} else {
		err = result.print(p.stdout)
	}
	if err != nil {
		return failWith(exit.CantCreate, fmt.Errorf("cannot print the result: %w", err))
	}
	if report.Violation != nil {
		p.exit = exit.Broken
	}
	return nil
}

// random runs random schedules, here or at agents.
func (p *program) random(c *cli.Context, s *check.Search, files *files) (check.Report, error) {
	work, err := p.openWork(c, files)
	if work == nil {
		return s.Random(c.Context), err
	}
	defer work.close()
	return work.search(c.Context, c.String("algorithm"), s)
}

// searchOf reads the flags. What depends on the algorithm is checked by
// [check.New].
func (p *program) searchOf(c *cli.Context, files *files) (*dme.Algorithm, check.Options, error) {
	var errs []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(!c.IsSet("algorithm"), "--algorithm is missing; 'dmebench list' shows what there is")
	refuse(!c.IsSet("nodes"), "--nodes is missing: how many nodes?")
	for _, name := range []string{"requests", "schedules", "bypass"} {
		refuse(c.IsSet(name) && c.Int(name) < 1, "--%s %d: there must be at least 1", name, c.Int(name))
	}
	refuse(c.IsSet("states") && c.Uint64("states") < 1, "--states 0: there must be at least 1")
	refuse(c.IsSet("time") && c.Duration("time") <= 0, "--time %v: must be above 0", c.Duration("time"))
	if c.Bool("exhaustive") {
		for _, name := range []string{"schedules", "adversary"} {
			refuse(c.IsSet(name), "--%s is for random schedules, and --exhaustive takes all there are; choose one", name)
		}
		refuse(c.IsSet("agents"), "--agents is for random schedules; an exhaustive search is not divided among hosts, leave --agents out")
	} else {
		for _, name := range []string{"states", "memory"} {
			refuse(c.IsSet(name), "--%s is for --exhaustive; random schedules are limited by --schedules and --time", name)
		}
	}
	memory, err := memoryFor(c)
	if err != nil {
		errs = append(errs, err)
	}
	refuse(c.IsSet("svg") && c.IsSet("out"), "--svg names a file and --out a folder for the same picture; choose one")
	set, setErrs := settingsOf(c)
	errs = append(errs, setErrs...)
	var a *dme.Algorithm
	if c.IsSet("algorithm") {
		var err error
		if a, err = p.catalog.Lookup(c.String("algorithm")); err != nil {
			errs = append(errs, err)
		}
	}
	if errs != nil {
		return nil, check.Options{}, failWith(exit.Usage, errors.Join(errs...))
	}
	o := check.Options{
		Nodes: c.Int("nodes"), Requests: c.Int("requests"), Set: set, ReadFile: files.read,
		Unordered: !c.Bool("fifo"), Duplicate: c.Bool("duplicate"), Lose: c.Int("lose"), Faults: c.Int("faults"), Bypass: c.Int("bypass"),
		Seed: c.Uint64("seed"), Schedules: c.Int("schedules"), States: c.Uint64("states"), Memory: memory, Time: c.Duration("time"),
	}
	if !c.IsSet("requests") {
		o.Requests = 5 * o.Nodes
		if c.Bool("exhaustive") {
			o.Requests = o.Nodes
		}
		o.Requests = max(1, o.Requests) // what is wrong is the number of nodes
	}
	if c.IsSet("adversary") {
		o.Adversary = check.Chance
		if c.Bool("adversary") {
			o.Adversary = check.Adversarial
		}
	}
	return a, o, nil
}

// pictureFile returns where a counterexample is drawn, having made sure that it
// can be, where the user says so.
func pictureFile(c *cli.Context) (string, error) {
	name := "counterexample-" + c.String("algorithm") + ".svg"
	switch {
	case c.IsSet("out"):
		name = filepath.Join(c.String("out"), name)
	case c.IsSet("svg"):
		name = c.String("svg")
	default:
		return name, nil
	}
	return name, canWrite(name)
}

func canWrite(name string) error {
	refuse := func(err error) error {
		return failWith(exit.CantCreate, fmt.Errorf("cannot write %s: %w; choose another place", name, err))
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return refuse(errors.New("it is a folder"))
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return refuse(err)
	}
	if err := atomicfile.Probe(dir); err != nil {
		return refuse(err)
	}
	return nil
}
