package entrylog

import "sync/atomic"

// ChunkEntries is the number of entries in a chunk of a Log.
const ChunkEntries = 4096

// Log collects entries in chunks, up to a bound. It never moves what it holds,
// so that recording costs the same for the millionth entry as for the first.
type Log struct {
	chunks  [][]Entry
	limit   int
	len     int
	dropped uint64
	kept    Memory // where it has slots, entries go there
}

// Memory is what a log can lie in so that it outlives its process: who maps it
// reads the entries, and the log of a later process goes on behind them. An Entry
// holds no pointer.
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
	if l.len%ChunkEntries == 0 {
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

// Chunks returns what is kept in this process, in order, in pieces of at most
// ChunkEntries; nothing of a log that lies in memory of others.
func (l *Log) Chunks() [][]Entry { return l.chunks }
