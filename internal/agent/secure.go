package agent

import (
	"fmt"
	"net/url"
	"strings"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/transport/nats"
)

// CheckBroker refuses a server to which a connection would not be encrypted, unless it
// is on this host's loopback.
func CheckBroker(b nats.Broker) error {
	for s := range strings.SplitSeq(b.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil {
			return fmt.Errorf("%w: %s: want nats://HOST:PORT or tls://HOST:PORT", nats.ErrBroker, b.Name())
		}
		if !encrypted(b, u) && !loopback(u.Hostname()) {
			return fmt.Errorf("%w at %s: it is not on this host's loopback, and the connection to it would not be encrypted: "+
				"credentials and keys pass there; write tls://%s, and name the authority of its certificate by --nats-ca "+
				"where it is none of the system's", nats.ErrBroker, b.Name(), u.Host)
		}
	}
	return nil
}

// encrypted reports whether a connection to the server insists on TLS.
func encrypted(b nats.Broker, u *url.URL) bool {
	return u.Scheme == "tls" || len(b.CA)+len(b.Cert) > 0
}

// onlyKnown keeps a connection that need not be encrypted from following what the
// server says of other servers: they may be on other hosts.
func onlyKnown(b nats.Broker) []natsgo.Option {
	for s := range strings.SplitSeq(b.URL, ",") {
		if u, err := url.Parse(strings.TrimSpace(s)); err != nil || !encrypted(b, u) {
			return []natsgo.Option{natsgo.IgnoreDiscoveredServers()}
		}
	}
	return nil
}
