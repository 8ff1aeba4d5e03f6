package recording

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// chunkBytes is the size of a chunk; no record extends beyond its end.
const (
	chunkBytes = 64 << 10
	firstBytes = 1 << 10 // what a chunk takes at first
)

// Log is the memory of what happened at nodes: every handler that was called and every
// effect of it, in a compact form, up to a number of records. Writing it down takes no lock,
// no system call beside the clock's and no I/O, so that it can be done within the events
// themselves. It is written by one goroutine at a time: a process keeps one for each node, a
// simulation one for all. [Decode] reads what it holds. It implements [noderun.Observer].
type Log struct {
	now    func() int64 // ns
	limit  int
	chunks [][]byte
	kept   int
	last   int64 // time of the last record of the current chunk

	dropped uint64
	until   int64 // time of the first record that was dropped
}

// NewLog keeps the first limit records and counts the rest, at times of now in ns.
func NewLog(now func() int64, limit int) *Log {
	return &Log{now: now, limit: limit, until: math.MaxInt64}
}

// Chunks returns what is kept, in order. Each can be decoded alone.
func (l *Log) Chunks() Stream { return l.chunks }

// Dropped returns how many records came after the bound, and the time of the first
// of them: what was kept before it is complete. It is the largest time there is
// if none was dropped.
func (l *Log) Dropped() (count uint64, until int64) { return l.dropped, l.until }

// Stream is what one log holds: its chunks, in order.
type Stream [][]byte

// Kept is what the logs of a run hold.
type Kept struct {
	Streams []Stream
	Dropped uint64 // records that found no room
	Until   int64  // the logs are complete up to here, ns
}

// Add adds what a log holds, which dropped count events from the time until on.
func (k *Kept) Add(s Stream, count uint64, until int64) {
	if k.Streams == nil {
		k.Until = math.MaxInt64
	}
	k.Streams = append(k.Streams, s)
	k.Dropped += count
	k.Until = min(k.Until, until)
}

func (l *Log) Kept() (k Kept) {
	k.Add(l.chunks, l.dropped, l.until)
	return k
}

func (l *Log) Observe(id dme.NodeID, h noderun.Event) {
	at := l.now()
	if l.kept >= l.limit {
		l.dropped++
		l.until = min(l.until, at)
		return
	}
	l.kept++
	k := len(l.chunks) - 1
	if k < 0 || len(l.chunks[k]) > chunkBytes-recordBytes(h) {
		l.chunks = append(l.chunks, make([]byte, 0, firstBytes)) // many nodes say little
		k, l.last = k+1, 0
	}
	b := append(l.chunks[k], byte(h.Kind))
	b = binary.AppendUvarint(b, uint64(id))
	b = binary.AppendVarint(b, at-l.last)
	l.last = at
	l.chunks[k] = appendDetails(b, h)
}

func recordBytes(h noderun.Event) int {
	size := 64 + len(h.Reason)
	if h.Msg != nil {
		size += dme.MessageSize(h.Msg)
	}
	return size
}

func appendDetails(b []byte, h noderun.Event) []byte {
	switch h.Kind {
	case dme.Send, dme.Receive, dme.Hear:
		b = binary.AppendUvarint(b, uint64(h.Peer))
		b = binary.AppendUvarint(b, uint64(dme.MessageSize(h.Msg)))
		b = dme.AppendMessage(b, h.Msg)
	case dme.PeerDown, dme.PeerUp:
		b = binary.AppendUvarint(b, uint64(h.Peer))
	case dme.Enter:
		b = binary.AppendUvarint(b, h.Stamp.Clock)
		b = binary.AppendUvarint(b, uint64(h.Stamp.Node))
	case dme.Timeout:
		b = append(b, byte(h.Timer))
	case dme.SetTimer:
		b = append(b, byte(h.Timer))
		b = binary.AppendVarint(b, int64(h.Delay))
	case dme.Refuse:
		b = binary.AppendUvarint(b, uint64(len(h.Reason)))
		b = append(b, h.Reason...)
	}
	return b
}

// Record is something that happened at a node. Msg is nil: the message is in Body, encoded.
type Record struct {
	Node dme.NodeID
	At   int64 // ns
	noderun.Event
	Body []byte
}

func (r *Record) Message() (m dme.Message, err error) {
	err = dme.DecodeMessage(r.Body, &m, nil)
	return m, err
}

var errMalformed = errors.New("recording: malformed records")

// Decode yields the records of a chunk, in order, whose bodies lie in it.
func Decode(chunk []byte) func(yield func(Record, error) bool) {
	return func(yield func(Record, error) bool) {
		d := decoder{b: chunk}
		for len(d.b) > 0 {
			r := d.record()
			if d.bad {
				yield(Record{}, errMalformed)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

type decoder struct {
	b    []byte
	last int64
	bad  bool
}

func (d *decoder) unsigned() uint64 { return number(d, binary.Uvarint) }

func (d *decoder) signed() int64 { return number(d, binary.Varint) }

func number[T any](d *decoder, read func([]byte) (T, int)) (none T) {
	x, k := read(d.b)
	if k <= 0 {
		d.bad = true
		return none
	}
	d.b = d.b[k:]
	return x
}

func (d *decoder) node() dme.NodeID {
	x := d.unsigned()
	d.bad = d.bad || x > math.MaxUint32
	return dme.NodeID(x)
}

func (d *decoder) bytes() []byte {
	n := d.unsigned()
	if n > uint64(len(d.b)) {
		d.bad = true
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.bad = true
		return 0
	}
	x := d.b[0]
	d.b = d.b[1:]
	return x
}

func (d *decoder) record() (r Record) {
	r.Kind = dme.EventKind(d.byte())
	r.Node = d.node()
	d.last += d.signed()
	r.At = d.last
	d.bad = d.bad || !recorded(r.Kind) || r.Kind == dme.Lose // no node hears of it
	switch r.Kind {
	case dme.Send, dme.Receive, dme.Hear:
		r.Peer = d.node()
		r.Body = d.bytes()
	case dme.PeerDown, dme.PeerUp:
		r.Peer = d.node()
	case dme.Enter:
		r.Stamp = dme.Stamp{Clock: d.unsigned(), Node: d.node()}
	case dme.Timeout:
		r.Timer = dme.TimerID(d.byte())
	case dme.SetTimer:
		r.Timer = dme.TimerID(d.byte())
		r.Delay = time.Duration(d.signed())
	case dme.Refuse:
		r.Reason = string(d.bytes())
	}
	return r
}
