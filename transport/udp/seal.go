package udp

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
)

// A datagram, in network byte order:
//
//	version  1 byte
//	to       4 bytes   the incarnation it is meant for; 0 for all, to a group
//	node     4 bytes   the first node of the sending process
//	from     4 bytes   the sending incarnation
//	number   8 bytes   of the datagram: no two of an incarnation have the same
//	frames             as peers.AppendFrame writes them
//	tag      16 bytes  AES-GMAC over everything before it
//
// Each incarnation has a key of its own, which follows from the run's, its node
// and its number, so that datagrams may be numbered from 1 without a nonce ever being
// used twice with one key.
const (
	version    = 3
	toAt       = 1
	nodeAt     = toAt + 4
	fromAt     = nodeAt + 4
	numberAt   = fromAt + 4
	headerSize = numberAt + 8
	tagSize    = 16
	overhead   = headerSize + tagSize

	// The nonce is the number with the incarnation before it, as they stand in the
	// header.
	nonceAt = fromAt
)

var (
	errForeign = errors.New("udp: not a datagram of this protocol and version")
	errOver    = errors.New("udp: a datagram from or for an incarnation that is over")
	errForged  = errors.New("udp: the datagram's tag is wrong: its sender does not know the run's key")
)

// newSeal returns the authenticator of an incarnation's datagrams.
func newSeal(key *transport.Key, node dme.NodeID, incarnation uint32) cipher.AEAD {
	who := binary.BigEndian.AppendUint32(nil, uint32(node))
	return peers.NewSeal(key, "udp datagrams", binary.BigEndian.AppendUint32(who, incarnation)...)
}

// sealer makes the datagrams of this process. It is used by one goroutine at a time.
type sealer struct {
	seal   cipher.AEAD
	header [headerSize]byte
	number uint64 // of the last datagram
}

func newSealer(key *transport.Key, node dme.NodeID, incarnation uint32) *sealer {
	s := &sealer{seal: newSeal(key, node, incarnation)}
	s.header[0] = version
	binary.BigEndian.PutUint32(s.header[nodeAt:], uint32(node))
	binary.BigEndian.PutUint32(s.header[fromAt:], incarnation)
	return s
}

// begin begins a datagram for an incarnation in b: frames may be appended.
func (s *sealer) begin(b []byte, to uint32) []byte {
	b = append(b[:0], s.header[:]...)
	binary.BigEndian.PutUint32(b[toAt:], to)
	return b
}

// finish numbers a datagram and appends its tag.
func (s *sealer) finish(b []byte) []byte {
	s.number++
	binary.BigEndian.PutUint64(b[numberAt:], s.number)
	return s.seal.Seal(b, b[nonceAt:headerSize], nil, b)
}

// datagram is one that has arrived, before it is known to be genuine.
type datagram struct {
	b    []byte
	node dme.NodeID // that it claims to come from
	from uint32     // and its incarnation
	to   uint32     // the incarnation that it is meant for; 0 for any
}

func readDatagram(b []byte) (d datagram, err error) {
	if len(b) < overhead || b[0] != version {
		return d, errForeign
	}
	at := func(i int) uint32 { return binary.BigEndian.Uint32(b[i:]) }
	return datagram{b, dme.NodeID(at(nodeAt)), at(fromAt), at(toAt)}, nil
}

// open returns the frames of a datagram whose tag is right.
func (d *datagram) open(seal cipher.AEAD) ([]byte, error) {
	end := len(d.b) - tagSize
	if _, err := seal.Open(nil, d.b[nonceAt:headerSize], d.b[end:], d.b[:end]); err != nil {
		return nil, errForged
	}
	return d.b[headerSize:end:end], nil
}
