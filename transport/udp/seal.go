package udp

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"math/rand/v2"

	"dmebench/dme"
	"dmebench/transport"
)

// A datagram, in network byte order:
//
//	version  1 byte
//	node     4 bytes   the first node of the sending process
//	to       4 bytes   the incarnation it is meant for; 0 for all, to a group
//	epoch    8 bytes   of the sending incarnation: its number, 4 bytes, and 4 drawn
//	                   at random
//	number   8 bytes   of the datagram: no two of an incarnation have the same
//	frames             as peers.AppendFrame writes them
//	tag      16 bytes  AES-GMAC over everything before it
//
// Each incarnation has a key of its own, which follows from the run's, its node
// and its epoch, so that numbers may begin at 1 without a nonce ever being used
// twice with one key. GMAC takes about a fifth of the time of HMAC-SHA256 for a
// small datagram, and a tenth for a large one (BenchmarkSeal).
const (
	version    = 2
	toAt       = 1 + 4
	epochAt    = toAt + 4
	numberAt   = epochAt + 8
	headerSize = numberAt + 8
	tagSize    = 16
	overhead   = headerSize + tagSize

	// The nonce is the number with the end of the epoch before it, as they
	// stand in the header.
	nonceAt   = headerSize - nonceSize
	nonceSize = 12
)

var (
	errForeign = errors.New("udp: not a datagram of this protocol and version")
	errOver    = errors.New("udp: a datagram from or for an incarnation that is over")
	errForged  = errors.New("udp: the datagram's tag is wrong: its sender does not know the run's key")
)

// newEpoch draws an epoch for an incarnation.
func newEpoch(incarnation uint32) uint64 { return uint64(incarnation)<<32 | uint64(rand.Uint32()) }

// incarnationOf returns whose epoch it is.
func incarnationOf(epoch uint64) uint32 { return uint32(epoch >> 32) }

// newSeal returns the authenticator of an incarnation's datagrams.
func newSeal(key *transport.Key, node dme.NodeID, epoch uint64) cipher.AEAD {
	who := binary.BigEndian.AppendUint32(make([]byte, 0, 4+8), uint32(node))
	who = binary.BigEndian.AppendUint64(who, epoch)
	block, err := aes.NewCipher(key.Derive("udp datagrams", who...)[:16])
	if err != nil {
		panic(err) // the size of the key is right
	}
	seal, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // AES has the block size of GCM
	}
	return seal
}

// sealer makes the datagrams of this process. It is used by one goroutine at a time.
type sealer struct {
	seal   cipher.AEAD
	header [headerSize]byte
	number uint64 // of the last datagram
}

func newSealer(key *transport.Key, node dme.NodeID, epoch uint64) *sealer {
	s := &sealer{seal: newSeal(key, node, epoch)}
	s.header[0] = version
	binary.BigEndian.PutUint32(s.header[1:], uint32(node))
	binary.BigEndian.PutUint64(s.header[epochAt:], epoch)
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

// claimant returns who a datagram claims to come from.
func claimant(b []byte) (node dme.NodeID, epoch uint64, err error) {
	if len(b) < overhead || b[0] != version {
		return dme.None, 0, errForeign
	}
	return dme.NodeID(binary.BigEndian.Uint32(b[1:])), binary.BigEndian.Uint64(b[epochAt:]), nil
}

// meantFor returns the incarnation that a datagram is meant for; 0 for any.
func meantFor(b []byte) uint32 { return binary.BigEndian.Uint32(b[toAt:]) }

// open returns the frames of a datagram whose tag is right. The datagram is
// at least overhead long.
func open(seal cipher.AEAD, b []byte) ([]byte, error) {
	end := len(b) - tagSize
	if _, err := seal.Open(nil, b[nonceAt:headerSize], b[end:], b[:end]); err != nil {
		return nil, errForged
	}
	return b[headerSize:end:end], nil
}
