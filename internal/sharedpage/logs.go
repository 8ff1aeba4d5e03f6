package sharedpage

import (
	"sync/atomic"
	"unsafe"

	"dmebench/dme"
	"dmebench/internal/entrylog"
)

// Where nodes are killed on purpose, their logs lie in the page: what they have
// recorded outlives them.

// logHeader is what stands before the entries of a node.
type logHeader struct {
	count   atomic.Uint64
	entered atomic.Int64 // when the node made its latest entry
	_       [6]uint64
}

const (
	logHeaderSize = int(unsafe.Sizeof(logHeader{}))
	entrySize     = int(unsafe.Sizeof(entrylog.Entry{}))
)

func logSize(records int) int {
	if records == 0 {
		return 0
	}
	return logHeaderSize + (records*entrySize+63)&^63
}

func (p *Page) records() int { return int(p.header.records.Load()) }

func (p *Page) logHeader(id dme.NodeID) *logHeader {
	return (*logHeader)(unsafe.Pointer(&p.logs[int(id-1)*logSize(p.records())]))
}

// Log returns the memory of node id's log; ok is false where logs do not lie here.
func (p *Page) Log(id dme.NodeID) (m entrylog.Memory, ok bool) {
	if p.records() == 0 {
		return m, false
	}
	h := p.logHeader(id)
	first := (*entrylog.Entry)(unsafe.Add(unsafe.Pointer(h), logHeaderSize))
	return entrylog.Memory{Count: &h.count, Slots: unsafe.Slice(first, p.records())}, true
}

// Entered notes when node id makes an entry, and LastEntered returns when it made
// the latest; logs must lie here.
func (p *Page) Entered(id dme.NodeID, at int64) { p.logHeader(id).entered.Store(at) }
func (p *Page) LastEntered(id dme.NodeID) int64 { return p.logHeader(id).entered.Load() }
