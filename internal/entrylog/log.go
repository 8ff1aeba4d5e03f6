package entrylog

// ChunkEntries is the number of entries in a chunk of a Log.
const ChunkEntries = 4096

// Log collects entries in chunks, up to a bound. It never moves what it holds,
// so that recording costs the same for the millionth entry as for the first.
type Log struct {
	chunks  [][]Entry
	limit   int
	len     int
	dropped uint64
}

// NewLog returns a log that keeps the first limit entries and counts the rest.
func NewLog(limit int) *Log { return &Log{limit: limit} }

// Add records one entry.
func (l *Log) Add(e Entry) {
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

// Len returns the number of entries kept.
func (l *Log) Len() int { return l.len }

// Dropped returns the number of entries that came after the bound.
func (l *Log) Dropped() uint64 { return l.dropped }

// Chunks returns what is kept, in order, in pieces of at most ChunkEntries.
func (l *Log) Chunks() [][]Entry { return l.chunks }
