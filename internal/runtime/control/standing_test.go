package control

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"dmebench/internal/testbed"
	"dmebench/transport/nats"
)

// standing is a broker with the authority of its certificate.
type standing struct {
	t *testing.T
	*nats.Server
	ca *testbed.Authority
	to nats.Broker // as one of the testbed reaches it
}

const lifetime = time.Hour

func newAuthority(t *testing.T, at time.Time) *testbed.Authority {
	t.Helper()
	a, err := testbed.NewAuthority("a testbed", at, 10*lifetime)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t *testing.T, a *testbed.Authority, at time.Time) (testbed.Pair, tls.Certificate) {
	t.Helper()
	files, err := a.Issue([]string{"127.0.0.1"}, at, lifetime)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	return files, pair
}

// stand starts a broker whose certificate was made at that time.
func stand(t *testing.T, made time.Time) *standing {
	t.Helper()
	a := newAuthority(t, made)
	_, certificate := issue(t, a, made)
	s, err := Standing{Listen: "127.0.0.1:0", Token: "the token of a test", Store: t.TempDir(), Certificate: &certificate}.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	b := s.Broker()
	b.CA, b.Own = a.Files().Cert, false
	return &standing{t, s, a, b}
}

func (b *standing) address() string {
	u, err := url.Parse(b.to.URL)
	if err != nil {
		b.t.Fatal(err)
	}
	return u.Host
}

func (b *standing) raw() net.Conn {
	b.t.Helper()
	c, err := net.Dial("tcp", b.address())
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(30 * time.Second))
	return c
}

// works shows that one of the testbed can use the broker.
func (b *standing) works() {
	b.t.Helper()
	c, err := b.to.Dial()
	if err != nil {
		b.t.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		b.t.Fatal(err)
	}
	kv, err := js.CreateOrUpdateKeyValue(b.t.Context(), jetstream.KeyValueConfig{Bucket: "test"})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := kv.PutString(b.t.Context(), "k", "v"); err != nil {
		b.t.Fatal(err)
	}
}

// wantStrangers waits until so many connections were refused.
func (b *standing) wantStrangers(n uint64) {
	b.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); b.Strangers() != n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatalf("%d connections count as strangers', want %d", b.Strangers(), n)
		}
	}
}

// hungUp waits until the server ends a connection.
func hungUp(c net.Conn) error {
	_, err := io.Copy(io.Discard, c)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return err
	}
	return nil
}

// Who is not of the testbed gets nowhere, and is counted.
func TestStrangersAtAStandingBroker(t *testing.T) {
	b := stand(t, time.Now())
	other := newAuthority(t, time.Now())
	connect := func(change func(*nats.Broker)) func() error {
		return func() error {
			to := b.to
			change(&to)
			c, err := to.Dial()
			if err == nil {
				c.Close()
			}
			return err
		}
	}
	says := func(word string, each time.Duration) func() error { // a slow-loris, where each is not 0
		return func() error {
			c := b.raw()
			for i := range word {
				if _, err := c.Write([]byte(word[i : i+1])); err != nil {
					break // hung up
				}
				time.Sleep(each)
			}
			return hungUp(c)
		}
	}
	plainly := fmt.Sprintf("CONNECT {\"verbose\":false,\"auth_token\":%q}\r\nPING\r\n", b.to.Token)
	var n uint64
	for _, c := range []struct {
		what  string
		act   func() error
		fails bool // act returns an error
	}{
		{"without a token", connect(func(to *nats.Broker) { to.Token = "" }), true},
		{"with a wrong token", connect(func(to *nats.Broker) { to.Token += "x" }), true},
		{"of another authority", connect(func(to *nats.Broker) { to.CA = other.Files().Cert }), true},
		{"who does not encrypt, with the token", says(plainly, 0), false},
		{"with garbage", says("GET / HTTP/1.1\r\nHost: here\r\n\r\n", 0), false},
		{"who says nothing", says("", 0), false},
		{"who says it slowly", says("\x16\x03\x01\x02\x00\x01\x00\x01\xfc"+strings.Repeat("\x03", 400), 20*time.Millisecond), false},
		{"whose TLS is old", func() error {
			c := b.raw()
			if _, err := c.Read(make([]byte, 4096)); err != nil { // what the server says of itself
				return err
			}
			trusted := x509.NewCertPool()
			trusted.AppendCertsFromPEM(b.to.CA)
			return tls.Client(c, &tls.Config{RootCAs: trusted, ServerName: "127.0.0.1", MaxVersion: tls.VersionTLS12}).Handshake()
		}, true},
	} {
		if err := c.act(); (err != nil) != c.fails {
			t.Errorf("a client %s: %v", c.what, err)
		}
		n++
		b.wantStrangers(n)
	}
	b.works()
	b.wantStrangers(n)

	// The client says what is wrong.
	for want, change := range map[string]func(*nats.Broker){
		"are the credentials right?": func(to *nats.Broker) { to.Token = "another" },
		"of the authority that was":  func(to *nats.Broker) { to.CA = other.Files().Cert },
		"'dmebench broker --name'":   func(to *nats.Broker) { to.URL = strings.Replace(to.URL, "127.0.0.1", "localhost", 1) },
		"is it running there?":       func(to *nats.Broker) { to.URL = "tls://127.0.0.1:1" },
	} {
		to := b.to
		change(&to)
		if _, err := to.Dial(); !errors.Is(err, nats.ErrBroker) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// A certificate that has expired is none.
func TestExpiredCertificates(t *testing.T) {
	past := time.Now().Add(-2 * lifetime)
	b := stand(t, past)
	if _, err := b.to.Dial(); !errors.Is(err, nats.ErrBroker) || !strings.Contains(err.Error(), "to be renewed") {
		t.Errorf("a server's: %v", err)
	}
	b.wantStrangers(1)
}

// Where nothing would be encrypted, a broker listens on the loopback alone.
func TestAStandingBrokerIsNotExposed(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:0"} {
		if s, err := (Standing{Listen: listen, Token: "t", Store: t.TempDir()}).Start(); !errors.Is(err, ErrListen) {
			t.Errorf("at %s without a certificate: %v", listen, err)
			if err == nil {
				s.Close()
			}
		}
	}
	first, err := Standing{Listen: "127.0.0.1:0", Token: "t", Store: t.TempDir()}.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(first.Close)
	address := strings.TrimPrefix(first.Broker().URL, "nats://")
	_, err = Standing{Listen: address, Token: "t", Store: t.TempDir()}.Start()
	if !errors.Is(err, ErrListen) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("at a port in use: %v", err)
	}
}
