// Package entrylog is the memory of a run: one [Entry] for each critical
// section, kept in chunks up to a bound and written in a compact form.
package entrylog

import (
	"encoding/binary"
	"errors"

	"dmebench/dme"
)

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
	Clock     uint64 // the clock of the request's timestamp; 0 where there is none
	Order     uint64 // position in the total order of entries that the witness saw, from 1; 0 where there is none
	Sent      uint64 // messages that the node had sent in all when it left
}

// times lists the times of an entry, each of which is written as the difference
// to the one before it; the first to that of the entry before.
func (e *Entry) times() [5]*int64 {
	return [...]*int64{&e.Intended, &e.Arrived, &e.Requested, &e.Entered, &e.Exited}
}

// numbers lists the other things of an entry, beside its node.
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

var errMalformed = errors.New("entrylog: malformed entries")

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
