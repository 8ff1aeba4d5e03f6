package commandline

import (
	"fmt"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"dmebench/internal/check"
	"dmebench/internal/environment"
)

// memoryFor returns how much memory an exhaustive search may hold, 0 where
// nobody says and nothing is known of the machine.
func memoryFor(c *cli.Context) (check.Bytes, error) {
	if !c.IsSet("memory") {
		return check.Bytes(environment.AvailableMemory() / 4 * 3), nil
	}
	size, err := check.ParseBytes(c.String("memory"))
	if err != nil {
		return 0, fmt.Errorf("--memory: %w", err)
	}
	return size, nil
}

// collectBelow has garbage collected early enough that a search which may hold
// so much takes hardly more. It returns what ends that.
func collectBelow(held check.Bytes) (restore func()) {
	before := debug.SetMemoryLimit(-1)
	if limit := int64(held + held/8); held > 0 && limit < before {
		debug.SetMemoryLimit(limit)
	}
	return func() { debug.SetMemoryLimit(before) }
}
