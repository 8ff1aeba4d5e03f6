package commandline

import (
	"errors"

	"github.com/urfave/cli/v2"

	"dmebench/internal/agent"
	"dmebench/internal/exit"
)

func (p *program) agentCommand() *cli.Command {
	return &cli.Command{
		Name:  "agent",
		Usage: "offer this host to coordinators elsewhere, which lead runs across several hosts",
		Description: "Joins a NATS server, which 'dmebench broker' can be, says what this host is, and starts and ends\n" +
			"workers for one coordinator at a time, until it is told to end (Ctrl-C, SIGTERM). It comes back by\n" +
			"itself when the server does. Beyond this host's loopback the connection has to be encrypted.\n" +
			"Whoever is let into the server can have runs started here: workers of this very program, and\n" +
			"nothing else. They end when the agent does, or when it has heard nothing of their coordinator for\n" +
			agent.LeaseTime.String() + ".",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "nats-url", Usage: "server or cluster at `URL`, such as tls://10.0.0.1:4222; several with commas between"},
			&cli.StringFlag{Name: "name", Usage: "`NAME` of this host, in results (default: the one that it has)"},
			&cli.StringFlag{Name: "address", Usage: "`ADDRESS` by which the other hosts reach this one " +
				"(default: that of its connection to the server)"},
			&cli.StringSliceFlag{Name: "label", Usage: "`KEY=VALUE` by which coordinators choose hosts; repeatable"},
		}, credentialFlags()...),
		Action: p.agent,
	}
}

func (p *program) agent(c *cli.Context) error {
	if !c.IsSet("nats-url") {
		return usage("agent: --nats-url is missing: the server at which coordinators are met, such as tls://10.0.0.1:4222")
	}
	b, err := brokerAt(c, "nats-url")
	if err != nil {
		return err
	}
	labels, err := agent.ParseLabels(c.StringSlice("label"))
	if c.IsSet("name") {
		err = errors.Join(err, agent.CheckName(c.String("name")))
	}
	err = errors.Join(err, agent.CheckBroker(*b))
	if err != nil {
		return failWith(exit.Usage, err)
	}
	a := agent.Agent{Broker: *b, Name: c.String("name"), Address: c.String("address"), Labels: labels, Log: p.stderr}
	if err := a.Serve(c.Context); err != nil {
		return failWith(exit.Unavailable, err)
	}
	return nil
}
