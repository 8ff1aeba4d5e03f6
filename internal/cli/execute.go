package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform"
	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/fileio"
	"dmebench/internal/platform/layout"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/coordinator"
	"dmebench/internal/runtime/run"
	"dmebench/internal/sim"
	"dmebench/runs"
	"dmebench/transport/nats"
	"dmebench/units"
)

func (p *program) execute(ctx context.Context, job *run.Job, opt coordinator.Options) (*runs.Result, error) {
	return p.executeShown(ctx, job, opt, nil)
}

// executeShown is execute with a line that shows how far the run is; nil for none.
func (p *program) executeShown(ctx context.Context, job *run.Job, opt coordinator.Options, line *run.Line) (*runs.Result, error) {
	defer context.AfterFunc(ctx, func() { line.Say("ending and adding up; Ctrl-C again ends at once") })()
	if !job.Network.Real() {
		result, err := simulate(ctx, job, opt, line)
		if err == nil && opt.Save != nil {
			err = opt.Save(result)
		}
		return result, err
	}
	opt.Environment = environment.Describe()
	if line != nil {
		opt.Progress = line.Show
	}
	result, err := coordinator.Run(ctx, job, opt)
	if errors.Is(err, control.ErrListen) || errors.Is(err, nats.ErrBroker) {
		err = failWith(Unavailable, err)
	}
	return result, err
}

// summing is how long an interrupted simulation may take to sum up what there is.
const summing = 20 * time.Second

// simulate carries out a simulation. Before its workload has begun it is given up at once if ctx
// ends: an algorithm may take for ever to make its nodes.
func simulate(ctx context.Context, job *run.Job, o coordinator.Options, line *run.Line) (*runs.Result, error) {
	opt := sim.Options{Partial: o.Partial, Record: o.Record * job.Spec.Nodes, Recorded: o.Recorded, Entries: o.Entries}
	patient := ctx
	if o.Partial || line != nil {
		var begun atomic.Bool
		opt.Progress = func(look func() run.State) {
			begun.Store(true)
			line.Look(look)
		}
		grace, cancel := platform.Grace(ctx, summing)
		defer cancel()
		patient = grace
		defer context.AfterFunc(ctx, func() {
			if !begun.Load() {
				cancel()
			}
		})()
	}
	return platform.Interruptible(patient, func() (*runs.Result, error) { return sim.RunWith(ctx, job, opt) })
}

func forceFlag() cli.Flag {
	return &cli.BoolFlag{Name: "force", Usage: "begin although this host seems too small"}
}

// fits refuses a run that needs more than this host has left, before anything is
// started; with force it says so and lets it begin.
func (p *program) fits(s runs.Spec, readFile func(string) ([]byte, error), force bool) (run.Estimate, error) {
	if err := programs(s); err != nil {
		return run.Estimate{}, err
	}
	e := run.EstimateOf(s, p.catalog, readFile)
	err := checkAddressSpace(e.Workers)
	var limits environment.Limits
	if e.Workers > 0 || e.Memory > 0 { // a small simulation needs next to nothing
		limits = environment.HostLimits()
		err = cmp.Or(err, e.Check(limits), e.CheckProcesses(runtime.NumCPU()))
	}
	switch {
	case err != nil && (!force || e.Hopeless(limits)):
		return e, err
	case err != nil:
		fmt.Fprintf(p.stderr, "dmebench: warning: %v\n", err)
	case e.Crowded(runtime.NumCPU()):
		fmt.Fprintf(p.stderr, "dmebench: warning: %d nodes share %d processors: %v; times will say more about these than about the algorithm\n",
			s.Nodes, runtime.NumCPU(), e)
	}
	return e, nil
}

// checkAddressSpace refuses what the limit on addresses (ulimit -v) leaves no room for, in this
// process or in workers, which inherit it: the Go runtime ends a process that meets it on the spot.
// With two processors 2.0 GB were reserved in a simulation, and 2.5 and 2.8 GB with 16 and 48
// workers; a third less if the program is not linked with a C library.
func checkAddressSpace(workers int) error {
	limit, limited := environment.AddressSpace()
	need := uint64(2<<30 + 128<<20*runtime.NumCPU() + 16<<20*workers)
	if !limited || limit >= need {
		return nil
	}
	return fmt.Errorf("%w: a process may have %s of addresses (ulimit -v %d), and one of these may reserve %s; "+
		"raise the limit (ulimit -v unlimited)", run.ErrTooLarge, units.Bytes(limit), limit>>10, units.Bytes(need))
}

// spacious has a command begin only if there are enough addresses, unless it is forced.
func spacious(c *cli.Context) error {
	if err := checkAddressSpace(0); err != nil && !c.Bool("force") {
		return failWith(Unavailable, err)
	}
	return nil
}

// files reads the files that a specification names, each once, and remembers
// them for the workers, which may be elsewhere. Safe for concurrent use.
type files struct {
	mu   sync.Mutex
	seen map[string][]byte
}

func newFiles() *files { return &files{seen: make(map[string][]byte)} }

func (f *files) read(name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b, ok := f.seen[name]; ok {
		return b, nil
	}
	b, err := fileio.Read(name, fileio.MostData)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file", name)
	}
	if err == nil {
		f.seen[name] = b
	}
	return b, err
}

func (f *files) all() map[string][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.seen)
}

// counter shows progress, on a terminal only. total is 0 if the end is not known.
func (p *program) counter(quiet bool, total uint64, what string) *run.Counter {
	if quiet || !layout.IsTerminal(p.stderr) {
		return nil
	}
	return run.NewCounter(p.stderr, total, what)
}
