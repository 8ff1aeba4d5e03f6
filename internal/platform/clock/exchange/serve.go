package exchange

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"net"
	"net/netip"

	"dmebench/internal/platform/clock"
)

func (p *Port) serve() {
	sealer := newSealer(p.key)
	arrivals := newArrivals(p.conn, p.now)
	b := make([]byte, length+1) // one byte more shows what is too long
	for {
		n, noted, _, from, err := p.conn.ReadMsgUDPAddrPort(b, arrivals.oob[:])
		at := arrivals.of(noted)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			p.datagram(b[:n], from, at, sealer)
		}
	}
}

// datagram deals with one that came at a time, and says whether it was believed.
func (p *Port) datagram(b []byte, from netip.AddrPort, at int64, sealer *sealer) bool {
	d, ok := open(b)
	switch {
	case !ok:
		return false
	case d.kind == isAnswer:
		return p.answered(d, b, at, sealer)
	case !sealer.fits(b, p.name):
		return false
	}
	// What the clock may be wrong by widens the exchange.
	d.kind, d.received, d.answered = isAnswer, at+p.wrong, p.now()-p.wrong
	// An answer that cannot be sent is one that is lost, which its host counts.
	_, _ = p.conn.WriteToUDPAddrPort(sealer.seal(d, p.name), from)
	return true
}

func (p *Port) answered(d datagram, b []byte, at int64, sealer *sealer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.asked[d.number]
	if d.session != p.session || q == nil || !sealer.fits(b, q.peer) {
		return false
	}
	delete(p.asked, d.number)
	e := clock.Exchange{Sent: q.sent - p.wrong, Received: d.received, Answered: d.answered, Returned: at + p.wrong}
	select {
	case q.answer <- answer{d.number, e}:
	default: // whoever asked looks after nothing any more
	}
	return true
}

// A datagram, question or answer, is
//
//	kind      1 byte
//	session   8 bytes: whose question it is, drawn at random by each port
//	number    8 bytes: of the question, ascending within a session
//	received  8 bytes: on the clock of the host that answers; 0 in a question
//	answered  8 bytes: likewise
//	seal     16 bytes
//
// with numbers in network order. The seal is HMAC-SHA-256 with the key of the run,
// cut to 128 bits (RFC 2104, section 5), over everything before it and the name of
// the host that answers: a question that is led to another host gets no answer.
const (
	sealLength = 16
	length     = 1 + 4*8 + sealLength
)

type kind byte

const (
	isQuestion kind = 0xd1 // of this version of the form
	isAnswer   kind = 0xd2
)

type datagram struct {
	kind               kind
	session, number    uint64
	received, answered int64
}

// sealer seals datagrams and opens them, one at a time.
type sealer struct {
	hash hash.Hash
	sum  [sha256.Size]byte
	b    [length]byte
}

func newSealer(key []byte) *sealer { return &sealer{hash: hmac.New(sha256.New, key)} }

// seal returns the datagram, sealed for the host of that name to answer, or by it.
// It is valid until the next call.
func (s *sealer) seal(d datagram, by string) []byte {
	b := append(s.b[:0], byte(d.kind))
	for _, x := range [...]uint64{d.session, d.number, uint64(d.received), uint64(d.answered)} {
		b = binary.BigEndian.AppendUint64(b, x)
	}
	return append(b, s.of(b, by)...)
}

// open returns what a datagram says, whoever sealed it.
func open(b []byte) (d datagram, ok bool) {
	if len(b) != length || kind(b[0]) != isQuestion && kind(b[0]) != isAnswer {
		return d, false
	}
	x := func(i int) uint64 { return binary.BigEndian.Uint64(b[1+8*i:]) }
	return datagram{kind(b[0]), x(0), x(1), int64(x(2)), int64(x(3))}, true
}

func (s *sealer) fits(b []byte, by string) bool {
	n := len(b) - sealLength
	return hmac.Equal(b[n:], s.of(b[:n], by))
}

func (s *sealer) of(b []byte, by string) []byte {
	s.hash.Reset()
	s.hash.Write(b)
	s.hash.Write([]byte(by))
	return s.hash.Sum(s.sum[:0])[:sealLength]
}
