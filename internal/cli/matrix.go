package cli

import (
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
	wrong := checkNumbers(c)
	wrong.when(!c.IsSet("algorithm"), "--algorithm is missing: which ones? 'dmebench list' shows what there is")
	wrong.when(!c.IsSet("nodes"), "--nodes is missing: how many nodes? Write them like 3,7,13")
	wrong.when(c.IsSet("requests") && c.IsSet("requests-per-node"), "--requests and --requests-per-node: give one of them")
	nodes, bad, ok := wholeNumbers(c.String("nodes"))
	if c.IsSet("nodes") && !ok {
		isRange := strings.ContainsAny(strings.Trim(bad, "-"), "-.")
		wrong.when(isRange, "--nodes %s: %q is a range; write the numbers, such as 3,7,13", c.String("nodes"), bad)
		wrong.when(!isRange, "--nodes %s: %q is no number of nodes; write them like 3,7,13", c.String("nodes"), bad)
	}
	set := settingsOf(c, &wrong)
	if err := wrong.err(); err != nil {
		return experiment.File{}, err
	}
	e := runs.Experiment{
		Name: experiment.DefaultMatrix, Algorithms: experiment.Entries(listed(c.StringSlice("algorithm"))), Nodes: nodes,
		Transports:  experiment.Entries(listed(c.StringSlice("transport"))),
		Repetitions: c.Int("repetitions"), Seed: c.Uint64("seed"), NodesPerWorker: c.Int("nodes-per-worker"),
		Warmup: c.String("warmup"), StallAfter: runs.Duration(c.Duration("stall-after")),
		AllowMismatch: c.Bool("allow-mismatch"), SkipInvalid: c.Bool("skip-invalid"),
		Faults: c.StringSlice("fault"), Resource: c.String("resource"),
	}
	if c.IsSet("name") {
		e.Name = c.String("name")
	}
	workloads := listed(c.StringSlice("workload"))
	if workloads == nil {
		workloads = []string{runs.DefaultWorkload}
	}
	for _, name := range workloads {
		e.Workloads = append(e.Workloads, runs.Workload{
			Name: name, CS: c.String("cs"), Rate: c.Float64("rate"), TotalRate: c.Float64("total-rate"),
			Requests: c.Int("requests"), RequestsPerNode: c.Int("requests-per-node"), Duration: runs.Duration(c.Duration("duration")),
		})
	}
	file, err := experiment.Matrix(e, set, p.catalog)
	if err != nil {
		return experiment.File{}, failWith(Usage, err)
	}
	return file, nil
}

// wholeNumbers reads numbers from 1 on with commas between; bad is the first word that is none.
func wholeNumbers(list string) (numbers []int, bad string, ok bool) {
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, word, false
		}
		numbers = append(numbers, n)
	}
	return numbers, "", true
}
