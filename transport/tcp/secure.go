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
	"sync/atomic"

	"dmebench/internal/platform/rawio"
	"dmebench/transport"
)

// Encryption says which connections are encrypted.
type Encryption string

// The processes of a run are opened with the same one.
const (
	Auto Encryption = "auto" // those to a listener beyond the loopback; "" means the same
	On   Encryption = "on"   // all
	Off  Encryption = "off"  // none: the network must be trusted
)

// Encryptions lists them all, the default first.
func Encryptions() []Encryption { return []Encryption{Auto, On, Off} }

// encrypts reports whether connections to a listener at that address are encrypted.
// Both ends ask for the same address, and so agree.
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

// newIdentity is what all processes of a run present to each other, and nobody else
// can: a key pair that follows from the run's key. There is no authority, and no name
// or date is looked at.
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

// session encrypts a connection. Its reads and writes are independent of each other,
// as on a connection: one of each at a time.
type session struct {
	*tls.Conn
	wire *wire
}

// newSession makes one end of a session, by tls.Client or tls.Server, on a connection
// that has a deadline. It is nil where connections to that listener are not encrypted.
func (t *Transport) newSession(conn *net.TCPConn, listener string, end func(net.Conn, *tls.Config) *tls.Conn) (*session, error) {
	if !t.encrypts(listener) {
		return nil, nil
	}
	config, err := t.identity()
	if err != nil {
		return nil, err
	}
	quick, err := rawio.NewConn(conn)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: quick}
	s := &session{Conn: end(w, config), wire: w}
	w.allow(true)
	defer w.allow(false)
	return s, explain(s.Handshake())
}

// Write encrypts b and writes it at once. It waits where the socket does.
func (s *session) Write(b []byte) (int, error) {
	s.wire.allow(true)
	defer s.wire.allow(false)
	return s.Conn.Write(b)
}

// seal appends b to records, encrypted. It waits for nothing.
func (s *session) seal(records, b []byte) ([]byte, error) {
	s.wire.collect(records)
	_, err := s.Conn.Write(b)
	return s.wire.collected(), err
}

// explain says why the other side was not taken for one of the run.
func explain(err error) error {
	var foreign tls.RecordHeaderError
	var remote *net.OpError
	switch {
	case err == nil, errors.Is(err, errWrongKey):
		return err
	case errors.As(err, &foreign):
		return fmt.Errorf("%w: it does not encrypt: %w", errForeign, err)
	case errors.As(err, &remote) && remote.Op == "remote error":
		return fmt.Errorf("%w: %w", errForeign, err)
	default: // it hung up
		return fmt.Errorf("%w: %w", errUnanswered, err)
	}
}

// wire is what a session reads and writes records on. It takes records only while
// this side has something to say: a read that answers by itself would wait for a peer
// that does not read, or pile up answers. TLS answers to a wish for new keys, which no
// process of a run ever has: who utters it loses the connection. So does who sends what
// is no record; the alert of which it is not told.
type wire struct {
	net.Conn // in quick calls

	unasked atomic.Bool // such a peer: nothing more is read of it

	mu         sync.Mutex
	writable   bool
	collecting bool // records are kept, for the writer of a link
	records    []byte
}

var errUnasked = errors.New("the other side asks for what this protocol does not have")

// Read is called by the session.
func (w *wire) Read(b []byte) (int, error) {
	if w.unasked.Load() {
		return 0, errUnasked
	}
	return w.Conn.Read(b)
}

// Write is called by the session, under a lock of its own.
func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.writable:
		w.unasked.Store(true)
		return 0, errUnasked
	case w.collecting:
		w.records = append(w.records, b...)
		return len(b), nil
	default:
		return w.Conn.Write(b)
	}
}

func (w *wire) allow(writable bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writable = writable
}

func (w *wire) collect(records []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writable, w.collecting, w.records = true, true, records
}

func (w *wire) collected() (records []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	records = w.records
	w.writable, w.collecting, w.records = false, false, nil
	return records
}

// over is what passes a connection that is encrypted where s is not nil.
func over(conn *net.TCPConn, s *session) io.ReadWriter {
	if s != nil {
		return s
	}
	return conn
}
