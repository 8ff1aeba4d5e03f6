package cli

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform"
	"dmebench/internal/platform/fileio"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testbed"
	"dmebench/internal/testbed/agent"
	"dmebench/transport/nats"
)

// natsFlags say which broker the frames of --transport nats pass, and where the shared
// resource of --resource nats is.
func natsFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "nats-url", Usage: "for --transport nats and --resource nats: a server at `URL`",
			DefaultText: "the run's own, or that of the agents"},
	}
}

// credentialFlags say how to be let into a server of NATS that is elsewhere. What is
// secret is in a file: command lines are for everybody on a host to read. The flags of
// earlier releases, which named several, go on for one more.
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
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !c.IsSet(name) })
}

// natsBroker returns the broker that the frames of a run pass, or its shared resource
// is at; nil where the run is to have one of its own, or that of its agents.
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

// checkNATSURL refuses whatever is no list of addresses alone. What it refuses can hold
// a secret, wherever it stands, and is not repeated.
func checkNATSURL(flag, list string) error {
	if strings.Contains(list, "@") {
		return errors.New("--" + flag + ": a secret on a command line is for everybody on this host to read; " +
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
