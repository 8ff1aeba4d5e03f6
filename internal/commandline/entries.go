package commandline

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"dmebench/internal/atomicfile"
	"dmebench/internal/exit"
	"dmebench/report/export"
	"dmebench/result"
)

func entriesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "entries", Usage: "keep the record of each critical section (up to a million of a run) beside the results; " +
		"'dmebench export --format entries' makes a table of them"}
}

// checkEntries refuses to keep records whose times would be those of several clocks,
// or that would be elsewhere.
func checkEntries(c *cli.Context, elsewhere bool) error {
	if c.Bool("entries") && (elsewhere || c.IsSet("agents")) {
		return usage("--entries: the times of a table are read from one clock; run on this host alone, without --agents")
	}
	return nil
}

// exportEntries writes a row for each critical section, as they are read.
func (p *program) exportEntries(runs []result.Run, out string) error {
	var missing int
	write := func(w io.Writer) (err error) {
		missing, err = export.Entries(w, runs)
		return err
	}
	if out == "" {
		if err := write(p.stdout); err != nil {
			return failWith(exit.Data, err)
		}
	} else {
		if err := atomicfile.Stream(out, write); err != nil {
			return failWith(exit.CantCreate, fmt.Errorf("--out %s: %w", out, err))
		}
		fmt.Fprintln(p.stdout, out)
	}
	if missing > 0 {
		fmt.Fprintf(p.stderr, "dmebench: warning: %d of %d runs keep no records of their critical sections; "+
			"measure them again with --entries\n", missing, len(runs))
	}
	return nil
}
