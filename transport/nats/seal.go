package nats

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"dmebench/transport"
)

// What is sealed as one thing cannot pass as another.
type kind byte

const (
	aFrame    kind = iota // from one process, for one node or all
	anOrder               // a broadcast with its number in the one order
	aProgress             // how far a receiver is
	aGoodbye              // a process closes in good order
	kinds
)

const (
	tagSize = 8  // bytes, on the run's own broker
	macSize = 16 // bytes, on a broker that others use
)

// seal puts the proof in front of a message that it is of this run. It is used
// by one goroutine at a time.
type seal struct {
	tags [kinds]uint64 // where the broker is trusted
	mac  hash.Hash     // else
	sum  []byte
}

func newSeal(key *transport.Key, own bool) *seal {
	s := &seal{sum: make([]byte, 0, sha256.Size)}
	if own {
		for i := range s.tags {
			s.tags[i] = binary.BigEndian.Uint64(key.Derive("nats tag", byte(i)))
		}
	} else {
		s.mac = hmac.New(sha256.New, key.Derive("nats frames"))
	}
	return s
}

// ownPrefix is what subjects begin with on a run's own broker, where no other
// run is met. Subjects of less than 16 bytes cost least: they are parsed in the
// broker and in the receiver byte by byte, and copied for each message.
const ownPrefix = "dme"

// prefix returns what a run's subjects begin with. It is no secret.
func prefix(key *transport.Key, own bool) string {
	if own {
		return ownPrefix
	}
	return "dmebench." + hex.EncodeToString(key.Derive("nats subjects")[:8])
}

func (s *seal) size() int {
	if s.mac == nil {
		return tagSize
	}
	return macSize
}

// start appends space for the proof to b, which is empty.
func (s *seal) start(b []byte) []byte {
	var space [macSize]byte
	return append(b, space[:s.size()]...)
}

// close fills the space that start left at the beginning of b.
func (s *seal) close(b []byte, what kind) {
	if s.mac == nil {
		binary.BigEndian.PutUint64(b, s.tags[what])
	} else {
		copy(b[:macSize], s.sign(b[macSize:], what))
	}
}

// open returns what is sealed in b; false where the proof is missing or wrong.
func (s *seal) open(b []byte, what kind) (content []byte, ok bool) {
	n := s.size()
	if len(b) < n {
		return nil, false
	}
	content = b[n:len(b):len(b)]
	if s.mac == nil {
		return content, binary.BigEndian.Uint64(b) == s.tags[what] // one comparison: its time tells nothing
	}
	return content, subtle.ConstantTimeCompare(b[:n], s.sign(content, what)[:n]) == 1
}

// sign returns a message's authentication code. It is valid until the next call.
func (s *seal) sign(content []byte, what kind) []byte {
	s.mac.Reset()
	s.sum = append(s.sum[:0], byte(what))
	s.mac.Write(s.sum)
	s.mac.Write(content)
	s.sum = s.mac.Sum(s.sum[:0])
	return s.sum
}
