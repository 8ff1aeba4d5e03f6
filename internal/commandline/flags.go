package commandline

import (
	"slices"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/internal/run"
)

// Flags that several sub-commands have.

func algorithmFlag() cli.Flag {
	return &cli.StringFlag{Name: "algorithm", Aliases: []string{"a"}, Usage: "`NAME` of the algorithm; 'dmebench list' shows them"}
}

func nodesFlag() cli.Flag {
	return &cli.IntFlag{Name: "nodes", Aliases: []string{"n"}, Usage: "`N`umber of nodes"}
}

func jsonFlag(usage string) cli.Flag { return &cli.BoolFlag{Name: "json", Usage: usage} }

func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "show no progress"}
}

// seedFlag is a seed, which is not 0: that stands for the default in specifications.
func seedFlag(value uint64, text string) cli.Flag {
	return &cli.Uint64Flag{Name: "seed", Value: value, Usage: text, Action: func(_ *cli.Context, seed uint64) error {
		if seed == 0 {
			return usage("--seed 0: want a number from 1 on")
		}
		return nil
	}}
}

// noWorkers refuses --nodes-per-worker where it means nothing.
const noWorkers = "--nodes-per-worker: a simulation has no worker processes; leave it out, or choose --transport tcp"

// isNetworkOption reports whether --set knows the name whatever the algorithm is.
func isNetworkOption(name string) bool {
	return slices.ContainsFunc(run.Networks(), func(n run.Network) bool {
		return slices.ContainsFunc(n.Options, func(o dme.Option) bool { return o.Name == name })
	})
}
