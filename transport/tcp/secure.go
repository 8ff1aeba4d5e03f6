package tcp

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"sync"

	"dmebench/internal/platform/rawio"
	"dmebench/transport"
)

// Encryption says which connections are encrypted.
type Encryption string

// The processes of a run are opened with the same one.
const (
	Auto Encryption = "auto" // connections to a listener beyond the loopback; "" means the same
	On   Encryption = "on"   // all
	Off  Encryption = "off"  // none: the network must be trusted
)

func Encryptions() []Encryption { return []Encryption{Auto, On, Off} }

// encrypts reports whether connections to a listener at that address are encrypted.
func (t *Transport) encrypts(listener string) bool {
	switch t.options.Encryption {
	case On:
		return true
	case Off:
		return false
	}
	host, _, err := net.SplitHostPort(listener)
	ip := net.ParseIP(host)
	return err != nil || ip == nil || !ip.IsLoopback()
}

// newIdentity is what all processes of a run present to each other: a key pair that follows
// from the run's key. There is no authority, and no name or date is looked at.
func newIdentity(key *transport.Key) (*tls.Config, error) {
	private := ed25519.NewKeyFromSeed(key.Derive("tcp tls"))
	public := private.Public().(ed25519.PublicKey)
	// A certificate is what carries a public key in TLS.
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	raw, err := x509.CreateCertificate(nil, template, template, public, private)
	if err != nil {
		return nil, fmt.Errorf("tcp: a certificate: %w", err)
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		Certificates:       []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: private}},
		InsecureSkipVerify: true, // of names and authorities; what is verified stands below
		ClientAuth:         tls.RequireAnyClientCert,
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || !public.Equal(s.PeerCertificates[0].PublicKey) {
				return errWrongKey
			}
			return nil
		},
		// A quarter less work than with a key exchange that also withstands quantum
		// computers: a mesh has many connections, and they say nothing of lasting value.
		CurvePreferences:       []tls.CurveID{tls.X25519},
		SessionTicketsDisabled: true, // every connection proves the key again
		// Frames should travel in the segments of one write.
		DynamicRecordSizingDisabled: true,
	}, nil
}

// newSession returns a connection as it is to be read and written: by quick calls, and encrypted if
// connections to that listener are. end is tls.Client or tls.Server.
func (t *Transport) newSession(conn *net.TCPConn, listener string, end func(net.Conn, *tls.Config) *tls.Conn) (net.Conn, error) {
	quick, err := rawio.NewConn(conn)
	if err != nil {
		return nil, err
	}
	if !t.encrypts(listener) {
		return quick, nil
	}
	config, err := t.identity()
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: quick, out: quick}
	s := &session{Conn: end(w, config), wire: w}
	err = s.Handshake()
	w.writeTo(nil)
	return s, explain(err)
}

func explain(err error) error {
	var foreign tls.RecordHeaderError
	switch {
	case err == nil, errors.Is(err, errWrongKey):
		return err
	case errors.As(err, &foreign):
		return fmt.Errorf("%w: it does not encrypt: %w", errForeign, err)
	default: // the other end hung up
		return fmt.Errorf("%w: %w", errUnanswered, err)
	}
}

type session struct {
	*tls.Conn
	wire *wire
}

func (s *session) Write(b []byte) (int, error) {
	if err := s.writeTo(s.wire.Conn, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (s *session) writeTo(out io.Writer, b []byte) error {
	s.wire.writeTo(out)
	defer s.wire.writeTo(nil)
	_, err := s.Conn.Write(b)
	return err
}

// wire is what TLS reads and writes records on. It takes records only while this side
// has something to say: a read that answers by itself would wait for a peer that does
// not read. TLS does so to a wish for new keys, which no process of a run ever has, and by
// alerts: the connection ends instead.
type wire struct {
	*rawio.Conn
	mu  sync.Mutex
	out io.Writer // nil while this side has nothing to say
}

var errUnasked = errors.New("the other side asks for what this protocol does not have")

func (w *wire) writeTo(out io.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = out
}

func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.out == nil {
		w.Close()
		return 0, errUnasked
	}
	return w.out.Write(b)
}
