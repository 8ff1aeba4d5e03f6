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
