package nats

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"dmebench/dme"
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

// Under their seal, messages are unsigned varints in their shortest form, and
// then, for a frame, its body.
//
//	a frame:    2·from, or 2·from + 1 of a later incarnation than the first and its
//	            number; to (0: all), number; body
//	a welcome:  2·from + 1, 0, the incarnation, to, number; no body
//	an order:   number in the one order; the sealed frame
//	progress:   from (a process, by its first node), its incarnation, bytes handled
//	a goodbye:  likewise
//
// A welcome is the first that a process tells another where one of the two has not
// been there from the start: from where on its broadcasts are meant for the other,
// too. Its number is that of the last one before.
//
// maxOverhead is the most that is added to a frame's body, in bytes: two proofs,
// two node numbers, an incarnation and two numbers of frames.
const maxOverhead = 2*macSize + 3*binary.MaxVarintLen32 + 1 + 2*binary.MaxVarintLen64

// header is what precedes a frame's body.
type header struct {
	from, to    dme.NodeID // to: dme.None for all
	number      uint64     // from 1, of those from one process to another, or to all
	incarnation uint32     // of the sending process
	welcome     bool
}

func (h header) append(b []byte) []byte {
	if h.incarnation > 1 || h.welcome {
		b = binary.AppendUvarint(b, uint64(h.from)<<1|1)
		if h.welcome {
			b = append(b, 0)
		}
		b = binary.AppendUvarint(b, uint64(h.incarnation))
	} else {
		b = binary.AppendUvarint(b, uint64(h.from)<<1)
	}
	b = binary.AppendUvarint(b, uint64(h.to))
	return binary.AppendUvarint(b, h.number)
}

// decode reads a header and returns the body behind it.
func (h *header) decode(b []byte) (body []byte, ok bool) {
	var from, to uint64
	if b, ok = uvarint(b, &from); !ok {
		return nil, false
	}
	h.incarnation = 1
	if from&1 == 1 {
		if b, ok = h.decodeIncarnation(b); !ok {
			return nil, false
		}
	}
	if b, ok = uvarint(b, &to); !ok {
		return nil, false
	}
	if b, ok = uvarint(b, &h.number); !ok || (from>>1|to) > 1<<32-1 || h.welcome && (to == 0 || len(b) > 0) {
		return nil, false
	}
	h.from, h.to = dme.NodeID(from>>1), dme.NodeID(to)
	return b, true
}

// decodeIncarnation reads the part of a header that most have not.
func (h *header) decodeIncarnation(b []byte) (rest []byte, ok bool) {
	if len(b) > 0 && b[0] == 0 {
		h.welcome, b = true, b[1:]
	}
	var x uint64
	if rest, ok = uvarint(b, &x); !ok || x == 0 || x > 1<<32-1 || x == 1 && !h.welcome {
		return nil, false
	}
	h.incarnation = uint32(x)
	return rest, true
}

// uvarint reads a number and returns what follows it.
func uvarint(b []byte, x *uint64) (rest []byte, ok bool) {
	v, n := binary.Uvarint(b)
	if n <= 0 || n > 1 && b[n-1] == 0 { // cut off, too large, or a longer form of a shorter number
		return nil, false
	}
	*x = v
	return b[n:], true
}
