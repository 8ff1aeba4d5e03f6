package tcp

import (
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"dmebench/dme"
	"dmebench/transport"
)

// The handshake, after which frames follow at once:
//
//	dialer    hello      magic, version, whether it encrypts, a share, the first node of
//	                     the dialing process and one of the process that it means to
//	                     reach, and the incarnations of both
//	listener  challenge  a share, and Derive("tcp listener", hello, share)
//	dialer    proof      Derive("tcp dialer", hello, share)
//	listener  welcome    the connection is known here: it ends by a goodbye or a death
//
// A share is random, and drawn anew for each handshake. Where the connection is to be
// encrypted it is a public key of X25519: from the welcome on, all is sealed by keys
// that follow from the run's key and from what the two shares agree on. Who learns the
// run's key later can therefore not read what was recorded.
//
// Each proof covers both shares, so a recorded one fits no other connection,
// and names the role of the prover, so a listener's is no dialer's. It covers
// the node and the incarnation that were meant too: a book with a wrong address shows
// here, and a process that came to an address of one that is no more.
const (
	magic         = "dmebench"
	version       = 3
	shareSize     = 32
	proofSize     = sha256.Size
	helloSize     = len(magic) + 1 + 1 + shareSize + endsSize
	endsSize      = 4 * 4
	challengeSize = shareSize + proofSize
	welcome       = "w"
	elsewhere     = "e" // instead of the welcome: that node does not live here
)

var (
	errUnanswered = errors.New("closed before it answered")
	errWrongKey   = errors.New("the other side does not know the run's key; does that address belong to another run?")
	errForeign    = errors.New("the other side does not speak this protocol and version")
	errElsewhere  = errors.New("does not live at that address; is the address book wrong?")
)

// ends says who dials whom.
type ends struct {
	from, to                       dme.NodeID
	fromIncarnation, toIncarnation uint32
}

func (e ends) append(b []byte) []byte {
	for _, x := range []uint32{uint32(e.from), uint32(e.to), e.fromIncarnation, e.toIncarnation} {
		b = binary.BigEndian.AppendUint32(b, x)
	}
	return b
}

func decodeEnds(b []byte) ends {
	at := func(i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	return ends{dme.NodeID(at(0)), dme.NodeID(at(1)), at(2), at(3)}
}

// preamble is how a hello begins.
func preamble(encrypt bool) []byte {
	b := append([]byte(magic), version, 0)
	if encrypt {
		b[len(b)-1] = 1
	}
	return b
}

// share is one side's part in what the keys of a connection follow from.
type share struct {
	public  []byte
	private *ecdh.PrivateKey // nil where nothing is encrypted
}

func newShare(encrypt bool) (share, error) {
	if !encrypt {
		b := make([]byte, shareSize)
		rand.Read(b)
		return share{public: b}, nil
	}
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return share{}, err
	}
	return share{private.PublicKey().Bytes(), private}, nil
}

// agree encrypts the session, where that was asked for, once both shares are known.
func (s *session) agree(mine share, theirs []byte, key *transport.Key, transcript []byte, dialer bool) error {
	if mine.private == nil {
		return nil
	}
	public, err := ecdh.X25519().NewPublicKey(theirs)
	if err != nil {
		return err
	}
	secret, err := mine.private.ECDH(public)
	if err == nil {
		s.encrypt(key, secret, transcript, dialer)
	}
	return err
}

// introduce is the dialer's half of the handshake.
func introduce(conn io.ReadWriter, key *transport.Key, encrypt bool, e ends) (*session, error) {
	s := &session{conn: conn}
	mine, err := newShare(encrypt)
	if err != nil {
		return nil, err
	}
	hello := e.append(append(preamble(encrypt), mine.public...))
	var challenge [challengeSize]byte
	if err := s.ask(hello, challenge[:]); err != nil {
		return nil, err
	}
	theirs := challenge[:shareSize]
	transcript := append(hello, theirs...)
	if !hmac.Equal(challenge[shareSize:], prove(key, "listener", transcript)) {
		return nil, errWrongKey
	}
	if _, err := conn.Write(prove(key, "dialer", transcript)); err != nil {
		return nil, unanswered(err)
	}
	if err := s.agree(mine, theirs, key, transcript, true); err != nil {
		return nil, err
	}
	var answer [len(welcome)]byte
	if _, err := io.ReadFull(s, answer[:]); err != nil {
		return nil, unanswered(err)
	}
	switch string(answer[:]) {
	case welcome:
		return s, nil
	case elsewhere:
		return nil, fmt.Errorf("node %d: %w", e.to, errElsewhere)
	default:
		return nil, errForeign
	}
}

func (s *session) ask(question, answer []byte) error {
	_, err := s.conn.Write(question)
	if err == nil {
		_, err = io.ReadFull(s, answer)
	}
	return unanswered(err)
}

func unanswered(err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", errUnanswered, err)
	}
	return nil
}

// receive is the listener's half, but for the welcome, in the process and incarnation
// of c. It returns who dialed; no error means that this process knows the run's key.
func receive(conn io.ReadWriter, c *transport.Config, encrypt bool) (*session, ends, error) {
	transcript := make([]byte, helloSize, helloSize+shareSize)
	if _, err := io.ReadFull(conn, transcript); err != nil {
		return nil, ends{}, err
	}
	begin := preamble(encrypt)
	if !slices.Equal(transcript[:len(begin)], begin) {
		return nil, ends{}, errForeign
	}
	theirs := transcript[len(begin):][:shareSize]
	e := decodeEnds(transcript[helloSize-endsSize:])
	mine, err := newShare(encrypt)
	if err != nil {
		return nil, ends{}, err
	}
	transcript = append(transcript, mine.public...)
	if _, err := conn.Write(slices.Concat(mine.public, prove(&c.Key, "listener", transcript))); err != nil {
		return nil, ends{}, err
	}
	var proof [proofSize]byte
	if _, err := io.ReadFull(conn, proof[:]); err != nil {
		return nil, ends{}, err
	}
	if !hmac.Equal(proof[:], prove(&c.Key, "dialer", transcript)) {
		return nil, ends{}, errWrongKey
	}
	s := &session{conn: conn}
	if err := s.agree(mine, theirs, &c.Key, transcript, false); err != nil {
		return nil, ends{}, err
	}
	if !slices.Contains(c.Local, e.to) || e.toIncarnation != c.Incarnation {
		io.WriteString(s, elsewhere)
		return nil, ends{}, fmt.Errorf("node %d, incarnation %d: %w", e.to, e.toIncarnation, errElsewhere)
	}
	return s, e, nil
}

func prove(key *transport.Key, role string, transcript []byte) []byte {
	return key.Derive("tcp "+role, transcript...)
}
