package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/internal/experiment/validate/faults"
	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/fileio"
	"dmebench/internal/runtime/coordinator"
	"dmebench/internal/runtime/run"
	"dmebench/report"
	"dmebench/report/survival"
	"dmebench/runs"
)

// effort is how much is tried for the survival table.
type effort struct {
	networks    []string
	repetitions int
	schedules   int
	states      uint64
}

func (p *program) effortOf(c *cli.Context) effort {
	e := effort{[]string{runs.Sim, "tcp"}, 6, 2000, 300_000}
	switch {
	case c.Bool("quick"):
		e = effort{[]string{runs.Sim}, 6, 1000, 50_000}
	case c.Bool("full"):
		e = effort{[]string{runs.Sim, "tcp", "udp", "nats"}, 10, 20_000, 3_000_000}
	}
	if c.IsSet("transport") {
		e.networks = listed([]string{c.String("transport")})
		if c.Bool("quick") && !slices.Equal(e.networks, []string{runs.Sim}) {
			e.repetitions = 4 // processes take their time
		}
	}
	return e
}

// survival fills the table of what each algorithm survives.
func (p *program) survival(c *cli.Context) error {
	for _, name := range []string{"claim", "fresh"} {
		if c.IsSet(name) {
			return usage("validate: --%s is for claims, and --faults makes the table of what each algorithm survives; choose one", name)
		}
	}
	algorithms, err := p.sound(listed(c.StringSlice("algorithm")))
	if err != nil {
		return failWith(Usage, err)
	}
	dir, e := c.String("out"), p.effortOf(c)
	if err := probe(dir); err != nil {
		return err
	}
	for _, network := range e.networks {
		if _, err := run.LookupNetwork(network); err != nil {
			return failWith(Usage, err)
		}
	}
	opt := faults.Options{
		Catalog: p.catalog.Algorithms(), Algorithms: algorithms, Networks: e.networks, Nodes: 7, Repetitions: e.repetitions,
		Seed: c.Uint64("seed"), Schedules: e.schedules, States: e.states,
		Run: func(ctx context.Context, job *run.Job, idle func()) (*runs.Result, error) {
			return p.execute(ctx, job, coordinator.Options{Idle: idle})
		},
	}
	if !c.Bool("quiet") {
		opt.Progress = p.tally()
	}
	d, err := faults.Run(c.Context, opt)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	d.Environment = environment.Describe()
	files, failed := report.Survival(d)
	for _, f := range files {
		if failed == nil {
			failed = fileio.Write(filepath.Join(dir, f.Name), f.Data)
		}
	}
	if failed != nil {
		return failWith(CantCreate, fmt.Errorf("--out %s: %w; is there room on the disk?", dir, failed))
	}
	if err := p.print(c, "table", d, func() error { return survival.Matrix(d).WriteText(p.stdout) }); err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "validate: %s\n", filepath.Join(dir, "survival.html"))
	return err
}

// sound returns the algorithms of these names, or all that are not known to be
// wrong.
func (p *program) sound(names []string) ([]*dme.Algorithm, error) {
	var all []*dme.Algorithm
	for _, name := range names {
		a, err := p.catalog.Lookup(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	if all != nil {
		return all, nil
	}
	for _, a := range p.catalog.Algorithms() {
		if !a.AsPublished {
			all = append(all, a)
		}
	}
	return all, nil
}
