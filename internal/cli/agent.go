package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/internal/experiment"
	"dmebench/internal/platform"
	"dmebench/internal/platform/fileio"
	"dmebench/internal/platform/layout"
	"dmebench/internal/runtime/coordinator"
	"dmebench/internal/runtime/host"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testbed"
	"dmebench/internal/testbed/agent"
	"dmebench/runs"
	"dmebench/transport/nats"
)

func (p *program) agentCommand() *cli.Command {
	return &cli.Command{
		Name:  "agent",
		Usage: "offer this host to coordinators elsewhere, which lead runs across several hosts",
		UsageText: "dmebench agent --nats-url tls://10.0.0.1:4222 --creds creds\n" +
			"dmebench agent --nats-url tls://10.0.0.1:4222 --creds creds --name h2 --label rack=1",
		Description: "Joins a NATS server, for example 'dmebench broker', and starts and ends workers for one coordinator at\n" +
			"a time, until Ctrl-C or SIGTERM. It reconnects when the server comes back. Beyond this host's loopback\n" +
			"the connection has to be encrypted. A coordinator that the server admits can start runs here: workers\n" +
			"of this very program, and nothing else. They end with the agent, and " + agent.LeaseTime.String() +
			" after their coordinator\nwas last heard.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "nats-url", Usage: "server or cluster at `URL`; several with commas between"},
			&cli.StringFlag{Name: "name", Usage: "`NAME` of this host in results", DefaultText: "its host name"},
			&cli.StringFlag{Name: "address", Usage: "`ADDRESS` at which other hosts reach this one", DefaultText: "that of its connection"},
			&cli.StringSliceFlag{Name: "label", Usage: "`KEY=VALUE` for --place of coordinators; repeatable"},
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
		return failWith(Usage, err)
	}
	a := agent.Agent{Broker: *b, Name: c.String("name"), Address: c.String("address"), Labels: labels, Log: p.stderr}
	if err := a.Serve(c.Context); err != nil {
		return failWith(Unavailable, err)
	}
	return nil
}

// agentsPatience is how long a command waits for the agents that it expects.
const agentsPatience = 30 * time.Second

func agentsFlag(usage string) cli.Flag { return &cli.StringFlag{Name: "agents", Usage: usage} }

// placementFlags say which agents take part, and where nodes are.
func placementFlags() []cli.Flag {
	return []cli.Flag{
		agentsFlag("nodes live on the hosts of the agents at the NATS server at `URL`; see 'dmebench agent --help'"),
		&cli.IntFlag{Name: "expect-agents", Usage: "wait for `K` agents, and use no more", DefaultText: "all found within a second"},
		&cli.StringFlag{Name: "place", Value: host.DefaultPlacement,
			Usage: "place workers `HOW`: round-robin, packed, label:KEY, label:KEY=VALUE (docs/testbed.md)"},
	}
}

// agentHosts are the hosts of agents that runs use; nil for this host alone.
type agentHosts struct {
	fleet     *agent.Fleet
	broker    nats.Broker
	agents    []agent.Info
	placement host.Placement
}

// openTestbed finds the agents that the flags speak of; nil if they speak of none.
func (p *program) openTestbed(c *cli.Context) (*agentHosts, error) {
	if !c.IsSet("agents") {
		for _, name := range given(c, "expect-agents", "place") {
			return nil, usage("--%s is for --agents; without it all nodes are on this host", name)
		}
		return nil, nil
	}
	wrong := checkNumbers(c)
	placement, err := host.ParsePlacement(c.String("place"))
	wrong.when(err != nil, "--place: %v", err)
	if err := wrong.err(); err != nil {
		return nil, err
	}
	fleet, err := p.connectFleet(c)
	if err != nil {
		return nil, err
	}
	t := &agentHosts{fleet: fleet, broker: fleet.Broker(), placement: placement}
	if t.agents, err = fleet.Discover(c.Context, c.Int("expect-agents"), agentsPatience); err != nil {
		fleet.Close()
		if c.Context.Err() != nil {
			return nil, c.Context.Err()
		}
		return nil, failWith(Unavailable, err)
	}
	if k := c.Int("expect-agents"); k > 0 {
		t.agents = t.agents[:k]
	}
	if _, err := placement.Place(len(t.agents), t.sites()); err != nil {
		fleet.Close()
		return nil, failWith(Usage, err)
	}
	return t, nil
}

// connectFleet connects to the server of --agents. If agents are expected, it waits for the server
// as it does for them: they may all be starting.
func (p *program) connectFleet(c *cli.Context) (*agent.Fleet, error) {
	broker, err := brokerAt(c, "agents")
	if err != nil {
		return nil, err
	}
	announced := false
	for deadline := time.Now().Add(agentsPatience); ; {
		fleet, err := agent.Connect(c.Context, *broker)
		switch {
		case err == nil:
			return fleet, nil
		case c.Context.Err() != nil:
			return nil, c.Context.Err()
		case !c.IsSet("expect-agents") || !nats.Unreachable(err) || time.Now().After(deadline):
			return nil, failWith(Unavailable, err)
		case !announced && !c.Bool("quiet"):
			fmt.Fprintf(p.stderr, "dmebench: nobody answers at %s yet; waiting for up to %v\n", broker.Name(), agentsPatience)
		}
		announced = true
		select {
		case <-c.Context.Done():
		case <-time.After(askAgain):
		}
	}
}

// hostPatience is how long a sweep waits for the agent of a host, which may be restarting.
const hostPatience = 2 * time.Minute

// whileAbsent carries out a run, and again as long as that cannot begin because an agent, or the
// server, is not there; notice is called once. An error after the patience is the end of a sweep.
func whileAbsent(
	ctx context.Context, patience time.Duration, notice func(why error), attempt func() (*runs.Result, error),
) (*runs.Result, error) {
	begun := time.Now()
	for first := true; ; first = false {
		r, err := attempt()
		if errors.Is(err, agent.ErrNoServer) { // which each host says
			err = agent.ErrNoServer
		}
		switch {
		case r != nil || ctx.Err() != nil || !agent.Gone(err):
			return r, err
		case time.Since(begun) > patience:
			return nil, fmt.Errorf("%w; %w", err, experiment.ErrNoHost)
		}
		if first {
			notice(err)
		}
	}
}

// askAgain is how long a command waits before it tries again to reach a server.
const askAgain = 500 * time.Millisecond

func (t *agentHosts) close() {
	if t != nil {
		t.fleet.Close()
	}
}

func (t *agentHosts) sites() []host.Site {
	sites := make([]host.Site, len(t.agents))
	for k, a := range t.agents {
		sites[k] = host.Site{Name: a.Name, Cores: a.Cores, Labels: a.Labels}
	}
	return sites
}

// place returns on which agent each worker of a run is.
func (t *agentHosts) place(nodes, perWorker int) ([]int, error) {
	return t.placement.Place((nodes+perWorker-1)/perWorker, t.sites())
}

// options completes the options of a run; those of a run on this host alone stay. All
// hosts take part in every run, so that runs on few nodes and on many are of one testbed.
func (t *agentHosts) options(job *run.Job, opt coordinator.Options) (coordinator.Options, error) {
	if t == nil || !job.Network.Real() {
		return opt, nil
	}
	var err error
	if opt.Place, err = t.place(job.Spec.Nodes, job.Spec.NodesPerWorker); err != nil {
		return opt, failWith(Usage, err)
	}
	for _, a := range t.agents {
		opt.Hosts = append(opt.Hosts, t.fleet.Host(a))
	}
	opt.Control = &t.broker
	return opt, nil
}

func (t *agentHosts) show(w io.Writer) {
	plural := map[bool]string{true: "", false: "s"}[len(t.agents) == 1]
	fmt.Fprintf(w, "%d host%s at %s, %s:\n", len(t.agents), plural, t.broker.Name(), t.placement)
	table := new(layout.Table)
	for _, a := range t.agents {
		table.Add("  "+a.Name, a.Address, fmt.Sprintf("%d cores", a.Cores))
	}
	_ = table.WriteText(w)
}

// showPlacement prints where the nodes of a run are going to be.
func (t *agentHosts) showPlacement(w io.Writer, nodes, perWorker int) error {
	places, err := t.place(nodes, perWorker)
	if err != nil {
		return failWith(Usage, err)
	}
	on := make([][]dme.NodeID, len(t.agents))
	for id := 1; id <= nodes; id++ {
		k := places[(id-1)/perWorker]
		on[k] = append(on[k], dme.NodeID(id))
	}
	var parts []string
	for k, a := range t.agents {
		if len(on[k]) > 0 {
			parts = append(parts, a.Name+" "+dme.FormatNodes(on[k]))
		}
	}
	fmt.Fprintf(w, "  N = %d: %s\n", nodes, strings.Join(parts, "; "))
	return nil
}

// natsFlags say which broker frames pass, and where a shared resource is.
func natsFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "nats-url", Usage: "for --transport nats and --resource nats: a server at `URL`",
			DefaultText: "the run's own, or that of the agents"},
	}
}

// credentialFlags are the flags for access to a NATS server elsewhere. Secrets are in a file, since
// every user of a host can read command lines. The flags of earlier releases, which named several
// files, work for one more.
func credentialFlags() []cli.Flag {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "creds", Usage: "credentials in `FILE`: the broker's creds, credentials of NATS, or a token"},
	}
	for _, name := range credentialNames[1:] {
		flags = append(flags, &cli.StringFlag{Name: name, Usage: "`FILE`; goes with the next release: --creds takes all in one", Hidden: true})
	}
	return flags
}

var credentialNames = []string{"creds", "nats-creds", "nats-ca", "nats-cert", "nats-key"}

func given(c *cli.Context, names ...string) []string {
	set := c.LocalFlagNames()
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(set, name) })
}

// natsBroker returns the broker that the frames of a run pass, or its shared resource is at; nil if
// the run is to have one of its own, or that of its agents.
func natsBroker(c *cli.Context, job *run.Job) (*nats.Broker, error) {
	flags := given(c, append([]string{"nats-url"}, credentialNames...)...)
	if len(flags) == 0 || c.IsSet("agents") && !c.IsSet("nats-url") {
		return nil, nil
	}
	if !job.Network.Brokered && job.Spec.Resource == "" {
		return nil, usage("--%s is for --transport nats or --resource nats; %s has no broker", flags[0], job.Network.Name)
	}
	if !c.IsSet("nats-url") {
		return nil, usage("--%s is for --nats-url; a broker of the run's own needs nothing", flags[0])
	}
	return brokerAt(c, "nats-url")
}

// brokerAt returns the broker that a flag and those of its credentials name.
func brokerAt(c *cli.Context, urlFlag string) (*nats.Broker, error) {
	b := &nats.Broker{URL: c.String(urlFlag)}
	if err := checkNATSURL(urlFlag, b.URL); err != nil {
		return nil, failWith(Usage, err)
	}
	old := given(c, credentialNames[1:]...)
	switch {
	case len(old) > 0 && c.IsSet("creds"):
		return nil, usage("--%s: put that into the file of --creds, too", old[0])
	case c.IsSet("nats-cert") != c.IsSet("nats-key"):
		return nil, usage("--nats-cert and --nats-key go together")
	case len(old) > 0:
		fmt.Fprintf(c.App.ErrWriter, "dmebench: --%s: goes with the next release; give --creds the broker's file creds, "+
			"or credentials of NATS with what is in PEM behind them\n", strings.Join(old, ", --"))
	}
	for _, f := range []struct {
		flag string
		use  func([]byte) error
	}{
		{"creds", func(file []byte) error { return testbed.Credentials(file, b) }},
		{"nats-creds", b.Credentials},
		{"nats-ca", keepIn(&b.CA)},
		{"nats-cert", keepIn(&b.Cert)},
		{"nats-key", keepIn(&b.Key)},
	} {
		if !c.IsSet(f.flag) {
			continue
		}
		content, err := platform.Interruptible(c.Context, func() ([]byte, error) { return fileio.Read(c.String(f.flag), fileio.MostText) })
		if err != nil {
			return nil, failWith(NoInput, fmt.Errorf("--%s: %w", f.flag, err))
		}
		if err := f.use(content); err != nil {
			return nil, failWith(Data, fmt.Errorf("--%s %s: %w", f.flag, c.String(f.flag), err))
		}
	}
	// A broker on this host's loopback does not encrypt, and has the same file for clients.
	if plain := (nats.Broker{URL: b.URL}); c.IsSet("creds") && !strings.Contains(b.URL, "tls://") && agent.CheckBroker(plain) == nil {
		b.CA = nil
	}
	return b, nil
}

func keepIn(to *[]byte) func([]byte) error {
	return func(b []byte) error { *to = b; return nil }
}

// checkNATSURL refuses anything but a list of addresses. A refused value can hold a secret
// anywhere, and is not repeated.
func checkNATSURL(flag, list string) error {
	if strings.Contains(list, "@") {
		return errors.New("--" + flag + ": every user of this host can read a secret on a command line; " +
			"put it into a file, for --creds")
	}
	for s := range strings.SplitSeq(list, ",") {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" ||
			strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return errors.New("--" + flag + ": want nats://HOST:PORT or tls://HOST:PORT, or several of them with commas between, " +
				"and nothing else in them")
		}
	}
	return nil
}
