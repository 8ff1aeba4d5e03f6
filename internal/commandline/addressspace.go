package commandline

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"

	"dmebench/internal/environment"
	"dmebench/internal/exit"
	"dmebench/internal/run"
	"dmebench/report/units"
)

// checkAddressSpace refuses what the limit on addresses (ulimit -v) leaves no room for, in
// this process or in workers, which inherit it: the Go runtime ends a process that meets it
// on the spot. With two processors 2.0 GB were reserved in a simulation, and 2.5 and 2.8 GB
// with 16 and 48 workers; a third less where the program is not linked with a C library.
func checkAddressSpace(workers int) error {
	limit, limited := environment.AddressSpace()
	need := uint64(2<<30 + 128<<20*runtime.NumCPU() + 16<<20*workers)
	if !limited || limit >= need {
		return nil
	}
	return fmt.Errorf("%w: a process may have %s of addresses (ulimit -v %d), and one of these may reserve %s; "+
		"raise the limit (ulimit -v unlimited)", run.ErrTooLarge, units.Bytes(limit), limit>>10, units.Bytes(need))
}

// spacious has a command begin only where there are enough addresses, unless it is forced.
func spacious(c *cli.Context) error {
	if err := checkAddressSpace(0); err != nil && !c.Bool("force") {
		return failWith(exit.Unavailable, err)
	}
	return nil
}
