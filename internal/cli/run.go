package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform"
	"dmebench/internal/platform/fileio"
	"dmebench/internal/platform/layout"
	"dmebench/internal/runtime/coordinator"
	"dmebench/internal/runtime/foreign"
	"dmebench/internal/runtime/run"
	"dmebench/internal/runtime/stall"
	"dmebench/report/cells"
	"dmebench/runs"
)

func (p *program) runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "run one algorithm once, and measure it",
		ArgsUsage: "ALGORITHM",
		UsageText: "dmebench run maekawa -n 7\n" +
			"dmebench run raymond -n 13 --transport udp --workload poisson --total-rate 200 --duration 10s",
		Description: "Starts a process for each node, has them run the algorithm under the workload until nothing moves\n" +
			"any more, and prints what was measured. Ctrl-C ends the run and prints what there is.\n" +
			"Exit code: 0 mutual exclusion held, 1 violated, or stalled without faults, 2 failed, undecided, or\n" +
			"stalled by faults, 3 a threshold was crossed, 64 or more: refused before anything started, 130 interrupted.",
		Flags: slices.Concat([]cli.Flag{
			algorithmFlag(),
			nodesFlag(),
			&cli.StringFlag{Name: "transport", Value: runs.DefaultTransport, Usage: "over `NETWORK`: " + networkNames()},
			&cli.StringFlag{Name: "workload", Value: runs.DefaultWorkload, Usage: "like `NAME`: " + workloadNames()},
			&cli.Float64Flag{Name: "rate", Usage: "`X` requests per second of each node, for poisson and hotspot"},
			&cli.Float64Flag{Name: "total-rate", Usage: "`X` requests per second of all nodes together"},
			&cli.StringFlag{Name: "cs", Value: runs.DefaultCS, Usage: "critical sections of `DURATION`, or exp:DURATION"},
			&cli.IntFlag{Name: "requests", Usage: "`TOTAL` requests of all nodes together", DefaultText: "100 per node; with --duration any number"},
			&cli.DurationFlag{Name: "duration", Usage: "make requests for this `DURATION`"},
			seedFlag(runs.DefaultSeed, "random seed `S`"),
			setFlag("an option of the algorithm, workload or network"),
			&cli.StringSliceFlag{Name: "fault", Usage: "inject a `FAULT`, such as 'kill 3 @2s' or 'pause holder @1s-2s' (docs/faults.md)"},
			&cli.StringFlag{Name: "out", Usage: "also write the result to a file in folder `DIR`"},
			jsonFlag("print the result as one JSON object"),
			quietFlag(),
		}, inCategory("More",
			failIfFlag("the run"),
			&cli.StringFlag{Name: "warmup", Value: runs.DefaultWarmup, Usage: "leave `COUNT` entries out of steady figures; auto is MSER-5"},
			&cli.DurationFlag{Name: "stall-after", Value: runs.DefaultStallAfter, Usage: "call it a stall if nothing moves for this `DURATION`"},
			&cli.StringFlag{Name: "resource", Usage: "have critical sections update a shared resource of `KIND` " +
				strings.Join(run.Resources(), ", ")},
			&cli.BoolFlag{Name: "allow-mismatch", Usage: "run even if the network lacks what the algorithm needs"},
			forceFlag(),
			&cli.IntFlag{Name: "nodes-per-worker", Value: 1, Usage: "put `M` nodes in each process"},
			&cli.StringFlag{Name: "udp-layer", Usage: "with --transport udp: `LAYER` raw, reliable or fifo", DefaultText: "fifo"},
			&cli.StringFlag{Name: "listen", Usage: "control plane at `HOST:PORT`, on loopback", DefaultText: "a free port"},
			traceFlag(),
			entriesFlag(),
			&cli.StringFlag{Name: "exec", Usage: "start `COMMAND` as each node, in place of an algorithm (docs/other-languages.md)"},
			&cli.StringFlag{Name: "name", Usage: "call such nodes `NAME` in results", DefaultText: "that of the program"},
		), inCategory("Other hosts", slices.Concat(placementFlags(), natsFlags(), credentialFlags())...)),
		Action: p.run,
	}
}

func (p *program) run(c *cli.Context) error {
	spec, err := specOf(c)
	if err != nil {
		return err
	}
	thresholds, err := thresholdsOf(c)
	if err != nil {
		return err
	}
	files := newFiles()
	preparing := time.AfterFunc(longPreparation, func() {
		if !c.Bool("quiet") && layout.IsTerminal(p.stderr) {
			fmt.Fprintf(p.stderr, "dmebench: preparing %s on %d nodes …\n", spec.Algorithm, spec.Nodes)
		}
	})
	job, err := platform.Interruptible(c.Context, func() (*run.Job, error) {
		e, err := p.fits(spec, files.read, c.Bool("force") || c.IsSet("agents"))
		if err != nil {
			return nil, err
		}
		if e.Time >= longSimulation && !c.Bool("quiet") {
			fmt.Fprintf(p.stderr, "dmebench: this simulation takes %v\n", e)
		}
		return run.Resolve(spec, p.catalog, files.read)
	})
	preparing.Stop()
	if err != nil {
		return refusal(c.Context, err)
	}
	if c.Int("nodes-per-worker") > 1 && !job.Network.Real() {
		return usage("--nodes-per-worker: a simulation has no worker processes; leave it out, or choose --transport tcp")
	}
	broker, err := natsBroker(c, job)
	if err != nil {
		return err
	}
	keep, err := keeper(c.String("out"), thresholds)
	if err != nil {
		return err
	}
	if c.IsSet("agents") && !job.Network.Real() {
		return usage("--agents: one simulated run takes one core; sweep, check and validate use those of several hosts")
	}
	hosts, err := p.openTestbed(c)
	if err != nil {
		return err
	}
	defer hosts.close()
	if hosts != nil && !c.Bool("quiet") {
		hosts.show(p.stderr)
		if err := hosts.showPlacement(p.stderr, job.Spec.Nodes, job.Spec.NodesPerWorker); err != nil {
			return err
		}
	}
	recorder, err := p.recorder(c, job, hosts != nil)
	if err != nil {
		return err
	}
	if c.Bool("entries") && c.String("out") == "" {
		return usage("--entries: into which folder? name one with --out")
	}
	if err := checkEntries(c, hosts != nil); err != nil {
		return err
	}
	p.warn(job)
	opt, err := hosts.options(job, coordinator.Options{Files: files.all(), Broker: broker, Partial: true, Save: keep})
	if err != nil {
		return err
	}
	var line *run.Line
	if !c.Bool("quiet") {
		line = run.NewLine(p.stderr)
	}
	recorder.ask(&opt)
	opt.Entries = c.Bool("entries")
	r, err := p.executeShown(c.Context, job, opt, line)
	line.Done()
	if r == nil {
		return err
	}
	err = cmp.Or(err, recorder.write(p.stderr, c.Bool("quiet"), r))
	lost := err // if it could not be kept it is shown at least
	verdict := cells.JudgeRun(r, thresholds)
	err = p.print(c, "result", r, func() error { return run.Print(p.stdout, job, r) })
	if err := cmp.Or(lost, err); err != nil {
		return err
	}
	if r.Status != runs.OK && !(r.Partial && r.Status == runs.Failed) { // an interruption is reported at the end
		p.explain(r)
	}
	p.exit = p.judged(ofOutcome(r.Status.Outcome(len(job.Missing) == 0 && len(r.Faults) == 0)), verdict)
	return nil
}

// refusal is the error for flags that do not do, or of the end of ctx.
func refusal(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, run.ErrTooLarge):
		return failWith(Unavailable, err)
	}
	return failWith(Usage, err)
}

// specOf reads the flags. Their meaning is checked when the spec is resolved.
func specOf(c *cli.Context) (runs.Spec, error) {
	wrong := checkNumbers(c)
	wrong.when(!c.IsSet("algorithm") && !c.IsSet("exec"), "--algorithm is missing; 'dmebench list' shows what there is")
	wrong.when(!c.IsSet("nodes"), "--nodes is missing: how many nodes?")
	set := settingsOf(c, &wrong)
	if layer := c.String("udp-layer"); c.IsSet("udp-layer") {
		wrong.when(c.String("transport") != "udp", "--udp-layer is for --transport udp; %s has no layers", c.String("transport"))
		wrong.when(set[run.LayerOption] != "", "--udp-layer %s: --set %s=%s says it too", layer, run.LayerOption, set[run.LayerOption])
		set[run.LayerOption] = layer
	}
	spec := runs.Spec{
		Algorithm: c.String("algorithm"), Nodes: c.Int("nodes"), Transport: c.String("transport"), Workload: c.String("workload"),
		Rate: c.Float64("rate"), TotalRate: c.Float64("total-rate"), CS: c.String("cs"),
		Requests: c.Int("requests"), Duration: runs.Duration(c.Duration("duration")), Seed: c.Uint64("seed"),
		NodesPerWorker: c.Int("nodes-per-worker"), Warmup: c.String("warmup"), StallAfter: runs.Duration(c.Duration("stall-after")),
		Set: set, Listen: c.String("listen"), AllowMismatch: c.Bool("allow-mismatch"),
		Faults: c.StringSlice("fault"), Resource: c.String("resource"),
	}
	wrong.add(execSpec(c, &spec))
	return spec, wrong.err()
}

const (
	longSimulation  = 10 * time.Second // from then on, its duration is announced
	longPreparation = 2 * time.Second  // after that, a line says what goes on
)

// several is a value that goes on with another option, as in a=1,b=2. Values that hold
// other signs may well have a comma and = in them, such as rules of links.
var several = platform.Pattern(`^[\w.+-]*(,[a-z][a-z-]*=[\w.+-]*)+$`)

func settingsOf(c *cli.Context, wrong *refusals) map[string]string {
	set := make(map[string]string)
	for _, pair := range c.StringSlice("set") {
		key, value, ok := strings.Cut(pair, "=")
		_, twice := set[key]
		set[key] = value
		switch {
		case !ok || key == "":
			wrong.when(true, "--set %s: want KEY=VALUE", pair)
		case several().MatchString(value):
			wrong.when(true, "--set %s: one option each; write --set %s=%s", pair, key, strings.ReplaceAll(value, ",", " --set "))
		case twice:
			wrong.when(true, "--set %s: %s is set twice", pair, key)
		}
	}
	return set
}

// warn says beforehand what a user should know of the job.
func (p *program) warn(job *run.Job) {
	if job.Algorithm.AsPublished {
		fmt.Fprintf(p.stderr, "dmebench: warning: %s is the literal text of its paper and known to be wrong\n", job.Algorithm.Name)
	}
	if len(job.Missing) > 0 {
		fmt.Fprintf(p.stderr, "dmebench: warning: %s needs %s, which %s lacks\n",
			job.Algorithm.Name, strings.Join(job.Missing, " and "), job.Network.Name)
	}
}

func (p *program) explain(r *runs.Result) {
	text := string(r.Status)
	if r.Error != "" {
		text += ": " + r.Error
	}
	fmt.Fprintf(p.stderr, "dmebench: %s\n", text)
	for _, line := range r.FailedStderr {
		fmt.Fprintf(p.stderr, "  | %s\n", line)
	}
	for _, line := range r.Liveness.Why {
		fmt.Fprintf(p.stderr, "  %s\n", line)
	}
	for _, state := range r.Liveness.States {
		fmt.Fprintf(p.stderr, "  %s\n", state)
	}
}

// keeper returns a function that keeps a result in dir, with what came of the thresholds, having
// made sure that it will be able to; nil if dir is "".
func keeper(dir string, thresholds []cells.Threshold) (func(*runs.Result) error, error) {
	if dir == "" {
		return nil, nil
	}
	if err := makeFolder(dir); err != nil {
		return nil, cannotWrite("--out "+dir, err)
	}
	return func(r *runs.Result) error {
		cells.JudgeRun(r, thresholds)
		base := fmt.Sprintf("%s-n%d-%s-%s-seed%d-%s", r.Algorithm, r.Nodes, r.Transport, r.Workload, r.Seed,
			time.Now().UTC().Format("20060102T150405.000"))
		b, err := json.MarshalIndent(r, "", " ")
		if err == nil {
			err = fileio.Write(filepath.Join(dir, base+".json"), append(b, '\n'))
		}
		if err == nil && r.Sections != nil {
			err = fileio.Write(runs.SectionsBeside(filepath.Join(dir, base)), r.Sections)
		}
		if picture := stall.Picture(r); err == nil && picture != nil {
			err = fileio.Write(filepath.Join(dir, base+"-waits.svg"), picture)
		}
		return cannotWrite("--out "+dir, err)
	}, nil
}

// execSpec reads --exec and --name. Whether there is such a program is seen by fits.
func execSpec(c *cli.Context, s *runs.Spec) error {
	command, name := c.String("exec"), c.String("name")
	if !c.IsSet("exec") {
		if c.IsSet("name") {
			return errors.New("--name is the name of nodes started by --exec, which is missing")
		}
		return nil
	}
	if _, err := foreign.Split(command); err != nil {
		return fmt.Errorf("--exec %q: %w; want a program and its arguments, such as './node.py'", command, err)
	}
	if s.Algorithm != "" {
		return fmt.Errorf("--exec and --algorithm %s both say what the nodes are; choose one", s.Algorithm)
	}
	if _, twice := s.Set[foreign.CommandOption]; twice {
		return fmt.Errorf("--exec and --set %s=… say the same; leave one out", foreign.CommandOption)
	}
	if c.IsSet("agents") {
		return errors.New("--exec and --agents: agents do not start programs for others; nodes in other languages run on this host alone")
	}
	s.Algorithm = foreign.Named(command)
	if c.IsSet("name") {
		if name == "" || strings.ContainsAny(name, "/ \t\n") || len(name) > maxExecName {
			return fmt.Errorf("--name %q: want a word of at most %d characters without spaces and slashes", name, maxExecName)
		}
		s.Algorithm = foreign.Word + ":" + name
	}
	if s.Set == nil {
		s.Set = make(map[string]string)
	}
	s.Set[foreign.CommandOption] = command
	return nil
}

const maxExecName = 40

// programs refuses a run whose nodes are a program that is not here.
func programs(s runs.Spec) error {
	command := s.Set[foreign.CommandOption]
	if !foreign.Is(s.Algorithm) || command == "" {
		return nil // what is missing is reported elsewhere
	}
	return foreign.Available(command)
}
