package agent

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"dmebench/internal/authority"
	"dmebench/transport/nats"
)

// serveTLS starts a server that presents a certificate.
func serveTLS(t *testing.T, of *authority.Authority, made time.Time, lifetime time.Duration) nats.Broker {
	t.Helper()
	pair, err := of.Issue(authority.Server, []string{"127.0.0.1"}, made, lifetime)
	if err != nil {
		t.Fatal(err)
	}
	c, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	_, b := serveBy(t, &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, Authorization: token, NoLog: true, NoSigs: true,
		TLS: true, TLSConfig: &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12}, TLSTimeout: soon.Seconds(),
	})
	b.URL = "tls://" + b.URL[strings.Index(b.URL, "://")+3:]
	return b
}

func newAuthority(t *testing.T) *authority.Authority {
	t.Helper()
	a, err := authority.New("of a test", time.Now(), 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Agents and coordinators talk to a server over TLS, if its certificate is what it
// ought to be. Otherwise an agent ends at once, and says why: waiting does not help.
func TestCertificates(t *testing.T) {
	t.Parallel()
	right, wrong := newAuthority(t), newAuthority(t)
	b := serveTLS(t, right, time.Now(), time.Hour)
	b.CA = right.Files().Cert
	startAgents(t, b, "east")
	discover(t, connectFleet(t, b), 1)

	another := b
	another.CA = wrong.Files().Cert
	expired := serveTLS(t, right, time.Now().Add(-3*time.Hour), time.Hour)
	expired.CA = right.Files().Cert
	_, plain := serve(t, 0)
	plain.URL, plain.CA = strings.Replace(plain.URL, "nats://", "tls://", 1), right.Files().Cert
	for words, b := range map[string]nats.Broker{
		"certificate of the authority that was given": another,
		"expired":    expired,
		"secure":     plain, // it gets no token
		"PEM":        {URL: b.URL, Token: b.Token, CA: []byte("nothing")},
		"credential": {URL: b.URL, Token: "wrong", CA: b.CA},
	} {
		p := startAgent(t, agentConfig{Broker: b, Name: "west"})
		select {
		case <-p.Ended():
		case <-time.After(soon):
			t.Fatalf("%s: the agent does not end: %q", words, p.Stderr())
		}
		if said := strings.Join(p.Stderr(), "\n"); p.Outcome() != "exit status 1" || !strings.Contains(said, words) {
			t.Errorf("%s: %s: %s", words, p.Outcome(), said)
		}
		if _, err := Connect(t.Context(), b); !errors.Is(err, nats.ErrBroker) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// An agent that the server does not let in any more ends, and says so.
func TestServerOfAnotherToken(t *testing.T) {
	t.Parallel()
	s, b := serve(t, 0)
	p := startAgents(t, b, "east")[0]
	discover(t, connectFleet(t, b), 1)
	port := portOf(s)
	shut(s)
	serveBy(t, &server.Options{Host: "127.0.0.1", Port: port, Authorization: "another", NoLog: true, NoSigs: true})
	select {
	case <-p.Ended():
	case <-time.After(soon):
		t.Fatalf("%q", p.Stderr())
	}
	if said := strings.Join(p.Stderr(), "\n"); !strings.Contains(said, "is closed for good") || !strings.Contains(said, "Authorization") {
		t.Error(said)
	}
}
