package tcp

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
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

// session is a connection after its handshake. Where it is encrypted, what passes is
// records: frames of no node, whose bodies are sealed, numbered in each direction from
// 1. Reads and writes are independent of each other, one of each at a time.
type session struct {
	conn    io.ReadWriter
	in, out *sealer // nil where nothing is encrypted
	records *peers.Stream
	plain   []byte // of the latest record, not yet read
}

// maxRecord is how many bytes one record holds at most.
const maxRecord = 16 << 10

var errRecord = errors.New("a record was altered on the way")

// encrypt begins to encrypt, with keys that follow from the run's key, from what only
// the two ends can know, and from all that they have told each other.
func (s *session) encrypt(key *transport.Key, secret, transcript []byte, dialer bool) {
	context := slices.Concat(secret, transcript)
	s.in = &sealer{AEAD: peers.NewSeal(key, "tcp from listener", context...)}
	s.out = &sealer{AEAD: peers.NewSeal(key, "tcp from dialer", context...)}
	if !dialer {
		s.in, s.out = s.out, s.in
	}
	s.records = peers.NewStream(s.conn)
}

// sealer seals or opens the records of one direction.
type sealer struct {
	cipher.AEAD
	number uint64
	nonce  [12]byte
}

func (s *sealer) next() []byte {
	s.number++
	binary.BigEndian.PutUint64(s.nonce[4:], s.number)
	return s.nonce[:]
}

// seal appends b to records, encrypted.
func (s *session) seal(records, b []byte) []byte {
	for len(b) > 0 {
		piece := b[:min(len(b), maxRecord)]
		b = b[len(piece):]
		records = peers.AppendHeader(records, dme.None, dme.None, len(piece)+s.out.Overhead())
		records = s.out.Seal(records, s.out.next(), piece, nil)
	}
	return records
}

// Write waits where the connection does.
func (s *session) Write(b []byte) (int, error) {
	if s.out == nil {
		return s.conn.Write(b)
	}
	if _, err := s.conn.Write(s.seal(nil, b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (s *session) Read(b []byte) (int, error) {
	if s.in == nil {
		return s.conn.Read(b)
	}
	for len(s.plain) == 0 {
		if err := s.nextRecord(); err != nil {
			return 0, err
		}
	}
	n := copy(b, s.plain)
	s.plain = s.plain[n:]
	return n, nil
}

func (s *session) nextRecord() error {
	var f peers.Frame
	ok, err := s.records.Next(&f)
	switch {
	case err != nil:
		return err
	case !ok:
		return s.records.Fill()
	}
	s.plain, err = s.in.Open(f.Body[:0], s.in.next(), f.Body, nil)
	if err != nil || f.From|f.To != dme.None {
		s.plain = nil
		return errRecord
	}
	return nil
}
