package nats

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/internal/platform/rawio"
	"dmebench/transport/peers"
)

// Broker says how to reach a NATS server or cluster. It holds secrets.
type Broker struct {
	URL   string `json:"url"` // nats://HOST:PORT or tls://HOST:PORT; several with commas between
	Token string `json:"token,omitempty"`
	Creds []byte `json:"creds,omitempty"` // what a .creds file holds: a JWT and its seed

	// For TLS, in PEM: authorities to trust, in place of the system's, and the certificate to
	// present.
	CA   []byte `json:"ca,omitempty"`
	Cert []byte `json:"cert,omitempty"`
	Key  []byte `json:"key,omitempty"`

	Own       bool `json:"own,omitempty"`       // only this run can connect
	Sequenced bool `json:"sequenced,omitempty"` // a Sequencer of the run puts broadcasts into one order
}

const connectTimeout = 10 * time.Second

// ErrBroker is wrapped by the error of a broker that cannot be used.
var ErrBroker = errors.New("nats: cannot use the broker")

// Unreachable reports whether the broker does not answer.
func Unreachable(err error) bool {
	return errors.Is(err, ErrBroker) && errors.Is(err, natsgo.ErrNoServers)
}

// Check reports whether the broker can be reached and lets this run in.
func (b Broker) Check() error {
	c, err := b.connect("dmebench check", new(wire), func(error) {})
	if err != nil {
		return err
	}
	c.Close()
	return nil
}

// Dial makes a connection to the broker. Errors wrap [ErrBroker], name the broker without
// its secrets, and say what to do.
func (b Broker) Dial(opts ...natsgo.Option) (*natsgo.Conn, error) {
	if b.Name() == unreadable { // the library's error would repeat it
		return nil, fmt.Errorf("%w at %s; want nats://HOST:PORT or tls://HOST:PORT", ErrBroker, unreadable)
	}
	opts = append([]natsgo.Option{natsgo.Timeout(connectTimeout)}, opts...)
	if b.Token != "" {
		opts = append(opts, natsgo.Token(b.Token))
	}
	if len(b.Creds) > 0 {
		opts = append(opts, natsgo.UserCredentialBytes(b.Creds))
	}
	secure, err := b.tls()
	if err != nil {
		return nil, fmt.Errorf("%w at %s: %w", ErrBroker, b.Name(), err)
	}
	if secure != nil {
		opts = append(opts, natsgo.Secure(secure))
	}
	c, err := natsgo.Connect(b.URL, opts...)
	if err != nil {
		return nil, fmt.Errorf("%w at %s: %w; %s", ErrBroker, b.Name(), err, advice(err))
	}
	return c, nil
}

// Name returns where the broker is, without the secrets that a URL can hold.
func (b Broker) Name() string {
	var names []string
	for s := range strings.SplitSeq(b.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil {
			return unreadable
		}
		names = append(names, (&url.URL{Scheme: u.Scheme, Host: u.Host}).String())
	}
	return strings.Join(names, ",")
}

const unreadable = "a URL that cannot be read"

// connect makes a connection that does not come back once it is lost. lost is
// called, perhaps several times, when something went wrong; it must not wait.
func (b Broker) connect(name string, w *wire, lost func(error)) (*natsgo.Conn, error) {
	return b.Dial(
		natsgo.Name(name),
		natsgo.SetCustomDialer(w), natsgo.SkipSubjectValidation(),
		// Messages published meanwhile would be lost, or come twice.
		natsgo.NoReconnect(),
		natsgo.ClosedHandler(func(c *natsgo.Conn) {
			lost(fmt.Errorf("the connection to the broker at %s is lost: %w",
				b.Name(), cmp.Or(c.LastError(), natsgo.ErrConnectionClosed)))
		}),
		natsgo.ErrorHandler(func(_ *natsgo.Conn, s *natsgo.Subscription, err error) {
			if errors.Is(err, natsgo.ErrSlowConsumer) {
				err = fmt.Errorf("%w: this process does not keep up, and messages were dropped", err)
			}
			lost(err)
		}),
		// An answer to a ping would need the lock that Publish holds while it waits for
		// the socket, and the socket would not be read meanwhile. That a host has
		// vanished, the system notices.
		natsgo.PingInterval(-1),
	)
}

func advice(err error) string {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	switch {
	case errors.Is(err, natsgo.ErrAuthorization), strings.Contains(err.Error(), "nkeys"), strings.Contains(err.Error(), "unable to extract"):
		return "are the credentials right?"
	case errors.Is(err, natsgo.ErrSecureConnWanted):
		return "it does not encrypt: write nats:// if that is meant, on this host's loopback"
	case errors.Is(err, natsgo.ErrMaxConnectionsExceeded), strings.Contains(strings.ToLower(err.Error()), natsgo.MAX_CONNECTIONS_ERR):
		return "it takes no more connections: a run needs one for each worker"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate is to be renewed, which 'dmebench broker' does when it starts; or is this host's clock wrong?"
	case errors.As(err, &name):
		return "its certificate is for other names; 'dmebench broker --name' adds one"
	case errors.As(err, &unknown):
		return "is its certificate of the authority that was given?"
	default:
		return "is it running there?"
	}
}

// tls returns what TLS needs; nil if the URL and the broker decide alone.
func (b Broker) tls() (*tls.Config, error) {
	if len(b.CA)+len(b.Cert)+len(b.Key) == 0 {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(b.CA) > 0 {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(b.CA) {
			return nil, errors.New("the authorities to trust are not certificates in PEM")
		}
	}
	if len(b.Cert)+len(b.Key) > 0 {
		pair, err := tls.X509KeyPair(b.Cert, b.Key)
		if err != nil {
			return nil, fmt.Errorf("the certificate to present: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Credentials puts what a file holds where it belongs: a JWT with its seed, as
// the NATS tools write it, or else a token.
func (b *Broker) Credentials(file []byte) error {
	if bytes.Contains(file, []byte("-----BEGIN NATS USER JWT-----")) {
		b.Creds = file
		return nil
	}
	b.Token = string(bytes.TrimSpace(file))
	if b.Token == "" || strings.ContainsAny(b.Token, "\r\n") {
		return errors.New("neither credentials of NATS nor a token on a line of its own")
	}
	return nil
}

// wire dials the broker, and counts what passes to it.
type wire struct {
	bytes, writes atomic.Uint64 // written
}

func (w *wire) Dial(network, address string) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, connectTimeout)
	if err != nil {
		return nil, err
	}
	conn := c.(*net.TCPConn)
	q, err := rawio.NewConn(conn)
	if err == nil {
		err = peers.NoticeSilence(conn, 0)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return &countedConn{Conn: q, wire: w}, nil
}

type countedConn struct {
	net.Conn
	wire *wire
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.wire.bytes.Add(uint64(max(n, 0)))
	c.wire.writes.Add(1)
	return n, err
}
