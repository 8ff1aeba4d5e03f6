package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/internal/experiment"
	"dmebench/internal/platform"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// matrixFlags describe an experiment in place of a file. Lists have commas between.
func matrixFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "algorithm", Aliases: []string{"a"}, Usage: "run `NAMES`, with commas between"},
		&cli.StringFlag{Name: "nodes", Aliases: []string{"n"}, Usage: "on each number of nodes of `LIST`, such as 3,7,13"},
		&cli.StringSliceFlag{Name: "transport", Usage: "over `NETWORKS`: " + networkNames(), DefaultText: runs.DefaultTransport},
		&cli.StringSliceFlag{Name: "workload", Usage: "like `NAMES`: " + workloadNames(), DefaultText: runs.DefaultWorkload},
		&cli.IntFlag{Name: "repetitions", Usage: "`R` runs of each combination; an interval needs 6",
			DefaultText: fmt.Sprint(experiment.DefaultRepetitions)},
		&cli.Float64Flag{Name: "rate", Usage: "`X` requests per second of each node, for poisson and hotspot"},
		&cli.Float64Flag{Name: "total-rate", Usage: "`X` requests per second of all nodes together"},
		&cli.StringFlag{Name: "cs", Usage: "critical sections of `DURATION`, or exp:DURATION", DefaultText: runs.DefaultCS},
		&cli.IntFlag{Name: "requests", Usage: "`TOTAL` requests of a run", DefaultText: "100 per node; with --duration any number"},
		&cli.IntFlag{Name: "requests-per-node", Usage: "`COUNT` requests of each node, in place of --requests"},
		&cli.DurationFlag{Name: "duration", Usage: "make requests for this `DURATION`"},
		setFlag("an option of those that have it"),
		&cli.StringSliceFlag{Name: "fault", Usage: "inject a `FAULT` in every run, such as 'kill 3 @2s'"},
		&cli.StringFlag{Name: "resource", Usage: "have critical sections update a shared resource of `KIND` " +
			strings.Join(run.Resources(), ", ")},
		seedFlag(0, "random seed `S` of the first repetition; the next has the next"),
		&cli.IntFlag{Name: "nodes-per-worker", Usage: "put `M` nodes in each process", DefaultText: "1"},
		&cli.StringFlag{Name: "warmup", Usage: "leave `COUNT` entries out of steady figures; auto is MSER-5", DefaultText: runs.DefaultWarmup},
		&cli.DurationFlag{Name: "stall-after", Usage: "call it a stall if nothing moves for this `DURATION`",
			DefaultText: runs.DefaultStallAfter.String()},
		&cli.BoolFlag{Name: "allow-mismatch", Usage: "run even if a network lacks what an algorithm needs"},
		&cli.BoolFlag{Name: "skip-invalid", Usage: "leave out combinations that cannot run"},
		&cli.StringFlag{Name: "name", Usage: "keep results in folder `NAME`", DefaultText: experiment.DefaultMatrix},
	}
}

// experimentOf reads the file of an experiment, or the flags that describe one.
func (p *program) experimentOf(c *cli.Context) (experiment.File, error) {
	var described []string
	for _, f := range matrixFlags() {
		if c.IsSet(f.Names()[0]) {
			described = append(described, f.Names()[0])
		}
	}
	switch file := c.String("file"); {
	case file != "" && len(described) > 0:
		return experiment.File{}, usage("%s: --%s describes an experiment, and %s is another; give one of them, or change the file",
			c.Command.Name, described[0], file)
	case file != "":
		return platform.Interruptible(c.Context, func() (experiment.File, error) { return experiment.Load(file) })
	case len(described) == 0:
		return experiment.File{}, usage("%s: which experiment? Give a FILE, such as experiments/quickstart.yaml, or -a NAMES -n LIST; "+
			"'dmebench sweep --init' writes a file", c.Command.Name)
	}
	m, err := matrixOf(c)
	if err != nil {
		return experiment.File{}, failWith(Usage, err)
	}
	file, err := m.File(p.catalog)
	if err != nil {
		return experiment.File{}, failWith(Usage, err)
	}
	return file, nil
}

// matrixOf reads the flags, and returns everything that is wrong with them.
func matrixOf(c *cli.Context) (experiment.Matrix, error) {
	var errs []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(!c.IsSet("algorithm"), "--algorithm is missing: which ones? 'dmebench list' shows what there is")
	refuse(!c.IsSet("nodes"), "--nodes is missing: how many nodes? Write them like 3,7,13")
	for _, name := range []string{"repetitions", "requests", "requests-per-node", "nodes-per-worker"} {
		refuse(c.IsSet(name) && c.Int(name) < 1, "--%s %d: there must be at least 1", name, c.Int(name))
	}
	for _, name := range []string{"rate", "total-rate"} {
		refuse(c.IsSet(name) && !(c.Float64(name) > 0), "--%s %v: must be above 0", name, c.Float64(name))
	}
	for _, name := range []string{"duration", "stall-after"} {
		refuse(c.IsSet(name) && c.Duration(name) <= 0, "--%s %v: must be above 0", name, c.Duration(name))
	}
	refuse(c.IsSet("requests") && c.IsSet("requests-per-node"), "--requests and --requests-per-node: give one of them")
	var nodes []int
	if c.IsSet("nodes") {
		var err error
		nodes, err = parseNodeCounts(c.String("nodes"))
		refuse(err != nil, "--nodes %s: %w", c.String("nodes"), err)
	}
	set, setErrs := settingsOf(c)
	errs = append(errs, setErrs...)
	if len(set) == 0 {
		set = nil
	}
	m := experiment.Matrix{
		Name: experiment.DefaultMatrix, Algorithms: listed(c.StringSlice("algorithm")), Nodes: nodes,
		Transports: listed(c.StringSlice("transport")), Workloads: listed(c.StringSlice("workload")),
		Repetitions: c.Int("repetitions"), Seed: c.Uint64("seed"), CS: c.String("cs"),
		Rate: c.Float64("rate"), TotalRate: c.Float64("total-rate"),
		Requests: c.Int("requests"), RequestsPerNode: c.Int("requests-per-node"), Duration: runs.Duration(c.Duration("duration")),
		Set: set, NodesPerWorker: c.Int("nodes-per-worker"), Warmup: c.String("warmup"), StallAfter: runs.Duration(c.Duration("stall-after")),
		AllowMismatch: c.Bool("allow-mismatch"), SkipInvalid: c.Bool("skip-invalid"),
		Faults: c.StringSlice("fault"), Resource: c.String("resource"),
	}
	if c.IsSet("name") {
		m.Name = c.String("name")
	}
	return m, errors.Join(errs...)
}

// parseNodeCounts reads numbers of nodes with commas between.
func parseNodeCounts(list string) ([]int, error) {
	var nodes []int
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if strings.ContainsAny(strings.Trim(word, "- "), "-.") {
			return nil, fmt.Errorf("%q is a range; write the numbers, such as 3,7,13", strings.TrimSpace(word))
		}
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no number of nodes; write them like 3,7,13", strings.TrimSpace(word))
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}
