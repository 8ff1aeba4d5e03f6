package tcp

import (
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
//	dialer    hello      magic, version, a nonce, the first node of the dialing
//	                     process and one of the process that it means to reach
//	listener  challenge  a nonce, and Derive("tcp listener", hello, nonce)
//	dialer    proof      Derive("tcp dialer", hello, nonce)
//	listener  welcome    the connection is known here: it ends by a goodbye or a death
//
// Each proof covers both nonces, so a recorded one fits no other connection,
// and names the role of the prover, so a listener's is no dialer's. It covers
// the node that was meant too: a book with a wrong address shows here.
const (
	magic         = "dmebench"
	version       = 1
	nonceSize     = 16
	proofSize     = sha256.Size
	helloSize     = len(magic) + 1 + nonceSize + 4 + 4
	challengeSize = nonceSize + proofSize
	welcome       = "w"
	elsewhere     = "e" // instead of the welcome: that node does not live here
)

var (
	// errUnanswered means that the listener ended the connection instead of
	// answering. It may have had too many strangers: that is worth
	// another try.
	errUnanswered = errors.New("closed before it answered")

	errWrongKey  = errors.New("the other side does not know the run's key; does that address belong to another run?")
	errForeign   = errors.New("the other side does not speak this protocol and version")
	errElsewhere = errors.New("does not live at that address; is the address book wrong?")
)

// introduce is the dialer's half of the handshake.
func introduce(conn io.ReadWriter, key *transport.Key, from, to dme.NodeID) error {
	hello := make([]byte, 0, helloSize+nonceSize)
	hello = append(hello, magic...)
	hello = append(hello, version)
	hello = hello[:len(hello)+nonceSize]
	rand.Read(hello[len(hello)-nonceSize:])
	hello = binary.BigEndian.AppendUint32(hello, uint32(from))
	hello = binary.BigEndian.AppendUint32(hello, uint32(to))
	var challenge [challengeSize]byte
	if err := ask(conn, hello, challenge[:]); err != nil {
		return err
	}
	transcript := append(hello, challenge[:nonceSize]...)
	if !hmac.Equal(challenge[nonceSize:], prove(key, "listener", transcript)) {
		return errWrongKey
	}
	var answer [len(welcome)]byte
	if err := ask(conn, prove(key, "dialer", transcript), answer[:]); err != nil {
		return err
	}
	switch string(answer[:]) {
	case welcome:
		return nil
	case elsewhere:
		return fmt.Errorf("node %d: %w", to, errElsewhere)
	default:
		return errForeign
	}
}

func ask(conn io.ReadWriter, question, answer []byte) error {
	_, err := conn.Write(question)
	if err == nil {
		_, err = io.ReadFull(conn, answer)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUnanswered, err)
	}
	return nil
}

// receive is the listener's half, but for the welcome. It returns a node of the
// process that dialed; no error means that this process knows the run's key.
func receive(conn io.ReadWriter, key *transport.Key, local []dme.NodeID) (dme.NodeID, error) {
	transcript := make([]byte, helloSize+nonceSize)
	hello := transcript[:helloSize]
	if _, err := io.ReadFull(conn, hello); err != nil {
		return dme.None, err
	}
	if string(hello[:len(magic)]) != magic || hello[len(magic)] != version {
		return dme.None, errForeign
	}
	nodes := hello[helloSize-8:]
	from := dme.NodeID(binary.BigEndian.Uint32(nodes))
	to := dme.NodeID(binary.BigEndian.Uint32(nodes[4:]))
	nonce := transcript[helloSize:]
	rand.Read(nonce)
	if _, err := conn.Write(append(nonce, prove(key, "listener", transcript)...)); err != nil {
		return dme.None, err
	}
	var proof [proofSize]byte
	if _, err := io.ReadFull(conn, proof[:]); err != nil {
		return dme.None, err
	}
	if !hmac.Equal(proof[:], prove(key, "dialer", transcript)) {
		return dme.None, errWrongKey
	}
	if !slices.Contains(local, to) {
		io.WriteString(conn, elsewhere)
		return dme.None, fmt.Errorf("node %d: %w", to, errElsewhere)
	}
	return from, nil
}

func prove(key *transport.Key, role string, transcript []byte) []byte {
	return key.Derive("tcp "+role, transcript...)
}
