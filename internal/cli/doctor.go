package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform/environment"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testbed/agent"
	"dmebench/internal/testbed/doctor"
	"dmebench/runs"
	"dmebench/transport/nats"
	"dmebench/units"
)

func (p *program) doctorCommand() *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Usage: "check this host, or those of agents: clocks, limits, load, network; and say what to fix",
		UsageText: "dmebench doctor --nodes 64\n" +
			"dmebench doctor --agents tls://10.0.0.1:4222 --creds creds",
		Description: "Examines this host for a run of that size, and prints each finding with its weight (ok, note, warning,\n" +
			"problem) and a remedy. With --agents, each agent examines its host, and all of them test the path to each\n" +
			"other by TCP and UDP and compare clocks; agents with a run are left alone. Nothing is changed.\n" +
			"Exit code: 0 no problem, 69 at least one.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "agents", Usage: "examine the hosts of the agents at the NATS server at `URL`"},
			&cli.IntFlag{Name: "expect-agents", Usage: "wait for `K` agents"},
			&cli.IntFlag{Name: "questions", Value: 20, Usage: "send `COUNT` messages from each host to each other, by TCP and UDP"},
			&cli.IntFlag{Name: "nodes", Aliases: []string{"n"}, Value: 64, Usage: "for a run of `N` nodes"},
			&cli.IntFlag{Name: "nodes-per-worker", Value: 1, Usage: "with `M` nodes in each process"},
			&cli.StringFlag{Name: "algorithm", Aliases: []string{"a"},
				Usage: "of algorithm `NAME`", DefaultText: "one that asks all nodes"},
			&cli.StringFlag{Name: "transport", Value: runs.DefaultTransport, Usage: "over `NETWORK`: " + networkNames()},
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:0",
				Usage: "whose processes listen at `HOST:PORT`; port 0 for any free one"},
			&cli.StringFlag{Name: "out", Value: "results", Usage: "with results in folder `DIR`"},
			jsonFlag("print one JSON object"),
		}, credentialFlags()...),
		Action: p.doctor,
	}
}

func (p *program) doctor(c *cli.Context) error {
	if err := checkListen(c.String("listen")); err != nil {
		return failWith(Usage, err)
	}
	need, err := p.needOf(c)
	if err != nil {
		return err
	}
	if c.IsSet("agents") {
		return p.doctorOfAgents(c, need)
	}
	if flags := given(c, append([]string{"expect-agents", "questions"}, credentialNames...)...); len(flags) > 0 {
		return usage("doctor: --%s is for --agents URL", flags[0])
	}
	here := p.examineHere(c.Context, doctor.Options{Need: need, Listen: c.String("listen"), Results: c.String("out")})
	if err := c.Context.Err(); err != nil {
		return err
	}
	return p.showReport(c, doctor.NewReport([]doctor.Host{here}, nil, 0))
}

// checkListen refuses what is no address of one interface.
func checkListen(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--listen %s: want HOST:PORT, with port 0 for any that is free", address)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("--listen %s: port %q is not a number up to 65535", address, port)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return fmt.Errorf("--listen %s: name one address, by which processes reach this host", address)
	}
	return nil
}

func (p *program) examineHere(ctx context.Context, o doctor.Options) doctor.Host {
	return doctor.Host{
		Name: "this host", Address: o.Listen, Environment: environment.Describe(), Findings: doctor.Examine(ctx, o),
	}
}

func (p *program) showReport(c *cli.Context, r *doctor.Report) error {
	if r.Problems > 0 {
		p.exit = Unavailable
	}
	style := p.printed()
	style.Width = min(cmp.Or(style.Width, 80), 120) // longer lines are hard to read
	return p.print(c, "findings", r, func() error { return r.WriteText(p.stdout, style) })
}

// asksAll is an algorithm in which every node talks to every other.
const asksAll = "ricart-agrawala"

// needOf estimates what the run that the flags speak of takes of a host.
func (p *program) needOf(c *cli.Context) (doctor.Need, error) {
	wrong := checkNumbers(c)
	wrong.when(c.Int("nodes") < 1, "--nodes %d: there must be at least 1", c.Int("nodes"))
	if err := wrong.err(); err != nil {
		return doctor.Need{}, err
	}
	s := runs.Spec{
		Algorithm: c.String("algorithm"), Nodes: c.Int("nodes"), Transport: c.String("transport"), NodesPerWorker: c.Int("nodes-per-worker"),
	}
	if s.Algorithm == "" {
		s.Algorithm = asksAll
		if _, err := p.catalog.Lookup(asksAll); err != nil && len(p.catalog) > 0 {
			s.Algorithm = p.catalog[0].Name
		}
	}
	if err := checkSize(s, p.catalog); err != nil {
		return doctor.Need{}, failWith(Usage, err)
	}
	e := run.EstimateOf(s, p.catalog, nil)
	return doctor.Need{
		Nodes: s.Nodes, Processes: e.Workers, Threads: e.Threads, Descriptors: e.Descriptors, Memory: e.Memory,
	}, nil
}

// checkSize refuses an algorithm, a network and a number of nodes that do not go
// together, and for which there is no estimate.
func checkSize(s runs.Spec, catalog run.Catalog) error {
	a, err := catalog.Runnable(s.Algorithm)
	if err != nil {
		return err
	}
	if _, err := run.LookupNetwork(s.Transport); err != nil {
		return err
	}
	options, err := a.Resolve(nil)
	if err != nil {
		return err
	}
	return a.CheckNodes(s.Nodes, options)
}

const (
	fewestQuestions = 5 // the fewest for a meaningful median
	mostQuestions   = 100
)

// doctorOfAgents examines the hosts of agents, and this one, which leads their runs.
func (p *program) doctorOfAgents(c *cli.Context, need doctor.Need) error {
	if flags := given(c, "listen"); len(flags) > 0 {
		return usage("doctor: --listen is for this host; agents listen at the address that they were started with (agent --address)")
	}
	if n := c.Int("questions"); n < fewestQuestions || n > mostQuestions {
		return usage("--questions %d: want %d to %d", n, fewestQuestions, mostQuestions)
	}
	b, err := brokerAt(c, "agents")
	if err != nil {
		return err
	}
	if err := agent.CheckBroker(*b); err != nil {
		return failWith(Usage, err)
	}
	fleet, err := agent.Connect(c.Context, *b)
	if errors.Is(err, nats.ErrBroker) {
		err = failWith(Unavailable, err)
	}
	if err != nil {
		return err
	}
	defer fleet.Close()
	agents, err := fleet.Agents(c.Context, c.Int("expect-agents"), agentsPatience)
	if err != nil {
		return unavailable(c.Context, err)
	}
	here := doctor.Host{Name: "this host"}
	var wait sync.WaitGroup
	wait.Go(func() {
		here = p.examineHere(c.Context, doctor.Options{Listen: "127.0.0.1:0", Several: true, Results: c.String("out")})
		here.Coordinator = true
	})
	hosts, paths, took, err := fleet.Examine(c.Context, agents, need, c.Int("questions"))
	wait.Wait()
	if err != nil {
		return unavailable(c.Context, err)
	}
	if f := missing(agents, c.Int("expect-agents"), b); f != nil {
		here.Findings = append(here.Findings, *f)
	}
	return p.showReport(c, doctor.NewReport(append([]doctor.Host{here}, hosts...), paths, took))
}

func unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return failWith(Unavailable, err)
}

// missing says that fewer agents are there than should be; nil if enough are.
func missing(agents []agent.Info, expected int, b *nats.Broker) *doctor.Finding {
	if len(agents) >= max(expected, 1) {
		return nil
	}
	names := units.Texts(agents, func(i agent.Info) string { return i.Name })
	found := fmt.Sprintf("no agent is at %s", b.Name())
	if len(names) > 0 {
		found = fmt.Sprintf("%d of %d agents are at %s: %s", len(names), expected, b.Name(), strings.Join(names, ", "))
	}
	return &doctor.Finding{
		Check: "agents", Level: doctor.Problem, Found: found,
		Do: "start one on each host of the testbed: dmebench agent --nats-url URL, with the URL of that server",
	}
}
