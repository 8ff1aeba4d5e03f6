package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform"
	"dmebench/internal/runtime/control"
	"dmebench/internal/testbed"
	"dmebench/transport/nats"
)

// defaultBroker is where NATS servers usually listen, on this host alone.
const defaultBroker = "127.0.0.1:4222"

func (p *program) brokerCommand() *cli.Command {
	return &cli.Command{
		Name:  "broker",
		Usage: "serve the NATS server at which agents and coordinators meet",
		UsageText: "dmebench broker --listen 10.0.0.1:4222 --dir broker\n" +
			"dmebench broker                       on this host alone",
		Description: "Serves a NATS server with JetStream until Ctrl-C or SIGTERM. In --dir it makes what is missing: an\n" +
			"authority for ten years, a server certificate signed by it, the folder of JetStream, and creds, the\n" +
			"file to give to agents and coordinators: a token and the authority's certificate. The server's\n" +
			"certificate is renewed at a start within 30 days of its end, and for a name that it lacks.\n" +
			"Beyond this host's loopback all connections are encrypted. The file creds is a secret: it lets anyone\n" +
			"start runs on all agents' hosts. Any other NATS server with JetStream does as well.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Value: defaultBroker, Usage: "listen at `HOST:PORT`, such as 10.0.0.1:4222; 0.0.0.0 is every address"},
			&cli.StringFlag{Name: "dir", Usage: "keep keys, certificates and creds in folder `DIR`; no other user may write there"},
			&cli.StringSliceFlag{Name: "name", Usage: "a further `NAME` or address of this host, for the certificate; repeatable"},
			quietFlag(),
		},
		Action: p.broker,
	}
}

func (p *program) broker(c *cli.Context) error {
	listen := c.String("listen")
	if _, err := strconv.ParseUint(listen, 10, 16); err == nil {
		return usage("--listen %s: want HOST:PORT; write 127.0.0.1:%s for this host alone, or 0.0.0.0:%s for others too", listen, listen, listen)
	}
	if c.String("dir") == "" {
		return usage("broker: --dir is missing: it keeps the certificate, and the credentials for agents; such as --dir broker")
	}
	at, err := platform.Interruptible(c.Context, func() (*net.TCPAddr, error) { return net.ResolveTCPAddr("tcp", listen) })
	if err != nil {
		return usage("--listen %q: %v; want HOST:PORT, such as 10.0.0.1:4222", listen, err)
	}
	hosts, err := serverNames(listen, at, c.StringSlice("name"))
	if err != nil {
		return failWith(Usage, err)
	}
	folder, err := testbed.OpenFolder(c.String("dir"), hosts, time.Now())
	if err != nil {
		return failWith(CantCreate, err)
	}
	defer folder.Close()
	secure := !at.IP.IsLoopback()
	b := control.Standing{Listen: listen, Token: folder.Token, Store: folder.Path("jetstream")}
	if secure {
		b.Certificate = &folder.Server
	}
	s, err := b.Start()
	if err != nil {
		return failWith(Unavailable, err)
	}
	defer func() {
		s.Close()
		fmt.Fprintf(p.stderr, "dmebench: the broker has ended; connections refused: %d\n", s.Strangers())
	}()
	reach := hosts[0]
	if !secure {
		reach = at.IP.String()
	}
	if err := printBroker(p.stdout, folder, hosts, net.JoinHostPort(reach, port(s)), secure); err != nil {
		return err
	}
	notice := io.Discard
	if !c.Bool("quiet") {
		notice = p.stderr
	}
	watchStrangers(c.Context, s, notice)
	return nil
}

// watchStrangers says now and then how many connections were refused, until ctx ends.
func watchStrangers(ctx context.Context, s *nats.Server, w io.Writer) {
	const every = 10 * time.Second // longer than a connection may take to be let in
	tick := time.NewTicker(every)
	defer tick.Stop()
	var said, last uint64
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := s.Strangers()
		if refused := min(last, now); refused > said {
			fmt.Fprintf(w, "dmebench: %d connections were refused so far: without the token, or not encrypted as they should be\n", refused)
			said = refused
		}
		last = now
	}
}

// serverNames are the names by which others may reach a server that listens there: the given ones,
// and the addresses of this host. The first is the one shown to the user.
func serverNames(listen string, at *net.TCPAddr, more []string) ([]string, error) {
	var all []string
	for _, name := range more {
		if net.ParseIP(name) == nil && !hostname().MatchString(name) {
			return nil, fmt.Errorf("--name %q: want a host's name or address, without a port", name)
		}
		all = append(all, name)
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("--listen %q: %w", listen, err)
	}
	if host != "" && net.ParseIP(host) == nil {
		all = append(all, host)
	}
	if at.IP != nil && !at.IP.IsUnspecified() {
		all = append(all, at.IP.String())
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("the addresses of this host: %w", err)
	}
	var loopback []string
	for _, a := range addresses {
		n, ok := a.(*net.IPNet)
		switch {
		case !ok:
		case n.IP.IsLoopback():
			loopback = append(loopback, n.IP.String())
		case n.IP.IsLinkLocalUnicast(): // of no use without the name of an interface
		default:
			all = append(all, n.IP.String())
		}
	}
	if name, err := os.Hostname(); err == nil && hostname().MatchString(name) {
		all = append(all, name)
	}
	all = append(all, append(loopback, "localhost")...)
	var once []string
	for _, name := range all {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once, nil
}

var hostname = platform.Pattern(`^[-._0-9A-Za-z]+$`)

func port(s *nats.Server) string {
	u, err := url.Parse(s.Broker().URL)
	if err != nil {
		return ""
	}
	return u.Port()
}

func printBroker(w io.Writer, f *testbed.Folder, hosts []string, reach string, secure bool) error {
	dir, err := filepath.Abs(f.Dir)
	if err != nil {
		dir = f.Dir
	}
	scheme := "nats"
	if secure {
		scheme = "tls"
	}
	url := scheme + "://" + reach
	var b strings.Builder
	fmt.Fprintf(&b, "broker at %s; its files are in %s\n", url, dir)
	if len(f.Made) > 0 {
		fmt.Fprintf(&b, "made: %s\n", strings.Join(f.Made, ", "))
	}
	if secure {
		fmt.Fprintf(&b, "certificate until %s, for %s\n", f.Until.UTC().Format(time.DateOnly), strings.Join(hosts, ", "))
		fmt.Fprintf(&b, "copy %s, a secret, from there to each agent's host and to the coordinator's\n", testbed.CredsFile)
	} else {
		fmt.Fprintf(&b, "on this host alone, and not encrypted; --listen with another address lets other hosts in\n")
	}
	fmt.Fprintf(&b, "an agent:       dmebench agent --nats-url %s --creds %s\n", url, testbed.CredsFile)
	fmt.Fprintf(&b, "a coordinator:  dmebench sweep -f EXPERIMENT --expect-agents K --agents %s --creds %s\n", url, testbed.CredsFile)
	_, err = io.WriteString(w, b.String())
	return err
}
