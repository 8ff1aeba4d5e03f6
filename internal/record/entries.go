package record

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"dmebench/dme"
)

// ChunkEntries is the number of entries in a chunk of a Log.
const ChunkEntries = 4096

// Log collects entries in chunks, up to a bound. It never moves what it holds,
// so that recording costs the same for the millionth entry as for the first.
type Log struct {
	chunks  [][]Entry
	limit   int
	len     int
	dropped uint64
	kept    Memory // if it has slots, entries go there
}

// Memory is what a log can lie in so that it outlives its process: whoever maps it can read the
// entries, and the log of a later process goes on behind them. An Entry holds no pointer.
type Memory struct {
	Count *atomic.Uint64
	Slots []Entry
}

// Entries returns what was recorded. It is safe while a process still adds entries.
func (m Memory) Entries() []Entry {
	if m.Count == nil {
		return nil
	}
	return m.Slots[:min(m.Count.Load(), uint64(len(m.Slots)))]
}

// NewLogIn returns a log that lies in the memory, behind what is there, and counts
// what finds no room.
func NewLogIn(m Memory) *Log { return &Log{kept: m} }

// NewLog returns a log that keeps the first limit entries and counts the rest.
func NewLog(limit int) *Log { return &Log{limit: limit} }

// NewLogOf returns a log that has this room for entries, in one piece, and counts the rest.
func NewLogOf(room []Entry) *Log { return &Log{limit: len(room), chunks: [][]Entry{room[:0]}} }

// Add records one entry.
func (l *Log) Add(e Entry) {
	if l.kept.Count != nil {
		l.keep(e)
		return
	}
	if l.len >= l.limit {
		l.dropped++
		return
	}
	if n := len(l.chunks); n == 0 || len(l.chunks[n-1]) == cap(l.chunks[n-1]) {
		l.chunks = append(l.chunks, make([]Entry, 0, min(ChunkEntries, l.limit-l.len)))
	}
	last := &l.chunks[len(l.chunks)-1]
	*last = append(*last, e)
	l.len++
}

func (l *Log) keep(e Entry) {
	n := l.kept.Count.Load()
	if n >= uint64(len(l.kept.Slots)) {
		l.dropped++
		return
	}
	l.kept.Slots[n] = e
	l.kept.Count.Store(n + 1) // last: an entry that is counted is whole
}

// Len returns the number of entries kept.
func (l *Log) Len() int { return l.len + len(l.kept.Entries()) }

// Dropped returns the number of entries that came after the bound.
func (l *Log) Dropped() uint64 { return l.dropped }

// Chunks returns what is kept in this process, in order, in pieces of at most ChunkEntries, or in
// the one of NewLogOf; nothing of a log that lies in memory of others.
func (l *Log) Chunks() [][]Entry { return l.chunks }

// Entries returns the same in one piece.
func (l *Log) Entries() []Entry {
	if len(l.chunks) == 1 {
		return l.chunks[0]
	}
	return slices.Concat(l.chunks...)
}

// Entry is what is known of one critical section. Times are nanoseconds on the
// monotonic clock of the host (or of the simulation), with one origin for all
// nodes of a host.
type Entry struct {
	Node      dme.NodeID
	Shared    bool   // a reader's
	Intended  int64  // when the workload's schedule wanted the request
	Arrived   int64  // when the generator noticed: later than Intended by its lateness
	Requested int64  // when the node asked: later than Arrived while an earlier request was pending
	Entered   int64  // when the critical section began
	Exited    int64  // when it ended
	Clock     uint64 // the clock of the request's timestamp; 0 if there is none
	Order     uint64 // position in the total order of entries that the witness saw, from 1; 0 if there is none
	Sent      uint64 // messages that the node had sent in all when it left
}

// times lists the times of an entry, each written as the difference from the one before it; the
// first from the first time of the entry before.
func (e *Entry) times() [5]*int64 {
	return [...]*int64{&e.Intended, &e.Arrived, &e.Requested, &e.Entered, &e.Exited}
}

func (e *Entry) numbers() [3]*uint64 { return [...]*uint64{&e.Clock, &e.Order, &e.Sent} }

// smallest is the size of the shortest possible entry.
const smallest = 9

// Append appends the compact form of entries to b.
func Append(b []byte, entries []Entry) []byte {
	b = binary.AppendUvarint(b, uint64(len(entries)))
	var last int64
	for i := range entries {
		e := &entries[i]
		head := uint64(e.Node) << 1
		if e.Shared {
			head |= 1
		}
		b = binary.AppendUvarint(b, head)
		before := last
		for _, at := range e.times() {
			b = binary.AppendVarint(b, *at-before)
			before = *at
		}
		for _, x := range e.numbers() {
			b = binary.AppendUvarint(b, *x)
		}
		last = e.Intended
	}
	return b
}

var errMalformed = errors.New("record: malformed entries")

// Decode appends the entries that b holds to entries. b must hold nothing else.
func Decode(entries []Entry, b []byte) ([]Entry, error) {
	bad := false
	unsigned := func() uint64 {
		x, k := binary.Uvarint(b)
		if k <= 0 {
			bad = true
			return 0
		}
		b = b[k:]
		return x
	}
	n := unsigned()
	if bad || n > uint64(len(b))/smallest {
		return entries, errMalformed
	}
	var last int64
	for range n {
		var e Entry
		head := unsigned()
		e.Node, e.Shared = dme.NodeID(head>>1), head&1 != 0
		before := last
		for _, at := range e.times() {
			x, k := binary.Varint(b)
			b = b[max(k, 0):]
			bad = bad || k <= 0
			*at = before + x
			before = *at
		}
		for _, x := range e.numbers() {
			*x = unsigned()
		}
		if bad || head>>1 > 1<<32-1 {
			return entries, errMalformed
		}
		last = e.Intended
		entries = append(entries, e)
	}
	if len(b) != 0 {
		return entries, errMalformed
	}
	return entries, nil
}

// Never is the time of what did not happen.
const Never = math.MaxInt64

// Abandoned is a request that led to no [Entry]: it ended with its node, or was
// pending when the run ended. Times are as in an entry.
type Abandoned struct {
	Node      dme.NodeID
	Made      bool  // the node was asked; else it waited in line behind another request
	Requested int64 // when the node was asked, or the request came to wait in line
	Entered   int64 // when its critical section began; Never if it did not
	Ended     int64 // when its node went; Never if it was pending to the end
}

// maxPacked bounds the entries that are kept of a run on the disk.
const maxPacked = 1 << 20

// packVersion is that of packed entries.
const packVersion = 1

type packHeader struct {
	SchemaVersion int    `json:"schema_version"`
	Entries       int    `json:"entries"`
	Dropped       uint64 `json:"dropped"` // entries left out
}

// Pack returns entries in the form in which they are kept on the disk: compressed,
// in the order in which they began, their times counted from start. It keeps the
// first million or so. dropped is how many entries of the run there are beside these.
func Pack(entries []Entry, start int64, dropped uint64) ([]byte, error) {
	entries = slices.Clone(entries)
	for i := range entries {
		for _, at := range entries[i].times() {
			*at -= start
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Entered, b.Entered), cmp.Compare(a.Order, b.Order), cmp.Compare(a.Node, b.Node))
	})
	if more := len(entries) - maxPacked; more > 0 {
		entries, dropped = entries[:maxPacked], dropped+uint64(more)
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	err := json.NewEncoder(z).Encode(packHeader{packVersion, len(entries), dropped})
	for chunk := range slices.Chunk(entries, ChunkEntries) {
		b := Append(nil, chunk)
		_, sizeErr := z.Write(binary.AppendUvarint(nil, uint64(len(b))))
		_, chunkErr := z.Write(b)
		err = errors.Join(err, sizeErr, chunkErr)
	}
	err = errors.Join(err, z.Close()) // Close writes the end
	return out.Bytes(), err
}

// maxChunk bounds a chunk that is read, in bytes: what ChunkEntries take at most.
const maxChunk = ChunkEntries * 90

// Unpack reads packed entries as they are asked for, a chunk at a time. It returns
// how many entries of the run are not among them.
func Unpack(r io.Reader) (dropped uint64, entries iter.Seq2[Entry, error], err error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return 0, nil, fmt.Errorf("not packed entries: %w", err)
	}
	in := bufio.NewReader(z)
	line, err := in.ReadSlice('\n')
	var h packHeader
	if err == nil {
		err = json.Unmarshal(line, &h)
	}
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("not packed entries: %w", err)
	case h.SchemaVersion != packVersion:
		return 0, nil, fmt.Errorf("packed entries of version %d; this program reads version %d", h.SchemaVersion, packVersion)
	}
	return h.Dropped, func(yield func(Entry, error) bool) {
		var chunk []Entry
		var b []byte
		for count := 0; count < h.Entries; {
			size, err := binary.ReadUvarint(in)
			if err == nil && size > maxChunk {
				err = errMalformed
			}
			if err == nil {
				b = slices.Grow(b[:0], int(size))[:size]
				_, err = io.ReadFull(in, b)
			}
			if err == nil {
				chunk, err = Decode(chunk[:0], b)
			}
			if err == nil && len(chunk) == 0 {
				err = errMalformed
			}
			if err != nil {
				yield(Entry{}, fmt.Errorf("after %d of %d entries: %w", count, h.Entries, err))
				return
			}
			for _, e := range chunk {
				if !yield(e, nil) {
					return
				}
			}
			count += len(chunk)
		}
	}, nil
}
