package nats

import (
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"math"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
)

// kind is part of a seal: data sealed as one kind cannot pass as another.
type kind byte

const (
	aFrame    kind = iota // from one process, for one node or all
	anOrder               // a broadcast with its number in the one order
	aProgress             // how far a receiver is
	aGoodbye              // a process closes in good order
	kinds
)

var labels = [kinds]byte{byte(aFrame), byte(anOrder), byte(aProgress), byte(aGoodbye)}

// label is what a seal covers besides content. It allocates nothing.
func (k kind) label() []byte { return labels[k : k+1] }

const (
	tagSize  = 8       // bytes, on the run's own broker
	sealSize = 12 + 16 // bytes, on a broker that others use
)

// seal shows that a message is of this run. On the run's own broker, which is trusted,
// a tag precedes it; on any other it is encrypted.
type seal struct {
	tags [kinds]uint64
	aead cipher.AEAD // nil on the run's own broker
}

func newSeal(key *transport.Key, own bool) *seal {
	s := new(seal)
	if !own {
		s.aead = peers.NewSharedSeal(key, "nats messages")
		return s
	}
	for i := range s.tags {
		s.tags[i] = binary.BigEndian.Uint64(key.Derive("nats tag", byte(i)))
	}
	return s
}

// ownPrefix is what subjects begin with on a run's own broker. Those of less than 16 bytes
// cost least: they are parsed and copied for each message.
const ownPrefix = "dme"

func prefix(key *transport.Key, own bool) string {
	if own {
		return ownPrefix
	}
	return "dmebench." + hex.EncodeToString(key.Derive("nats subjects")[:8])
}

func (s *seal) start(b []byte, what kind) []byte {
	if s.aead != nil {
		return b[:0]
	}
	return binary.BigEndian.AppendUint64(b[:0], s.tags[what])
}

// close seals a message that start has begun.
func (s *seal) close(b []byte, what kind) []byte {
	if s.aead != nil {
		return s.aead.Seal(b[:0], nil, b, what.label())
	}
	return b
}

// open returns what is sealed in b, and may write over b.
func (s *seal) open(b []byte, what kind) (content []byte, ok bool) {
	if s.aead != nil {
		content, err := s.aead.Open(b[:0], nil, b, what.label())
		return content, err == nil
	}
	// One comparison, in constant time.
	if len(b) < tagSize || binary.BigEndian.Uint64(b) != s.tags[what] {
		return nil, false
	}
	return b[tagSize:len(b):len(b)], true
}

// Under their seal, messages are unsigned varints in their shortest form, and then, for a frame,
// its body.
//
//	a frame:    2·from, or 2·from + 1 of a later incarnation than the first and its
//	            number; to (0: all), number; body
//	a welcome:  2·from + 1, 0, the incarnation, to, number; no body
//	an order:   number in the one order; what a frame is
//	progress:   from (a process, by its first node), its incarnation, bytes handled
//	a goodbye:  as progress
//
// A welcome is the first that a process tells another if one of the two has not been there from the
// start: from where on its broadcasts are meant for the other, too. Its number is that of the last
// one before.
//
// maxOverhead is the most that is added to a frame's body, in bytes: the seal, two node numbers, an
// incarnation and two numbers of frames.
const maxOverhead = sealSize + 3*binary.MaxVarintLen32 + 1 + 2*binary.MaxVarintLen64

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

// decode takes a header off the front of a message.
func (h *header) decode(r *peers.Reader) (ok bool) {
	from := r.Uvarint(2*math.MaxUint32 + 1)
	h.incarnation = 1
	if from&1 == 1 {
		h.incarnation = uint32(r.Uvarint(math.MaxUint32))
		if h.welcome = h.incarnation == 0; h.welcome {
			h.incarnation = uint32(r.Uvarint(math.MaxUint32))
		}
		r.Failed = r.Failed || h.incarnation == 0 || h.incarnation == 1 && !h.welcome
	}
	h.from, h.to = dme.NodeID(from>>1), dme.NodeID(r.Uvarint(math.MaxUint32))
	h.number = r.Uvarint(math.MaxUint64)
	return !r.Failed && !(h.welcome && (h.to == dme.None || len(r.Rest) > 0))
}
