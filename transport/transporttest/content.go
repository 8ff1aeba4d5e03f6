package transporttest

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"

	"dmebench/dme"
)

// Frames of these tests carry their number among those of their pair of nodes,
// from 0, and a body that follows from the pair and the number, so that a frame
// that is altered, mixed up or delivered to another node is recognized.

type pair struct{ from, to dme.NodeID }

const numberSize = 8

// fill makes b, at least numberSize long, the frame seq of p.
func fill(b []byte, p pair, seq uint64) []byte {
	binary.LittleEndian.PutUint64(b, seq)
	body := b[numberSize:]
	x := p.seed(seq)
	for ; len(body) >= 8; body = body[8:] {
		binary.LittleEndian.PutUint64(body, x)
		x = step(x)
	}
	for i := range body {
		body[i] = byte(x >> (8 * i))
	}
	return b
}

// number returns the number of a frame of p, and whether its content is right.
func number(b []byte, p pair) (seq uint64, ok bool) {
	if len(b) < numberSize {
		return 0, false
	}
	seq = binary.LittleEndian.Uint64(b)
	body := b[numberSize:]
	x := p.seed(seq)
	for ; len(body) >= 8; body = body[8:] {
		if binary.LittleEndian.Uint64(body) != x {
			return seq, false
		}
		x = step(x)
	}
	for i := range body {
		if body[i] != byte(x>>(8*i)) {
			return seq, false
		}
	}
	return seq, true
}

func (p pair) seed(seq uint64) uint64 {
	return step(uint64(p.from)<<48 ^ uint64(p.to)<<32 ^ seq ^ 0x9e3779b97f4a7c15)
}

// step is Marsaglia's xorshift64: cheap, and unlike its neighbours.
func step(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	return x ^ x<<17
}

// ledger checks what arrives against what was sent: content, order and number,
// as far as the guarantees go.
type ledger struct {
	faults
	fifo, reliable bool
	toAll          bool // what a node says to all has the same content for each
	expected       int64
	arrived        atomic.Int64
	complete       chan struct{} // closed when all that is expected has arrived

	mu    sync.Mutex
	pages map[pair]*page
}

// page is the account of one pair.
type page struct {
	busy atomic.Bool // a frame of the pair is being delivered
	next uint64
	seen map[uint64]bool // where order is not promised
}

func newLedger(s Subject, expected int) *ledger {
	return &ledger{
		fifo: s.Guarantees.FIFO, reliable: s.Guarantees.Reliable, expected: int64(expected),
		complete: make(chan struct{}), pages: make(map[pair]*page),
	}
}

func (l *ledger) page(p pair) *page {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.pages[p]
	if a == nil {
		a = &page{seen: make(map[uint64]bool)}
		l.pages[p] = a
	}
	return a
}

// settle waits for all that is expected, where nothing may be lost, and reports what
// went wrong.
func (l *ledger) settle(t *testing.T, s Subject) {
	t.Helper()
	if l.reliable {
		await(t, s, "all frames", l.complete)
	}
	l.report(t)
}

// enter takes note of a frame that was delivered.
func (l *ledger) enter(from, to dme.NodeID, b []byte) {
	p := pair{from, to}
	said := p
	if l.toAll {
		said.to = dme.None
	}
	seq, ok := number(b, said)
	if !ok {
		l.addf("a frame of %d bytes from %d to %d (%d) has the wrong content", len(b), from, to, seq)
		return
	}
	a := l.page(p)
	if a.busy.Swap(true) {
		l.addf("two frames from %d to %d are delivered at once", from, to)
	}
	switch {
	case l.fifo && l.reliable && seq != a.next:
		l.addf("frame %d from %d to %d arrives where %d is due", seq, from, to, a.next)
	case l.fifo && seq < a.next:
		l.addf("frame %d from %d to %d arrives after %d", seq, from, to, a.next-1)
	case !l.fifo && l.reliable && a.seen[seq]:
		l.addf("frame %d from %d to %d arrives twice", seq, from, to)
	}
	a.next = seq + 1
	if !l.fifo && l.reliable {
		a.seen[seq] = true
	}
	a.busy.Store(false)
	if l.arrived.Add(1) == l.expected {
		close(l.complete)
	}
}
