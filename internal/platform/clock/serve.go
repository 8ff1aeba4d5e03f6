package clock

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
)

func (p *Port) serve() {
	arrivals := newArrivals(p.conn, p.now)
	b := make([]byte, length+1) // one byte more shows what is too long
	for {
		n, noted, _, from, err := p.conn.ReadMsgUDPAddrPort(b, arrivals.oob[:])
		at := arrivals.of(noted)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			p.datagram(b[:n], from, at)
		}
	}
}

// datagram deals with one that came at a time, and says whether it was believed.
func (p *Port) datagram(b []byte, from netip.AddrPort, at int64) bool {
	d, ok := open(b)
	switch {
	case !ok:
		return false
	case d.Kind == isAnswer:
		return p.answered(d, b, at)
	case !fits(p.key, b, p.name):
		return false
	}
	// The clock's possible error widens the exchange.
	d.Kind, d.Received, d.Answered = isAnswer, at+p.wrong, p.now()-p.wrong
	// An answer that cannot be sent is one that is lost, which its host counts.
	_, _ = p.conn.WriteToUDPAddrPort(d.sealed(p.key, p.name), from)
	return true
}

func (p *Port) answered(d datagram, b []byte, at int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.asked[d.Number]
	if d.Session != p.session || q == nil || !fits(p.key, b, q.peer) {
		return false
	}
	delete(p.asked, d.Number)
	e := Exchange{Sent: q.sent - p.wrong, Received: d.Received, Answered: d.Answered, Returned: at + p.wrong}
	select {
	case q.answer <- answer{d.Number, e}:
	default: // the asker is gone
	}
	return true
}

// A datagram, question or answer, is
//
//	kind      1 byte
//	session   8 bytes: of the asker, drawn at random by each port
//	number    8 bytes: of the question, ascending within a session
//	received  8 bytes: on the clock of the host that answers; 0 in a question
//	answered  8 bytes: the same
//	seal     16 bytes
//
// with numbers in network order. The seal is HMAC-SHA-256 with the key of the run, cut to 128 bits
// (RFC 2104, section 5), over everything before it and the name of the host that answers: a
// question diverted to another host gets no answer.
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
	Kind               kind
	Session, Number    uint64
	Received, Answered int64
}

// sealed returns the datagram, sealed for the host of that name to answer, or by it.
func (d datagram) sealed(key []byte, by string) []byte {
	b, _ := binary.Append(make([]byte, 0, length), binary.BigEndian, d) // never fails: the size is fixed
	return append(b, seal(key, b, by)...)
}

// open returns the content of a datagram, whoever sealed it.
func open(b []byte) (d datagram, ok bool) {
	if len(b) != length {
		return d, false
	}
	_, _ = binary.Decode(b, binary.BigEndian, &d)
	return d, d.Kind == isQuestion || d.Kind == isAnswer
}

func fits(key, b []byte, by string) bool {
	n := len(b) - sealLength
	return hmac.Equal(b[n:], seal(key, b[:n], by))
}

func seal(key, b []byte, by string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(b)
	h.Write([]byte(by))
	return h.Sum(nil)[:sealLength]
}
