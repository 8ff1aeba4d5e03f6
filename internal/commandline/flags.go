package commandline

import "github.com/urfave/cli/v2"

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
