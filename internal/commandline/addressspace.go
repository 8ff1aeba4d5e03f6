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

// Addresses that a process reserves, in bytes, most of which no memory ever stands behind:
// the Go runtime's own, the heaps of the C library where the program is linked with one, one
// for each thread, and what a coordinator has for each process that it follows. Measured
// with two processors: 2.0 GB in a simulation, 2.5 GB with 16 processes, 2.8 GB with 48; a
// third less without a C library.
const (
	reserved          = 2 << 30
	reservedPerCore   = 128 << 20
	reservedPerWorker = 16 << 20
)

// checkAddressSpace refuses what the limit on addresses (ulimit -v) leaves no room for, on
// this process, whose workers inherit it. The Go runtime ends a process that meets the limit
// on the spot, with all its stacks.
func checkAddressSpace(workers int) error {
	limit, limited := environment.AddressSpace()
	need := uint64(reserved + reservedPerCore*runtime.NumCPU() + reservedPerWorker*workers)
	if !limited || limit >= need {
		return nil
	}
	return fmt.Errorf("%w: a process may have %s of addresses (ulimit -v %d), and one of these may reserve %s; raise the limit (ulimit -v unlimited)",
		run.ErrTooLarge, units.Bytes(limit), limit>>10, units.Bytes(need))
}

// spacious has a command that does more than read and print begin only where there are
// enough addresses; --force, where the command has it, lets it begin all the same.
func spacious(c *cli.Command) {
	c.Before = func(c *cli.Context) error {
		if err := checkAddressSpace(0); err != nil && !c.Bool("force") {
			return failWith(exit.Unavailable, err)
		}
		return nil
	}
}
