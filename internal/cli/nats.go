package cli

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform/input"
	"dmebench/internal/platform/interrupt"
	"dmebench/internal/runtime/run"
	"dmebench/transport/nats"
)

// natsFlags say which broker the frames of --transport nats pass, and where the shared
// resource of --resource nats is.
func natsFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "nats-url", Usage: "for --transport nats and --resource nats: server or cluster at `URL`, " +
			"such as tls://10.0.0.1:4222; several with commas between (default: a server of the run's own, or with --agents that of the agents)"},
	}
}

// credentialFlags say how to be let into a server of NATS that is elsewhere. What is
// secret is in files: command lines are for everybody on a host to read.
func credentialFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "nats-creds", Usage: "`FILE` with credentials of NATS, or with a token, for its server elsewhere"},
		&cli.StringFlag{Name: "nats-ca", Usage: "`FILE` (PEM) with the authorities to trust there, in place of the system's"},
		&cli.StringFlag{Name: "nats-cert", Usage: "`FILE` (PEM) with the certificate to present there"},
		&cli.StringFlag{Name: "nats-key", Usage: "`FILE` (PEM) with the key of --nats-cert"},
	}
}

// given returns the flags of a list that were given.
func given(c *cli.Context, names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !c.IsSet(name) })
}

// natsBroker returns the broker that the frames of a run pass, or its shared resource
// is at; nil where the run is to have one of its own, or that of its agents.
func natsBroker(c *cli.Context, job *run.Job) (*nats.Broker, error) {
	flags := given(c, "nats-url", "nats-creds", "nats-ca", "nats-cert", "nats-key")
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
	if c.IsSet("nats-cert") != c.IsSet("nats-key") {
		return nil, usage("--nats-cert and --nats-key go together")
	}
	for _, f := range []struct {
		flag string
		use  func([]byte) error
	}{
		{"nats-creds", b.Credentials},
		{"nats-ca", keepIn(&b.CA)},
		{"nats-cert", keepIn(&b.Cert)},
		{"nats-key", keepIn(&b.Key)},
	} {
		if !c.IsSet(f.flag) {
			continue
		}
		content, err := interrupt.Do(c.Context, func() ([]byte, error) { return input.ReadFile(c.String(f.flag), input.Text) })
		if err != nil {
			return nil, failWith(NoInput, fmt.Errorf("--%s: %w", f.flag, err))
		}
		if err := f.use(content); err != nil {
			return nil, failWith(Data, fmt.Errorf("--%s %s: %w", f.flag, c.String(f.flag), err))
		}
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
			"put it into a file, for --nats-creds")
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
