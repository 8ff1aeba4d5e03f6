package commandline

import (
	"cmp"
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"

	"dmebench/internal/environment"
	"dmebench/internal/run"
	"dmebench/result"
)

func forceFlag() cli.Flag {
	return &cli.BoolFlag{Name: "force", Usage: "begin although this host has less memory or fewer processors, " +
		"or allows fewer threads and descriptors, " +
		"than a run is estimated to need"}
}

// fits refuses a run that needs more than this host has left, before anything is
// started; with force it says so and lets it begin.
func (p *program) fits(s result.Spec, readFile func(string) ([]byte, error), force bool) error {
	if err := programs(s); err != nil {
		return err
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
		return err
	case err != nil:
		fmt.Fprintf(p.stderr, "dmebench: warning: %v\n", err)
	case e.Crowded(runtime.NumCPU()):
		fmt.Fprintf(p.stderr, "dmebench: warning: %d nodes share %d processors: %v; times will say more about these than about the algorithm\n",
			s.Nodes, runtime.NumCPU(), e)
	}
	return nil
}
