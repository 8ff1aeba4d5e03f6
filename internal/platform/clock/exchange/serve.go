package exchange

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"net"
	"net/netip"
	"time"

	"dmebench/internal/platform/clock"
)

// What a port takes from others at most.
const (
	mostSessions  = 4096 // that ask it in all its life: hosts of a run, and agents that came back
	questionsPerS = 2000 // of a session
	questionBurst = 500
	strangersPerS = 20_000 // datagrams that are refused, of all together
)

// session is what is known of a port that asks.
type session struct {
	highest uint64 // number of its questions so far
	before  uint64 // bit k: the question highest-1-k was asked
	tokens  float64
	at      time.Time // when the tokens were counted
}

// fresh says whether a number was not seen before, and notes it. Numbers that come
// more than 64 after a higher one count as seen.
func (s *session) fresh(number uint64) bool {
	if number > s.highest {
		by := number - s.highest
		s.before = s.before<<by | 1<<(by-1) // a shift by more than 63 leaves nothing
		s.highest = number
		return true
	}
	back := s.highest - number
	if back == 0 || back > 64 || s.before&(1<<(back-1)) != 0 {
		return false
	}
	s.before |= 1 << (back - 1)
	return true
}

// allowed says whether the session may ask again by now.
func (s *session) allowed(now time.Time) bool {
	s.tokens = min(questionBurst, s.tokens+now.Sub(s.at).Seconds()*questionsPerS)
	s.at = now
	if s.tokens < 1 {
		return false
	}
	s.tokens--
	return true
}

// serve reads datagrams until the port is closed: it answers questions and hands
// answers to those who wait for them.
func (p *Port) serve() {
	sessions := make(map[uint64]*session)
	sealer := newSealer(p.key)
	arrivals := newArrivals(p.conn, p.now)
	b := make([]byte, length+1) // one byte more shows what is too long
	err := error(nil)
	var slice time.Time // since when strangers are counted
	var strangers int
	for {
		var from netip.AddrPort
		var n, noted int
		n, noted, _, from, err = p.conn.ReadMsgUDPAddrPort(b, arrivals.oob[:])
		at := arrivals.of(noted)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil && p.datagram(b[:n], from, at, sealer, sessions) {
			continue
		}
		// Who floods the port is not served at the price of a core: for the rest of a
		// tenth of a second the kernel throws away what does not fit its buffer.
		now := time.Now()
		if now.Sub(slice) > time.Second/10 {
			slice, strangers = now, 0
		}
		if strangers++; strangers > strangersPerS/10 {
			select {
			case <-p.closed:
				return
			case <-time.After(slice.Add(time.Second / 10).Sub(now)):
			}
		}
	}
}

// datagram deals with one that came at a time, and says whether it was believed.
func (p *Port) datagram(b []byte, from netip.AddrPort, at int64, sealer *sealer, sessions map[uint64]*session) bool {
	d, ok := open(b)
	if !ok {
		return p.refuse(func(r *Refused) { r.Strangers++ })
	}
	if d.kind == isAnswer {
		return p.answered(d, b, at, sealer)
	}
	if !sealer.fits(b, p.name) {
		return p.refuse(func(r *Refused) { r.Strangers++ })
	}
	s := sessions[d.session]
	now := time.Now()
	if s == nil {
		if len(sessions) == mostSessions {
			return p.refuse(func(r *Refused) { r.TooMany++ })
		}
		s = &session{tokens: questionBurst, at: now}
		sessions[d.session] = s
	}
	if !s.fresh(d.number) {
		return p.refuse(func(r *Refused) { r.Repeated++ })
	}
	if !s.allowed(now) {
		return p.refuse(func(r *Refused) { r.TooMany++ })
	}
	// What the clock may be wrong by widens the exchange.
	d.kind, d.received, d.answered = isAnswer, at+p.wrong, p.now()-p.wrong
	// An answer that cannot be sent is one that is lost, which its host counts.
	_, _ = p.conn.WriteToUDPAddrPort(sealer.seal(d, p.name), from)
	return true
}

// answered hands an answer to the probe that waits for it.
func (p *Port) answered(d datagram, b []byte, at int64, sealer *sealer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.asked[d.number]
	switch {
	case d.session != p.session || q == nil:
		// It may be one to a question of before: whether its seal fits is not known.
		p.refused.Repeated++
		return false
	case !sealer.fits(b, q.peer):
		p.refused.Strangers++
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

func (p *Port) refuse(count func(*Refused)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	count(&p.refused)
	return false
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

// datagram is what one says.
type datagram struct {
	kind               kind
	session, number    uint64
	received, answered int64
}

// sealer seals datagrams and opens them. It is not for several goroutines at once.
type sealer struct {
	hash hash.Hash
	sum  [sha256.Size]byte
	b    [length]byte
}

func newSealer(key []byte) *sealer { return &sealer{hash: hmac.New(sha256.New, key)} }

// seal returns the datagram, sealed for the host of that name to answer, or by it.
// The bytes are valid until the next call.
func (s *sealer) seal(d datagram, by string) []byte {
	b := append(s.b[:0], byte(d.kind))
	for _, x := range [...]uint64{d.session, d.number, uint64(d.received), uint64(d.answered)} {
		b = binary.BigEndian.AppendUint64(b, x)
	}
	return append(b, s.of(b, by)...)
}

// open returns what a datagram says, whoever sealed it; ok is false where it has
// another form.
func open(b []byte) (d datagram, ok bool) {
	if len(b) != length || kind(b[0]) != isQuestion && kind(b[0]) != isAnswer {
		return d, false
	}
	x := func(i int) uint64 { return binary.BigEndian.Uint64(b[1+8*i:]) }
	return datagram{kind(b[0]), x(0), x(1), int64(x(2)), int64(x(3))}, true
}

// fits says whether the seal of a datagram is one for the host of that name.
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
