package commandline

import "github.com/urfave/cli/v2"

// coordinatorCommand is a sweep across hosts, under the name that goes with agents.
func (p *program) coordinatorCommand() *cli.Command {
	sweep := p.sweepCommand()
	return &cli.Command{
		Name:  "coordinator",
		Usage: "an experiment from a YAML file across other hosts, on each of which an agent runs; ends with its report",
		Description: "The same experiment file runs on one host by 'dmebench sweep' and on many by this command, without\n" +
			"a change. It finds the agents at a NATS server, shows where the nodes are going to be, runs what is\n" +
			"missing, and writes the report. The same command again continues where an interrupted one ended.\n\n" +
			"On every host runs 'dmebench agent'; 'dmebench broker' serves the NATS server, or any other does that\n" +
			"has JetStream. docs/testbed.md begins at the beginning.",
		Flags: sweep.Flags,
		Action: func(c *cli.Context) error {
			if !c.IsSet("agents") {
				return usage("coordinator: --agents is missing: at which NATS server are the agents? 'dmebench sweep' runs on this host alone")
			}
			return p.sweep(c)
		},
	}
}
