package nats

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

func config(id dme.NodeID, nodes int) transport.Config {
	return transport.Config{Local: []dme.NodeID{id}, Nodes: nodes, Key: testKey, Incarnation: 1}
}

func TestWhoIsNotLetIn(t *testing.T) {
	transporttest.NoLeaks(t)
	s := startServer(t)
	for name, c := range map[string]struct {
		change func(*Broker)
		says   string
	}{
		"no token":          {func(b *Broker) { b.Token = "" }, "are the credentials right?"},
		"another token":     {func(b *Broker) { b.Token = "guess" }, "are the credentials right?"},
		"bad credentials":   {func(b *Broker) { b.Token, b.Creds = "", []byte("nothing") }, "nats://127.0.0.1"},
		"nobody there":      {func(b *Broker) { b.URL = "nats://somebody:secret@127.0.0.1:1" }, "is it running there?"},
		"no URL at all":     {func(b *Broker) { b.URL = "nats://somebody:secret%zz@127.0.0.1:1" }, "cannot be read"},
		"no port":           {func(b *Broker) { b.URL = "nats://somebody:secret" }, "cannot be read"},
		"bad authorities":   {func(b *Broker) { b.CA = []byte("nothing") }, "not certificates in PEM"},
		"half of a key":     {func(b *Broker) { b.Cert = []byte("nothing") }, "certificate to present"},
		"no TLS over there": {func(b *Broker) { b.CA = authority(t).pem }, "nats://127.0.0.1"},
	} {
		b := s.Broker()
		c.change(&b)
		_, err := Listen(config(1, 1), b)
		if !errors.Is(err, ErrBroker) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
		if other := b.Check(); other == nil || other.Error() != err.Error() {
			t.Errorf("%s: Check says %v; Listen says %v", name, other, err)
		}
	}
	if err := s.Broker().Check(); err != nil {
		t.Error(err)
	}
}

// Where subscribing is not permitted, frames would never come.
func TestMissingPermissions(t *testing.T) {
	transporttest.NoLeaks(t)
	only := server.User{Username: "u", Password: "p", Permissions: &server.Permissions{
		Subscribe: &server.SubjectPermission{Allow: []string{"elsewhere.>"}},
	}}
	s := otherServer(t, &server.Options{Users: []*server.User{&only}})
	url := strings.Replace(s.ClientURL(), "nats://", "nats://u:p@", 1)
	_, err := Listen(config(1, 1), Broker{URL: url})
	if !errors.Is(err, ErrBroker) || !strings.Contains(strings.ToLower(err.Error()), "permissions violation") {
		t.Error(err)
	}
}

// Over TLS, with a certificate of one's own to present.
func TestTLS(t *testing.T) {
	transporttest.NoLeaks(t)
	ca := authority(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.pem)
	pair, err := tls.X509KeyPair(ca.issue(t))
	if err != nil {
		t.Fatal(err)
	}
	s := otherServer(t, &server.Options{
		Authorization: "secret", TLSTimeout: 10,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert},
	})
	b := Broker{URL: s.ClientURL(), Token: "secret", CA: ca.pem}
	if err := b.Check(); err == nil {
		t.Error("without a certificate, it is let in")
	}
	b.Cert, b.Key = ca.issue(t)
	e := transporttest.NewEvents()
	all := mesh(t, b, defaultLimits(2), 2, 1, func(int) transport.Handler { return e })
	mustSend(t, all[0], 1, 2, "hello")
	if f := transporttest.Next(t, "a frame", e.Frames); f != "1>2 hello" {
		t.Errorf("%q", f)
	}
	b.CA = authority(t).pem
	if err := b.Check(); err == nil || !strings.Contains(err.Error(), "authority") {
		t.Errorf("a server of another authority: %v", err)
	}
}

func TestCredentials(t *testing.T) {
	var b Broker
	if err := b.Credentials([]byte(" secret\n")); err != nil || b.Token != "secret" {
		t.Errorf("%+v, %v", b, err)
	}
	jwt := "-----BEGIN NATS USER JWT-----\nx\n------END NATS USER JWT------\n"
	if err := b.Credentials([]byte(jwt)); err != nil || string(b.Creds) != jwt {
		t.Errorf("%+v, %v", b, err)
	}
	for _, file := range []string{"", "\n", "two\nlines"} {
		if err := new(Broker).Credentials([]byte(file)); err == nil {
			t.Errorf("%q: no error", file)
		}
	}
}

// The largest frame of a broker elsewhere is the broker's.
func TestTheBrokerBoundsFrames(t *testing.T) {
	transporttest.NoLeaks(t)
	s := otherServer(t, &server.Options{MaxPayload: 1 << 10})
	e := transporttest.NewEvents()
	all := mesh(t, Broker{URL: s.ClientURL()}, defaultLimits(2), 2, 1, func(int) transport.Handler { return e })
	most := all[0].LargestFrame()
	if most > 1<<10 || most < 900 {
		t.Errorf("at most %d bytes", most)
	}
	if err := all[0].Send(1, 2, make([]byte, most+1)); !errors.Is(err, transport.ErrFrameTooLarge) {
		t.Error(err)
	}
	if err := all[0].Send(1, 2, make([]byte, most)); err != nil {
		t.Error(err)
	}
	transporttest.Next(t, "the largest frame", e.Frames)
}

// JetStream takes no more memory than it was given, and keeps nothing in files: there is none that
// would stay if the process was killed.
func TestJetStreamIsBounded(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s, err := StartServer(2)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.EnableJetStream(1 << 20); err != nil {
		t.Fatal(err)
	}
	c, err := s.Broker().Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name string
		in   jetstream.StorageType
		size int64
		fits bool
	}{
		{"small", jetstream.MemoryStorage, 1 << 19, true},
		{"large", jetstream.MemoryStorage, 1 << 20, false},
		{"file", jetstream.FileStorage, 1 << 10, false},
	} {
		_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: x.name, Subjects: []string{x.name}, Storage: x.in, MaxBytes: x.size})
		if (err == nil) != x.fits {
			t.Errorf("%s: %v", x.name, err)
		}
	}
	if _, err := js.Publish(t.Context(), "small", []byte("x")); err != nil {
		t.Error(err)
	}
	for _, when := range []string{"while it runs", "behind"} {
		if files, err := os.ReadDir(dir); len(files) != 0 || err != nil {
			t.Errorf("files %s: %v, %v", when, files, err)
		}
		s.Close()
	}
}

// otherServer starts a server that is not the run's own.
func otherServer(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	o.Host, o.Port, o.NoLog, o.NoSigs = "127.0.0.1", server.RANDOM_PORT, true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(serverTimeout) {
		t.Fatal("the server does not start")
	}
	return s
}

// ca is an authority that issues certificates for this host.
type ca struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func authority(t *testing.T) ca {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := ca{key: key, cert: &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}}
	der, err := x509.CreateCertificate(rand.Reader, c.cert, c.cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	c.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return c
}

func (c ca) issue(t *testing.T) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, c.cert, &k.PublicKey, c.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}
